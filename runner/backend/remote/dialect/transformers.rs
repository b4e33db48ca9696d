//! `transformers`: `transformers serve` refuses every field it does not know, and ignores several that it does.

use serde_json::{Value, json};

use super::{
    Dialect, ErrorShape, LogprobStage, Prefill, Probe, Quirks, Shadow, plain, untold, whole,
};

pub(super) static DIALECT: Dialect = Dialect {
    name: "transformers",
    summary: "`transformers serve`: few fields, no ids, no log-probabilities",
    probe: Some(Probe { path: "/v1/chat/completions", body: Some(unheard_of), recognise }),
    facts: &[],
    show: None,
    context: &[],
    settings: &[
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("seed", "seed"),
        ("max_tokens", "max_tokens"),
        ("stop", "stop"),
        ("presence_penalty", "presence_penalty"),
        ("frequency_penalty", "frequency_penalty"),
        ("logit_bias", "logit_bias"),
    ],
    template: None,
    prefill: Prefill::Refused,
    profile: plain,
    reasoning: &["reasoning_content"],
    logprobs: LogprobStage::None,
    finishes: &["stop", "length", "tool_calls"],
    quirks: Quirks { usage_unasked: true, no_done: true, ..Quirks::NONE },
    errors: &[ErrorShape::Detail],
    prompt: &[],
    output_ids: "not at all",
    settings_told: "not told",
    resolve: untold,
    detokenize: None,
    shadow: Shadow::None,
    mend: whole,
};

/// A request that cannot be answered, for want of messages.
fn unheard_of(model: &str) -> Value {
    json!({"model": model, "evalsuite_probe": true})
}

fn recognise(status: u16, answer: &Value) -> Option<&'static str> {
    let refused = answer.get("detail").and_then(Value::as_str)?;
    (status == 422 && refused.starts_with("Unexpected fields"))
        .then_some("an unknown field is refused with 422 `Unexpected fields`")
}
