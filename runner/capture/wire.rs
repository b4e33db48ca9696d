//! The HTTP calls behind an exchange, as they went: enough to judge them, and to answer them, again.
//!
//! The stored form is that of a recording, so evidence is a recording. Secrets are removed before a call gets here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The purpose of the call that asks for the reply itself.
pub const CHAT: &str = "chat";

/// One HTTP call with every attempt at it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireCall {
    /// Why it was made: `chat`, `prompt ids`, `settings`, `probe` ….
    #[serde(default)]
    pub purpose: String,
    /// What was sent.
    pub request: WireRequest,
    /// What came back; `None` when nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<WireResponse>,
    /// Every attempt, the last one being the one that `response` belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// What ended the last attempt early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke: Option<String>,
}

/// What was sent. Header values are not kept: they hold keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireRequest {
    /// `GET` or `POST`.
    #[serde(default = "post")]
    pub method: String,
    /// The path below the server's root, such as `/v1/chat/completions`.
    pub path: String,
    /// The body, byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
}

fn post() -> String {
    "POST".to_owned()
}

/// What came back. One of the four bodies is there; none stands for an empty one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireResponse {
    /// The HTTP status.
    #[serde(default = "ok")]
    pub status: u16,
    /// The headers that say something about the answer; `content-type` above all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A JSON body, byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
    /// A body that is no JSON, or JSON over several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The lines of an event stream, without their line breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse: Option<Vec<Line>>,
    /// The body in the pieces in which it arrived, each in base64: for bytes that are no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks_base64: Option<Vec<String>>,
    /// How many bytes beyond the cap were left out of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_bytes: Option<usize>,
}

fn ok() -> u16 {
    200
}

/// A line of an event stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// Milliseconds since the request was sent, and the line.
    Timed(f64, String),
    /// The line alone, as people write it.
    Plain(String),
}

impl Line {
    /// The line.
    pub fn text(&self) -> &str {
        match self {
            Line::Timed(_, text) | Line::Plain(text) => text,
        }
    }

    /// When it arrived, in milliseconds since the request was sent; 0 where nobody measured it.
    pub fn at_ms(&self) -> f64 {
        match self {
            Line::Timed(at_ms, _) => *at_ms,
            Line::Plain(_) => 0.0,
        }
    }
}

/// One attempt at a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The status, or what went wrong, such as `connection refused`.
    pub outcome: String,
    /// How long was waited before it, in milliseconds.
    #[serde(default)]
    pub waited_ms: f64,
}

impl WireCall {
    /// Whether the first attempt was answered and needed no other.
    pub fn first_attempt(&self) -> bool {
        self.attempts.len() <= 1
    }
}

impl PartialEq for WireCall {
    /// By the stored form: raw JSON has no equality of its own.
    fn eq(&self, other: &Self) -> bool {
        matches!((serde_json::to_string(self), serde_json::to_string(other)), (Ok(a), Ok(b)) if a == b)
    }
}
