//! Branches: the five ways in which a conversation is driven and what each demands by itself.
//!
//! To add one: a new file, a `mod` line and a line in the registry below.

use schemars::JsonSchema;
use serde::Deserialize;

/// Documentation of a branch.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The word in the spec.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Plain text of a few lines.
    pub help: &'static str,
}

/// How a conversation is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each variant is documented by its `Info`")]
pub enum Branch {
    MultiTurn,
    ToolCall,
    Streaming,
    LongContext,
    Stopping,
}

impl Branch {
    /// All, in order.
    pub const ALL: [Branch; 5] = [
        Branch::MultiTurn,
        Branch::ToolCall,
        Branch::Streaming,
        Branch::LongContext,
        Branch::Stopping,
    ];

    /// The word in the spec.
    pub fn name(self) -> &'static str {
        match self {
            Branch::MultiTurn => "multi_turn",
            Branch::ToolCall => "tool_call",
            Branch::Streaming => "streaming",
            Branch::LongContext => "long_context",
            Branch::Stopping => "stopping",
        }
    }
}
