//! Values printed as Python's `str` and `repr` print them.

use std::fmt::Write as _;

use minijinja::Value;
use minijinja::value::ValueKind;

/// Python's `str(value)`; an undefined value is empty.
pub(in crate::model) fn str(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => repr(value),
    }
}

/// Python's `repr(value)`.
pub(super) fn repr(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined => String::new(),
        ValueKind::None => "None".to_owned(),
        ValueKind::Bool => if value.is_true() { "True" } else { "False" }.to_owned(),
        ValueKind::Number if value.is_integer() => value.to_string(),
        ValueKind::Number => f64::try_from(value.clone()).map_or_else(|_| value.to_string(), float),
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => sequence(value),
        ValueKind::Map => mapping(value),
        _ => value.to_string(),
    }
}

fn sequence(value: &Value) -> String {
    let items: Vec<String> =
        value.try_iter().into_iter().flatten().map(|item| repr(&item)).collect();
    match (value.is_tuple(), items.as_slice()) {
        (true, [only]) => format!("({only},)"),
        (true, items) => format!("({})", items.join(", ")),
        (false, items) => format!("[{}]", items.join(", ")),
    }
}

fn mapping(value: &Value) -> String {
    let entry = |key: Value| {
        let item = value.get_item(&key).unwrap_or_default();
        format!("{}: {}", repr(&key), repr(&item))
    };
    let entries: Vec<String> = value.try_iter().into_iter().flatten().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == quote => {
                out.push('\\');
                out.push(quote);
            }
            _ if is_printable(character) => out.push(character),
            _ => {
                let _ = match u32::from(character) {
                    code @ ..=0xFF => write!(out, "\\x{code:02x}"),
                    code @ ..=0xFFFF => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

/// Python's `str.isprintable` for one character other than quotes and the backslash.
fn is_printable(character: char) -> bool {
    // Rust escapes by the same Unicode categories, but a leading combining character as well.
    let text = format!("a{character}");
    matches!(character, '\'' | '"') || text.escape_debug().eq(text.chars())
}

/// The shortest digits that read back as the same number, with Python's choice of notation.
fn float(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Whether Python's `str.strip()` removes this character.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// Python's `str.strip()`.
pub(in crate::model) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str.rstrip()`.
pub(in crate::model) fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        let cases = [
            (1.0, "1.0"),
            (1e-07, "1e-07"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (-0.5, "-0.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-5, "1.5e-05"),
            (123456789.125, "123456789.125"),
            (1e22, "1e+22"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "-0.0"),
            (1.5e300, "1.5e+300"),
        ];
        for (number, text) in cases {
            assert_eq!(float(number), text);
        }
    }

    #[test]
    fn texts_are_quoted_as_python_quotes_them() {
        let cases = [
            ("it's", "\"it's\""),
            ("a\"b", "'a\"b'"),
            ("it's \"q\"", "'it\\'s \"q\"'"),
            ("é\n\\", "'é\\n\\\\'"),
            ("\u{7f}\u{a0}\u{2028}", "'\\x7f\\xa0\\u2028'"),
            ("e\u{301}🚀", "'e\u{301}🚀'"),
            ("\u{e0001}", "'\\U000e0001'"),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
