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
