//! A suite, resolved and complete: every semantic problem of every spec is found here, before a model is touched.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::assertion::Assertion;
use crate::branch::Branch;
use crate::capture::Boundary;
use crate::finding::Location;
use crate::privacy::Privacy;
use crate::request::{Message, Settings};

mod arguments;
mod build;
mod case;
mod check;
mod content;
mod dataset;
mod document;
mod files;
mod fixture;
mod ids;
mod lazy;
mod ledger;
mod matrix;
mod score;
mod select;
mod settings;
mod targets;
mod tools;
mod turns;
mod unfold;

pub use build::{outline, plan};
pub use lazy::Cases;
pub use select::Selection;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

/// What will run, in order.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What is known of the cases together.
    pub outline: Outline,
    /// The selected cases, in the order of their files, then of the file.
    pub cases: Vec<Case>,
}

/// A plan without its cases: what is known of them together.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The targets that some case uses, by name.
    pub targets: BTreeMap<String, Target>,
    /// How many cases are selected.
    pub count: usize,
    /// Scores over all cases of a spec.
    pub scores: Vec<SpecScore>,
    /// The selection in words, such as `--branch stopping`; empty when nothing was left out.
    pub selection: String,
    /// The targets that the command line chose instead of those of the specs.
    pub chosen: Vec<String>,
    /// The strictest privacy that a target file of some case asks for.
    pub privacy: Privacy,
    /// SHA-256 of the data sets that selected cases come from, by file.
    pub datasets: BTreeMap<String, String>,
    /// SHA-256 of every spec and fixture that was read, by file.
    pub files: BTreeMap<String, String>,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: TargetKind,
}

/// The kinds of target.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetKind {
    /// A model directory, in process.
    Candle(CandleTarget),
    /// A server that speaks the OpenAI API.
    Remote(RemoteTarget),
    /// Recorded answers.
    Replay(ReplayTarget),
}

impl TargetKind {
    /// Where in `targets.yaml` it stands.
    pub fn location(&self) -> &Location {
        match self {
            TargetKind::Candle(target) => &target.location,
            TargetKind::Remote(target) => &target.location,
            TargetKind::Replay(target) => &target.location,
        }
    }
}

/// A model that runs in process.
#[derive(Debug, Clone, PartialEq)]
pub struct CandleTarget {
    /// The Hugging Face directory.
    pub model: PathBuf,
    /// `auto`, `cpu`, `cuda`, `cuda:1`, `metal`.
    pub device: String,
    /// `f32`, `bf16`, `f16`; `auto` is f32 on CPU.
    pub dtype: String,
    /// Where in `targets.yaml` it stands.
    pub location: Location,
}

/// A server.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTarget {
    /// The API's root, `http` or `https`, without a slash at its end.
    pub url: String,
    /// The model's name in requests.
    pub model: String,
    /// The name of a dialect, or `auto`.
    pub dialect: String,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// The header that carries the key; `Authorization: Bearer` when there is none.
    pub api_key_header: Option<String>,
    /// The Hugging Face directory of the same model.
    pub tokenizer: Option<PathBuf>,
    /// Certificates to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// The time until a connection must stand.
    pub connect_timeout: Duration,
    /// The time that may pass between two pieces of a reply.
    pub idle_timeout: Duration,
    /// Where in `targets.yaml` it stands.
    pub location: Location,
}

/// Recorded answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayTarget {
    /// A recording, or the folder of a run.
    pub recording: PathBuf,
    /// The name of a dialect, or `auto`.
    pub dialect: String,
    /// The Hugging Face directory of the same model.
    pub tokenizer: Option<PathBuf>,
    /// Where in `targets.yaml` it stands.
    pub location: Location,
}

/// One case, once for each combination of its matrix.
#[derive(Debug, Clone)]
pub struct Case {
    /// `<branch>/<topic>.<case>`, with `[stream=true,…]` behind it for a matrix.
    pub id: String,
    /// How the conversation is driven.
    pub branch: Branch,
    /// The name of the target.
    pub target: String,
    /// Where the case stands.
    pub location: Location,
    /// The system message.
    pub system: Option<String>,
    /// The turns, in order.
    pub turns: Vec<Turn>,
    /// Tool definitions in the OpenAI form.
    pub tools: Vec<Value>,
    /// See [`crate::request::Request::tool_choice`].
    pub tool_choice: Option<Value>,
    /// The settings that the spec, the case and the matrix pin, in rising priority.
    pub settings: Settings,
    /// Template variables.
    pub template: Map<String, Value>,
    /// Whether replies are streamed.
    pub stream: bool,
    /// How many runs, at least 1.
    pub repeat: usize,
    /// Further runs at this concurrency; 0 for none.
    pub load: usize,
    /// Whether a run with streaming flipped is needed.
    pub twin: bool,
    /// Labels for selection.
    pub tags: Vec<String>,
    /// Why it must fail.
    pub known_failure: Option<String>,
    /// Silenced checks with the reason.
    pub allow: BTreeMap<String, String>,
    /// Case-level expectations.
    pub expect: Vec<Expectation>,
    /// Boundaries with a snapshot, in order, each at most once.
    pub snapshot: Vec<Boundary>,
    /// Where the snapshots lie: the path up to `@<boundary>.snap`.
    pub snapshot_stem: PathBuf,
    /// The time one exchange may take.
    pub timeout: Option<Duration>,
}

/// One step of a conversation.
#[derive(Debug, Clone)]
pub struct Turn {
    /// What is added to the conversation.
    pub say: Say,
    /// Whether a reply is asked for after it.
    pub asks: bool,
    /// What is expected of that reply.
    pub expect: Vec<Expectation>,
    /// Where it stands.
    pub location: Location,
}

/// What a turn adds to the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Say {
    /// The user speaks.
    User(String),
    /// A tool answers the call of that name in the last reply.
    Tool {
        /// The function's name.
        name: String,
        /// The result as text; JSON values are written with `", "` and `": "`.
        content: String,
    },
    /// History that is given, not generated.
    Assistant(Message),
    /// The beginning of the reply, which the model continues.
    Prefill(String),
}

/// An expectation and where it stands.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// What is expected.
    pub assertion: Assertion,
    /// Where.
    pub location: Location,
}

/// A `task_score` over all cases of a spec.
#[derive(Debug, Clone)]
pub struct SpecScore {
    /// `<branch>/<topic>`.
    pub id: String,
    /// The branch of the spec.
    pub branch: Branch,
    /// The target that answers; one entry per target.
    pub target: String,
    /// The `task_score`.
    pub expectation: Expectation,
    /// Indices into the cases of the plan.
    pub cases: Vec<usize>,
}
