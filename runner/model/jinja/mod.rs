//! The template engine made to behave as the Jinja2 environment of transformers.
//!
//! What still differs: a loop over `None` is empty instead of an error; an unread `selectattr` counts
//! as false when it is empty; `dict.keys()` and `range()` print as lists; `%` formats only after a text
//! literal; macros take no `varargs`; filters for web pages (`urlencode`, `striptags` …) are missing.

mod filters;
mod json;
mod methods;
pub(super) mod python;
mod source;

#[cfg(test)]
mod tests;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Value};

use super::clock::Clock;

pub(super) use source::prepare;

/// An environment without templates and without a clock; the clock comes with the [`context`].
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.unwrap_or_default());
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_debug(false);
    environment.set_unknown_method_callback(methods::call);
    environment
        .set_formatter(|out, _, value| out.write_str(&python::str(value)).map_err(Error::from));
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("dict", dict);
    environment.add_test("callable", |value: &Value| value.kind() == ValueKind::Plain);
    environment.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    environment.add_test("sequence", is_sequence);
    environment.add_test("number", |value: &Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
    });
    filters::add(&mut environment);
    environment
}

/// The variables of one rendering, with `strftime_now` on `clock`.
pub(super) fn context(variables: &serde_json::Value, clock: Clock) -> Value {
    let now = Value::from_function(move |format: String| clock.strftime(&format));
    let variables = Value::from(Serde(variables));
    minijinja::context! { strftime_now => now, ..variables }
}

/// What went wrong, in one line; for a template that raised, its own words.
pub(super) fn message(error: &Error) -> String {
    match (error.kind(), error.detail()) {
        (ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    }
}

fn raise_exception(message: &Value) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, python::str(message)))
}

/// Python's `dict`: a mapping or a sequence of pairs, then further entries by name.
fn dict(base: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let mut entries: Vec<(Value, Value)> = Vec::new();
    if let Some(base) = base {
        let is_map = base.kind() == ValueKind::Map;
        for item in base.try_iter()? {
            entries.push(match is_map {
                true => (item.clone(), base.get_item(&item)?),
                false => (item.get_item_by_index(0)?, item.get_item_by_index(1)?),
            });
        }
    }
    for name in named.args() {
        entries.push((Value::from(name), named.peek::<Value>(name)?));
    }
    Ok(Value::from_pairs(entries))
}

/// Jinja2 asks for a length and an index, which texts and mappings have, too.
fn is_sequence(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::String | ValueKind::Seq | ValueKind::Map | ValueKind::Undefined
    )
}
