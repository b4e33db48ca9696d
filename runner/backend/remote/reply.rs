//! A reply as the API words it, streamed or not, put together without a judgement on it.

use serde_json::Value;

use crate::capture::{Delta, Usage};
use crate::request::ToolCall;

/// A chat completion or a completion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The completion's id.
    pub id: Option<String>,
    /// The model's name as the server says it.
    pub model: Option<String>,
    /// `system_fingerprint`.
    pub fingerprint: Option<String>,
    /// The prompt's token ids, where the server returns them.
    pub prompt_ids: Option<Vec<u32>>,
    /// The rendered prompt, where the server returns it.
    pub prompt_text: Option<String>,
    /// One per choice, by index.
    pub choices: Vec<Choice>,
    /// Token counts.
    pub usage: Option<Usage>,
    /// What the server says of the whole reply beside the API (`__verbose`, `timings`, `metrics`, `sglext` …), by key. What
    /// another field holds was moved out of it. In a stream a later value replaces an earlier one, `usage` holds the
    /// details beside the counts, and a named event is here under its name.
    pub native: serde_json::Map<String, Value>,
    /// What is wrong with its form, though it could be read.
    pub faults: Vec<String>,
}

/// One of the answers to a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Its index.
    pub index: usize,
    /// The answer's text.
    pub content: Option<String>,
    /// Reasoning beside it.
    pub reasoning: Option<String>,
    /// What the model says instead of an answer.
    pub refusal: Option<String>,
    /// Calls, in the order of their indices.
    pub tool_calls: Vec<ToolCall>,
    /// The finish reason, exactly as it was returned.
    pub finish_reason: Option<String>,
    /// What the server says beside it: `stop_reason`, `matched_stop`: a stop id, a stop string or a word.
    pub stop_reason: Option<Value>,
    /// The native class of the end, where it is told beside the finish reason: `eos`, `word`, `limit` of llama.cpp, the type
    /// in SGLang's `meta_info`.
    pub stop_type: Option<String>,
    /// The output's token ids, where the server returns them.
    pub token_ids: Option<Vec<u32>>,
    /// Log-probabilities of the output's tokens; empty when none were returned.
    pub logprobs: Vec<TokenLogprob>,
    /// The deltas in order of arrival, when the reply was streamed. One that has usage only is in every choice.
    pub deltas: Vec<Delta>,
    /// What the server says of this choice beside the API (`meta_info`, `prompt_logprobs` …), by key, as in
    /// [`Reply::native`]; unknown texts of deltas are joined.
    pub native: serde_json::Map<String, Value>,
}

/// A log-probability as a server returns it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenLogprob {
    /// The token's id, where it is told: `id`, `token_id`, or the text `token_id:<n>`.
    pub id: Option<u32>,
    /// The token's text; no identity.
    pub token: String,
    /// The token's bytes.
    pub bytes: Option<Vec<u8>>,
    /// Natural logarithm, or the probability's logarithm where the server tells probabilities; not a number where the
    /// server says `null`: after a numerical fault, or for the first token of an echoed prompt.
    pub logprob: f32,
    /// The alternatives, in the server's order.
    pub top: Vec<TokenLogprob>,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq)]
pub enum NoReply {
    /// The server refused or failed, and said so: in the status, or in a body or an event with an error.
    Refused(ErrorBody),
    /// What came is not what the API promises; why.
    Malformed(String),
    /// The stream ended before its end; why.
    Incomplete(String),
}

/// An error as a server words it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ErrorBody {
    /// The HTTP status; of an error inside a stream, the code it names, else 200.
    pub status: u16,
    /// What the server says.
    pub message: String,
    /// `type`, `error_type` or `code`.
    pub kind: Option<String>,
    /// The field at fault, where it is named.
    pub param: Option<String>,
}
