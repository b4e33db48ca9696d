//! Methods of Python's `str` that the engine's own compatibility layer lacks or does otherwise.

use minijinja::value::{Kwargs, Tuple, from_args};
use minijinja::{Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat;

use super::python;

/// Calls a method of a value as Python would.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let known = value.as_str().and_then(|text| of_text(text, method, args));
    known.unwrap_or_else(|| pycompat::unknown_method_callback(state, value, method, args))
}

fn of_text(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "strip" => strip(text, args, true, true),
        "lstrip" => strip(text, args, true, false),
        "rstrip" => strip(text, args, false, true),
        "removeprefix" => one(args, |part| text.strip_prefix(part).unwrap_or(text).into()),
        "removesuffix" => one(args, |part| text.strip_suffix(part).unwrap_or(text).into()),
        "partition" => one(args, |part| match text.split_once(part) {
            Some((before, after)) => triple(before, part, after),
            None => triple(text, "", ""),
        }),
        "rpartition" => one(args, |part| match text.rsplit_once(part) {
            Some((before, after)) => triple(before, part, after),
            None => triple("", "", text),
        }),
        "index" => one(args, |part| text.find(part)).and_then(|at| index(text, at)),
        "rindex" => one(args, |part| text.rfind(part)).and_then(|at| index(text, at)),
        "rsplit" => rsplit(text, args),
        "splitlines" => splitlines(text, args),
        "capitalize" => from_args::<()>(args).map(|()| capitalize(text).into()),
        "title" => from_args::<()>(args).map(|()| title(text).into()),
        "join" => join(text, args),
        _ => return None,
    })
}

fn one<T>(args: &[Value], answer: impl FnOnce(&str) -> T) -> Result<T, Error> {
    let (part,): (&str,) = from_args(args)?;
    Ok(answer(part))
}

fn triple(before: &str, separator: &str, after: &str) -> Value {
    Value::from(Tuple::from([before, separator, after].map(Value::from)))
}

/// The character at which the byte `at` stands.
fn index(text: &str, at: Option<usize>) -> Result<Value, Error> {
    let before = at.and_then(|at| text.get(..at));
    before
        .map(|before| Value::from(before.chars().count()))
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "substring not found"))
}

fn strip(text: &str, args: &[Value], start: bool, end: bool) -> Result<Value, Error> {
    let (characters,): (Option<&str>,) = from_args(args)?;
    let removed = |character: char| match characters {
        Some(characters) => characters.contains(character),
        None => python::is_space(character),
    };
    let text = if start { text.trim_start_matches(removed) } else { text };
    Ok(Value::from(if end { text.trim_end_matches(removed) } else { text }))
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, limit, named): (Option<&str>, Option<i64>, Kwargs) = from_args(args)?;
    let limit = limit.or(named.get("maxsplit")?);
    named.assert_all_used()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut parts: Vec<&str> = match separator {
        Some("") => return Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        Some(separator) => text.rsplitn(limit.saturating_add(1), separator).collect(),
        None => rsplit_spaces(text, limit),
    };
    parts.reverse();
    Ok(Value::from_iter(parts))
}

fn rsplit_spaces(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = python::rstrip(text);
    while !rest.is_empty() {
        let cut = rest.rfind(python::is_space).filter(|_| parts.len() < limit);
        let (before, part) = match cut {
            Some(at) => rest.split_at(at + rest[at..].chars().next().map_or(1, char::len_utf8)),
            None => ("", rest),
        };
        parts.push(part);
        rest = python::rstrip(before);
    }
    parts
}

fn splitlines(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (keep,): (Option<bool>,) = from_args(args)?;
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_line_end) {
        let length = if rest[at..].starts_with("\r\n") {
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        lines.push(&rest[..if keep.unwrap_or(false) { at + length } else { at }]);
        rest = &rest[at + length..];
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    Ok(Value::from_iter(lines))
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Python's `str.capitalize`.
pub(super) fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => {
            first.to_uppercase().collect::<String>() + &characters.as_str().to_lowercase()
        }
        None => String::new(),
    }
}

/// Python's `str.title`: a letter after anything but a letter is a capital.
fn title(text: &str) -> String {
    let mut after_letter = false;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if after_letter {
            out.extend(character.to_lowercase());
        } else {
            out.extend(character.to_uppercase());
        }
        after_letter = character.is_alphabetic();
    }
    out
}

fn join(separator: &str, args: &[Value]) -> Result<Value, Error> {
    let (items,): (Value,) = from_args(args)?;
    let mut parts = Vec::new();
    for item in items.try_iter()?.checked() {
        let item = item?;
        let Some(text) = item.as_str() else {
            let message = format!("join: expected a text, found {}", python::repr(&item));
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        };
        parts.push(text.to_owned());
    }
    Ok(Value::from(parts.join(separator)))
}
