//! Filters of Jinja2 whose results differ from the engine's own.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{DynObject, Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, Value};

use super::{json, methods, python};

/// Puts the filters of this file in place.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter("tojson", |value: &Value, positional: Rest<Value>, named: Kwargs| {
        json::tojson(value, &positional, &named)
    });
    environment.add_filter("string", |value: &Value| python::str(value));
    environment.add_filter("capitalize", |value: &Value| methods::capitalize(&python::str(value)));
    environment.add_filter("title", |value: &Value| title(&python::str(value)));
    environment.add_filter("join", join);
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    for name in ["default", "d"] {
        environment.add_filter(name, default);
    }
    environment.add_filter("_percent", percent);
    environment.add_filter("_member", member);
}

/// `text % operand`, where a tuple gives several values.
fn percent(text: &str, operand: &Value) -> Result<String, Error> {
    let operands: Vec<Value> = match operand.is_tuple() {
        true => operand.try_iter()?.collect(),
        false => vec![operand.clone()],
    };
    format(FormatStyle::Printf, text, &operands)
}

/// `value.first.second…`, where `first` names a method of `dict`.
fn member(value: &Value, first: &str, more: Rest<Value>) -> Result<Value, Error> {
    // Namespaces and loops are maps to the engine, but have no methods in Jinja2.
    let is_plain = |object: &DynObject| {
        !["Namespace", "Loop"].iter().any(|name| object.type_name().contains(name))
    };
    let mut value = match value.kind() {
        ValueKind::Map if value.as_object().is_some_and(is_plain) => {
            Value::from_function(|_: Rest<Value>| ())
        }
        _ => value.get_attr(first)?,
    };
    for name in more.iter() {
        value = value.get_attr(name.as_str().unwrap_or_default())?;
    }
    Ok(value)
}

/// Jinja2's own title case: words end at spaces, hyphens and opening brackets only.
fn title(text: &str) -> String {
    let is_end = |character: char| python::is_space(character) || "-({[<".contains(character);
    text.split_inclusive(is_end)
        .map(|word| {
            let mut characters = word.chars();
            let first = characters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(characters.as_str().to_lowercase().chars()).collect::<String>()
        })
        .collect()
}

fn join(value: &Value, separator: Option<Value>, named: Kwargs) -> Result<String, Error> {
    let separator =
        separator.or(named.get("d")?).map_or_else(String::new, |text| python::str(&text));
    let attribute: Option<Value> = named.get("attribute")?;
    named.assert_all_used()?;
    let mut parts = Vec::new();
    for item in value.try_iter()?.checked() {
        let item = item?;
        let item = match &attribute {
            Some(name) => item.get_item(name)?,
            None => item,
        };
        parts.push(python::str(&item));
    }
    Ok(parts.join(&separator))
}

/// An integer, or the fallback where Python's `int` would fail.
fn int(value: &Value, fallback: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let fallback = fallback.or(named.get("default")?).unwrap_or(Value::from(0));
    named.assert_all_used()?;
    let text = python::str(value);
    if value.kind() == ValueKind::Bool {
        return Ok(Value::from(i64::from(value.is_true())));
    }
    if value.is_integer() {
        return Ok(value.clone());
    }
    if let Ok(number) = python::strip(&text).parse::<i128>() {
        return Ok(Value::from(number));
    }
    let number = python::strip(&text).parse::<f64>().ok().filter(|number| number.abs() < 1e18);
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is meant to go")]
    Ok(number.map_or(fallback, |number| Value::from(number as i64)))
}

/// A float, or the fallback where Python's `float` would fail.
fn float(value: &Value, fallback: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let fallback = fallback.or(named.get("default")?).unwrap_or(Value::from(0.0));
    named.assert_all_used()?;
    let text = if value.kind() == ValueKind::Bool {
        i64::from(value.is_true()).to_string()
    } else {
        python::str(value)
    };
    Ok(python::strip(&text).parse::<f64>().map_or(fallback, Value::from))
}

fn default(
    value: &Value,
    other: Option<Value>,
    boolean: Option<bool>,
    named: Kwargs,
) -> Result<Value, Error> {
    let other = other.or(named.get("default_value")?).unwrap_or(Value::from(""));
    let boolean = boolean.or(named.get("boolean")?).unwrap_or(false);
    named.assert_all_used()?;
    let replaced = value.is_undefined() || (boolean && !value.is_true());
    Ok(if replaced { other } else { value.clone() })
}
