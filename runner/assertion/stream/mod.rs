//! `stream`: the pieces of a streamed reply are well-formed and add up to the whole.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Never, Short, Shorthand};
use super::{Assert, Info, Needs, Scope, View, show};
use crate::capture::{Boundary, Exchange, Response};
use crate::finding::Outcome;

mod invariants;
#[cfg(test)]
mod tests;

/// What is demanded beyond the invariants.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    /// The same request without streaming gives the same reply.
    equals_non_stream: bool,
    /// At least this many pieces carry text, reasoning or a call.
    min_deltas: Option<usize>,
}

impl Short for Options {
    const FORMS: &'static str = "`true`, or a mapping with `equals_non_stream` and `min_deltas`";
    const TYPES: &'static [&'static str] = &["boolean"];
    type Item = Never;

    fn from_truth(truth: bool) -> Option<Self> {
        truth.then(Options::default)
    }
}

/// The stream of the reply.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Stream(Shorthand<Options>);

impl Assert for Stream {
    const INFO: Info = Info {
        name: "stream",
        boundary: Boundary::Response,
        summary: "the pieces are well-formed and add up to the message; the reply is the same when not streamed",
        help: "\
The role comes first and once; there is one finish reason, and nothing but usage after it; pieces of
text, reasoning and arguments add up to the message; indices of calls count up from 0, with id and
name on the first piece only; no piece holds half a character. With `equals_non_stream` the
conversation is run once more with streaming flipped, and both replies must be the same.

    - stream: true
    - stream: { equals_non_stream: true, min_deltas: 4 }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = match self.0.equals_non_stream {
            true => "a well-formed stream, the same as the whole reply",
            false => "a well-formed stream",
        };
        let twin = view.capture.twin.as_ref().and_then(|twin| twin.exchanges.get(view.index));
        let response = match view.exchange.response.seen() {
            Ok(response) => response,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let other = twin.and_then(|twin| twin.response.seen().ok());
        let streamed = [Some(response), other]
            .into_iter()
            .flatten()
            .find_map(|response| Some((response, response.stream.as_deref()?)));
        let Some((response, deltas)) = streamed else {
            let reason = match view.exchange.request.stream {
                true => {
                    return Outcome::fail(
                        expected,
                        "no stream",
                        "a stream was asked for and the reply came whole",
                    );
                }
                false => {
                    "the reply was not streamed; add `stream: true` or `equals_non_stream: true`"
                }
            };
            return Outcome::hidden(expected, reason);
        };
        if let Some((at, message)) = invariants::broken(deltas, response) {
            return Outcome::fail(expected, format!("{} pieces", deltas.len()), message).at(at);
        }
        let pieces = deltas.iter().filter(|delta| invariants::carries(delta)).count();
        if let Some(least) = self.0.min_deltas.filter(|least| pieces < *least) {
            let message = format!("the reply came in {pieces} pieces, fewer than {least}");
            return Outcome::fail(expected, format!("{pieces} pieces"), message);
        }
        if self.0.equals_non_stream {
            let Some(twin) = twin else {
                let why = view.capture.twin.as_ref().and_then(|twin| twin.error.as_ref());
                let why = why.map_or("it was not run", |failure| &failure.message);
                return Outcome::hidden(
                    expected,
                    &format!("no reply with streaming flipped: {why}"),
                );
            };
            if let Some(outcome) = differs(view.exchange, twin, expected) {
                return outcome;
            }
        }
        Outcome::pass(expected, format!("{pieces} pieces"))
    }

    fn needs(&self) -> Needs {
        Needs { twin: self.0.equals_non_stream, ..Needs::default() }
    }
}

/// The first difference between a reply and its twin.
fn differs(exchange: &Exchange, twin: &Exchange, expected: &str) -> Option<Outcome> {
    let (streamed, whole) =
        if exchange.request.stream { (exchange, twin) } else { (twin, exchange) };
    let (a, b) = match (streamed.response.seen(), whole.response.seen()) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(reason), _) | (_, Err(reason)) => return Some(Outcome::hidden(expected, reason)),
    };
    for ((name, streamed), (_, whole)) in fields(a).into_iter().zip(fields(b)) {
        if streamed != whole {
            let message = format!("the {name} differs: streamed {streamed}, whole {whole}");
            return Some(Outcome::fail(whole, streamed, message).at(name));
        }
    }
    let (Ok(a), Ok(b)) = (streamed.generation.seen(), whole.generation.seen()) else { return None };
    (a.ids() != b.ids()).then(|| {
        let (a, b) = (show::ids(&a.ids()), show::ids(&b.ids()));
        Outcome::fail(b, a, "the output ids differ between the streamed and the whole reply")
            .at("ids")
    })
}

/// What two replies are compared by.
fn fields(response: &Response) -> Vec<(&'static str, String)> {
    let text = |text: &Option<String>| show::excerpt(text.as_deref().unwrap_or_default());
    let call = |call: &crate::request::ToolCall| format!("{}({})", call.name, call.arguments);
    let usage = response.usage.map_or_else(
        || "none".to_owned(),
        |usage| format!("{} and {} tokens", usage.prompt_tokens, usage.completion_tokens),
    );
    vec![
        ("content", text(&response.content)),
        ("reasoning", text(&response.reasoning)),
        ("tool calls", response.tool_calls.iter().map(call).collect::<Vec<_>>().join(", ")),
        ("finish reason", response.finish_reason.clone().unwrap_or_else(|| "none".to_owned())),
        ("usage", usage),
    ]
}
