//! `stream`: a streamed reply keeps the rules of the protocol and equals the reply in one piece.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Never, Short, Shorthand};
use super::{Assert, Info, Needs, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

mod invariants;
mod twin;

use invariants::Broken;

/// What is asked of a stream; its invariants are always judged.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Stream(Shorthand<Arguments>);

/// The arguments in their long form.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "StreamArguments")]
struct Arguments {
    /// The case is also run without streaming, and both replies must be equal.
    equals_non_stream: bool,
    /// At least so many events, so that a reply sent in one piece is seen.
    min_deltas: Option<usize>,
    /// Set by `stream: false`, which is refused.
    #[serde(skip)]
    refused: bool,
}

impl Short for Arguments {
    const FORMS: &'static str = "`true`, or a mapping with `equals_non_stream` or `min_deltas`";
    const TYPES: &'static [&'static str] = &["boolean"];
    type Item = Never;

    fn from_truth(truth: bool) -> Option<Self> {
        Some(Arguments { refused: !truth, ..Arguments::default() })
    }
}

impl Arguments {
    fn describe(&self) -> String {
        let mut expected = "a conformant stream".to_owned();
        if let Some(least) = self.min_deltas {
            expected += &format!(" of at least {least} deltas");
        }
        if self.equals_non_stream {
            expected += " that equals the reply in one piece";
        }
        expected
    }
}

impl Assert for Stream {
    const INFO: Info = Info {
        name: "stream",
        boundary: Boundary::Response,
        summary: "the stream keeps the protocol's rules and equals the reply in one piece",
        help: "\
Always judged: the role comes first; one finish reason, with nothing generated after it; usage
behind it; the pieces put together are the message; calls are numbered from 0 without gaps, with
id and name on their first piece alone; no character is cut in half; times do not run backwards.
`equals_non_stream` runs the case a second time with streaming flipped: content, reasoning, calls
(without ids), finish reason and usage must be equal. Use greedy or seeded settings with it.

    - stream: true
    - stream: { equals_non_stream: true, min_deltas: 3 }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = self.0.describe();
        let response = match view.exchange.response.seen() {
            Ok(response) => response,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let twin = self.0.equals_non_stream.then(|| twin::compare(view, &expected));
        let Some(deltas) = &response.stream else {
            // The twin is the stream then; what both say can still be compared.
            let missing = || Outcome::hidden(&expected, "the reply was not streamed");
            return twin.flatten().unwrap_or_else(missing);
        };
        let raw = view.exchange.raw_text().ok();
        let actual = crate::diagnostic::count(deltas.len(), "delta");
        if let Some(Broken { index, message }) = invariants::first_broken(deltas, response, raw) {
            return Outcome::fail(expected, actual, message).at(format!("delta {index}"));
        }
        if let Some(least) = self.0.min_deltas
            && deltas.len() < least
        {
            let message = format!("the reply came in {actual}, fewer than {least}");
            return Outcome::fail(expected, actual, message);
        }
        twin.flatten().unwrap_or_else(|| Outcome::pass(expected, actual))
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.0.refused {
            problems.push("`stream: false` asks for nothing here; leave the entry out".to_owned());
        }
        if self.0.min_deltas == Some(0) {
            problems.push("`min_deltas: 0` holds for every stream".to_owned());
        }
        problems
    }

    fn needs(&self) -> Needs {
        Needs { twin: self.0.equals_non_stream, ..Needs::default() }
    }
}

#[cfg(test)]
mod tests;
