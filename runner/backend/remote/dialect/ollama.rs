//! `ollama`: a small API layer over its own runner, with settings of the Modelfile beneath.

use serde_json::{Value, json};

use super::{
    Dialect, ErrorShape, FEW, LogprobStage, Prefill, Probe, PromptRoute, Quirks, Shadow, Telling,
    Told, ask_logprobs, whole,
};

pub(super) static DIALECT: Dialect = Dialect {
    name: "ollama",
    summary: "Ollama",
    probe: Some(Probe { path: "/api/version", body: None, recognise }),
    facts: &[("version", "/api/version", "/version")],
    show: Some(("/api/show", named)),
    context: &[],
    settings: FEW,
    template: None,
    prefill: Prefill::Refused,
    profile: ask_logprobs,
    reasoning: &["reasoning", "reasoning_content"],
    logprobs: LogprobStage::Raw,
    finishes: &["stop", "length", "tool_calls"],
    quirks: Quirks { role_repeats: true, ..Quirks::NONE },
    errors: &[ErrorShape::Wrapped, ErrorShape::Text],
    prompt: &[PromptRoute::DebugRender],
    output_ids: "bytes of the log-probabilities, looked up in our tokenizer",
    settings_told: "`/api/show` and Ollama's rule",
    resolve,
    detokenize: None,
    shadow: Shadow::None,
    mend: whole,
};

/// `/api/show` wants to know of which model.
fn named(model: &str) -> Value {
    json!({"model": model})
}

fn recognise(status: u16, answer: &Value) -> Option<&'static str> {
    (status == 200 && answer.get("version").is_some()).then_some("`/api/version` tells a version")
}

/// The Modelfile's parameters, else Ollama's own defaults; its API layer sets temperature and top_p to 1 where the
/// request does not.
fn resolve(telling: &Telling<'_>) -> Vec<Told> {
    let told = |name, value, source| Told { name, value, source, of_request: false };
    let mut resolved: Vec<Told> = ["temperature", "top_p"]
        .map(|name| told(name, json!(1.0), "set by Ollama's API layer"))
        .to_vec();
    let Some(parameters) = telling.facts.get("/api/show", "/parameters").and_then(Value::as_str)
    else {
        return resolved;
    };
    let given = |name: &str| {
        let lines =
            parameters.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
        let value = lines.rev().find(|(key, _)| *key == name).map(|(_, value)| value.trim())?;
        serde_json::from_str::<Value>(value).ok()
    };
    for (name, parameter, default) in [
        ("top_k", "top_k", json!(40)),
        ("min_p", "min_p", json!(0.0)),
        ("repetition_penalty", "repeat_penalty", json!(1.0)),
    ] {
        resolved.push(match given(parameter) {
            Some(value) => told(name, value, "Modelfile, by /api/show"),
            None => told(name, default, "Ollama's default"),
        });
    }
    resolved
}
