//! `llamacpp`: `llama-server`, whose `verbose` replies hold nearly everything.

use serde_json::{Map, Value, json};

use super::{
    Dialect, ErrorShape, LogprobStage, Prefill, Probe, PromptRoute, Quirks, Shadow, Telling, Told,
    ask_logprobs,
};
use crate::backend::remote::reply::Choice;
use crate::request::Request;

pub(super) static DIALECT: Dialect = Dialect {
    name: "llamacpp",
    summary: "llama.cpp's `llama-server`",
    probe: Some(Probe { path: "/props", body: None, recognise }),
    facts: &[
        ("version", "/props", "/build_info"),
        ("weights", "/props", "/model_path"),
        ("quantization", "/props", "/model_ftype"),
        ("template", "/props", "/chat_template"),
    ],
    show: None,
    context: &[
        ("/props", "/default_generation_settings/n_ctx"),
        ("/v1/models", "/data/0/meta/n_ctx"),
    ],
    settings: &[
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("top_k", "top_k"),
        ("min_p", "min_p"),
        ("seed", "seed"),
        ("max_tokens", "max_tokens"),
        ("stop", "stop"),
        ("ignore_eos", "ignore_eos"),
        ("repetition_penalty", "repeat_penalty"),
        ("presence_penalty", "presence_penalty"),
        ("frequency_penalty", "frequency_penalty"),
        ("logit_bias", "logit_bias"),
    ],
    template: Some("chat_template_kwargs"),
    prefill: Prefill::LastMessageEchoed,
    profile,
    reasoning: &["reasoning_content"],
    logprobs: LogprobStage::Raw,
    finishes: &["stop", "length", "tool_calls"],
    quirks: Quirks { no_logprobs_with_tools_in_streams: true, ..Quirks::NONE },
    errors: &[ErrorShape::Wrapped],
    prompt: &[PromptRoute::ApplyTemplate],
    output_ids: "in the reply; streamed, from a second call in one piece",
    settings_told: "`generation_settings` of the reply, else `/props`",
    resolve,
    detokenize: Some(("/detokenize", "content")),
    shadow: Shadow::NotStreamed,
    mend,
};

fn recognise(_: u16, answer: &Value) -> Option<&'static str> {
    answer
        .get("default_generation_settings")
        .map(|_| "`/props` holds `default_generation_settings`")
}

fn profile(request: &Request, body: &mut Map<String, Value>) {
    for (field, value) in [("verbose", true), ("return_tokens", true), ("cache_prompt", false)] {
        body.insert(field.to_owned(), json!(value));
    }
    // Asked for together, these three are a 400.
    if !request.stream || request.tools.is_empty() {
        ask_logprobs(request, body);
    }
}

/// `generation_settings` of the reply, else the defaults of `/props`.
fn resolve(telling: &Telling<'_>) -> Vec<Told> {
    let verbose = telling.reply.native.get("__verbose");
    let (settings, source) = match verbose.and_then(|verbose| verbose.get("generation_settings")) {
        Some(settings) => (settings, "generation_settings of the reply"),
        None => match telling.facts.get("/props", "/default_generation_settings/params") {
            Some(defaults) => (defaults, "/props"),
            None => return Vec::new(),
        },
    };
    let of_request = source.starts_with("generation_settings");
    let fields = [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("top_k", "top_k"),
        ("min_p", "min_p"),
        ("seed", "seed"),
        ("max_tokens", "n_predict"),
        ("stop", "stop"),
        ("ignore_eos", "ignore_eos"),
        ("repetition_penalty", "repeat_penalty"),
        ("presence_penalty", "presence_penalty"),
        ("frequency_penalty", "frequency_penalty"),
        ("logit_bias", "logit_bias"),
    ];
    let told = |(name, field): (&'static str, &str)| {
        let value = value_of(name, settings.get(field)?);
        Some(Told { name, value, source, of_request })
    };
    fields.into_iter().filter_map(told).collect()
}

/// The value in the words of a request. The server keeps single precision, -1 for no cap, a list for a map.
fn value_of(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("seed", value) if value.as_u64() == Some(u64::from(u32::MAX)) => json!("random"),
        ("max_tokens", value) if value.as_i64() == Some(-1) => json!("unlimited"),
        ("logit_bias", Value::Array(pairs)) => {
            let pair =
                |pair: &Value| Some((pair.get("token")?.to_string(), pair.get("bias")?.clone()));
            Value::Object(pairs.iter().filter_map(pair).collect())
        }
        (_, value) => super::super::settings::rounded(value),
    }
}

/// The native result says why it stopped.
fn mend(choice: &mut Choice) {
    if choice.stop_reason.as_ref().is_some_and(|word| word == "") {
        choice.stop_reason = None;
    }
}
