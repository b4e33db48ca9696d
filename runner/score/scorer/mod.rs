//! Scorers: how what was extracted is compared with the reference.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Info;

mod choice;
mod contains;
mod exact;
mod json;
mod number;
mod regex;

macro_rules! registry {
    ($($variant:ident($module:ident)),* $(,)?) => {
        /// How a reply is scored.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is documented by its `Info`")]
        pub enum Scorer {
            $($variant),*
        }

        impl Scorer {
            /// Its documentation.
            pub fn info(self) -> Info {
                match self { $(Scorer::$variant => $module::INFO),* }
            }

            /// Whether what was extracted is right.
            pub fn right(self, extracted: &str, reference: &str) -> bool {
                match self { $(Scorer::$variant => $module::right(extracted, reference)),* }
            }

            /// Why nothing can be compared with this reference.
            pub fn problem(self, reference: &str) -> Option<String> {
                match self { $(Scorer::$variant => $module::problem(reference)),* }
            }
        }

        /// Every scorer.
        pub const ALL: &[Info] = &[$($module::INFO),*];
    };
}

registry! {
    Exact(exact),
    Contains(contains),
    Number(number),
    Choice(choice),
    Json(json),
    Regex(regex),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_words_of_the_spec() {
        for info in ALL {
            let scorer: Scorer = serde_json::from_value(serde_json::json!(info.name)).unwrap();
            assert_eq!(scorer.info(), *info);
        }
    }
}
