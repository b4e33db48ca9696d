//! Dialects: what each server takes and tells beyond the OpenAI API.
//!
//! A dialect is data wherever data will do: a request profile, a field map, the stage of its log-probabilities, its
//! finish words, what its streams and error bodies look like, and the routes by which it shows prompt and settings.
//! To add one: one file here and one line in [`ALL`].

mod help;
mod llamacpp;
mod ollama;
mod openai;
mod sglang;
mod tgi;
mod transformers;
mod vllm;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::probe::Facts;
use super::reply::{Choice, Reply};
use crate::model::ModelDir;
use crate::request::Request;

/// How one server differs from the API it imitates.
#[derive(Debug, Clone)]
pub struct Dialect {
    /// The word in `targets.yaml`.
    pub name: &'static str,
    /// One line for `explain`.
    pub summary: &'static str,
    /// The call by whose answer `auto` knows it.
    pub probe: Option<Probe>,
    /// What identifies the server: a name, the path of a `GET`, a JSON pointer into the answer.
    pub facts: &'static [(&'static str, &'static str, &'static str)],
    /// A `POST` that tells more about the model: its path, and its body from the model's name.
    pub show: Option<(&'static str, BodyOf)>,
    /// Where the context length stands: path and pointer, the likelier first.
    pub context: &'static [(&'static str, &'static str)],
    /// Settings that it takes, each with the server's name for it; a setting that is not listed is not sent.
    pub settings: &'static [(&'static str, &'static str)],
    /// The field that takes template variables.
    pub template: Option<&'static str>,
    /// How a partial assistant message is continued.
    pub prefill: Prefill,
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
    /// The forms of its error bodies.
    pub errors: &'static [ErrorShape],
    /// The ways to the prompt's ids, the best first.
    pub prompt: &'static [PromptRoute],
    /// How output ids are seen, in words.
    pub output_ids: &'static str,
    /// Where the settings in force are told, in words.
    pub settings_told: &'static str,
    /// The settings in force, as far as the server tells them.
    pub resolve: fn(&Telling<'_>) -> Vec<Told>,
    /// The route that turns ids into text: the path, and the field of the answer.
    pub detokenize: Option<(&'static str, &'static str)>,
    /// What else can be asked where the reply itself cannot show its ids.
    pub shadow: Shadow,
    /// Mends a choice of which this server says something in its own way.
    pub mend: fn(&mut Choice),
}

/// Makes the body of a `POST` from the model's name.
pub type BodyOf = fn(&str) -> Value;

/// A call that tells one server from the others without generating anything.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// The path below the root.
    pub path: &'static str,
    /// The body of a `POST`, from the model's name; `None` for a `GET`.
    pub body: Option<BodyOf>,
    /// What in the answer gives it away: from status and body to the words for the record.
    pub recognise: fn(u16, &Value) -> Option<&'static str>,
}

/// How a partial assistant message is continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefill {
    /// It cannot be asked for.
    Refused,
    /// `continue_final_message: true, add_generation_prompt: false`.
    Flags,
    /// By sending it last; the reply repeats it.
    LastMessageEchoed,
}

/// What a returned log-probability is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogprobStage {
    /// The model's logits, before penalties, temperature and truncation.
    Raw,
    /// After penalties and temperature, before truncation.
    AfterTemperature,
    /// After everything: masked tokens are gone.
    AfterTruncation,
    /// Nobody says.
    Unknown,
    /// The server returns none, and is not asked for any.
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

impl Quirks {
    const NONE: Quirks = Quirks {
        no_done: false,
        role_repeats: false,
        usage_unasked: false,
        empty_id: false,
        no_logprobs_with_tools_in_streams: false,
    };
}

/// The form of an error body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// `{"error": {"message", "type", "param", "code"}}`.
    Wrapped,
    /// `{"object": "error", "message", "type", "param", "code"}`.
    Flat,
    /// `{"detail": …}`.
    Detail,
    /// `{"error": "…"}`, with `error_type` or without.
    Text,
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
    /// `_debug_render_only` gives the text (Ollama).
    DebugRender,
}

/// A second call for what the first cannot show without changing its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shadow {
    /// There is none.
    None,
    /// The same request, not streamed.
    NotStreamed,
    /// `/generate` with details on the rendered prompt (TGI).
    Generate,
}

/// What there is to tell the settings from.
#[derive(Debug)]
pub struct Telling<'a> {
    /// What the server said about itself.
    pub facts: &'a Facts,
    /// The reply.
    pub reply: &'a Reply,
    /// The answer of the render route, where it was granted.
    pub rendered: Option<&'a Value>,
    /// The same model's directory, where the target names one.
    pub local: Option<&'a ModelDir>,
}

/// A setting in force, as a server tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The field, in the words of a request.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
    /// Where the server says so.
    pub source: &'static str,
    /// Whether it was told of this very request; else it is what applies to requests that leave the field out.
    pub of_request: bool,
}

/// The settings of servers that take little beyond the first of the API.
const FEW: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("seed", "seed"),
    ("max_tokens", "max_tokens"),
    ("stop", "stop"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
];

/// Every dialect, in the order in which `auto` tries them; the last one is what remains.
pub static ALL: &[&Dialect] = &[
    &llamacpp::DIALECT,
    &sglang::DIALECT,
    &tgi::DIALECT,
    &ollama::DIALECT,
    &vllm::DIALECT,
    &transformers::DIALECT,
    &openai::DIALECT,
];

/// The dialect of that name.
pub fn by_name(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name == name)
}

/// The dialect that takes nothing for granted.
pub fn strict() -> &'static Dialect {
    &openai::DIALECT
}

/// No profile.
fn plain(_: &Request, _: &mut Map<String, Value>) {}

/// Nothing to mend.
fn whole(_: &mut Choice) {}

/// Nothing is told.
fn untold(_: &Telling<'_>) -> Vec<Told> {
    Vec::new()
}

/// Asks for the log-probabilities of the output, as the API has it.
fn ask_logprobs(request: &Request, body: &mut Map<String, Value>) {
    if request.top_logprobs > 0 {
        body.insert("logprobs".to_owned(), Value::Bool(true));
        body.insert("top_logprobs".to_owned(), Value::from(request.top_logprobs.min(20)));
    }
}
