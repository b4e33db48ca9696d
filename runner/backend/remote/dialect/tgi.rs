//! `tgi`: Text Generation Inference, whose chat route hides its ids.

use serde_json::{Map, Value};

use super::{
    Dialect, ErrorShape, FEW, LogprobStage, Prefill, Probe, PromptRoute, Quirks, Shadow,
    ask_logprobs, untold,
};
use crate::backend::remote::reply::Choice;
use crate::request::Request;

pub(super) static DIALECT: Dialect = Dialect {
    name: "tgi",
    summary: "Text Generation Inference",
    probe: Some(Probe { path: "/info", body: None, recognise }),
    facts: &[
        ("version", "/info", "/version"),
        ("weights", "/info", "/model_sha"),
        ("dtype", "/info", "/model_dtype"),
    ],
    show: None,
    context: &[("/info", "/max_total_tokens")],
    settings: FEW,
    template: None,
    prefill: Prefill::Refused,
    profile,
    reasoning: &["reasoning_content"],
    logprobs: LogprobStage::AfterTruncation,
    finishes: &["stop", "length", "stop_sequence", "eos_token"],
    quirks: Quirks { role_repeats: true, empty_id: true, ..Quirks::NONE },
    errors: &[ErrorShape::Text, ErrorShape::Wrapped],
    prompt: &[PromptRoute::ChatTokenize],
    output_ids: "from `/generate` on the rendered prompt",
    settings_told: "not told",
    resolve: untold,
    detokenize: None,
    shadow: Shadow::Generate,
    mend,
};

fn recognise(_: u16, answer: &Value) -> Option<&'static str> {
    let told = answer.get("model_id").is_some() && answer.get("max_total_tokens").is_some();
    told.then_some("`/info` tells `model_id` and `max_total_tokens`")
}

/// The router's own cap on alternatives is 5.
fn profile(request: &Request, body: &mut Map<String, Value>) {
    ask_logprobs(request, body);
    if body.contains_key("top_logprobs") {
        body.insert("top_logprobs".to_owned(), Value::from(request.top_logprobs.min(5)));
    }
}

/// Streamed completions say `""` where nothing has ended yet.
fn mend(choice: &mut Choice) {
    choice.finish_reason = choice.finish_reason.take().filter(|word| !word.is_empty());
}
