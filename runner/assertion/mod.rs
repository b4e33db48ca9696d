//! Assertions: what a spec can expect of a reply.
//!
//! Each is one file with its arguments, its help and its judgement. To add one: a new file, a `mod` line and
//! a line in the registry below; the spec reader, `explain`, the JSON Schema and the README table follow.

use serde::Deserialize;

use crate::capture::{Accepted, AcceptedExchange, Boundary, Capture, Exchange, Run, Score};
use crate::finding::Outcome;

mod arg;
mod carries;
mod confidence;
mod content;
mod deterministic;
mod finish_reason;
mod fork;
mod ids;
mod input_ids;
mod json;
mod json_schema;
mod length;
mod length_ratio;
mod logits;
mod output_ids;
mod prompt;
mod reasoning;
#[cfg(test)]
pub(crate) mod sample;
mod settings;
mod show;
mod stream;
mod task_score;
mod termination;
mod text;
mod tool_calls;

pub(crate) use json::equal;
pub use settings::{not_sent, unpinned};
pub(crate) use text::compile;

/// What an assertion may look at. Nothing in it does IO or reads a clock.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The whole case.
    pub capture: &'a Capture,
    /// The run being judged.
    pub run: &'a Run,
    /// The exchange being judged.
    pub exchange: &'a Exchange,
    /// The position of `exchange` in `run.exchanges`.
    pub index: usize,
    /// What was accepted for the case, where a snapshot exists.
    pub accepted: Option<&'a Accepted>,
}

impl<'a> View<'a> {
    /// What was accepted for the exchange being judged.
    pub fn accepted_exchange(&self) -> Option<&'a AcceptedExchange> {
        self.accepted?.exchanges.get(self.index)
    }
}

/// What a case-level entry is judged on; a turn-level entry is judged on that turn's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The case's last reply.
    Last,
    /// Every reply of the case, each on its own.
    Each,
    /// The run as a whole, once.
    Whole,
}

/// Documentation of an assertion.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The word in the spec.
    pub name: &'static str,
    /// The boundary it reads.
    pub boundary: Boundary,
    /// One line.
    pub summary: &'static str,
    /// Plain text of a few lines, with an example in YAML.
    pub help: &'static str,
    /// What a case-level entry is judged on.
    pub scope: Scope,
}

/// What an assertion needs from the run before it can be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Boundaries whose accepted snapshot it reads.
    pub accepted: Option<Boundary>,
    /// At least this many runs of the case.
    pub repeats: usize,
    /// Further runs at this concurrency; 0 for none.
    pub load: usize,
    /// A run with streaming flipped.
    pub twin: bool,
}

/// One kind of expectation.
pub trait Assert {
    /// Its documentation.
    const INFO: Info;

    /// Judges one reply, or the run for [`Scope::Whole`].
    fn judge(&self, view: &View<'_>) -> Outcome;

    /// What is wrong with the arguments themselves, found before anything runs.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the run must provide.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Takes the reference answer of a data-set row; `over_spec` when the verdict is taken over all rows, so
    /// that a single row only records its score.
    fn bind(&mut self, _reference: Option<&str>, _over_spec: bool) {}

    /// The score of a reply, for assertions that score.
    fn score(&self, _view: &View<'_>) -> Option<Score> {
        None
    }

    /// Judges the scores of all rows of a spec, for assertions that score; a row without a score is `None`.
    fn judge_scores(&self, _scores: &[Option<Score>]) -> Option<Outcome> {
        None
    }
}

macro_rules! registry {
    ($($variant:ident($module:ident::$type:ident)),* $(,)?) => {
        /// An `expect` entry: the name of an assertion with its arguments.
        #[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is documented by its `Info`")]
        pub enum Assertion {
            $($variant($module::$type)),*
        }

        impl Assertion {
            /// Its documentation.
            pub fn info(&self) -> Info {
                match self { $(Assertion::$variant(_) => $module::$type::INFO),* }
            }

            /// See [`Assert::judge`].
            pub fn judge(&self, view: &View<'_>) -> Outcome {
                match self { $(Assertion::$variant(inner) => inner.judge(view)),* }
            }

            /// See [`Assert::problems`].
            pub fn problems(&self) -> Vec<String> {
                match self { $(Assertion::$variant(inner) => inner.problems()),* }
            }

            /// See [`Assert::needs`].
            pub fn needs(&self) -> Needs {
                match self { $(Assertion::$variant(inner) => inner.needs()),* }
            }

            /// See [`Assert::bind`].
            pub fn bind(&mut self, reference: Option<&str>, over_spec: bool) {
                match self { $(Assertion::$variant(inner) => inner.bind(reference, over_spec)),* }
            }

            /// See [`Assert::score`].
            pub fn score(&self, view: &View<'_>) -> Option<Score> {
                match self { $(Assertion::$variant(inner) => inner.score(view)),* }
            }

            /// See [`Assert::judge_scores`].
            pub fn judge_scores(&self, scores: &[Option<Score>]) -> Option<Outcome> {
                match self { $(Assertion::$variant(inner) => inner.judge_scores(scores)),* }
            }
        }

        /// Every assertion, in the order of the boundaries.
        pub const ALL: &[Info] = &[$($module::$type::INFO),*];
    };
}

registry! {
    InputIds(input_ids::InputIds),
    Prompt(prompt::Prompt),
    Carries(carries::Carries),
    Settings(settings::Settings),
    OutputIds(output_ids::OutputIds),
    Termination(termination::Termination),
    Length(length::Length),
    LengthRatio(length_ratio::LengthRatio),
    Logits(logits::Logits),
    Confidence(confidence::Confidence),
    Deterministic(deterministic::Deterministic),
    FinishReason(finish_reason::FinishReason),
    Content(content::Content),
    Reasoning(reasoning::Reasoning),
    ToolCalls(tool_calls::ToolCalls),
    JsonSchema(json_schema::JsonSchema),
    Stream(stream::Stream),
    TaskScore(task_score::TaskScore),
}

#[cfg(test)]
mod tests;
