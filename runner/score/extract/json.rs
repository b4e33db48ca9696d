//! `json`: the first JSON value in the reply.

use serde_json::{Deserializer, Value};

use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "json", summary: "the first JSON object or list, text around it left out" };

pub(super) fn extract(text: &str) -> Option<String> {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return Some(value.to_string());
    }
    let starts = text.match_indices(['{', '[']);
    starts.map(|(start, _)| &text[start..]).find_map(|rest| {
        let value = Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        Some(value.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn text_around_the_value_is_left_out() {
        assert_eq!(extract("```json\n{ \"a\": 1 }\n``` done").as_deref(), Some("{\"a\":1}"));
        assert_eq!(extract("4").as_deref(), Some("4"));
        assert_eq!(extract("{not json").as_deref(), None);
        assert_eq!(extract("{ [1]").as_deref(), Some("[1]"));
    }
}
