//! `length_ratio`: how much longer the output is than the accepted one.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Against, Span};
use super::ids::NO_SNAPSHOT;
use super::{Assert, Info, Needs, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// The ratio of output tokens to those of a reference.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthRatio {
    /// What the length is measured against.
    against: Against,
    /// At least this ratio.
    #[serde(default)]
    min: Option<f64>,
    /// At most this ratio.
    #[serde(default)]
    max: Option<f64>,
    /// Where the limits come from.
    #[serde(default)]
    because: Option<String>,
}

impl LengthRatio {
    fn span(&self) -> Span {
        Span { min: self.min, max: self.max }
    }
}

impl Assert for LengthRatio {
    const INFO: Info = Info {
        name: "length_ratio",
        boundary: Boundary::Generation,
        summary: "the output has so many times the tokens of the accepted one",
        help: "\
Output tokens over accepted output tokens, end tokens included. Both ends are included.

    - length_ratio: { against: accepted, max: 1.5 }
    - length_ratio: { against: accepted, min: 0.8, max: 1.2, because: \"20 seeds\" }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let Against::Accepted = self.against;
        let span = self.span();
        let expected = format!("{span} times the accepted length");
        let count = match view.exchange.output_count() {
            Ok(count) => count,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let accepted = view.accepted_exchange().and_then(|accepted| accepted.output.as_ref());
        let (now, before) = match accepted.map(Vec::len) {
            Some(before) if before > 0 => (count, before),
            Some(_) => return Outcome::hidden(expected, "the accepted output has no token"),
            None => return Outcome::hidden(expected, NO_SNAPSHOT),
        };
        let ratio = now as f64 / before as f64;
        let actual = format!("×{ratio:.2} ({now} against {before} tokens)");
        let outcome = if span.contains(ratio) {
            Outcome::pass(expected, actual)
        } else {
            let message = format!(
                "the output has {now} tokens, ×{ratio:.2} of the accepted {before}, not {span}"
            );
            Outcome::fail(expected, actual, message)
        };
        match &self.because {
            Some(because) => outcome.within(format!("ratio {span}, because: {because}")),
            None => outcome.within(format!("ratio {span}")),
        }
    }

    fn problems(&self) -> Vec<String> {
        self.span().problems("length_ratio")
    }

    fn needs(&self) -> Needs {
        Needs { accepted: Some(Boundary::Generation), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{exchange, good, hidden, judge, judge_against, problems, read};
    use crate::finding::Status;

    const MOST: &str = "length_ratio: { against: accepted, min: 0.5, max: 1.5, because: 20 seeds }";

    #[test]
    fn the_ratio_is_taken_against_the_accepted_output() {
        assert_eq!(judge_against(MOST, &good(), &good()).status, Status::Pass);
        let long = exchange(&[10], &[20, 21, 22, 23, 2], "");
        let outcome = judge_against(MOST, &long, &good());
        assert_eq!(outcome.status, Status::Fail);
        assert_eq!(outcome.actual, "×1.67 (5 against 3 tokens)");
        assert_eq!(outcome.tolerance.as_deref(), Some("ratio 0.5 to 1.5, because: 20 seeds"));
        assert_eq!(judge_against(MOST, &exchange(&[10], &[2], ""), &good()).status, Status::Fail);
    }

    #[test]
    fn without_a_reference_nothing_is_said() {
        assert_eq!(judge(MOST, &good()).status, Status::NotEvaluated);
        assert_eq!(
            judge_against(MOST, &good(), &exchange(&[10], &[], "")).status,
            Status::NotEvaluated
        );
        assert_eq!(judge_against(MOST, &hidden(), &good()).status, Status::NotEvaluated);
        assert!(problems("length_ratio: { against: accepted }").contains("needs `min`"));
        assert!(read("length_ratio: { against: nothing, max: 2 }").is_err());
    }
}
