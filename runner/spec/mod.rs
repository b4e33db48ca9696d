//! A spec and a target file as they are typed, with positions. Nothing here is resolved: see [`crate::plan`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::assertion::Assertion;
use crate::branch::Branch;
use crate::capture::Boundary;
use crate::diagnostic::Diagnostic;
use crate::privacy::Privacy;
use crate::request::Settings;

mod arena;
mod bare;
mod deferred;
mod raw;
mod read;
mod refused;
mod tree;
mod value;
pub mod yaml;

pub use deferred::Deferred;
pub use tree::{Data, NodeId, Tree, place};
pub use value::{Spanned, TextOr};

#[cfg(test)]
mod tests;

/// Reads the whole tree as `T`; problems are added to `problems`, and `None` means that reading stopped.
pub fn read<T: DeserializeOwned>(tree: &Tree, problems: &mut Vec<Diagnostic>) -> Option<T> {
    read::read_at(tree, tree.root(), problems)
}

/// A spec file: what all its cases share, and the cases.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// How the conversations are driven.
    pub branch: Spanned<Branch>,
    /// One line for reports.
    pub summary: Option<Spanned<String>>,
    /// Generation settings; a case lays its own over them, field by field.
    pub settings: Option<Spanned<Settings>>,
    /// The system message.
    pub system: Option<Spanned<String>>,
    /// A JSON file with a list of tools (relative to this file), or the list itself.
    pub tools: Option<Spanned<TextOr<Vec<Value>>>>,
    /// `auto`, `none`, `required`, or a named function as the OpenAI API writes it.
    pub tool_choice: Option<Spanned<Value>>,
    /// Variables for the chat template, such as `enable_thinking`.
    #[serde(default)]
    pub template: Map<String, Value>,
    /// Whether replies are asked for as a stream.
    pub stream: Option<bool>,
    /// How often each case runs, at least 1.
    pub repeat: Option<Spanned<usize>>,
    /// Labels for `--tag`.
    #[serde(default)]
    pub tags: Vec<Spanned<String>>,
    /// Seconds that one reply may take.
    pub timeout: Option<Spanned<f64>>,
    /// Checks to silence, each with the reason.
    #[serde(default)]
    pub allow: BTreeMap<String, Spanned<String>>,
    /// Who answers, instead of the default of `targets.yaml`.
    pub target: Option<Spanned<String>>,
    /// `task_score` over all cases; anything else is expected of every case.
    #[serde(default)]
    pub expect: Vec<Spanned<Assertion>>,
    /// Boundaries whose snapshot is kept, for cases that do not say.
    pub snapshot: Option<Vec<Spanned<Boundary>>>,
    /// Runs every case once for each combination.
    pub matrix: Option<Spanned<Matrix>>,
    /// The cases.
    #[serde(default)]
    pub cases: Vec<Deferred<Case>>,
    /// Further cases, one for each row of a data set.
    pub cases_from: Option<Spanned<CasesFrom>>,
}

/// One conversation with what is expected of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The case's name in this file: letters, digits, `-`, `_` and `.`.
    pub id: Spanned<String>,
    /// One line for reports.
    pub summary: Option<Spanned<String>>,
    /// The system message, instead of the spec's.
    pub system: Option<Spanned<String>>,
    /// The conversation, in order.
    pub turns: Spanned<Vec<Spanned<Turn>>>,
    /// Tools, instead of the spec's.
    pub tools: Option<Spanned<TextOr<Vec<Value>>>>,
    /// Instead of the spec's.
    pub tool_choice: Option<Spanned<Value>>,
    /// Laid over the spec's, field by field.
    pub settings: Option<Spanned<Settings>>,
    /// Laid over the spec's, variable by variable.
    #[serde(default)]
    pub template: Map<String, Value>,
    /// Instead of the spec's.
    pub stream: Option<bool>,
    /// Instead of the spec's.
    pub repeat: Option<Spanned<usize>>,
    /// Added to the spec's.
    #[serde(default)]
    pub tags: Vec<Spanned<String>>,
    /// Seconds that one reply may take, instead of the spec's.
    pub timeout: Option<Spanned<f64>>,
    /// Why the case must fail; the day it passes, the run says so and fails.
    pub known_failure: Option<Spanned<String>>,
    /// Checks to silence, each with the reason; added to the spec's.
    #[serde(default)]
    pub allow: BTreeMap<String, Spanned<String>>,
    /// What is expected of the case.
    #[serde(default)]
    pub expect: Vec<Spanned<Assertion>>,
    /// Boundaries whose snapshot is kept, instead of the spec's.
    pub snapshot: Option<Vec<Spanned<Boundary>>>,
    /// Instead of the spec's.
    pub matrix: Option<Spanned<Matrix>>,
}

/// One step of a conversation: exactly one of `user`, `tool`, `assistant` and `prefill`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["user"] }, { "required": ["tool"] },
    { "required": ["assistant"] }, { "required": ["prefill"] },
]))]
pub struct Turn {
    /// The user speaks: a text, or a document with a question.
    pub user: Option<Spanned<TextOr<Document>>>,
    /// A tool answers the call of that name in the last reply.
    pub tool: Option<Spanned<ToolResult>>,
    /// History that is given, not generated.
    pub assistant: Option<Spanned<TextOr<Given>>>,
    /// The beginning of the reply, which the model continues.
    pub prefill: Option<Spanned<String>>,
    /// What is expected of the reply to this turn.
    #[serde(default)]
    pub expect: Vec<Spanned<Assertion>>,
}

/// A long user message made from a file of sentences.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// A text file with one sentence on each line, relative to this file.
    pub document: Spanned<String>,
    /// How many sentences; the file is repeated when it has fewer. All of the file when left out.
    pub sentences: Option<Spanned<usize>>,
    /// A sentence to hide in the document.
    pub insert: Option<Spanned<String>>,
    /// Where it is hidden: 0 is the beginning, 1 the end. 0.5 when left out.
    pub depth: Option<Spanned<f64>>,
    /// A line before the document, apart from it by an empty line.
    pub lead: Option<Spanned<String>>,
    /// The question behind the document, apart from it by an empty line.
    pub ask: Option<Spanned<String>>,
}

/// The result of a tool call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// The function that was called.
    pub name: Spanned<String>,
    /// A text, or a value that becomes JSON text.
    pub content: Spanned<TextOr<Value>>,
}

/// A given assistant message.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The text.
    pub content: Option<Spanned<String>>,
    /// The reasoning beside it.
    pub reasoning: Option<Spanned<String>>,
    /// Calls that the assistant made.
    #[serde(default)]
    pub tool_calls: Vec<Spanned<GivenCall>>,
}

/// A given tool call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenCall {
    /// The function.
    pub name: Spanned<String>,
    /// Its arguments: a map, or JSON text.
    pub arguments: Spanned<TextOr<Map<String, Value>>>,
}

/// Values to combine; a case runs once for each combination.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// With and without streaming.
    pub stream: Option<Spanned<Vec<bool>>>,
    /// Settings laid over the case's.
    pub settings: Option<Spanned<Vec<Spanned<Settings>>>>,
    /// Numbers of sentences of the case's documents.
    pub sentences: Option<Spanned<Vec<Spanned<usize>>>>,
    /// Who answers.
    pub target: Option<Spanned<Vec<Spanned<String>>>>,
}

/// A data set in JSON Lines: each row is a case of one user turn.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CasesFrom {
    /// The file, relative to this one.
    pub path: Spanned<String>,
    /// The field with the row's name; the row's number when left out.
    pub id: Option<Spanned<String>>,
    /// The field with the user's text, or with a list of texts: one turn each.
    pub user: Spanned<String>,
    /// The field with the reference answer.
    pub reference: Option<Spanned<String>>,
    /// Only the first rows.
    pub limit: Option<Spanned<usize>>,
}

/// `targets.yaml`: who can answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// The target of cases that name none.
    pub default: Option<Spanned<String>>,
    /// The targets by name.
    pub targets: BTreeMap<String, Spanned<Target>>,
    /// Which texts of prompts and replies a run folder holds; `full` when left out.
    pub privacy: Option<Privacy>,
    /// The folder of the snapshots, relative to this file.
    pub snapshots: Option<Spanned<String>>,
}

/// One target.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A model directory, in process.
    Candle(Candle),
    /// A server that speaks the OpenAI API.
    Remote(Remote),
    /// Recorded answers: a recording, or the folder of a run.
    Replay(Spanned<TextOr<Replay>>),
}

/// A model that runs in process.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Candle {
    /// The Hugging Face directory, relative to this file.
    pub model: Spanned<String>,
    /// `auto`, `cpu`, `cuda`, `cuda:1`, `metal`.
    pub device: Option<Spanned<String>>,
    /// `auto`, `f32`, `bf16`, `f16`.
    pub dtype: Option<Spanned<String>>,
}

/// A server that speaks the OpenAI API.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// The API's root, such as `http://127.0.0.1:8000/v1`.
    pub url: Spanned<String>,
    /// The model's name in requests.
    pub model: Spanned<String>,
    /// What the server is: a dialect, or `auto` to find out by probing. `auto` when left out.
    pub dialect: Option<Spanned<String>>,
    /// The environment variable that holds the API key; never the key itself.
    pub api_key_env: Option<Spanned<String>>,
    /// The header that carries the key, instead of `Authorization: Bearer`.
    pub api_key_header: Option<Spanned<String>>,
    /// A Hugging Face directory of the same model, by which evalsuite renders and tokenizes prompts on its own.
    pub tokenizer: Option<Spanned<String>>,
    /// A file with certificates (PEM) to trust instead of the system's.
    pub ca: Option<Spanned<String>>,
    /// Seconds until a connection must stand; 10 when left out.
    pub connect_timeout: Option<Spanned<f64>>,
    /// Seconds that may pass between two pieces of a reply; 60 when left out.
    pub idle_timeout: Option<Spanned<f64>>,
}

/// Recorded answers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// A recording (JSON Lines), or the folder of a run.
    pub recording: Spanned<String>,
    /// What the server was. `auto` when left out.
    pub dialect: Option<Spanned<String>>,
    /// A Hugging Face directory of the same model.
    pub tokenizer: Option<Spanned<String>>,
}
