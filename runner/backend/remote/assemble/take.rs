//! Taking values out of a JSON object, so that what stays in it is what nobody knows.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// Takes a text; anything else stays.
pub(super) fn text(object: &mut Object, key: &str) -> Option<String> {
    if !object.get(key)?.is_string() {
        return None;
    }
    match object.shift_remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Takes an object; anything else stays.
pub(super) fn object(object: &mut Object, key: &str) -> Option<Object> {
    if !object.get(key)?.is_object() {
        return None;
    }
    match object.shift_remove(key) {
        Some(Value::Object(inner)) => Some(inner),
        _ => None,
    }
}

/// Takes a list; anything else stays.
pub(super) fn list(object: &mut Object, key: &str) -> Option<Vec<Value>> {
    if !object.get(key)?.is_array() {
        return None;
    }
    match object.shift_remove(key) {
        Some(Value::Array(items)) => Some(items),
        _ => None,
    }
}

/// Takes a count; anything else stays.
pub(super) fn count(object: &mut Object, key: &str) -> Option<usize> {
    let count = usize::try_from(object.get(key)?.as_u64()?).ok()?;
    object.shift_remove(key);
    Some(count)
}

/// Takes a list of token ids; anything else stays.
pub(super) fn ids(object: &mut Object, key: &str) -> Option<Vec<u32>> {
    let ids = as_ids(object.get(key)?)?;
    object.shift_remove(key);
    Some(ids)
}

/// A list of token ids.
pub(super) fn as_ids(value: &Value) -> Option<Vec<u32>> {
    value.as_array()?.iter().map(as_id).collect()
}

/// A token id.
pub(super) fn as_id(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// Moves everything that is not `null` to `native`. Texts are joined to earlier ones with `join`, else the later wins.
pub(super) fn rest(object: Object, native: &mut Object, join: bool) {
    for (key, value) in object {
        match (native.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if join => text.push_str(&more),
            (_, value) => {
                native.insert(key, value);
            }
        }
    }
}
