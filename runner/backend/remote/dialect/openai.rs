//! `openai`: nothing outside the published API is sent.

use super::{
    Dialect, ErrorShape, LogprobStage, Prefill, Quirks, Shadow, ask_logprobs, untold, whole,
};

pub(super) static DIALECT: Dialect = Dialect {
    name: "openai",
    summary: "the published API and nothing outside it",
    probe: None,
    facts: &[],
    show: None,
    context: &[],
    settings: &[
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("seed", "seed"),
        ("max_tokens", "max_completion_tokens"),
        ("stop", "stop"),
        ("presence_penalty", "presence_penalty"),
        ("frequency_penalty", "frequency_penalty"),
        ("logit_bias", "logit_bias"),
    ],
    template: None,
    prefill: Prefill::Refused,
    profile: ask_logprobs,
    reasoning: &["reasoning_content", "reasoning"],
    logprobs: LogprobStage::Unknown,
    finishes: &["stop", "length", "tool_calls", "content_filter", "function_call"],
    quirks: Quirks::NONE,
    errors: &[ErrorShape::Wrapped],
    prompt: &[],
    output_ids: "bytes of the log-probabilities, looked up in our tokenizer",
    settings_told: "not told",
    resolve: untold,
    detokenize: None,
    shadow: Shadow::None,
    mend: whole,
};
