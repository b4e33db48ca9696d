//! A reply that comes as events.

use serde_json::Value;

use super::asked::Asked;
use super::excerpt;
use super::faults::Place;
use super::gather::Gather;
use crate::backend::remote::dialect::Dialect;
use crate::backend::remote::error_body;
use crate::backend::remote::reply::{ErrorBody, NoReply, Reply};
use crate::backend::remote::sse::Event;
use crate::backend::remote::transport::Received;

/// The event that ends a stream.
const DONE: &str = "[DONE]";

/// Puts the events together.
///
/// # Errors
/// An event is an error, or the stream ended too early.
pub(super) fn read(dialect: &Dialect, received: &Received, asked: Asked) -> Result<Reply, NoReply> {
    let mut gather = Gather::new(dialect, asked);
    let mut done = false;
    for (number, event) in (1..).zip(&received.events) {
        let place = Place::Event(number);
        let end = event.data.trim() == DONE;
        match (done, end) {
            (true, true) => gather.faults.add("done twice", place, "[DONE] comes again"),
            (true, false) => gather.faults.add("after done", place, "it comes after [DONE]"),
            (false, true) => done = true,
            (false, false) => take(&mut gather, event, place)?,
        }
    }
    let broke = received.broke.as_ref();
    if gather.count() == 0 || gather.unfinished().is_some() {
        return Err(ended(&gather, received, done));
    }
    if let Some(index) = gather.untold() {
        let begin = received.events.first().map_or("", |event| &event.data);
        return Err(NoReply::Malformed(format!(
            "expected a `delta` or a `text` of choice {index}, but no event has one; the first event: {}",
            excerpt(begin)
        )));
    }
    match (done, broke) {
        (false, Some(broke)) => {
            let message = format!("the stream broke off before [DONE]: {broke}");
            gather.faults.add("no done", Place::Whole, message);
        }
        (true, Some(broke)) => {
            let message = format!("the connection broke after [DONE]: {broke}");
            gather.faults.add("broke", Place::Whole, message);
        }
        (false, None) if !dialect.quirks.no_done => {
            gather.faults.add("no done", Place::Whole, "the stream ends without [DONE]");
        }
        _ => {}
    }
    gather.finish(true, &received.faults)
}

fn take(gather: &mut Gather<'_>, event: &Event, place: Place) -> Result<(), NoReply> {
    let chunk = match serde_json::from_str(&event.data) {
        Ok(Value::Object(chunk)) => chunk,
        Ok(_) => {
            let message = format!("it is JSON, but no object: {}", excerpt(&event.data));
            gather.faults.add("not json", place, message);
            return Ok(());
        }
        Err(e) => {
            let message = format!("it is neither JSON nor [DONE] ({e}): {}", excerpt(&event.data));
            gather.faults.add("not json", place, message);
            return Ok(());
        }
    };
    if let Some(error) = error_body::inside(&chunk) {
        return Err(NoReply::Refused(error));
    }
    if event.name == "error" {
        let error = error_body::read(200, "application/json", event.data.as_bytes());
        return Err(NoReply::Refused(error));
    }
    // Events with another name are no chunks.
    if !["", "message"].contains(&event.name.as_str()) && !chunk.contains_key("choices") {
        gather.reply.native.insert(event.name.clone(), Value::Object(chunk));
        return Ok(());
    }
    gather.take(chunk, place, event.at_ms);
    Ok(())
}

/// Why a stream is no reply when a choice lacks its finish reason.
fn ended(gather: &Gather<'_>, received: &Received, done: bool) -> NoReply {
    let broke = received.broke.as_ref();
    let count = received.events.len();
    if gather.bare && !done && broke.is_none() {
        // Ollama puts the line of an error into the form of a chunk, by which its words are lost.
        let message = format!(
            "the server failed in mid-stream without a word: event {count}, the last one, holds nothing and names no model"
        );
        return NoReply::Refused(ErrorBody { status: 200, message, ..ErrorBody::default() });
    }
    let how = match (broke, done) {
        (Some(broke), _) => format!("broke off ({broke})"),
        (None, true) => "ended with [DONE]".to_owned(),
        (None, false) => "ended without [DONE]".to_owned(),
    };
    let missing = match gather.unfinished() {
        Some(index) => format!("the finish reason of choice {index}"),
        None => "a first chunk with `choices`".to_owned(),
    };
    let last = received.events.iter().rev().find(|event| event.data.trim() != DONE);
    let last = last.map_or("there is none".to_owned(), |event| excerpt(&event.data));
    let message = format!(
        "expected {missing}, but the stream {how} after event {count}; its last event: {last}"
    );
    if done && gather.count() == 0 {
        NoReply::Malformed(message)
    } else {
        NoReply::Incomplete(message)
    }
}
