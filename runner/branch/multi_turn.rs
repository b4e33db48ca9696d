//! `multi_turn`: what was said earlier is in the prompt.

use super::{Info, Rule, prompt, quoted};
use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;
use crate::request::Role;

pub(super) const INFO: Info = Info {
    name: "multi_turn",
    summary: "several turns; each prompt must hold what was said before",
    help: "\
Replies are fed back as history, so that turn n's reply is part of turn n+1's prompt.
At least two replies are asked for. By itself the branch demands that the text of every
system and user message stands in the rendered prompt, in order; `carries` compares ids.",
    streams: false,
    rules: &[Rule {
        name: "history_in_prompt",
        boundary: Boundary::Input,
        summary: "every system and user message stands in the rendered prompt, in order",
        judge: history_in_prompt,
    }],
};

fn history_in_prompt(exchange: &Exchange) -> Option<Outcome> {
    let expected = "every message in the prompt, in order";
    let prompt = match prompt(exchange) {
        Ok(prompt) => prompt,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    let mut rest = prompt;
    for (n, message) in exchange.request.messages.iter().enumerate() {
        if !matches!(message.role, Role::System | Role::User) {
            continue;
        }
        // Templates may trim a message, so the outer white space of it proves nothing.
        let text = message.content.as_deref().unwrap_or_default().trim();
        match rest.find(text) {
            Some(at) => rest = &rest[at + text.len()..],
            None => {
                let place = format!("message {}", n + 1);
                let message = format!(
                    "the prompt lacks message {} ({}), or holds it out of order",
                    n + 1,
                    quoted(text, 40)
                );
                return Some(Outcome::fail(expected, "a message is missing", message).at(place));
            }
        }
    }
    Some(Outcome::pass(expected, "all there"))
}
