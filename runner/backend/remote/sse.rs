//! Server-sent events, decoded as they arrive.

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
