//! How a call gets to a server and back: over HTTP, or from a recording.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use super::sse::Event;
use crate::backend::BackendError;
use crate::capture::WireCall;

/// What is received, to come.
pub type Receiving<'a> = Pin<Box<dyn Future<Output = Received> + Send + 'a>>;

/// Carries calls.
pub trait Transport: Send + Sync {
    /// Makes one call, again where a transport failure allows it. It never fails: what went wrong is in
    /// [`Received::broke`], beside what had arrived by then.
    fn call<'a>(&'a self, call: Call<'a>) -> Receiving<'a>;

    /// The server's root, without user, password and query.
    fn address(&self) -> &str;

    /// A text without secrets. What is received holds none, but a text that is put together from pieces can.
    fn scrub(&self, text: String) -> String {
        text
    }
}

/// A call to make.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Why: `chat`, `prompt ids`, `settings`, `probe` ….
    pub purpose: &'static str,
    /// Whether to send a body with `POST`, or nothing with `GET`.
    pub body: Option<Value>,
    /// The path below the server's root, such as `/v1/chat/completions`.
    pub path: String,
    /// The time that all attempts together may take; the target's idle timeout when nothing is given.
    pub timeout: Option<Duration>,
    /// The case and turn that cause it, by which a recording finds its answer; `None` for probes.
    pub origin: Option<(&'a str, usize)>,
}

/// What came back, and the record of it.
#[derive(Debug, Clone)]
pub struct Received {
    /// The record, secrets removed and cut to the cap.
    pub wire: WireCall,
    /// The status of the last attempt; 0 when nothing came back.
    pub status: u16,
    /// The media type without parameters, in lower case; empty when none was sent.
    pub content_type: String,
    /// The whole body, when it is no event stream.
    pub body: Vec<u8>,
    /// The events, when it is an event stream.
    pub events: Vec<Event>,
    /// What is wrong with the framing of the event stream, though it could be read.
    pub faults: Vec<String>,
    /// What ended it early.
    pub broke: Option<BackendError>,
}

impl Received {
    /// Whether a complete answer with a status of success came back.
    pub fn is_success(&self) -> bool {
        self.broke.is_none() && (200..300).contains(&self.status)
    }

    /// Whether it is an event stream.
    pub fn is_stream(&self) -> bool {
        self.content_type == "text/event-stream"
    }

    /// The body as JSON, when it is a success and JSON.
    pub fn json(&self) -> Option<Value> {
        if self.is_success() { serde_json::from_slice(&self.body).ok() } else { None }
    }
}
