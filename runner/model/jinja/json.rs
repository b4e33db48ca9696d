//! `json.dumps` of Python, which transformers puts in place of Jinja2's `tojson`.

use std::fmt::Write as _;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::python;

struct Options {
    ensure_ascii: bool,
    indent: Option<String>,
    item: String,
    key: String,
    sort_keys: bool,
}

/// The filter `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub(super) fn tojson(value: &Value, positional: &[Value], named: &Kwargs) -> Result<String, Error> {
    let argument = |index: usize, name: &str| -> Result<Value, Error> {
        match positional.get(index) {
            Some(value) => Ok(value.clone()),
            None => Ok(named.get::<Option<Value>>(name)?.unwrap_or(Value::from(()))),
        }
    };
    let indent = indent(&argument(1, "indent")?);
    let separators = argument(2, "separators")?;
    let separator = |index: usize, default: &str| -> Result<String, Error> {
        if separators.is_none() || separators.is_undefined() {
            return Ok(default.to_owned());
        }
        Ok(python::str(&separators.get_item_by_index(index)?))
    };
    let options = Options {
        ensure_ascii: argument(0, "ensure_ascii")?.is_true(),
        item: separator(0, if indent.is_some() { "," } else { ", " })?,
        key: separator(1, ": ")?,
        sort_keys: argument(3, "sort_keys")?.is_true(),
        indent,
    };
    named.assert_all_used()?;
    let mut out = String::new();
    write(&mut out, value, &options, 1)?;
    Ok(out)
}

fn indent(value: &Value) -> Option<String> {
    match value.as_str() {
        Some(text) => Some(text.to_owned()),
        None => value.as_usize().map(|count| " ".repeat(count.min(64))),
    }
}

fn write(out: &mut String, value: &Value, options: &Options, depth: usize) -> Result<(), Error> {
    match value.kind() {
        ValueKind::None => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => out.push_str(&number(value)),
        ValueKind::String => string(out, value.as_str().unwrap_or_default(), options.ensure_ascii),
        ValueKind::Seq | ValueKind::Iterable => list(out, value, options, depth)?,
        ValueKind::Map => map(out, value, options, depth)?,
        kind => {
            let message = format!("tojson: a value of kind {kind} is not JSON serializable");
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
    }
    Ok(())
}

fn number(value: &Value) -> String {
    match python::str(value).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        text => text.to_owned(),
    }
}

fn list(out: &mut String, value: &Value, options: &Options, depth: usize) -> Result<(), Error> {
    let items: Vec<Value> = value.try_iter()?.collect();
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        separate(out, options, index, depth);
        write(out, item, options, depth + 1)?;
    }
    close(out, options, items.is_empty(), depth, ']');
    Ok(())
}

fn map(out: &mut String, value: &Value, options: &Options, depth: usize) -> Result<(), Error> {
    let mut keys: Vec<Value> = value.try_iter()?.collect();
    if options.sort_keys {
        keys.sort();
    }
    out.push('{');
    for (index, key) in keys.iter().enumerate() {
        separate(out, options, index, depth);
        let text = match key.kind() {
            ValueKind::None => "null".to_owned(),
            ValueKind::Bool => key.is_true().to_string(),
            ValueKind::Number => number(key),
            _ => python::str(key),
        };
        string(out, &text, options.ensure_ascii);
        out.push_str(&options.key);
        write(out, &value.get_item(key)?, options, depth + 1)?;
    }
    close(out, options, keys.is_empty(), depth, '}');
    Ok(())
}

fn separate(out: &mut String, options: &Options, index: usize, depth: usize) {
    if index > 0 {
        out.push_str(&options.item);
    }
    line(out, options, depth);
}

fn close(out: &mut String, options: &Options, empty: bool, depth: usize, bracket: char) {
    if !empty {
        line(out, options, depth - 1);
    }
    out.push(bracket);
}

fn line(out: &mut String, options: &Options, depth: usize) {
    if let Some(indent) = &options.indent {
        out.push('\n');
        out.push_str(&indent.repeat(depth));
    }
}

fn string(out: &mut String, text: &str, ensure_ascii: bool) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(character),
            _ if character >= ' ' && !ensure_ascii => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}
