//! Why a generation ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a generation ended, derived from the evidence beside the server's own word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Termination {
    /// An end id of the model.
    Eos(u32),
    /// A stop id of the request.
    StopToken(u32),
    /// A stop string of the request.
    StopString(String),
    /// The cap of the request or of the server.
    LengthMaxTokens,
    /// The model's context was full.
    LengthContext,
    /// Cancelled, timed out or broken off, and why.
    Aborted(String),
    /// The server's content filter.
    ContentFilter,
    /// A non-finite logit or an id outside the vocabulary.
    NumericalFault,
    /// The stream ended without saying so.
    IncompleteStream,
    /// The server said `stop` and nothing more is known.
    StopUnspecified,
    /// The server said something else, or nothing, and nothing more is known.
    Unknown,
}

impl Termination {
    /// The class alone, as specs name it: `eos`, `stop_string`, `length` ….
    pub fn class(&self) -> &'static str {
        match self {
            Termination::Eos(_) => "eos",
            Termination::StopToken(_) => "stop_token",
            Termination::StopString(_) => "stop_string",
            Termination::LengthMaxTokens | Termination::LengthContext => "length",
            Termination::Aborted(_) => "aborted",
            Termination::ContentFilter => "content_filter",
            Termination::NumericalFault => "numerical_fault",
            Termination::IncompleteStream => "incomplete_stream",
            Termination::StopUnspecified => "stop_unspecified",
            Termination::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Termination::Eos(id) => write!(f, "eos({id})"),
            Termination::StopToken(id) => write!(f, "stop_token({id})"),
            Termination::StopString(text) => write!(f, "stop_string({text:?})"),
            Termination::LengthMaxTokens => f.write_str("length(max_tokens)"),
            Termination::LengthContext => f.write_str("length(context)"),
            Termination::Aborted(why) => write!(f, "aborted({why})"),
            other => f.write_str(other.class()),
        }
    }
}
