//! Server-sent events, decoded as they arrive, by the rules of the HTML standard, section 9.2.
//!
//! It departs from the standard in two points, since a broken stream must be seen: an event that the end of the stream
//! cuts short is delivered and flagged, and bytes that are no UTF-8 are replaced and flagged.

use crate::backend::{BackendError, Redactor};
use crate::capture::Line;

/// The most bytes of one line; more is an error, so that a server cannot exhaust memory.
pub const LONGEST_LINE: usize = 4 << 20;

/// The most bytes of an answer that are kept in its record; what is over is counted.
pub const KEPT: usize = 1 << 20;

/// What a line costs in a record beyond its text: its time, brackets and quotes.
const LINE_COST: usize = 16;

/// The most faults that are told: a stream of garbage would have one in each line.
const MOST_FAULTS: usize = 16;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Milliseconds since the request was sent, when its last line arrived.
    pub at_ms: f64,
    /// The `event:` field; empty when there is none.
    pub name: String,
    /// The `data:` lines, joined by line breaks.
    pub data: String,
}

/// A decoded stream.
#[derive(Debug, Default, PartialEq)]
pub struct Decoded {
    /// The events, in order. `[DONE]` is an event like any other.
    pub events: Vec<Event>,
    /// The lines with their times, without line breaks, up to [`KEPT`] bytes.
    pub lines: Vec<Line>,
    /// The bytes of lines that are no UTF-8, by their index in `lines`, where they stand with replacements.
    pub raw: Vec<(usize, Vec<u8>)>,
    /// The bytes of lines that were not kept.
    pub cut_bytes: usize,
    /// What is wrong with the framing.
    pub faults: Vec<String>,
}

/// Takes the bytes of a stream in any pieces.
#[derive(Debug)]
pub struct Decoder<'a> {
    redactor: &'a Redactor,
    /// The line that has begun.
    partial: Vec<u8>,
    /// The last byte was a carriage return: a line feed behind it belongs to it.
    after_cr: bool,
    /// Lines so far.
    count: usize,
    kept: usize,
    name: String,
    /// The data of the event that has begun; `None` before its first `data` line.
    data: Option<String>,
    done: Decoded,
}

impl<'a> Decoder<'a> {
    /// A decoder at the start of a stream, which removes secrets from every line before anything else is done with it.
    pub fn new(redactor: &'a Redactor) -> Self {
        Decoder {
            redactor,
            partial: Vec::new(),
            after_cr: false,
            count: 0,
            kept: 0,
            name: String::new(),
            data: None,
            done: Decoded::default(),
        }
    }

    /// Takes the next piece, which arrived `at_ms` milliseconds after the request was sent.
    ///
    /// # Errors
    /// A line is over [`LONGEST_LINE`]. Nothing can be pushed after that, but what came before it is still there.
    pub fn push(&mut self, bytes: &[u8], at_ms: f64) -> Result<(), BackendError> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, ending) = rest.split_at(end);
            self.check_length(line)?;
            if self.partial.is_empty() {
                self.line(line, at_ms);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole, at_ms);
            }
            rest = match ending {
                [b'\r', b'\n', behind @ ..] => behind,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, behind @ ..] => behind,
                [] => &[],
            };
        }
        self.check_length(rest)?;
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// The end of a stream that ended as it should.
    pub fn finish(mut self, at_ms: f64) -> Decoded {
        self.last_line(at_ms, true);
        if self.data.is_some() {
            self.fault("the stream ends inside an event".to_owned());
        }
        self.dispatch(at_ms);
        self.done
    }

    /// The end of a stream that broke off: what has begun is in the record, but makes no event.
    pub fn abandon(mut self, at_ms: f64) -> Decoded {
        self.last_line(at_ms, false);
        self.done
    }

    fn last_line(&mut self, at_ms: f64, whole: bool) {
        let line = std::mem::take(&mut self.partial);
        if line.is_empty() {
            return;
        }
        if whole {
            self.line(&line, at_ms);
        } else {
            let text = self.redactor.scrub_owned(String::from_utf8_lossy(&line).into_owned());
            self.keep(&text, at_ms);
        }
    }

    fn check_length(&self, more: &[u8]) -> Result<(), BackendError> {
        if self.partial.len() + more.len() <= LONGEST_LINE {
            return Ok(());
        }
        let number = self.count + 1;
        let limit = LONGEST_LINE >> 20;
        Err(BackendError::Malformed(format!(
            "line {number} of the event stream is over {limit} MiB"
        )))
    }

    fn line(&mut self, bytes: &[u8], at_ms: f64) {
        self.count += 1;
        let number = self.count;
        let text = String::from_utf8_lossy(bytes);
        let text = match self.redactor.scrub(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(scrubbed) => scrubbed.into(),
        };
        let index = self.done.lines.len();
        let kept = self.keep(&text, at_ms);
        if str::from_utf8(bytes).is_err() {
            self.fault(format!("invalid UTF-8 in line {number}"));
            if kept {
                self.done.raw.push((index, self.redactor.scrub_bytes(bytes.to_vec())));
            }
        }
        let mut field = text.as_ref();
        if number == 1 && bytes.starts_with(BOM) {
            self.fault("the stream begins with a byte order mark".to_owned());
            field = field.trim_start_matches('\u{feff}');
        }
        self.field(field, number, at_ms);
    }

    /// Keeps a line in the record; whether there was room.
    fn keep(&mut self, text: &str, at_ms: f64) -> bool {
        let cost = text.len() + LINE_COST;
        let room = self.done.cut_bytes == 0 && self.kept + cost <= KEPT;
        if room {
            self.kept += cost;
            self.done.lines.push(Line::Timed(at_ms, text.to_owned()));
        } else {
            self.done.cut_bytes += text.len() + 1;
        }
        room
    }

    fn field(&mut self, line: &str, number: usize, at_ms: f64) {
        if line.is_empty() {
            return self.dispatch(at_ms);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // A body that a server wrote into the stream as it is: the standard ignores it, but it is no field.
            _ if name.starts_with(['{', '[', '<']) => {
                let start: String = line.chars().take(80).collect();
                self.fault(format!("line {number} is no field of an event: {start}"));
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, at_ms: f64) {
        let name = std::mem::take(&mut self.name);
        if let Some(data) = self.data.take() {
            self.done.events.push(Event { at_ms, name, data });
        }
    }

    fn fault(&mut self, fault: String) {
        if self.done.faults.len() < MOST_FAULTS {
            self.done.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests;
