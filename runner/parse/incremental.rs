//! The parser itself: a machine that takes one character at a time, so that the result cannot depend
//! on how a text was cut into pieces.

use std::collections::VecDeque;

use super::family::{END_THINK, Family, THINK, opens_think};
use super::{Parsed, Reader, Step};
use crate::capture::ToolCallDelta;
use crate::request::ToolCall;

/// Parses a reply while it is generated.
///
/// Text that may still become a delimiter or a call is held back until it is decided. A call is
/// given out when its end was read, since until then it may have to stay content.
pub struct Incremental {
    family: Family,
    state: State,
    /// Characters to take before the next of the input.
    pending: VecDeque<char>,
    /// What may become a delimiter; inside a call, everything after its opening tag.
    held: String,
    /// Spaces before `held` that are dropped when a call follows.
    spaces: String,
    /// Line breaks of the reasoning that are dropped when it ends there.
    breaks: usize,
    /// Whether a think block was closed.
    thought: bool,
    piece: Piece,
    content: String,
    reasoning: String,
    calls: Vec<ToolCall>,
    truncated_call: bool,
}

enum State {
    /// At the start, where a think block may be opened; `true` when the prompt opened it.
    Head(bool),
    Reasoning,
    Content,
    Call(Box<dyn Reader>),
}

/// What became certain: parts of a delta. An empty part is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Piece {
    /// More of the answer's text.
    pub content: String,
    /// More of the reasoning.
    pub reasoning: String,
    /// For each call, first a delta with index, id and name, then one with the arguments.
    pub tool_calls: Vec<ToolCallDelta>,
}

impl Piece {
    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty() && self.reasoning.is_empty() && self.tool_calls.is_empty()
    }
}

impl Incremental {
    /// A parser for one reply to a prompt that ends in `prompt_tail`; see [`super::parse`].
    pub fn new(family: &Family, prompt_tail: &str) -> Self {
        let state = match family.thinks() {
            true => State::Head(opens_think(prompt_tail)),
            false => State::Content,
        };
        Incremental {
            family: *family,
            state,
            pending: VecDeque::new(),
            held: String::new(),
            spaces: String::new(),
            breaks: 0,
            thought: false,
            piece: Piece::default(),
            content: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            truncated_call: false,
        }
    }

    /// Takes the next piece of the text and gives what became certain.
    pub fn push(&mut self, text: &str) -> Piece {
        for character in text.chars() {
            self.pending.push_back(character);
            while let Some(next) = self.pending.pop_front() {
                self.step(next);
            }
        }
        std::mem::take(&mut self.piece)
    }

    /// Ends the text and gives what was held back. Nothing may be pushed after it.
    pub fn finish(&mut self) -> Piece {
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Content) {
            State::Reasoning | State::Head(true) => self.reason(&held),
            State::Head(false) => self.say(&held),
            State::Call(_) => {
                let opens_a_line = self.spaces.contains('\n') || self.content.is_empty();
                self.truncated_call = opens_a_line || !held.trim().is_empty();
                self.say_open();
                self.say(&held);
            }
            State::Content if !held.is_empty() => self.say(&held),
            State::Content if self.calls.is_empty() => self.say(""),
            State::Content => self.spaces.clear(),
        }
        std::mem::take(&mut self.piece)
    }

    /// Everything given out so far, put together.
    pub fn parsed(self) -> Parsed {
        let alone = self.calls.is_empty() && self.reasoning.is_empty();
        Parsed {
            content: Some(self.content).filter(|content| alone || !content.is_empty()),
            reasoning: Some(self.reasoning).filter(|reasoning| !reasoning.is_empty()),
            tool_calls: self.calls,
            truncated_call: self.truncated_call,
        }
    }

    fn step(&mut self, character: char) {
        match self.state {
            State::Head(open) => self.in_head(character, open),
            State::Reasoning => self.in_reasoning(character),
            State::Content => self.in_content(character),
            State::Call(_) => self.in_call(character),
        }
    }

    fn in_head(&mut self, character: char, open: bool) {
        self.held.push(character);
        let tag = self.held.trim_start();
        if tag == THINK {
            self.held.clear();
            self.state = State::Reasoning;
        } else if !THINK.starts_with(tag) {
            self.state = if open { State::Reasoning } else { State::Content };
            self.take_again();
        }
    }

    fn in_reasoning(&mut self, character: char) {
        self.held.push(character);
        if self.held == END_THINK {
            self.held.clear();
            self.thought = true;
            self.state = State::Content;
            return;
        }
        while !END_THINK.starts_with(&self.held) {
            let first = self.held.remove(0);
            self.reason(first.encode_utf8(&mut [0; 4]));
        }
    }

    fn in_content(&mut self, character: char) {
        let Some(format) = self.family.tools() else {
            self.say(character.encode_utf8(&mut [0; 4]));
            return;
        };
        self.held.push(character);
        if self.held == format.open {
            self.held.clear();
            self.state = State::Call((format.reader)());
            return;
        }
        while !format.open.starts_with(&self.held) {
            let first = self.held.remove(0);
            if first.is_whitespace() {
                self.spaces.push(first);
            } else {
                self.say(first.encode_utf8(&mut [0; 4]));
            }
        }
    }

    fn in_call(&mut self, character: char) {
        self.held.push(character);
        let State::Call(reader) = &mut self.state else { return };
        match reader.push(character) {
            Step::More => {}
            Step::Done(call) => {
                self.held.clear();
                self.spaces.clear();
                self.state = State::Content;
                self.call(call.name, call.arguments);
            }
            Step::Malformed => {
                self.state = State::Content;
                self.say_open();
                self.take_again();
            }
        }
    }

    /// Puts what is held back in front of the input, to be judged in the new state.
    fn take_again(&mut self) {
        for character in std::mem::take(&mut self.held).chars().rev() {
            self.pending.push_front(character);
        }
    }

    /// Gives out `text` as reasoning. Line breaks at its two ends belong to the tags, as templates write them.
    fn reason(&mut self, text: &str) {
        for character in text.chars() {
            if character == '\n' {
                self.breaks += 1;
                continue;
            }
            let breaks = std::mem::take(&mut self.breaks);
            if !self.reasoning.is_empty() {
                let breaks = "\n".repeat(breaks);
                self.piece.reasoning.push_str(&breaks);
                self.reasoning.push_str(&breaks);
            }
            self.piece.reasoning.push(character);
            self.reasoning.push(character);
        }
    }

    /// Gives out `text` as content after the spaces before it; spaces that only follow a call, and line breaks that
    /// only follow reasoning, are dropped.
    fn say(&mut self, text: &str) {
        let mut spaces = std::mem::take(&mut self.spaces);
        if !self.calls.is_empty() && self.content.is_empty() {
            spaces.clear();
        }
        let mut text = spaces + text;
        if self.thought && self.content.is_empty() {
            text = text.trim_start_matches('\n').to_owned();
        }
        self.piece.content.push_str(&text);
        self.content.push_str(&text);
    }

    fn say_open(&mut self) {
        let open = self.family.tools().map_or("", |format| format.open);
        self.say(open);
    }

    fn call(&mut self, name: String, arguments: String) {
        let index = self.calls.len();
        let id = format!("call_{index}");
        let head = ToolCallDelta {
            index,
            id: Some(id.clone()),
            name: Some(name.clone()),
            arguments: String::new(),
        };
        let body = ToolCallDelta { index, id: None, name: None, arguments: arguments.clone() };
        self.piece.tool_calls.extend([head, body]);
        self.calls.push(ToolCall { id, name, arguments });
    }
}
