//! A checkpoint's own grammar: the `response_template` object of its `tokenizer_config.json`.
//!
//! Fields are regions of the text, each with what opens and closes it, how its content is read, and
//! what the value is made of. The object is that of Hugging Face transformers 5 (version 1).

mod content;
mod data;
mod read;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use fancy_regex::Regex;
use serde_json::{Map, Value};

use super::Reparsed;
use content::Parser;

/// Why an object is no response template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("response_template: {0}")]
pub struct TemplateError(String);

/// A grammar that a checkpoint brings along.
#[derive(Debug)]
pub struct ResponseTemplate {
    /// What begins the last message of the assistant in the prompt.
    anchor: Regex,
    fields: Vec<Field>,
}

/// One field of the message.
#[derive(Debug)]
struct Field {
    name: String,
    /// `None` for the field that takes what no other one opens.
    open: Option<Regex>,
    /// `None`: it runs to the end of the text.
    close: Option<Regex>,
    parser: Parser,
    optional: bool,
    transform: Option<Value>,
    transform_each: bool,
}

const KEYS: [&str; 5] = ["version", "defaults", "fields", "start_anchor", "start_anchor_pattern"];
const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];

impl ResponseTemplate {
    /// Reads the object. Unknown keys, parsers and versions are errors, since their meaning would be
    /// guessed.
    pub fn load(object: &Value) -> Result<ResponseTemplate, TemplateError> {
        let object = map(object, "it")?;
        known(object, &KEYS, "it")?;
        if object.get("version").is_some_and(|version| version.as_u64() != Some(1)) {
            return fail("its version is not 1".to_owned());
        }
        object.get("defaults").map(|defaults| map(defaults, "`defaults`")).transpose()?;
        let anchor = delimiter(object, "start_anchor", "start_anchor_pattern", "it")?;
        let Some(anchor) = anchor else {
            return fail("it has neither `start_anchor` nor `start_anchor_pattern`".to_owned());
        };
        let fields = map(object.get("fields").unwrap_or(&Value::Null), "`fields`")?;
        let fields: Vec<Field> = fields
            .iter()
            .map(|(name, field)| Field::load(name, field))
            .collect::<Result<_, _>>()?;
        if fields.is_empty() {
            return fail("it has no fields".to_owned());
        }
        if fields.iter().filter(|field| field.open.is_none()).count() > 1 {
            return fail("more than one field has neither `open` nor `open_pattern`".to_owned());
        }
        Ok(ResponseTemplate { anchor, fields })
    }

    /// Takes `raw` apart; the arguments are those of [`super::reparse`].
    ///
    /// `prompt_tail` should reach back to the start of the assistant's last message. Texts are exact,
    /// also where the template would strip them. Text before the first call is content and later
    /// text is trailing, also where the template would let a later one replace an earlier one.
    pub fn reparse(&self, raw: &str, prompt_tail: &str, tools: &[Value]) -> Reparsed {
        read::read(self, raw, prompt_tail, tools)
    }
}

impl Field {
    fn load(name: &str, field: &Value) -> Result<Field, TemplateError> {
        let scope = format!("field `{name}`");
        let field = map(field, &scope)?;
        known(field, &FIELD_KEYS, &scope)?;
        let flag = |key: &str, otherwise: bool| match field.get(key) {
            None => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => fail(format!("{scope}: `{key}` is neither true nor false")),
        };
        let (repeats, each) = (flag("repeats", false)?, flag("transform_each", false)?);
        match field.get("join") {
            Some(Value::String(_)) if repeats => {}
            None | Some(Value::Null) => {}
            Some(_) => return fail(format!("{scope}: `join` needs a text and `repeats`")),
        }
        let transform = field.get("transform").filter(|transform| !transform.is_null()).cloned();
        if each && transform.is_none() {
            return fail(format!("{scope}: `transform_each` needs `transform`"));
        }
        if let Some(text) = transform.as_ref().and_then(data::mixed_placeholder) {
            return fail(format!("{scope}: `{text}` mixes a placeholder with other text"));
        }
        let name_of = field.get("content").map_or(Some("text"), Value::as_str);
        let none = Map::new();
        let args = field.get("content_args").map(|args| map(args, &scope)).transpose()?;
        let parser = Parser::load(name_of.unwrap_or_default(), args.unwrap_or(&none));
        Ok(Field {
            name: name.to_owned(),
            open: delimiter(field, "open", "open_pattern", &scope)?,
            close: delimiter(field, "close", "close_pattern", &scope)?,
            parser: parser.map_err(|message| TemplateError(format!("{scope}: {message}")))?,
            optional: flag("optional", true)?,
            transform,
            transform_each: each,
        })
    }
}

fn fail<T>(message: String) -> Result<T, TemplateError> {
    Err(TemplateError(message))
}

fn map<'v>(value: &'v Value, scope: &str) -> Result<&'v Map<String, Value>, TemplateError> {
    value.as_object().ok_or_else(|| TemplateError(format!("{scope} is not an object")))
}

fn known(object: &Map<String, Value>, keys: &[&str], scope: &str) -> Result<(), TemplateError> {
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let list = keys.join("`, `");
            fail(format!("{scope} has the unknown key `{key}`; known are `{list}`"))
        }
        None => Ok(()),
    }
}

/// A delimiter: a text, one of several texts, or a regular expression.
fn delimiter(
    object: &Map<String, Value>,
    literal: &str,
    pattern: &str,
    scope: &str,
) -> Result<Option<Regex>, TemplateError> {
    let source = match (object.get(literal), object.get(pattern)) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return fail(format!("{scope} has both `{literal}` and `{pattern}`")),
        (None, Some(pattern_text)) => pattern_text.as_str().map(str::to_owned),
        (Some(literals), None) => alternatives(literals),
    };
    let Some(source) = source else {
        return fail(format!("{scope}: `{literal}` or `{pattern}` is no text, or an empty one"));
    };
    let broken = |error| TemplateError(format!("{scope}: `{pattern}` is no pattern: {error}"));
    content::pattern(&source).map(Some).map_err(broken)
}

/// A pattern for any of some texts, the longest first.
fn alternatives(literals: &Value) -> Option<String> {
    let mut texts: Vec<&str> = match literals {
        Value::String(text) => vec![text.as_str()],
        Value::Array(texts) => texts.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let is_usable = !texts.is_empty() && texts.iter().all(|text| !text.is_empty());
    let escaped: Vec<_> = texts.into_iter().map(fancy_regex::escape).collect();
    is_usable.then(|| escaped.join("|"))
}

/// What the named groups of a delimiter held.
type Captures = BTreeMap<String, String>;
