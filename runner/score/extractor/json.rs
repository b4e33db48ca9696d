//! `json`: the first JSON value in the reply.

use serde_json::{Deserializer, Value};

use super::Info;

pub(super) const INFO: Info = Info {
    name: "json",
    summary: "the first JSON value in the reply, with or without a code fence",
    help: "\
The whole reply when it is one JSON value, or else the first object or list in it; text
around it and a code fence are left out.

    - task_score: { extractor: json, scorer: json, reference: '{\"celsius\": 4}' }",
};

pub(super) fn extract(text: &str) -> Option<String> {
    first_value(text).map(|value| value.to_string())
}

/// The value of the whole text, or else the first object or list in it.
pub(crate) fn first_value(text: &str) -> Option<Value> {
    let inner = unfenced(text);
    if let Ok(value) = serde_json::from_str(inner.trim()) {
        return Some(value);
    }
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '{' | '['));
    starts.filter_map(|(at, _)| Deserializer::from_str(&text[at..]).into_iter().next()?.ok()).next()
}

/// What a code fence around the whole text encloses.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((_language, inner)) => inner,
        None => inner.unwrap_or(text),
    }
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_first_value_is_found() {
        for (text, json) in [
            ("{\"a\": 1}", Some("{\"a\":1}")),
            ("```json\n{\"a\": [1, 2]}\n```", Some("{\"a\":[1,2]}")),
            ("Here:\n```json\n{\"a\": 1}\n```\nand ```{\"b\": 2}```", Some("{\"a\":1}")),
            ("It is {\"a\": \"}\"} indeed {}", Some("{\"a\":\"}\"}")),
            ("a {brace} before [1]", Some("[1]")),
            ("```\n4\n```", Some("4")),
            (" \"x\" ", Some("\"x\"")),
            ("true", Some("true")),
            ("It is 4", None),
            ("{\"a\": ", None),
            ("", None),
        ] {
            assert_eq!(extract(text).as_deref(), json, "{text}");
        }
    }
}
