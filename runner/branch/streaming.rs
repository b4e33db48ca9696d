//! `streaming`: the reply arrives in pieces.

use super::{Info, Rule};
use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;

pub(super) const INFO: Info = Info {
    name: "streaming",
    summary: "replies are streamed; the pieces must add up to the message",
    help: "\
`stream` is true unless the case says otherwise. By itself the branch demands that a streamed
reply of several visible tokens arrives in more than one piece; `stream` judges the order of the
pieces and compares them with a reply that was not streamed.",
    streams: true,
    rules: &[Rule {
        name: "arrives_in_pieces",
        boundary: Boundary::Response,
        summary: "a streamed reply of several visible tokens arrives in more than one piece",
        judge: arrives_in_pieces,
    }],
};

fn arrives_in_pieces(exchange: &Exchange) -> Option<Outcome> {
    if !exchange.request.stream {
        return None;
    }
    let expected = "more than one piece";
    let response = match exchange.response.seen() {
        Ok(response) => response,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    let Some(deltas) = &response.stream else {
        let message = "a stream was asked for and the reply came whole";
        return Some(Outcome::fail(expected, "no stream", message));
    };
    let pieces = deltas
        .iter()
        .filter(|delta| {
            delta.content.as_deref().is_some_and(|text| !text.is_empty())
                || delta.reasoning.as_deref().is_some_and(|text| !text.is_empty())
                || !delta.tool_calls.is_empty()
        })
        .count();
    // Nobody need say how many tokens there were; a text of several words is never one of less than four.
    let words = response.content.as_deref().map_or(0, |text| text.split_whitespace().count());
    let counted = response.usage.map(|usage| usage.completion_tokens);
    let tokens = counted.or(exchange.output_count().ok()).unwrap_or(words);
    let actual = format!("{pieces} of {tokens} tokens");
    // A call is released when it is complete, and a reply of a word or two may be held back as a
    // whole because it could still become a stop string.
    if pieces > 1 || tokens < 4 || !response.tool_calls.is_empty() {
        return Some(Outcome::pass(expected, actual));
    }
    Some(Outcome::fail(expected, actual, "the streamed reply was held back and came in one piece"))
}
