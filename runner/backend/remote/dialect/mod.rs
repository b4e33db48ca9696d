//! Dialects: what each server takes and tells beyond the OpenAI API.
//!
//! To add one: one file here and one line in [`ALL`].

mod openai;

use serde_json::{Map, Value};

use super::reply::Choice;
use crate::request::Request;

/// How one server differs from the API it imitates. It is data wherever data will do.
#[derive(Debug)]
pub struct Dialect {
    /// The word in `targets.yaml`.
    pub name: &'static str,
    /// One line for `explain`.
    pub summary: &'static str,
    /// Settings that it takes, each with the server's name for it; a setting that is not listed is not sent.
    pub settings: &'static [(&'static str, &'static str)],
    /// Adds to a chat body what makes the server show its evidence and changes no answer.
    pub profile: fn(&Request, &mut Map<String, Value>),
    /// Fields of a message or a delta that hold reasoning, the likelier first.
    pub reasoning: &'static [&'static str],
    /// What the log-probabilities are of.
    pub logprobs: LogprobStage,
    /// Words that `finish_reason` can be.
    pub finishes: &'static [&'static str],
    /// What its streams do that the API's do not.
    pub quirks: Quirks,
    /// The ways to the prompt's ids, the best first.
    pub prompt: &'static [PromptRoute],
    /// The ways to the settings in force.
    pub settings_routes: &'static [SettingsRoute],
    /// Whether stop tokens and end tokens are part of the ids that it returns.
    pub end_token_in_ids: bool,
    /// Mends a choice of which this server says something in its own way.
    pub mend: fn(&mut Choice),
}

/// What a returned log-probability is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogprobStage {
    /// The model's logits, before penalties, temperature and truncation.
    Raw,
    /// After penalties and temperature: the same only for greedy requests without penalties, or at temperature 1.
    AfterTemperature,
    /// After everything: masked tokens are gone.
    AfterTruncation,
    /// Nobody says.
    Unknown,
    /// The server returns none.
    None,
}

/// What streams of a server do that the API's do not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quirks {
    /// `[DONE]` may be missing.
    pub no_done: bool,
    /// Every delta repeats the role.
    pub role_repeats: bool,
    /// Usage comes without being asked for.
    pub usage_unasked: bool,
    /// The id is empty.
    pub empty_id: bool,
    /// Logprobs cannot be asked for together with tools in a stream.
    pub no_logprobs_with_tools_in_streams: bool,
}

/// A way to the prompt's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRoute {
    /// A render route gives ids and resolved settings without generating (vLLM).
    Render,
    /// The reply itself holds the ids.
    Returned,
    /// `/tokenize` takes messages and tools.
    TokenizeMessages,
    /// `/apply-template` gives the text, `/tokenize` its ids (llama.cpp).
    ApplyTemplate,
    /// `/chat_tokenize` gives text and ids (TGI).
    ChatTokenize,
    /// The server shows the rendered text in a debug mode (Ollama).
    DebugRender,
}

/// A way to the settings in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsRoute {
    /// The render route's `sampling_params`.
    Render,
    /// `generation_settings` in the reply, or `/props` (llama.cpp).
    GenerationSettings,
    /// `/server_info` and the model's generation_config by the server's documented rule (SGLang).
    ServerInfo,
    /// `/api/show` (Ollama).
    ApiShow,
    /// `/info`, limits only (TGI).
    Info,
}

/// Every dialect.
pub static ALL: &[&Dialect] = &[&openai::DIALECT];

/// The dialect of that name.
pub fn by_name(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name == name)
}
