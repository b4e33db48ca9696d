//! `json`: the same JSON value.

use serde_json::Value;

use crate::assertion::equal;
use crate::score::Info;

pub(super) const INFO: Info = Info { name: "json", summary: "the same JSON value" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    match (parse(extracted), parse(reference)) {
        (Some(a), Some(b)) => equal(&b, &a),
        _ => false,
    }
}

pub(super) fn problem(reference: &str) -> Option<String> {
    parse(reference).is_none().then(|| format!("the reference {reference:?} is not JSON"))
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right(r#"{"a": 1, "b": 2}"#, r#"{"b": 2.0, "a": 1}"#));
        assert!(!right(r#"{"a": 1}"#, r#"{"a": 2}"#) && !right("{", "{}"));
        assert!(problem("{").is_some() && problem("{}").is_none());
    }
}
