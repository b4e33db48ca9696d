//! Reasoning that is set apart by tags.

use std::ops::Range;

/// How a family sets reasoning apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinking {
    /// What begins it, at the head of a reply or at the end of the prompt; longer forms first.
    pub(super) opens: &'static [&'static str],
    /// What ends it.
    pub(super) closes: &'static [&'static str],
}

/// The tags that most families use.
pub(super) const THINK: Thinking = Thinking { opens: &["<think>"], closes: &["</think>"] };

/// A family without reasoning.
pub(super) const NO_THINKING: Thinking = Thinking { opens: &[], closes: &[] };

/// What begins or ends a message, so that a tag before it was quoted in an earlier one.
const CONTROL: [&str; 9] = [
    "<|",
    "<｜",
    "]~b]",
    "[e~[",
    "[INST]",
    "[/INST]",
    "<start_of_turn>",
    "<end_of_turn>",
    "<turn|>",
];

/// Where the reasoning of a reply stands.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// Its text, if there is any.
    pub(super) reasoning: Option<Range<usize>>,
    /// Where everything else begins.
    pub(super) body: usize,
    /// Whether its end was seen.
    pub(super) closed: bool,
}

impl Thinking {
    /// Finds the reasoning at the head of `text`, which continues `prompt_tail`.
    pub(super) fn split(self, text: &str, prompt_tail: &str) -> Split {
        let head = text.len() - text.trim_start().len();
        let begins = |open: &&&str| text.get(head..).is_some_and(|text| text.starts_with(**open));
        let start = match self.opens.iter().find(begins) {
            Some(open) => head + open.len(),
            None if self.is_open(prompt_tail) => 0,
            None => return Split { closed: true, ..Split::default() },
        };
        let rest = text.get(start..).unwrap_or_default();
        let close = self.closes.iter().filter_map(|close| Some((rest.find(close)?, close.len())));
        match close.min() {
            Some((length, tag)) => Split {
                reasoning: Some(start..start + length),
                body: start + length + tag,
                closed: true,
            },
            None => Split { reasoning: Some(start..text.len()), body: text.len(), closed: false },
        }
    }

    /// Whether a prompt leaves reasoning open, at its end or before the beginning of an answer.
    fn is_open(self, prompt_tail: &str) -> bool {
        let last = self.opens.iter().filter_map(|open| Some(prompt_tail.rfind(open)? + open.len()));
        let Some(after) = last.max().and_then(|at| prompt_tail.get(at..)) else { return false };
        let has = |texts: &[&str]| texts.iter().any(|text| after.contains(text));
        !has(self.closes) && !has(&CONTROL)
    }
}
