//! Which markup a model writes, judged by its chat template and by the end of the prompt.

use super::{FORMATS, ToolFormat};

pub(super) const THINK: &str = "<think>";
pub(super) const END_THINK: &str = "</think>";

/// The markup that a model's replies are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// No markup: every text is content.
    Plain,
    /// Tool calls, think blocks or both.
    Marked(Markup),
}

/// The parts of a reply that are set apart by markup.
#[derive(Debug, Clone, Copy)]
pub struct Markup {
    pub(super) tools: Option<&'static ToolFormat>,
    pub(super) thinks: bool,
}

impl Family {
    /// The family that the text of a chat template stands for.
    pub fn detect(template: &str) -> Family {
        let tools = FORMATS.into_iter().find(|format| (format.detect)(template));
        let thinks = template.contains(THINK) || template.contains(END_THINK);
        if tools.is_none() && !thinks {
            return Family::Plain;
        }
        Family::Marked(Markup { tools, thinks })
    }

    /// The same family for a request that offers no tools: servers then look for no calls.
    pub fn without_tools(self) -> Family {
        match self {
            Family::Marked(Markup { thinks: true, .. }) => {
                Family::Marked(Markup { tools: None, thinks: true })
            }
            _ => Family::Plain,
        }
    }

    /// The name of the tool-call format, such as `hermes`.
    pub fn tool_format(self) -> Option<&'static str> {
        self.tools().map(|format| format.name)
    }

    pub(super) fn tools(self) -> Option<&'static ToolFormat> {
        match self {
            Family::Plain => None,
            Family::Marked(markup) => markup.tools,
        }
    }

    pub(super) fn thinks(self) -> bool {
        matches!(self, Family::Marked(Markup { thinks: true, .. }))
    }
}

impl PartialEq for Markup {
    fn eq(&self, other: &Self) -> bool {
        let name = |markup: &Markup| markup.tools.map(|format| format.name);
        self.thinks == other.thinks && name(self) == name(other)
    }
}

impl Eq for Markup {}

/// Whether the prompt leaves a think block open, at its end or before a partial answer.
pub(super) fn opens_think(prompt_tail: &str) -> bool {
    // A control token after the tag means that the tag was quoted in an earlier message.
    prompt_tail
        .rsplit_once(THINK)
        .is_some_and(|(_, after)| !after.contains(END_THINK) && !after.contains("<|"))
}
