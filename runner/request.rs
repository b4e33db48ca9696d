//! What is sent to a backend: messages, tools and the settings that the spec pinned.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One request, complete: a backend needs nothing else to answer it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// Tool definitions in the OpenAI form (`{"type": "function", "function": {…}}`), in spec order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// `auto`, `none`, `required` or a named function, as the OpenAI API writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Value>,
    /// Only what the spec pinned; the backend resolves the rest and says from where.
    pub settings: Settings,
    /// Extra variables for the chat template, such as `enable_thinking`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub template: Map<String, Value>,
    /// Whether the reply is asked for as a stream of deltas.
    pub stream: bool,
    /// Whether the last message is a partial assistant message to continue.
    #[serde(default)]
    pub prefill: bool,
    /// How many alternatives per output token are kept as evidence.
    pub top_logprobs: usize,
    /// The time the whole exchange may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the four roles of the chat format need no explanation")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text; absent in an assistant message that only calls tools.
    pub content: Option<String>,
    /// Reasoning that the assistant gave beside its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Calls that the assistant made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// In a tool message: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// In a tool message: the function that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Message {
    /// A message with text only.
    pub fn text(role: Role, content: impl Into<String>) -> Self {
        Message {
            role,
            content: Some(content.into()),
            reasoning: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
        }
    }
}

/// A function call as the model asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id under which the result is returned.
    pub id: String,
    /// The function's name.
    pub name: String,
    /// The arguments, exactly the text that was produced; normally a JSON object.
    pub arguments: String,
}

/// Generation settings; a field left out is not sent and the server's default applies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// 0 is greedy: the token with the highest logit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the smallest set of tokens with at least this probability mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Only the k most likely tokens; 0 keeps all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Only tokens at least this share of the most likely one's probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// Seed of the sampler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The most tokens that may be generated, the end token included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The fewest tokens before an end token, a stop id or a stop string counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tokens: Option<u32>,
    /// Strings that end the reply; they are cut from the returned text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
    /// Token ids that end the reply beside the model's own end ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_token_ids: Option<Vec<u32>>,
    /// Generate on past the model's end ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_eos: Option<bool>,
    /// Divides positive and multiplies negative logits of tokens already present; 1 is neutral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
    /// Subtracted once from the logit of every token already generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Subtracted from a token's logit for every time it was generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Added to the logit of a token id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logit_bias: Option<BTreeMap<u32, f64>>,
}

impl Settings {
    /// `self` with the fields that `other` pins laid over it.
    pub fn overlaid(&self, other: &Settings) -> Settings {
        let mut fields = to_map(self);
        fields.extend(to_map(other));
        serde_json::from_value(Value::Object(fields)).unwrap_or_else(|_| self.clone())
    }

    /// The pinned fields by name, in the order of this struct.
    pub fn pinned(&self) -> Map<String, Value> {
        to_map(self)
    }
}

fn to_map(settings: &Settings) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
