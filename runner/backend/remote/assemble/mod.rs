//! From what came back to a reply, by pure functions.
//!
//! Everything is read leniently and kept: what has a meaning in [`Reply`] is moved there, what has none stays under its own
//! name in `native`, and what breaks a rule of the API is said in `faults`. A streamed reply and one in one piece go
//! through the same code.

mod asked;
mod calls;
mod faults;
mod gather;
mod growing;
mod logprobs;
mod native;
mod stream;
mod take;
#[cfg(test)]
mod tests;
mod usage;

use serde_json::Value;

use self::asked::Asked;
use self::faults::Place;
use self::gather::Gather;
use super::dialect::Dialect;
use super::error_body;
use super::reply::{NoReply, Reply};
use super::transport::Received;
use crate::text::{clip, quote};

/// Reads the answer to a chat completion or a completion, streamed or not.
///
/// A JSON body where a stream was asked for is a reply like any other, without deltas. Choices are mended by the dialect.
///
/// # Errors
/// The server refused, what came is no reply, or it ended too early.
pub fn chat(dialect: &Dialect, received: &Received) -> Result<Reply, NoReply> {
    let asked = Asked::read(&received.wire.request);
    match received.status {
        0 => Err(nothing(received)),
        200..=299 if received.is_stream() && asked.stream == Some(false) => {
            let begin = received.events.first().map_or("", |event| &event.data);
            Err(NoReply::Malformed(format!(
                "expected application/json, as no stream was asked for, but got an event stream; its first event: {}",
                excerpt(begin)
            )))
        }
        200..=299 if received.is_stream() => stream::read(dialect, received, asked),
        200..=299 => whole(dialect, received, asked),
        _ => Err(NoReply::Refused(refusal(received))),
    }
}

fn nothing(received: &Received) -> NoReply {
    let why = received.broke.as_ref().map_or("nobody says why".to_owned(), ToString::to_string);
    NoReply::Incomplete(format!("expected an answer, but nothing came back: {why}"))
}

fn refusal(received: &Received) -> super::reply::ErrorBody {
    let event = received.events.first().map(|event| event.data.as_bytes());
    let body = if received.body.is_empty() { event.unwrap_or_default() } else { &received.body };
    error_body::read(received.status, &received.content_type, body)
}

fn whole(dialect: &Dialect, received: &Received, asked: Asked) -> Result<Reply, NoReply> {
    let kind = match received.content_type.as_str() {
        "" => "a body without content type",
        kind => kind,
    };
    let body = String::from_utf8_lossy(&received.body);
    if let Some(broke) = &received.broke {
        let message = format!(
            "expected a whole body, but it broke off: {broke}; it begins with {}",
            excerpt(&body)
        );
        return Err(NoReply::Incomplete(message));
    }
    let malformed = |what: &str| {
        Err(NoReply::Malformed(format!("expected {what}, but got {kind}: {}", excerpt(&body))))
    };
    let object = match serde_json::from_slice(&received.body) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return malformed("a JSON object"),
        Err(_) if received.body.is_empty() => return malformed("a JSON body"),
        Err(e) => return malformed(&format!("JSON ({e})")),
    };
    if let Some(error) = error_body::inside(&object) {
        return Err(NoReply::Refused(error));
    }
    if object.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        return malformed("`choices` with at least one choice");
    }
    let mut gather = Gather::new(dialect, asked);
    if let Some(index) = gather.take(object, Place::Whole, 0.0) {
        return malformed(&format!("a `message` or a `text` in choice {index}"));
    }
    if kind != "application/json" && !kind.ends_with("+json") {
        return malformed("the content type application/json");
    }
    gather.finish(false, &received.faults)
}

/// The beginning of what came, on one line.
fn excerpt(text: &str) -> String {
    quote(&clip(text, 200))
}
