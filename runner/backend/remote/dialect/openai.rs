//! `openai`: nothing outside the published API is sent.

use super::{Dialect, LogprobStage, Quirks};

pub(super) static DIALECT: Dialect = Dialect {
    name: "openai",
    summary: "the published API and nothing outside it",
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
    profile: |_, _| {},
    reasoning: &["reasoning_content", "reasoning"],
    logprobs: LogprobStage::Unknown,
    finishes: &["stop", "length", "tool_calls", "content_filter", "function_call"],
    quirks: Quirks {
        no_done: false,
        role_repeats: false,
        usage_unasked: false,
        empty_id: false,
        no_logprobs_with_tools_in_streams: false,
    },
    prompt: &[],
    settings_routes: &[],
    end_token_in_ids: false,
    mend: |_| {},
};
