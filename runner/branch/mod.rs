//! Branches: the ways in which a conversation is driven, and what each demands by itself.
//!
//! Each is one file with its help and its rules. To add one: a new file, a `mod` line and a line in the
//! registry below; the spec reader, `explain`, the JSON Schema and the README table follow.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;

pub mod form;
mod long_context;
mod multi_turn;
mod stopping;
mod streaming;
mod tool_call;

/// Documentation of a branch.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The word in the spec.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Plain text of a few lines.
    pub help: &'static str,
    /// Whether replies are streamed unless the spec says otherwise.
    pub streams: bool,
    /// What holds for every exchange of the branch without being asked for.
    pub rules: &'static [Rule],
}

/// Something that holds for every exchange of a branch.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The name, as `allow` takes it.
    pub name: &'static str,
    /// The boundary it reads.
    pub boundary: Boundary,
    /// One line.
    pub summary: &'static str,
    /// The judgement; `None` where the rule has nothing to say about this exchange.
    pub judge: fn(&Exchange) -> Option<Outcome>,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! registry {
    ($($variant:ident => $module:ident),* $(,)?) => {
        /// How a conversation is driven.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is documented by its `Info`")]
        pub enum Branch { $($variant),* }

        impl Branch {
            /// All, in order.
            pub const ALL: &'static [Branch] = &[$(Branch::$variant),*];

            /// Its documentation.
            pub fn info(self) -> &'static Info {
                match self { $(Branch::$variant => &$module::INFO),* }
            }
        }
    };
}

registry! {
    MultiTurn => multi_turn,
    ToolCall => tool_call,
    Streaming => streaming,
    LongContext => long_context,
    Stopping => stopping,
}

impl Branch {
    /// The word in the spec.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

/// The rendered prompt, or why it was not seen.
fn prompt(exchange: &Exchange) -> Result<&str, &str> {
    exchange.input.seen().and_then(|input| input.prompt.seen()).map(String::as_str)
}

/// At most `limit` characters of `text`, escaped and quoted, with `…` where it was cut.
fn quoted(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(limit).collect();
    format!("{head:?}…")
}

#[cfg(test)]
mod tests;
