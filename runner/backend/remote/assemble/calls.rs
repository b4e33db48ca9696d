//! Tool calls, put together by their index.

use serde_json::Value;

use super::faults::{Faults, Place};
use super::take::{self, Object};
use crate::capture::ToolCallDelta;
use crate::request::ToolCall;
use crate::text::{clip, quote};

/// The calls of one choice. The first id and the first name that are not empty hold; arguments are joined; nothing is
/// merged by guess.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// In order of their beginning.
    begun: Vec<(usize, ToolCall)>,
    /// The latest piece's.
    last: usize,
    /// What nobody knows of a call.
    unknown: Vec<Value>,
}

impl Calls {
    /// Takes the calls of a message or the pieces of a delta, and gives the pieces.
    pub(super) fn take(
        &mut self,
        items: Vec<Value>,
        place: Place,
        faults: &mut Faults,
    ) -> Vec<ToolCallDelta> {
        let mut pieces = Vec::new();
        for (position, item) in items.into_iter().enumerate() {
            let Value::Object(object) = item else {
                let excerpt = quote(&clip(&item.to_string(), 80));
                faults.add("call", place, format_args!("a tool call is no object: {excerpt}"));
                continue;
            };
            let piece = self.piece(object, position, place, faults);
            self.join(&piece, place, faults);
            pieces.push(piece);
        }
        pieces
    }

    fn piece(
        &mut self,
        mut object: Object,
        position: usize,
        place: Place,
        faults: &mut Faults,
    ) -> ToolCallDelta {
        let told = take::count(&mut object, "index");
        if told.is_none() && place != Place::Whole {
            faults.add("call index", place, "a piece of a tool call has no `index`");
        }
        let index = if place == Place::Whole { position } else { told.unwrap_or(position) };
        if let Some(kind) = take::text(&mut object, "type").filter(|kind| kind != "function") {
            faults.add("call type", place, format_args!("call {index} is of the type {kind:?}"));
        }
        let id = take::text(&mut object, "id").filter(|id| !id.is_empty());
        let mut function = take::object(&mut object, "function").unwrap_or_default();
        let name = take::text(&mut function, "name").filter(|name| !name.is_empty());
        let arguments = match function.shift_remove("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(arguments)) => arguments,
            Some(other) => {
                let message = format!("the arguments of call {index} are JSON, not JSON in a text");
                faults.add("call arguments", place, message);
                other.to_string()
            }
        };
        object.extend(function);
        object.retain(|_, value| !value.is_null());
        if !object.is_empty() {
            self.unknown.push(Value::Object(object));
        }
        ToolCallDelta { index, id, name, arguments }
    }

    fn join(&mut self, piece: &ToolCallDelta, place: Place, faults: &mut Faults) {
        let index = piece.index;
        let due = self.begun.len();
        let call = match self.begun.iter().position(|(begun, _)| *begun == index) {
            Some(position) => &mut self.begun[position].1,
            None => {
                if index != due {
                    let message = format!("call {index} begins where call {due} was due");
                    faults.add("call order", place, message);
                }
                let call =
                    ToolCall { id: String::new(), name: String::new(), arguments: String::new() };
                self.begun.push((index, call));
                self.last = self.last.max(index);
                &mut self.begun[due].1
            }
        };
        if index < self.last {
            let message = format!("a piece of call {index} comes after call {} began", self.last);
            faults.add("call late", place, message);
        }
        if let Some(id) = &piece.id {
            if call.id.is_empty() {
                call.id.clone_from(id);
            } else if call.id != *id {
                let message = format!("call {index} has the id {id:?} after {:?}", call.id);
                faults.add("call id", place, message);
            }
        }
        if let Some(name) = &piece.name {
            if !call.name.is_empty() {
                let message = format!("call {index} has the name {name:?} after {:?}", call.name);
                faults.add("call name", place, message);
            } else {
                if !call.arguments.is_empty() {
                    let message = format!("the arguments of call {index} begin before its name");
                    faults.add("call name late", place, message);
                }
                call.name.clone_from(name);
            }
        }
        call.arguments.push_str(&piece.arguments);
    }

    /// The calls in the order of their indices, and what nobody knows of them.
    pub(super) fn finish(
        mut self,
        place: Place,
        faults: &mut Faults,
    ) -> (Vec<ToolCall>, Vec<Value>) {
        self.begun.sort_by_key(|(index, _)| *index);
        for (position, (index, call)) in self.begun.iter().enumerate() {
            if call.id.is_empty() {
                faults.add("call without id", place, format_args!("call {index} has no id"));
            }
            if call.name.is_empty() {
                faults.add("call without name", place, format_args!("call {index} has no name"));
            }
            let earlier = self.begun[..position].iter().find(|(_, other)| other.id == call.id);
            if let Some((earlier, _)) = earlier.filter(|_| !call.id.is_empty()) {
                let message = format!("calls {earlier} and {index} have the same id {:?}", call.id);
                faults.add("call ids", place, message);
            }
        }
        (self.begun.into_iter().map(|(_, call)| call).collect(), self.unknown)
    }
}
