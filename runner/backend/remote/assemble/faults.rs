//! What is wrong with the form of a reply, collected as it is read.

use std::fmt;

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a reply that came in one piece.
    Whole,
    /// In an event of a stream, counted from 1.
    Event(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Event(number) => write!(f, "event {number}: "),
        }
    }
}

/// Faults in the order in which they were found. Of each kind only the first is kept, with the number of the others: a
/// fault that every event repeats is one fault.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

#[derive(Debug)]
struct Fault {
    kind: &'static str,
    message: String,
    more: usize,
}

impl Faults {
    /// Adds one; `kind` tells which are the same.
    pub(super) fn add(&mut self, kind: &'static str, place: Place, message: impl fmt::Display) {
        match self.0.iter_mut().find(|fault| fault.kind == kind) {
            Some(fault) => fault.more += 1,
            None => self.0.push(Fault { kind, message: format!("{place}{message}"), more: 0 }),
        }
    }

    /// The first by which something of the reply was lost, so that what is left must not be judged.
    pub(super) fn lost(&self) -> Option<&str> {
        const LOSSES: [&str; 3] = ["not json", "call", "content lost"];
        let lost = self.0.iter().find(|fault| LOSSES.contains(&fault.kind));
        lost.map(|fault| fault.message.as_str())
    }

    /// The sentences.
    pub(super) fn into_sentences(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|fault| match fault.more {
            0 => fault.message,
            more => format!("{} (and {more} more like it)", fault.message),
        })
    }
}
