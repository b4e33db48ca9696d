//! What the request asked for, as far as it decides what the reply must have.

use serde::Deserialize;
use serde_json::Value;

use crate::capture::WireRequest;

/// Read from the body that was sent; without one nothing is known to be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Asked {
    /// Whether a stream was asked for, as far as the body says.
    pub(super) stream: Option<bool>,
    /// `stream_options.include_usage`.
    pub(super) usage: bool,
    /// `stream_options.continuous_usage_stats`.
    pub(super) running_usage: bool,
    /// How many choices.
    pub(super) choices: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Body {
    stream: Value,
    stream_options: Value,
    n: Value,
    prompt: Value,
}

impl Asked {
    pub(super) fn read(request: &WireRequest) -> Asked {
        let Some(body) = &request.body else {
            return Asked::default();
        };
        let Ok(body) = serde_json::from_str::<Body>(body.get()) else {
            return Asked::default();
        };
        let option = |name: &str| body.stream_options.get(name) == Some(&Value::Bool(true));
        let n = body.n.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
        Asked {
            stream: Some(body.stream == Value::Bool(true)),
            usage: option("include_usage"),
            running_usage: option("continuous_usage_stats"),
            choices: Some(n * prompts(&body.prompt)),
        }
    }
}

/// How many prompts a completion request has: it may be a list of them, and a list of ids is one.
fn prompts(prompt: &Value) -> usize {
    match prompt.as_array() {
        Some(list) if list.iter().all(|item| item.is_string() || item.is_array()) => {
            list.len().max(1)
        }
        _ => 1,
    }
}
