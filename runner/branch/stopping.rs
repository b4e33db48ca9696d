//! `stopping`: the reply ends for the reason that is given.

use super::{Info, Rule};
use crate::capture::{Boundary, Exchange, Termination};
use crate::finding::Outcome;

pub(super) const INFO: Info = Info {
    name: "stopping",
    summary: "end ids, stop strings, caps: why a reply ends and what it says about it",
    help: "\
`termination` is the reason derived from the evidence, `finish_reason` the word that the API
returned. By itself the branch demands that the two agree: `length` for a cap or a full context,
`stop` or `tool_calls` for an end id, a stop id or a stop string.",
    streams: false,
    rules: &[Rule {
        name: "finish_agrees",
        boundary: Boundary::Response,
        summary: "the finish reason agrees with why the generation ended",
        judge: finish_agrees,
    }],
};

fn finish_agrees(exchange: &Exchange) -> Option<Outcome> {
    let generation = match exchange.generation.seen() {
        Ok(generation) => generation,
        Err(reason) => return Some(Outcome::hidden("a finish reason that agrees", reason)),
    };
    let legal: &[&str] = match &generation.termination {
        Termination::Eos(_) | Termination::StopToken(_) | Termination::StopString(_) => {
            &["stop", "tool_calls"]
        }
        Termination::LengthMaxTokens | Termination::LengthContext => &["length"],
        Termination::ContentFilter => &["content_filter"],
        // Nothing agreed on says how these are named.
        _ => return None,
    };
    let expected = format!("{} for {}", legal.join(" or "), generation.termination);
    let response = match exchange.response.seen() {
        Ok(response) => response,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    let actual = response.finish_reason.as_deref().unwrap_or("none");
    if legal.contains(&actual) {
        return Some(Outcome::pass(expected, actual));
    }
    let message =
        format!("the generation ended by {}, but the reply says {actual}", generation.termination);
    Some(Outcome::fail(expected, actual, message))
}
