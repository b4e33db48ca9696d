//! `sglang`: ids beside the reply, in a field of its own when it is streamed.

use serde_json::{Map, Value, json};

use super::vllm::SETTINGS;
use super::{
    Dialect, ErrorShape, LogprobStage, Prefill, Probe, PromptRoute, Quirks, Shadow, Telling, Told,
    ask_logprobs, whole,
};
use crate::request::Request;

pub(super) static DIALECT: Dialect = Dialect {
    name: "sglang",
    summary: "SGLang",
    probe: Some(Probe { path: "/model_info", body: None, recognise }),
    facts: &[
        ("version", "/server_info", "/version"),
        ("weights", "/model_info", "/model_path"),
        ("weight_version", "/model_info", "/weight_version"),
        ("sampling_defaults", "/server_info", "/sampling_defaults"),
    ],
    show: None,
    context: &[("/v1/models", "/data/0/max_model_len"), ("/server_info", "/context_length")],
    settings: SETTINGS,
    template: Some("chat_template_kwargs"),
    prefill: Prefill::Flags,
    profile,
    reasoning: &["reasoning_content", "reasoning"],
    logprobs: LogprobStage::AfterTemperature,
    finishes: &["stop", "length", "tool_calls", "abort", "content_filter", "function_call"],
    quirks: Quirks::NONE,
    errors: &[ErrorShape::Flat, ErrorShape::Wrapped],
    prompt: &[PromptRoute::Returned, PromptRoute::TokenizeMessages],
    output_ids: "in the reply",
    settings_told: "`/server_info` and generation_config.json",
    resolve,
    detokenize: Some(("/detokenize", "text")),
    shadow: Shadow::None,
    mend: whole,
};

fn recognise(_: u16, answer: &Value) -> Option<&'static str> {
    let told = answer.get("model_path").is_some() && answer.get("is_generation").is_some();
    told.then_some("`/model_info` tells `model_path` and `is_generation`")
}

/// Ids in the reply are refused in a stream, where an extra event carries them instead.
fn profile(request: &Request, body: &mut Map<String, Value>) {
    let fields: &[&str] = match request.stream {
        true => &["return_input_ids_in_sglext", "return_output_ids_in_sglext"],
        false => &["return_prompt_token_ids", "return_token_ids", "return_meta_info"],
    };
    for field in fields {
        body.insert((*field).to_owned(), json!(true));
    }
    ask_logprobs(request, body);
}

/// By SGLang's rule: its own defaults, or for chat those of the model's generation_config.json.
fn resolve(telling: &Telling<'_>) -> Vec<Told> {
    let built_in = [
        ("temperature", json!(1.0)),
        ("top_p", json!(1.0)),
        ("top_k", json!(-1)),
        ("min_p", json!(0.0)),
        ("repetition_penalty", json!(1.0)),
    ];
    let rule = telling.facts.get("/server_info", "/sampling_defaults").and_then(Value::as_str);
    let file = telling.local.and_then(|model| model.generation_config.as_ref());
    let told = |(name, default): (&'static str, Value)| {
        let (value, source) = match (rule, file.map(|file| file.get(name))) {
            (Some("openai"), _) => (default, "/server_info: sampling_defaults openai"),
            (Some("model"), Some(Some(value))) => {
                (value.clone(), "generation_config.json, as /server_info says")
            }
            (Some("model"), Some(None)) => {
                (default, "not in generation_config.json, as /server_info says")
            }
            _ => return None,
        };
        Some(Told { name, value, source, of_request: false })
    };
    built_in.into_iter().filter_map(told).collect()
}
