//! `json`: the answer is the same JSON value.

use super::{Info, Pair};
use crate::assertion::equal_json;
use crate::score::extractor::first_value;

pub(super) const INFO: Info = Info {
    name: "json",
    summary: "the answer is the same JSON value",
    help: "\
Numbers are compared by value and objects without order; an answer that holds no JSON scores 0.

    - task_score: { scorer: json, extractor: json, reference: '{\"celsius\": 4}' }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let answer = first_value(pair.answer);
    let reference = serde_json::from_str(pair.reference).ok();
    answer.zip(reference).is_some_and(|(answer, reference)| equal_json(&reference, &answer))
}

pub(super) fn problem(reference: &str) -> Option<String> {
    let error = serde_json::from_str::<serde_json::Value>(reference).err()?;
    Some(format!("the reference {reference:?} is no JSON: {error}"))
}
