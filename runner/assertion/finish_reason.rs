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
