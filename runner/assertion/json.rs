//! JSON values compared by value, with the path of the first difference.

use serde_json::{Map, Value};

/// One difference between two JSON values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mismatch {
    /// Where, such as `$.city` or `$.days[2]`.
    pub(crate) path: String,
    /// What is wrong there, as the end of a sentence that begins with the path.
    pub(crate) what: String,
}

/// How objects are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Both have the same keys.
    Exact,
    /// The actual one may have further keys.
    Subset,
}

/// Whether two values are equal: numbers by value (1 is 1.0), objects without order.
pub(crate) fn equal(expected: &Value, actual: &Value) -> bool {
    compare(expected, actual, Keys::Exact).is_empty()
}

/// Every difference, in the order of the expected value, then of the actual one.
pub(crate) fn compare(expected: &Value, actual: &Value, keys: Keys) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    collect(expected, actual, keys, "$", &mut mismatches);
    mismatches
}

fn collect(expected: &Value, actual: &Value, keys: Keys, path: &str, out: &mut Vec<Mismatch>) {
    let mut differs = |what: String| out.push(Mismatch { path: path.to_owned(), what });
    match (expected, actual) {
        (Value::Object(a), Value::Object(b)) => objects(a, b, keys, path, out),
        (Value::Array(a), Value::Array(b)) => {
            if a.len() != b.len() {
                let found = crate::diagnostic::count(b.len(), "element");
                differs(format!("has {found} instead of {}", a.len()));
            }
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                collect(a, b, keys, &format!("{path}[{index}]"), out);
            }
        }
        (Value::Number(a), Value::Number(b)) => {
            if !same_number(a, b) {
                differs(format!("is {b} instead of {a}"));
            }
        }
        (a, b) if a == b => {}
        (a, b) => differs(format!("is {b} instead of {a}")),
    }
}

fn objects(
    expected: &Map<String, Value>,
    actual: &Map<String, Value>,
    keys: Keys,
    path: &str,
    out: &mut Vec<Mismatch>,
) {
    for (key, value) in expected {
        let inner = member(path, key);
        match actual.get(key) {
            Some(found) => collect(value, found, keys, &inner, out),
            None => out.push(Mismatch { path: inner, what: "is missing".to_owned() }),
        }
    }
    if keys == Keys::Exact {
        let extra = actual.keys().filter(|key| !expected.contains_key(*key));
        out.extend(extra.map(|key| Mismatch { path: member(path, key), what: "is extra".to_owned() }));
    }
}

fn member(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { format!("{path}.{key}") } else { format!("{path}[{key:?}]") }
}

/// Whole numbers exactly, anything else as `f64`.
fn same_number(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    let whole = |n: &serde_json::Number| n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.as_f64() == b.as_f64(),
    }
}

/// All differences in one sentence.
pub(crate) fn sentence(mismatches: &[Mismatch]) -> String {
    const MOST: usize = 4;
    let mut parts: Vec<String> =
        mismatches.iter().take(MOST).map(|one| format!("`{}` {}", one.path, one.what)).collect();
    if mismatches.len() > MOST {
        parts.push(format!("{} more differences", mismatches.len() - MOST));
    }
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_by_value_and_objects_without_order() {
        assert!(equal(&json!({"a": 1, "b": [1.0, "x"]}), &json!({"b": [1, "x"], "a": 1.0})));
        assert!(!equal(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!equal(&json!("1"), &json!(1)) && !equal(&json!(null), &json!(false)));
    }

    #[test]
    fn a_renamed_key_is_missing_and_extra() {
        let mismatches = compare(&json!({"city": "Oslo"}), &json!({"town": "Oslo"}), Keys::Exact);
        assert_eq!(sentence(&mismatches), "`$.city` is missing and `$.town` is extra");
        assert_eq!(compare(&json!({}), &json!({"town": 1}), Keys::Subset), []);
    }

    #[test]
    fn paths_lead_to_the_difference() {
        let found = compare(&json!({"a": [{"b c": 1}, 2]}), &json!({"a": [{"b c": 2}]}), Keys::Exact);
        assert_eq!(sentence(&found), "`$.a` has 1 element instead of 2 and `$.a[0][\"b c\"]` is 2 instead of 1");
    }
}
