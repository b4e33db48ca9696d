//! What was observed: the stored contract between backends, judging and evidence.
//!
//! Every exchange is seen at five boundaries, in order. A boundary that a backend cannot show is
//! [`Observed::Hidden`] with the reason: unseen is a state, never a pass.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::request::Request;

mod accepted;
mod response;
mod termination;
mod wire;

pub use accepted::{Accepted, AcceptedExchange, AcceptedInput, hash_ids};
pub use response::{Delta, Response, ToolCallDelta, Usage};
pub use termination::Termination;
pub use wire::{Attempt, CHAT, Line, WireCall, WireRequest, WireResponse};

/// A place at which two deployments can first differ, in the order of the data flow.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Rendered prompt and its token ids.
    Input,
    /// Requested and resolved generation settings.
    Settings,
    /// Output ids, raw text, probabilities, why it ended.
    Generation,
    /// What the API returned.
    Response,
    /// What the scorer extracted and decided.
    Score,
}

impl Boundary {
    /// All five, in order.
    pub const ALL: [Boundary; 5] = [
        Boundary::Input,
        Boundary::Settings,
        Boundary::Generation,
        Boundary::Response,
        Boundary::Score,
    ];

    /// The name used in specs, reports and file names.
    pub fn name(self) -> &'static str {
        match self {
            Boundary::Input => "input",
            Boundary::Settings => "settings",
            Boundary::Generation => "generation",
            Boundary::Response => "response",
            Boundary::Score => "score",
        }
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A datum, or the reason why it could not be seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed<T> {
    /// It was seen.
    Seen(T),
    /// It could not be seen, for this reason.
    Hidden(String),
}

impl<T> Observed<T> {
    /// The datum, or the reason.
    ///
    /// # Errors
    /// The reason why the datum is hidden.
    pub fn seen(&self) -> Result<&T, &str> {
        match self {
            Observed::Seen(value) => Ok(value),
            Observed::Hidden(reason) => Err(reason),
        }
    }
}

#[cfg(test)]
impl<T> Observed<T> {
    /// The datum, to break it in a test.
    #[expect(clippy::panic, reason = "a test that breaks what is hidden is wrong itself")]
    pub(crate) fn edit(&mut self) -> &mut T {
        match self {
            Observed::Seen(value) => value,
            Observed::Hidden(reason) => panic!("hidden: {reason}"),
        }
    }
}

/// Everything seen of one case: the stored record from which it can be judged again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// The case's full id, such as `tool_call/weather.oslo`.
    pub case: String,
    /// One run per repeat, at least one.
    pub runs: Vec<Run>,
    /// The same conversation with streaming flipped, when an assertion compares the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<Run>,
    /// What the scorers extracted, one per `task_score` of the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
}

/// The conversation of a case, run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How many conversations were running at the same time, this one included.
    pub load: usize,
    /// One per request that was answered, in order.
    pub exchanges: Vec<Exchange>,
    /// Why the conversation ended early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// A harness or backend failure, kept apart from anything the model did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// `broken`, `unreachable`, `unavailable`, `timeout`, `rejected`, `malformed` or `incomplete`.
    pub kind: String,
    /// The index in the case's turns at which it happened.
    pub turn: usize,
    /// What happened and what was received.
    pub message: String,
    /// The calls that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<WireCall>,
}

/// One request with what came back, at each boundary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The index in the case's turns that caused this request.
    pub turn: usize,
    /// What was asked.
    pub request: Request,
    /// Boundary 1.
    pub input: Observed<Input>,
    /// Boundary 2.
    pub settings: Observed<Vec<Setting>>,
    /// Boundary 3.
    pub generation: Observed<Generation>,
    /// Boundary 4.
    pub response: Observed<Response>,
    /// The HTTP calls behind it; none in process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<WireCall>,
    /// Wall time of the exchange in milliseconds; never compared.
    pub elapsed_ms: f64,
}

impl Exchange {
    /// The prompt's tokens.
    ///
    /// # Errors
    /// The reason why they are hidden.
    pub fn prompt_tokens(&self) -> Result<&[Token], &str> {
        Ok(self.input.seen()?.tokens.seen()?)
    }

    /// The output's tokens, the end token included.
    ///
    /// # Errors
    /// The reason why they are hidden.
    pub fn output_tokens(&self) -> Result<&[OutputToken], &str> {
        Ok(self.generation.seen()?.tokens.seen()?)
    }

    /// How many tokens were generated, the end token included.
    ///
    /// # Errors
    /// The reason why nobody knows.
    pub fn output_count(&self) -> Result<usize, &str> {
        let generation = self.generation.seen()?;
        match (generation.count, generation.tokens.seen()) {
            (_, Ok(tokens)) => Ok(tokens.len()),
            (Some(count), _) => Ok(count),
            (None, Err(reason)) => Err(reason),
        }
    }

    /// The decoded output with special tokens visible.
    ///
    /// # Errors
    /// The reason why it is hidden.
    pub fn raw_text(&self) -> Result<&str, &str> {
        Ok(self.generation.seen()?.text.seen()?)
    }
}

/// A token id with the text it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The id.
    pub id: u32,
    /// The piece, special tokens visible; bytes that are no character of their own are `<0xNN>`.
    pub piece: String,
}

/// Boundary 1: the prompt as the model read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The rendered prompt text, unescaped.
    pub prompt: Observed<String>,
    /// The prompt's tokens.
    pub tokens: Observed<Vec<Token>>,
    /// How many tokens the backend says it read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// How the ids were obtained, such as `native`.
    pub rung: String,
    /// The ids of our own rendering, where there is one and it is not what the backend read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Vec<u32>>,
}

impl Input {
    /// The prompt's token ids.
    ///
    /// # Errors
    /// The reason why they are hidden.
    pub fn ids(&self) -> Result<Vec<u32>, &str> {
        Ok(self.tokens.seen()?.iter().map(|token| token.id).collect())
    }
}

/// The provenance of a setting that was pinned and did not reach the backend.
pub const NOT_SENT: &str = "not sent";

/// Boundary 2: one setting, as asked, as resolved and as observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The field's name, such as `temperature` or `eos_token_ids`.
    pub name: String,
    /// What the request pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Value>,
    /// What was in force.
    pub resolved: Observed<Value>,
    /// Where the resolved value comes from: `request`, `generation_config.json`, `default` ….
    pub provenance: String,
}

/// Boundary 3: what the model generated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The output tokens, the end token included.
    pub tokens: Observed<Vec<OutputToken>>,
    /// How many tokens were generated, the end token included, as far as anybody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The decoded output with special tokens visible and nothing trimmed.
    pub text: Observed<String>,
    /// Why it ended, by the evidence.
    pub termination: Termination,
    /// How the tokens were obtained, such as `native`.
    #[serde(default = "native")]
    pub rung: String,
}

/// How an in-process backend obtains what it shows.
pub const NATIVE: &str = "native";

fn native() -> String {
    NATIVE.to_owned()
}

impl Generation {
    /// The output token ids, the end token included.
    ///
    /// # Errors
    /// The reason why they are hidden.
    pub fn ids(&self) -> Result<Vec<u32>, &str> {
        Ok(self.tokens.seen()?.iter().map(|token| token.id).collect())
    }
}

/// An output token with its probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputToken {
    /// The id that was chosen.
    pub id: u32,
    /// Its piece, as in [`Token::piece`].
    pub piece: String,
    /// Natural log-probability under the raw distribution, before penalties and temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprob: Option<f32>,
    /// The most likely alternatives, highest first, ties by id; the chosen one may be among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TopToken>,
}

/// One alternative at a position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopToken {
    /// The id.
    pub id: u32,
    /// Its piece, as in [`Token::piece`].
    pub piece: String,
    /// Natural log-probability under the raw distribution; not a number after a numerical fault.
    #[serde(deserialize_with = "number_or_nan")]
    pub logprob: f32,
}

/// JSON has no word for a number that is not finite and stores `null`; evidence of a fault must stay readable.
fn number_or_nan<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    Ok(Option::<f32>::deserialize(deserializer)?.unwrap_or(f32::NAN))
}

/// Boundary 5: what a scorer made of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The scorer's name.
    pub scorer: String,
    /// The extractor's name.
    pub extractor: String,
    /// What was extracted; `None` when nothing was found.
    pub extracted: Option<String>,
    /// What it was compared with.
    pub reference: String,
    /// Between 0 and 1.
    pub value: f64,
}
