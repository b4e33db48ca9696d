//! A choice as it grows.

use serde_json::Value;

use super::calls::Calls;
use super::faults::{Faults, Place};
use super::take::{self, Object};
use super::{logprobs, native};
use crate::backend::remote::dialect::Dialect;
use crate::backend::remote::reply::Choice;
use crate::capture::Delta;

/// A choice of which not everything was read.
#[derive(Debug, Default)]
pub(super) struct Growing {
    pub(super) read: Choice,
    calls: Calls,
    role: Option<String>,
    /// Whether something that was generated has come.
    begun: bool,
    /// Whether there was a message, a delta or a text.
    pub(super) told: bool,
    /// How many log-probabilities the latest chunk had.
    pub(super) fresh: usize,
}

impl Growing {
    pub(super) fn new(index: usize) -> Growing {
        Growing { read: Choice { index, ..Choice::default() }, ..Growing::default() }
    }

    /// Takes an element of `choices`; gives what it adds, or `None` when it has neither message nor delta nor text.
    pub(super) fn take(
        &mut self,
        mut object: Object,
        place: Place,
        dialect: &Dialect,
        faults: &mut Faults,
    ) -> Option<Delta> {
        let named = if place == Place::Whole { "message" } else { "delta" };
        let message = take::object(&mut object, named);
        let text = take::text(&mut object, "text");
        let told = message.is_some() || text.is_some();
        self.told |= told;
        let mut delta = self.message(message.unwrap_or_default(), place, dialect, faults);
        delta.content = delta.content.or(text);
        delta.finish_reason =
            take::text(&mut object, "finish_reason").filter(|reason| !reason.is_empty());
        let ids = self.evidence(object, place, faults);
        self.check(&delta, ids, place, dialect, faults);
        self.grow(&delta);
        told.then_some(delta)
    }

    /// Reads a message or a delta.
    fn message(
        &mut self,
        mut message: Object,
        place: Place,
        dialect: &Dialect,
        faults: &mut Faults,
    ) -> Delta {
        let content = take::text(&mut message, "content")
            .or_else(|| parts(&message, self.read.index, place, faults));
        let mut reasoning = None;
        for name in dialect.reasoning {
            match take::text(&mut message, name) {
                // Some servers say it twice, under two names.
                Some(text) if reasoning.as_ref().is_none_or(|said| *said == text) => {
                    reasoning = Some(text);
                }
                Some(text) => {
                    message.insert((*name).to_owned(), Value::String(text));
                }
                None => {}
            }
        }
        let role = take::text(&mut message, "role");
        let calls = take::list(&mut message, "tool_calls").unwrap_or_default();
        let tool_calls = self.calls.take(calls, place, faults);
        if let Some(refusal) = take::text(&mut message, "refusal") {
            append(&mut self.read.refusal, &refusal);
        }
        take::rest(message, &mut self.read.native, place != Place::Whole);
        Delta { role, content, reasoning, tool_calls, ..Delta::default() }
    }

    /// Reads what stands beside the message; says whether it has ids of tokens.
    fn evidence(&mut self, mut object: Object, place: Place, faults: &mut Faults) -> bool {
        for key in ["stop_reason", "matched_stop"] {
            if let Some(value) = object.shift_remove(key).filter(|value| !value.is_null()) {
                self.read.stop_reason = Some(value);
            }
        }
        let mut some = false;
        for key in ["token_ids", "response_token_ids"] {
            if let Some(ids) = take::ids(&mut object, key) {
                some |= !ids.is_empty();
                self.read.token_ids.get_or_insert_default().extend(ids);
            }
        }
        match logprobs::read(object.shift_remove("logprobs").unwrap_or_default()) {
            Ok(entries) => {
                self.fresh = entries.len();
                self.read.logprobs.extend(entries);
            }
            Err(other) => {
                faults.add("logprobs", place, "the `logprobs` are in no known shape");
                object.insert("logprobs".to_owned(), other);
            }
        }
        native::meta_info(&mut object, &mut self.read);
        take::rest(object, &mut self.read.native, false);
        some
    }

    fn check(
        &self,
        delta: &Delta,
        ids: bool,
        place: Place,
        dialect: &Dialect,
        faults: &mut Faults,
    ) {
        let index = self.read.index;
        if let Some(reason) = &delta.finish_reason {
            if let Some(before) = &self.read.finish_reason {
                let message = format!("choice {index} finishes again: {reason:?} after {before:?}");
                faults.add("finish twice", place, message);
            }
            if !dialect.finishes.contains(&reason.as_str()) {
                let (name, known) = (dialect.name, dialect.finishes.join(", "));
                let message = format!("the finish reason {reason:?} is none of {name}'s: {known}");
                faults.add("finish word", place, message);
            }
        }
        if self.read.finish_reason.is_some() && (generated(delta) || ids) {
            let message = format!("something of choice {index} comes after its finish reason");
            faults.add("after finish", place, message);
        }
        if let Some(role) = &delta.role {
            self.check_role(role, place, dialect, faults);
        }
    }

    fn check_role(&self, role: &str, place: Place, dialect: &Dialect, faults: &mut Faults) {
        let index = self.read.index;
        match &self.role {
            Some(before) if before != role => {
                let message = format!("the role of choice {index} is {role:?} after {before:?}");
                faults.add("role", place, message);
            }
            None if role != "assistant" => {
                let message = format!("the role of choice {index} is {role:?}, not \"assistant\"");
                faults.add("role", place, message);
            }
            _ if self.begun && !dialect.quirks.role_repeats => {
                let message = format!("the role of choice {index} comes late or again");
                faults.add("role late", place, message);
            }
            _ => {}
        }
    }

    fn grow(&mut self, delta: &Delta) {
        self.begun |= generated(delta);
        if self.role.is_none() {
            self.role.clone_from(&delta.role);
        }
        for (whole, piece) in
            [(&mut self.read.content, &delta.content), (&mut self.read.reasoning, &delta.reasoning)]
        {
            if let Some(piece) = piece {
                append(whole, piece);
            }
        }
        if self.read.finish_reason.is_none() {
            self.read.finish_reason.clone_from(&delta.finish_reason);
        }
    }

    /// The choice, once nothing more comes.
    pub(super) fn finish(self, place: Place, dialect: &Dialect, faults: &mut Faults) -> Choice {
        let mut choice = self.read;
        let (calls, unknown) = self.calls.finish(place, faults);
        choice.tool_calls = calls;
        if !unknown.is_empty() {
            choice.native.insert("tool_calls".to_owned(), Value::Array(unknown));
        }
        (dialect.mend)(&mut choice);
        choice
    }
}

fn append(whole: &mut Option<String>, piece: &str) {
    whole.get_or_insert_default().push_str(piece);
}

/// Whether it carries something that was generated.
pub(super) fn generated(delta: &Delta) -> bool {
    let some = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    some(&delta.content) || some(&delta.reasoning) || !delta.tool_calls.is_empty()
}

/// The texts of a content in parts; the parts themselves stay in the message.
fn parts(message: &Object, index: usize, place: Place, faults: &mut Faults) -> Option<String> {
    let content = message.get("content").filter(|content| !content.is_null())?;
    let message = format!("the content of choice {index} is JSON, not a text");
    let Some(parts) = content.as_array() else {
        faults.add("content lost", place, message);
        return None;
    };
    faults.add("content", place, message);
    let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
    Some(texts.collect())
}
