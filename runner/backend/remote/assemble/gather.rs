//! A reply as it grows: what its chunks say of the whole, and its choices.

use std::collections::BTreeMap;

use serde_json::Value;

use super::asked::Asked;
use super::faults::{Faults, Place};
use super::growing::{Growing, generated};
use super::take::{self, Object};
use super::{native, usage};
use crate::backend::remote::dialect::Dialect;
use crate::backend::remote::reply::{NoReply, Reply};
use crate::capture::Delta;

/// A reply of which not everything was read. A reply in one piece is a single chunk with messages for deltas.
pub(super) struct Gather<'a> {
    dialect: &'a Dialect,
    asked: Asked,
    pub(super) reply: Reply,
    pub(super) faults: Faults,
    growing: BTreeMap<usize, Growing>,
    usage: usage::Watch,
    /// What `object` has to be.
    object: Option<&'static str>,
    /// Whether the latest chunk holds nothing and names no model.
    pub(super) bare: bool,
}

impl<'a> Gather<'a> {
    pub(super) fn new(dialect: &'a Dialect, asked: Asked) -> Gather<'a> {
        Gather {
            dialect,
            asked,
            reply: Reply::default(),
            faults: Faults::default(),
            growing: BTreeMap::new(),
            usage: usage::Watch::default(),
            object: None,
            bare: false,
        }
    }

    /// The choice with this index.
    pub(super) fn choice(&mut self, index: usize) -> &mut Growing {
        self.growing.entry(index).or_insert_with(|| Growing::new(index))
    }

    /// How many choices there are.
    pub(super) fn count(&self) -> usize {
        self.growing.len()
    }

    /// The first choice of which no event had a delta or a text.
    pub(super) fn untold(&self) -> Option<usize> {
        Some(self.growing.values().find(|choice| !choice.told)?.read.index)
    }

    /// The first choice without a finish reason.
    pub(super) fn unfinished(&self) -> Option<usize> {
        let open = self.growing.values().find(|choice| choice.read.finish_reason.is_none())?;
        Some(open.read.index)
    }

    /// Takes a chunk, or a whole reply; gives the index of a choice that has no message.
    pub(super) fn take(&mut self, mut chunk: Object, place: Place, at_ms: f64) -> Option<usize> {
        let choices = take::list(&mut chunk, "choices");
        let listed = choices.is_some();
        let choices = choices.unwrap_or_default();
        let nameless = chunk.get("model").is_some_and(|model| model == "");
        self.head(&mut chunk, &choices, place);
        let usage = self.take_usage(&mut chunk, place);
        let (empty, mut held) = (choices.is_empty(), usage.is_some());
        let mut without = None;
        for (position, choice) in choices.into_iter().enumerate() {
            let (index, delta) = self.take_choice(choice, position, place);
            let Some(delta) = delta else {
                without = without.or(Some(index));
                continue;
            };
            held |= generated(&delta) || delta.finish_reason.is_some();
            if place != Place::Whole {
                self.choice(index).read.deltas.push(Delta { at_ms, usage, ..delta });
            }
        }
        if empty && usage.is_some() {
            for choice in self.growing.values_mut() {
                choice.read.deltas.push(Delta { at_ms, usage, ..Delta::default() });
            }
        }
        self.bare = nameless && !empty && !held;
        let known = chunk.values().any(|value| !value.is_null());
        native::verbose(&mut chunk, self);
        native::sglext(&mut chunk, self);
        if !listed {
            self.faults.add("choices", place, "there are no `choices`");
        } else if empty && usage.is_none() && !known {
            self.faults.add("empty", place, "it has neither choices nor usage");
        }
        take::rest(chunk, &mut self.reply.native, false);
        without
    }

    /// Reads what stays the same in every chunk.
    fn head(&mut self, chunk: &mut Object, choices: &[Value], place: Place) {
        chunk.shift_remove("created");
        self.check_object(chunk.shift_remove("object"), choices, place);
        let id = take::text(chunk, "id").filter(|id| !id.is_empty());
        if id.is_none() && !self.dialect.quirks.empty_id {
            self.faults.add("no id", place, "the id is missing or empty");
        }
        let model = take::text(chunk, "model").filter(|model| !model.is_empty());
        let print = take::text(chunk, "system_fingerprint").filter(|print| !print.is_empty());
        for (name, first, now) in [
            ("id", &mut self.reply.id, id),
            ("model", &mut self.reply.model, model),
            ("system_fingerprint", &mut self.reply.fingerprint, print),
        ] {
            match (&*first, now) {
                (None, now) => *first = now,
                (Some(before), Some(now)) if *before != now => {
                    let message = format!("the {name} is {now:?} after {before:?}");
                    self.faults.add(name, place, message);
                }
                _ => {}
            }
        }
        if let Some(text) = take::text(chunk, "prompt_text") {
            self.reply.prompt_text = Some(text);
        }
        self.take_prompt_ids(chunk);
    }

    fn check_object(&mut self, object: Option<Value>, choices: &[Value], place: Place) {
        if let (None, Some(choice)) = (self.object, choices.first()) {
            self.object = Some(match place {
                _ if choice.get("text").is_some() => "text_completion",
                Place::Whole => "chat.completion",
                Place::Event(_) => "chat.completion.chunk",
            });
        }
        let Some(expected) = self.object else {
            return;
        };
        let object = object.unwrap_or_default();
        if object != expected {
            let message = format!("`object` is {object}, not {expected:?}");
            self.faults.add("object", place, message);
        }
    }

    /// The ids of the prompt come once. Those of another prompt of the same request stay where they are.
    fn take_prompt_ids(&mut self, object: &mut Object) {
        let Some(ids) = object.get("prompt_token_ids").and_then(take::as_ids) else {
            return;
        };
        if self.reply.prompt_ids.as_ref().is_none_or(|known| *known == ids) {
            object.shift_remove("prompt_token_ids");
            self.reply.prompt_ids = Some(ids);
        }
    }

    fn take_usage(&mut self, chunk: &mut Object, place: Place) -> Option<crate::capture::Usage> {
        let mut told = take::object(chunk, "usage")?;
        let usage = usage::read(&mut told, place, &mut self.faults);
        told.retain(|_, value| !value.is_null());
        if !told.is_empty() {
            self.reply.native.insert("usage".to_owned(), Value::Object(told));
        }
        let usage = usage?;
        self.reply.usage = Some(usage);
        self.usage.take(usage, place, self.asked.running_usage, &mut self.faults);
        Some(usage)
    }

    /// Takes an element of `choices`; gives its index and what it adds.
    fn take_choice(
        &mut self,
        choice: Value,
        position: usize,
        place: Place,
    ) -> (usize, Option<Delta>) {
        let Value::Object(mut choice) = choice else {
            return (position, None);
        };
        let told = take::count(&mut choice, "index");
        if told.is_none() {
            self.faults.add("index", place, "a choice has no `index`");
        }
        let mut index = told.unwrap_or(position);
        if place == Place::Whole && self.growing.contains_key(&index) {
            let message = format!("two choices have the index {index}");
            self.faults.add("index twice", place, message);
            index = (0..).find(|free| !self.growing.contains_key(free)).unwrap_or(index);
        }
        self.take_prompt_ids(&mut choice);
        let growing = self.growing.entry(index).or_insert_with(|| Growing::new(index));
        let delta = growing.take(choice, place, self.dialect, &mut self.faults);
        if delta.is_none() && place != Place::Whole {
            let message = format!("choice {index} has neither delta nor text");
            self.faults.add("delta", place, message);
        }
        (index, delta)
    }

    /// What only the end shows to be missing; `place` is where a fault without a place of its own is.
    fn check_end(&mut self, streamed: bool) {
        let place = Place::Whole;
        if let Some(index) = self.unfinished() {
            let message = format!("choice {index} has no finish reason");
            self.faults.add("no finish", place, message);
        }
        let indices: Vec<usize> = self.growing.keys().copied().collect();
        if let Some(asked) = self.asked.choices
            && indices != (0..asked).collect::<Vec<_>>()
        {
            let message =
                format!("{asked} choices were asked for, those with the indices {indices:?} came");
            self.faults.add("choices asked", place, message);
        }
        if !streamed {
            return;
        }
        if self.asked.usage && self.reply.usage.is_none() {
            self.faults.add("no usage", place, "no event has the usage that was asked for");
        }
        let unasked = self.asked.stream.is_some() && !self.asked.usage;
        if let Some(place) = self.usage.place()
            && unasked
            && !self.dialect.quirks.usage_unasked
        {
            self.faults.add("usage unasked", place, "it has usage that was not asked for");
        }
    }

    /// The reply, once nothing more comes; `before` are faults of the framing.
    ///
    /// # Errors
    /// A part of the reply could not be read.
    pub(super) fn finish(mut self, streamed: bool, before: &[String]) -> Result<Reply, NoReply> {
        self.check_end(streamed);
        let (dialect, faults) = (self.dialect, &mut self.faults);
        let choices = self.growing.into_values();
        self.reply.choices =
            choices.map(|choice| choice.finish(Place::Whole, dialect, faults)).collect();
        if let Some(lost) = self.faults.lost() {
            return Err(NoReply::Malformed(format!("a part of the reply cannot be read: {lost}")));
        }
        self.reply.faults = before.to_vec();
        self.reply.faults.extend(self.faults.into_sentences());
        Ok(self.reply)
    }
}
