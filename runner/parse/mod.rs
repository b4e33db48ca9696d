//! Raw generated text → content, reasoning and tool calls.
//!
//! What is here takes a reply apart while it is generated, as a server does: only what follows the
//! family's format to the letter is a call, and whatever is not a call or reasoning stays visible as
//! content. [`reparse`] reads stored texts of all formats again and tells what breaks them. To stream
//! another format, add one file and one line in `FORMATS`.

mod family;
mod hermes;
mod incremental;
mod json;
pub mod reparse;

#[cfg(test)]
mod tests;

pub use family::{Family, Markup};
pub use incremental::{Incremental, Piece};

use crate::request::ToolCall;

/// The known tool-call formats, the more particular first.
const FORMATS: [&ToolFormat; 1] = [&hermes::FORMAT];

/// A reply, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The answer's text; `None` when it is empty beside calls or reasoning.
    pub content: Option<String>,
    /// What stood in the think block, without the line breaks at its two ends; `None` when empty.
    pub reasoning: Option<String>,
    /// The calls, in order, with ids `call_0`, `call_1` …
    pub tool_calls: Vec<ToolCall>,
    /// Whether the text ends inside a call, which is then part of the content.
    pub truncated_call: bool,
}

/// Takes `raw` apart.
///
/// `raw` is decoded with special tokens kept, the token that ended it left out. `prompt_tail` is the
/// end of the rendered prompt (or all of it): a think block that it opens is continued by `raw`.
pub fn parse(family: &Family, raw: &str, prompt_tail: &str) -> Parsed {
    let mut incremental = Incremental::new(family, prompt_tail);
    incremental.push(raw);
    incremental.finish();
    incremental.parsed()
}

/// How a family of models writes tool calls.
#[derive(Debug)]
pub(crate) struct ToolFormat {
    /// The name shown to users.
    pub(crate) name: &'static str,
    /// The text that begins a call.
    pub(crate) open: &'static str,
    /// Whether a chat template teaches this format.
    pub(crate) detect: fn(template: &str) -> bool,
    /// Reads what follows `open`.
    pub(crate) reader: fn() -> Box<dyn Reader>,
}

/// Reads one call, character by character.
pub(crate) trait Reader: Send {
    /// Takes the next character after the format's opening text.
    fn push(&mut self, character: char) -> Step;
}

/// What a character made of a call.
pub(crate) enum Step {
    /// It may still become a call.
    More,
    /// It cannot become a call any more.
    Malformed,
    /// It ended a well-formed call.
    Done(RawCall),
}

/// A call as it was written.
pub(crate) struct RawCall {
    /// The function's name, unescaped.
    pub(crate) name: String,
    /// The arguments' JSON text, untouched.
    pub(crate) arguments: String,
}
