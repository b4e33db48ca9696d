//! `long_context`: a long prompt reaches the model whole.

use super::{Info, Rule, prompt, quoted};
use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;
use crate::request::Role;

pub(super) const INFO: Info = Info {
    name: "long_context",
    summary: "long prompts, which must reach the model whole",
    help: "\
A user turn may be a document of a given number of sentences with a sentence hidden in it:
    - user: { document: filler.txt, sentences: 60, insert: \"The code is 4711.\", depth: 0.5,
              ask: \"What is the code?\" }
`matrix: { sentences: [10, 60, 100] }` repeats the case at several lengths. By itself the branch
demands that every user message stands in the rendered prompt from its first to its last word.",
    streams: false,
    rules: &[Rule {
        name: "prompt_is_whole",
        boundary: Boundary::Input,
        summary: "every user message stands in the rendered prompt from first to last word",
        judge: prompt_is_whole,
    }],
};

fn prompt_is_whole(exchange: &Exchange) -> Option<Outcome> {
    let expected = "the whole text in the prompt";
    let prompt = match prompt(exchange) {
        Ok(prompt) => prompt,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    for message in exchange.request.messages.iter().filter(|m| m.role == Role::User) {
        let text = message.content.as_deref().unwrap_or_default().trim();
        if !prompt.contains(text) {
            let message = format!("the prompt holds only part of the text {}", quoted(text, 40));
            let actual = format!("{} characters of prompt", prompt.chars().count());
            return Some(Outcome::fail(expected, actual, message));
        }
    }
    Some(Outcome::pass(expected, "all there"))
}
