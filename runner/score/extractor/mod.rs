//! Extractors: where in a reply the answer stands.

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

pub(super) use choice_letter::letter;
pub(super) use json::first_value;
pub(super) use number::parse as parse_number;

macro_rules! registry {
    (
        plain: $($plain:ident($plain_module:ident)),* ;
        with: $($with:ident($with_module:ident)),* $(;)?
    ) => {
        /// How the answer is found in a reply: a word, or a word with its argument.
        #[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is documented by its `Info`")]
        pub enum Extractor {
            $($plain,)*
            $($with(String),)*
        }

        impl Extractor {
            /// Its documentation.
            pub fn info(&self) -> Info {
                match self {
                    $(Extractor::$plain => $plain_module::INFO,)*
                    $(Extractor::$with(_) => $with_module::INFO,)*
                }
            }

            /// The answer in `text`; `None` where there is none.
            pub fn extract(&self, text: &str) -> Option<String> {
                match self {
                    $(Extractor::$plain => $plain_module::extract(text),)*
                    $(Extractor::$with(argument) => $with_module::extract(argument, text),)*
                }
            }

            /// What is wrong with the argument.
            pub fn problems(&self) -> Vec<String> {
                match self {
                    $(Extractor::$plain => Vec::new(),)*
                    $(Extractor::$with(argument) => $with_module::problems(argument),)*
                }
            }
        }

        /// Every extractor.
        pub const EXTRACTORS: &[Info] = &[$($plain_module::INFO,)* $($with_module::INFO,)*];
    };
}

registry! {
    plain: Whole(whole), FirstLine(first_line), LastLine(last_line), FirstNumber(first_number),
        LastNumber(last_number), ChoiceLetter(choice_letter), Json(json);
    with: Regex(regex), After(after);
}
