//! Scorers: what an extracted answer is worth against the reference.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Info;

mod choice;
mod contains;
mod exact;
mod json;
mod number;
mod regex;

/// An answer with what it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// What was extracted.
    pub answer: &'a str,
    /// The reference.
    pub reference: &'a str,
    /// Whether upper and lower case are the same.
    pub ignore_case: bool,
}

impl Pair<'_> {
    /// Both texts trimmed, in lower case where case does not count.
    fn texts(&self) -> (String, String) {
        let text = |text: &str| {
            let text = text.trim();
            if self.ignore_case { text.to_lowercase() } else { text.to_owned() }
        };
        (text(self.answer), text(self.reference))
    }
}

macro_rules! registry {
    ($($variant:ident($module:ident)),* $(,)?) => {
        /// How an answer is compared with the reference.
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

            /// The score, between 0 and 1.
            pub fn score(self, pair: Pair<'_>) -> f64 {
                let right = match self { $(Scorer::$variant => $module::right(pair)),* };
                if right { 1.0 } else { 0.0 }
            }

            /// What is wrong with a reference, such as text where a number is compared.
            pub fn problem(self, reference: &str) -> Option<String> {
                match self { $(Scorer::$variant => $module::problem(reference)),* }
            }
        }

        /// Every scorer.
        pub const SCORERS: &[Info] = &[$($module::INFO),*];
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
    use super::{Pair, Scorer};

    #[test]
    fn each_scorer_tells_right_from_wrong() {
        for (scorer, reference, right, wrong) in [
            (Scorer::Exact, "Oslo", " Oslo\n", "oslo"),
            (Scorer::Contains, "Oslo", "It is Oslo.", "It is oslo."),
            (Scorer::Number, "4", "4.00", "4.01"),
            (Scorer::Number, "1,000.0", "$1000.", "100"),
            (Scorer::Number, "4", "4.0", "four"),
            (Scorer::Choice, "B", "(b)", "C"),
            (Scorer::Choice, "(B)", "**B**", "Because"),
            (Scorer::Json, "{\"a\": 1, \"b\": 2}", "{\"b\": 2.0, \"a\": 1}", "{\"a\": 1}"),
            (Scorer::Json, "[1]", "[1]", "no"),
            (Scorer::Regex, r"^\d+$", "42", "42x"),
        ] {
            let score = |answer| scorer.score(Pair { answer, reference, ignore_case: false });
            assert_eq!((score(right), score(wrong)), (1.0, 0.0), "{scorer:?} {reference}");
            assert_eq!(scorer.problem(reference), None, "{scorer:?} {reference}");
        }
    }

    #[test]
    fn case_can_be_ignored() {
        for (scorer, reference) in
            [(Scorer::Exact, "Oslo"), (Scorer::Contains, "Oslo"), (Scorer::Regex, "^Oslo$")]
        {
            let pair = |ignore_case| Pair { answer: "OSLO", reference, ignore_case };
            assert_eq!(
                (scorer.score(pair(true)), scorer.score(pair(false))),
                (1.0, 0.0),
                "{scorer:?}"
            );
        }
    }

    #[test]
    fn a_reference_that_nothing_can_equal_is_named() {
        for (scorer, reference) in [
            (Scorer::Contains, " "),
            (Scorer::Number, "four"),
            (Scorer::Choice, "Oslo"),
            (Scorer::Json, "{"),
            (Scorer::Regex, "("),
        ] {
            assert!(scorer.problem(reference).is_some(), "{scorer:?}");
        }
    }
}
