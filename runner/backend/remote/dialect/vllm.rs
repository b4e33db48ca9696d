//! `vllm`: ids on request, and a render route that shows the resolved settings.

use serde_json::{Map, Value, json};

use super::{
    Dialect, ErrorShape, LogprobStage, Prefill, Probe, PromptRoute, Quirks, Shadow, Telling, Told,
    ask_logprobs,
};
use crate::backend::remote::reply::Choice;
use crate::request::Request;

pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("min_p", "min_p"),
    ("seed", "seed"),
    ("max_tokens", "max_tokens"),
    ("min_tokens", "min_tokens"),
    ("stop", "stop"),
    ("stop_token_ids", "stop_token_ids"),
    ("ignore_eos", "ignore_eos"),
    ("repetition_penalty", "repetition_penalty"),
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("logit_bias", "logit_bias"),
];

pub(super) static DIALECT: Dialect = Dialect {
    name: "vllm",
    summary: "vLLM",
    probe: Some(Probe { path: "/tokenize", body: Some(tokenize), recognise }),
    facts: &[("version", "/version", "/version"), ("weights", "/v1/models", "/data/0/root")],
    show: None,
    context: &[("/v1/models", "/data/0/max_model_len")],
    settings: SETTINGS,
    template: Some("chat_template_kwargs"),
    prefill: Prefill::Flags,
    profile,
    reasoning: &["reasoning", "reasoning_content"],
    logprobs: LogprobStage::Raw,
    finishes: &["stop", "length", "tool_calls", "abort", "repetition"],
    quirks: Quirks::NONE,
    errors: &[ErrorShape::Wrapped, ErrorShape::Detail, ErrorShape::Text],
    prompt: &[PromptRoute::Render, PromptRoute::Returned, PromptRoute::TokenizeMessages],
    output_ids: "in the reply",
    settings_told: "the render route (`--enable-scale-out`)",
    resolve,
    detokenize: Some(("/detokenize", "prompt")),
    shadow: Shadow::None,
    mend,
};

/// A `stop` without a reason is the model's first end id; every other cause has one.
fn mend(choice: &mut Choice) {
    if choice.finish_reason.as_deref() == Some("stop") && choice.stop_reason.is_none() {
        choice.stop_type = Some("eos".to_owned());
    }
}

fn tokenize(model: &str) -> Value {
    json!({"model": model, "prompt": "a"})
}

fn recognise(_: u16, answer: &Value) -> Option<&'static str> {
    let told = answer.get("tokens").is_some() && answer.get("max_model_len").is_some();
    told.then_some("`/tokenize` takes a prompt and tells `max_model_len`")
}

fn profile(request: &Request, body: &mut Map<String, Value>) {
    for field in ["return_token_ids", "return_tokens_as_token_ids"] {
        body.insert(field.to_owned(), json!(true));
    }
    ask_logprobs(request, body);
}

/// The render route's `sampling_params`, which leaves out what is at vLLM's built-in default.
fn resolve(telling: &Telling<'_>) -> Vec<Told> {
    let Some(params) = telling.rendered.and_then(|answer| answer.get("sampling_params")) else {
        return Vec::new();
    };
    let built_in = [
        ("temperature", json!(1.0)),
        ("top_p", json!(1.0)),
        ("top_k", json!(0)),
        ("min_p", json!(0.0)),
        ("seed", json!("random")),
        ("max_tokens", json!("unlimited")),
        ("min_tokens", json!(0)),
        ("stop", json!([])),
        ("stop_token_ids", json!([])),
        ("ignore_eos", json!(false)),
        ("repetition_penalty", json!(1.0)),
        ("presence_penalty", json!(0.0)),
        ("frequency_penalty", json!(0.0)),
        ("logit_bias", json!({})),
    ];
    let told = |(name, default): (&'static str, Value)| {
        let (value, source) = match params.get(name).filter(|value| !value.is_null()) {
            Some(value) => (value.clone(), "the render route"),
            None => (default, "vLLM's default, left out by the render route"),
        };
        Told { name, value, source, of_request: true }
    };
    built_in.into_iter().map(told).collect()
}
