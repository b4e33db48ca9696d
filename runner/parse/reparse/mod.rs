//! Stored raw text, taken apart again under the strict reading of its family's format.
//!
//! A server's parse can be judged only against what the text itself says, so this reading coerces
//! nothing, drops nothing and guesses nothing: whatever breaks the format is a [`Defect`] that keeps
//! its text. Own code, because the crates at hand (`openai-harmony`, `tool-parser`, `dynamo-parsers`)
//! need downloaded vocabularies, re-serialise arguments, or turn a broken call into content without a
//! word. To read another format, add one file below `format/` and one line in its registry.

mod arguments;
mod defect;
mod format;
mod json;
mod objects;
mod python;
mod scan;
mod schema;
mod tags;
mod template;
mod thinking;

#[cfg(test)]
mod tests;

pub use defect::{Defect, DefectKind};
pub use format::{Format, by_name, detect, formats};
pub use template::{ResponseTemplate, TemplateError};

use serde_json::Value;

use scan::Scan;

/// What a raw text says under the strict reading of its family's format.
///
/// Texts are exact: neither the spaces around markup nor those at the ends are trimmed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reparsed {
    /// Everything before the first call that is not reasoning.
    pub content: String,
    /// The text of the reasoning; `None` when there is none or it is blank.
    pub reasoning: Option<String>,
    /// The calls whose name and arguments are complete, in order.
    pub calls: Vec<RawCall>,
    /// Everything after the last call; empty when it is blank.
    pub trailing: String,
    /// What breaks the format, in the order of the text.
    pub defects: Vec<Defect>,
}

/// A call as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCall {
    /// The function's name, unescaped.
    pub name: String,
    /// The arguments as a JSON object: the source text where the family writes JSON, else written
    /// from the values' source texts, with `", "` and `": "` between them.
    pub arguments: String,
    /// The id that the model wrote, in families that have one.
    pub id: Option<String>,
    /// Whether the call's own end (and its region's) was seen, or a token that ends a tool turn.
    pub closed: bool,
    /// Arguments written as plain text whose declared type admits a string and something else;
    /// they were kept as strings.
    pub ambiguous: Vec<String>,
}

/// Takes `raw` apart.
///
/// `raw` is decoded with special tokens kept, the token that ended it included where it is known.
/// `prompt_tail` is the end of the rendered prompt (or all of it), whose open reasoning `raw`
/// continues. `tools` are the offered definitions in OpenAI form; they type arguments that a family
/// writes as plain text.
pub fn reparse(format: &Format, raw: &str, prompt_tail: &str, tools: &[Value]) -> Reparsed {
    let (text, end) = format.without_end(raw);
    let mut scan = Scan::new(text, end, prompt_tail, tools);
    format.read(&mut scan);
    scan.finish()
}

/// What a model's texts are read by.
#[derive(Debug)]
pub enum Grammar {
    /// The format that its chat template teaches.
    Format(&'static Format),
    /// The `response_template` that its checkpoint brings along, which counts more.
    Template(ResponseTemplate),
}

impl Grammar {
    /// The grammar of a checkpoint with these templates, if it has one that is known.
    ///
    /// # Errors
    ///
    /// When there is a response template and it is none.
    pub fn of(
        chat_template: &str,
        response_template: Option<&Value>,
    ) -> Result<Option<Grammar>, TemplateError> {
        match response_template {
            Some(object) => ResponseTemplate::load(object).map(|own| Some(Grammar::Template(own))),
            None => Ok(detect(chat_template).map(Grammar::Format)),
        }
    }

    /// Takes `raw` apart; the arguments are those of [`reparse`].
    pub fn reparse(&self, raw: &str, prompt_tail: &str, tools: &[Value]) -> Reparsed {
        match self {
            Grammar::Format(format) => reparse(format, raw, prompt_tail, tools),
            Grammar::Template(template) => template.reparse(raw, prompt_tail, tools),
        }
    }
}

/// [`reparse`] for a text that arrives in pieces.
///
/// It is read when it is complete, so the result cannot depend on how it was cut.
#[derive(Debug, Clone)]
pub struct Reparser<'a> {
    format: &'a Format,
    prompt_tail: String,
    tools: Vec<Value>,
    raw: String,
}

impl<'a> Reparser<'a> {
    /// A reader of one reply; the arguments are those of [`reparse`].
    pub fn new(format: &'a Format, prompt_tail: &str, tools: &[Value]) -> Reparser<'a> {
        Reparser {
            format,
            prompt_tail: prompt_tail.to_owned(),
            tools: tools.to_vec(),
            raw: String::new(),
        }
    }

    /// Takes the next piece of the text.
    pub fn push(&mut self, piece: &str) {
        self.raw.push_str(piece);
    }

    /// What the whole text says.
    pub fn finish(self) -> Reparsed {
        reparse(self.format, &self.raw, &self.prompt_tail, &self.tools)
    }
}
