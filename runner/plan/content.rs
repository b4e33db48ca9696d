//! JSON text as Python writes it, which is what chat templates and tool results hold in practice.

use std::io;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// `value` with `", "` and `": "` between parts, keys in their order and letters unescaped.
pub(super) fn python_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    match value.serialize(&mut Serializer::with_formatter(&mut bytes, Python)) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        Err(_) => value.to_string(),
    }
}

struct Python;

impl Formatter for Python {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn separators_order_and_letters_are_pythons() {
        let value = json!({ "z": [1, 2.5, true, null], "a": { "é": "\n\"" }, "e": [], "o": {} });
        let expected = r#"{"z": [1, 2.5, true, null], "a": {"é": "\n\""}, "e": [], "o": {}}"#;
        assert_eq!(python_json(&value), expected);
    }
}
