//! Extractors: the part of a reply that is scored.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Info;

mod after;
mod choice_letter;
mod first_line;
mod first_number;
mod json;
mod last_line;
mod last_number;
mod number;
mod regex;
mod whole;

macro_rules! registry {
    (plain { $($variant:ident($module:ident)),* $(,)? } with_text { $($text:ident($text_module:ident)),* $(,)? }) => {
        /// What is taken out of a reply: a word, or a word with its text.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is documented by its `Info`")]
        pub enum Extractor {
            #[default]
            $($variant,)*
            $($text(String)),*
        }

        impl Extractor {
            /// Its documentation.
            pub fn info(&self) -> Info {
                match self {
                    $(Extractor::$variant => $module::INFO,)*
                    $(Extractor::$text(_) => $text_module::INFO),*
                }
            }

            /// What is found in a text; `None` when there is nothing to find.
            pub fn extract(&self, text: &str) -> Option<String> {
                match self {
                    $(Extractor::$variant => $module::extract(text),)*
                    $(Extractor::$text(argument) => $text_module::extract(text, argument)),*
                }
            }

            /// What is wrong with its text.
            pub fn problem(&self) -> Option<String> {
                match self {
                    $(Extractor::$variant => None,)*
                    $(Extractor::$text(argument) => $text_module::problem(argument)),*
                }
            }
        }

        /// Every extractor.
        pub const ALL: &[Info] = &[$($module::INFO,)* $($text_module::INFO),*];
    };
}

registry! {
    plain {
        Whole(whole),
        FirstLine(first_line),
        LastLine(last_line),
        FirstNumber(first_number),
        LastNumber(last_number),
        ChoiceLetter(choice_letter),
        Json(json),
    }
    with_text {
        Regex(regex),
        After(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_words_of_the_spec() {
        for info in ALL {
            let word = serde_json::from_value::<Extractor>(serde_json::json!(info.name));
            let pair = serde_json::from_value::<Extractor>(serde_json::json!({ info.name: "(x)" }));
            let extractor = word.or(pair).unwrap();
            assert_eq!(extractor.info(), *info);
            assert!(!info.summary.is_empty());
        }
    }
}
