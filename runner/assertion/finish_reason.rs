//! `finish_reason`: the word that the API returned, compared as it came.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assert, Info, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// The expected finish reason, exactly.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FinishReason(String);

impl Assert for FinishReason {
    const INFO: Info = Info {
        name: "finish_reason",
        boundary: Boundary::Response,
        summary: "the finish reason is this very string",
        help: "\
The raw string of the API is compared, upper and lower case included. The reason derived
from the evidence is `termination`.

    - finish_reason: tool_calls",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = format!("{:?}", self.0);
        let response = match view.exchange.response.seen() {
            Ok(response) => response,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let actual = match &response.finish_reason {
            Some(word) => format!("{word:?}"),
            None => "none".to_owned(),
        };
        if expected == actual {
            return Outcome::pass(expected, actual);
        }
        let message = format!("the reply finished with {actual}, not with {expected}");
        Outcome::fail(expected, actual, message)
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{edit_response, good, hidden, judge};
    use crate::finding::Status;

    #[test]
    fn the_very_string_counts() {
        assert_eq!(judge("finish_reason: stop", &good()).status, Status::Pass);
        assert_eq!(judge("finish_reason: Stop", &good()).status, Status::Fail);
        let mut missing = good();
        edit_response(&mut missing, |response| response.finish_reason = None);
        assert_eq!(judge("finish_reason: stop", &missing).status, Status::Fail);
        assert_eq!(judge("finish_reason: stop", &hidden()).status, Status::NotEvaluated);
    }
}
