//! Hermes 2 and 3, Qwen2.5, Qwen3 and kin: one JSON object between `<tool_call>` tags per call.

use serde_json::Value;

use super::json::{ObjectScanner, Progress};
use super::{RawCall, Reader, Step, ToolFormat};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

pub(super) const FORMAT: ToolFormat =
    ToolFormat { name: "hermes", open: OPEN, detect, reader: || Box::new(Call::default()) };

/// Qwen3-Coder and GLM use the same tags around other texts.
fn detect(template: &str) -> bool {
    template.contains(OPEN) && !template.contains("<function=") && !template.contains("<arg_key>")
}

#[derive(Default)]
struct Call {
    object: ObjectScanner,
    closed: bool,
    /// What was read of the closing tag.
    tag: String,
}

impl Reader for Call {
    fn push(&mut self, character: char) -> Step {
        let is_outside = self.object.text.is_empty() || (self.closed && self.tag.is_empty());
        if is_outside && character.is_whitespace() {
            return Step::More;
        }
        if !self.closed {
            return match self.object.push(character) {
                Progress::More => Step::More,
                Progress::Malformed => Step::Malformed,
                Progress::Done => {
                    self.closed = true;
                    if self.call().is_some() { Step::More } else { Step::Malformed }
                }
            };
        }
        self.tag.push(character);
        if self.tag == CLOSE {
            return self.call().map_or(Step::Malformed, Step::Done);
        }
        if CLOSE.starts_with(&self.tag) { Step::More } else { Step::Malformed }
    }
}

impl Call {
    /// The call, if the object is one: a name, an object of arguments, each given once.
    fn call(&self) -> Option<RawCall> {
        let text = &self.object.text;
        let value: Value = serde_json::from_str(text).ok()?;
        let name = value.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
        value.get("arguments")?.as_object()?;
        self.member("name")?;
        let arguments = self.member("arguments")?.to_owned();
        Some(RawCall { name, arguments })
    }

    /// The text of a member's value, if there is exactly one of this key.
    fn member(&self, key: &str) -> Option<&str> {
        let is_key =
            |text: &str| serde_json::from_str::<String>(text).is_ok_and(|text| text == key);
        let mut found = self.object.members.iter().filter(|(text, _)| is_key(text));
        let (_, at) = found.next()?;
        if found.next().is_some() { None } else { self.object.text.get(at.clone()) }
    }
}
