//! `length`: how many tokens were generated.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Bounds, Shorthand};
use super::{Assert, Info, Scope, View, show};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// How many output tokens there must be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Length(Shorthand<Bounds>);

impl Assert for Length {
    const INFO: Info = Info {
        name: "length",
        boundary: Boundary::Generation,
        summary: "the output has so many tokens, the end token included",
        help: "\
Both ends are included. A bare number asks for exactly that many.

    - length: { min: 3, max: 40 }
    - length: 12",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let bounds = self.0.0;
        let expected = format!("{bounds} tokens");
        let count = match view.exchange.output_count() {
            Ok(count) => count,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        if bounds.contains(count) {
            return Outcome::pass(expected, show::tokens(count));
        }
        let message = format!("the output has {}, not {bounds}", show::tokens(count));
        Outcome::fail(expected, show::tokens(count), message)
    }

    fn problems(&self) -> Vec<String> {
        self.0.problems("length")
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{good, hidden, judge, problems, read};
    use crate::finding::Status;

    #[test]
    fn both_ends_are_included() {
        for yaml in ["length: { min: 3 }", "length: { max: 3 }", "length: 3"] {
            assert_eq!(judge(yaml, &good()).status, Status::Pass, "{yaml}");
        }
        for yaml in ["length: { min: 4 }", "length: { max: 2 }", "length: 2"] {
            assert_eq!(judge(yaml, &good()).status, Status::Fail, "{yaml}");
        }
        assert_eq!(judge("length: 3", &hidden()).status, Status::NotEvaluated);
    }

    #[test]
    fn senseless_bounds_are_named() {
        assert!(problems("length: { min: 4, max: 2 }").contains("above max"));
        assert!(problems("length: {}").contains("needs `min`"));
        assert!(read("length: -1").unwrap_err().to_string().contains("a whole number"));
        assert!(read("length: { most: 3 }").unwrap_err().to_string().contains("max"));
    }
}
