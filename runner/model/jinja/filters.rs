//! Filters of Jinja2 whose results differ from the engine's own.

use minijinja::value::{Kwargs, Rest};
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
