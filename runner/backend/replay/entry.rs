//! One recorded answer, and the bytes and events that it stands for.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::lines::decode;
use crate::backend::BackendError;
use crate::backend::remote::transport::{Call, Received};
use crate::capture::{Attempt, WireCall, WireRequest, WireResponse};

/// A recorded answer with what it answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    /// Where it stands, for messages: `line 2`.
    pub(super) place: String,
    /// The case that it belongs to.
    pub(super) case: Option<String>,
    /// The index in the case's turns.
    pub(super) turn: Option<usize>,
    /// What the request must be, as far as the recording says.
    pub(super) request: Wanted,
    /// What came back.
    pub(super) response: Option<WireResponse>,
    /// How often it was asked for.
    pub(super) attempts: Vec<Attempt>,
    /// How it ended early.
    pub(super) fault: Option<Fault>,
}

/// What a recording says about a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) method: Option<String>,
    pub(super) path: Option<String>,
    /// Every field that is named here must be equal.
    pub(super) body: Option<Value>,
}

/// How an answer ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection closes.
    Cut,
    /// Nothing more comes. Nobody waits for it here.
    Stall,
    /// As it was kept.
    Kept(BackendError),
}

impl Entry {
    /// Whether it is recorded as an event stream.
    pub(super) fn is_stream(&self) -> bool {
        self.response.as_ref().is_some_and(|response| content_type(response) == "text/event-stream")
    }

    /// The answer to a call.
    pub(super) fn answer(&self, call: &Call<'_>) -> Received {
        let mut broke = self.fault.as_ref().map(|fault| fault.error(&self.place, call.timeout));
        let mut attempts = self.attempts.clone();
        let mut received = match &self.response {
            Some(response) => self.body(response, &mut broke),
            None => nothing(),
        };
        if attempts.is_empty() {
            let outcome = match &broke {
                Some(error) => error.to_string(),
                None => received.status.to_string(),
            };
            attempts.push(Attempt { outcome, waited_ms: 0.0 });
        }
        received.wire = record(call);
        received.wire.response.clone_from(&self.response);
        received.wire.attempts = attempts;
        received.wire.broke = broke.as_ref().map(ToString::to_string);
        received.broke = broke;
        received
    }

    fn body(&self, response: &WireResponse, broke: &mut Option<BackendError>) -> Received {
        let mut received = nothing();
        received.status = response.status;
        received.content_type = content_type(response);
        let pieces = pieces(response);
        if let Some(cut) = response.cut_bytes {
            let why = format!("the record ends here: {cut} bytes more were not kept");
            broke.get_or_insert(BackendError::Incomplete(why));
        }
        if received.is_stream() {
            let decoded = decode(&pieces, broke.is_none());
            (received.events, received.faults) = (decoded.events, decoded.faults);
        } else {
            received.body = pieces.into_iter().flat_map(|(_, bytes)| bytes).collect();
        }
        received
    }
}

impl Fault {
    fn error(&self, place: &str, timeout: Option<Duration>) -> BackendError {
        match self {
            Fault::Cut => {
                BackendError::Incomplete(format!("the recording cuts the answer ({place})"))
            }
            Fault::Stall => BackendError::Timeout(
                format!("the recording stalls ({place}): no complete answer"),
                timeout.unwrap_or_default().as_millis(),
            ),
            Fault::Kept(error) => error.clone(),
        }
    }
}

/// A call to which nothing answers, and why.
pub(super) fn refused(call: &Call<'_>, error: BackendError) -> Received {
    let mut received = nothing();
    received.wire = record(call);
    received.wire.broke = Some(error.to_string());
    received.broke = Some(error);
    received
}

/// A call that gets this status and this message.
pub(super) fn status(call: &Call<'_>, status: u16, message: &str) -> Received {
    let body = serde_json::json!({ "error": { "message": message } });
    let response = WireResponse {
        status,
        headers: [("content-type".to_owned(), "application/json".to_owned())].into(),
        body: to_raw_value(&body).ok(),
        text: None,
        sse: None,
        chunks_base64: None,
        cut_bytes: None,
    };
    let response = Some(response);
    Entry { response, ..Entry::default() }.answer(call)
}

fn nothing() -> Received {
    Received {
        wire: WireCall {
            purpose: String::new(),
            request: WireRequest { method: String::new(), path: String::new(), body: None },
            response: None,
            attempts: Vec::new(),
            broke: None,
        },
        status: 0,
        content_type: String::new(),
        body: Vec::new(),
        events: Vec::new(),
        faults: Vec::new(),
        broke: None,
    }
}

/// The record of a call, before its answer.
fn record(call: &Call<'_>) -> WireCall {
    let mut wire = nothing().wire;
    call.purpose.clone_into(&mut wire.purpose);
    method(call).clone_into(&mut wire.request.method);
    wire.request.path.clone_from(&call.path);
    wire.request.body = call.body.as_ref().and_then(|body| to_raw_value(body).ok());
    wire
}

pub(super) fn method(call: &Call<'_>) -> &'static str {
    if call.body.is_some() { "POST" } else { "GET" }
}

/// The bytes of the answer in pieces, each with the milliseconds at which it arrived.
fn pieces(response: &WireResponse) -> Vec<(f64, Vec<u8>)> {
    if let Some(body) = &response.body {
        return vec![(0.0, body.get().as_bytes().to_vec())];
    }
    if let Some(text) = &response.text {
        return vec![(0.0, text.as_bytes().to_vec())];
    }
    if let Some(lines) = &response.sse {
        let line =
            |line: &crate::capture::Line| (line.at_ms(), format!("{}\n", line.text()).into_bytes());
        return lines.iter().map(line).collect();
    }
    // Whatever is no base64 was refused when the recording was read.
    let chunks = response.chunks_base64.iter().flatten();
    chunks.map(|chunk| (0.0, STANDARD.decode(chunk).unwrap_or_default())).collect()
}

/// The media type: what the header says, else what the body looks like.
pub(super) fn content_type(response: &WireResponse) -> String {
    let named = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if let Some((_, value)) = named {
        return value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    }
    if response.body.is_some() {
        return "application/json".to_owned();
    }
    if response.sse.is_some() {
        return "text/event-stream".to_owned();
    }
    if response.text.is_some() {
        return "text/plain".to_owned();
    }
    let first = pieces(response).into_iter().next().map(|(_, bytes)| bytes).unwrap_or_default();
    let starts = |word: &str| first.starts_with(word.as_bytes());
    if starts("data:") || starts("event:") || starts(":") {
        "text/event-stream".to_owned()
    } else if starts("{") || starts("[") {
        "application/json".to_owned()
    } else {
        String::new()
    }
}
