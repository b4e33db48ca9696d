//! `form_is_kept`: what every branch demands of a server's reply.

use super::Rule;
use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;

/// The rule.
pub const FORM: Rule = Rule {
    name: "form_is_kept",
    boundary: Boundary::Response,
    summary: "a server's reply has the form that the API promises",
    judge: form_is_kept,
};

/// The text for `explain`.
pub const HELP: &str = "\
Holds in every branch on remote targets and reads the boundary `response`: [DONE] once and last, one
finish reason per choice, usage once, ids and indices of calls as they must be, the same id and model
in every event. What a dialect is known to do otherwise is no fault. A reply of which a part cannot
be read at all is errored instead. Silence it with a reason: `allow: { form_is_kept: \"why\" }`.";

fn form_is_kept(exchange: &Exchange) -> Option<Outcome> {
    // Nothing but a call over the wire has a form that could be wrong.
    let response = exchange.response.seen().ok().filter(|_| !exchange.wire.is_empty())?;
    let expected = "the API's form";
    Some(match response.faults.first() {
        None => Outcome::pass(expected, "kept"),
        Some(fault) => Outcome::fail(expected, fault.clone(), fault.clone()),
    })
}
