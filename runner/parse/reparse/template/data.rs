//! Values that keep the source of what was JSON, and how a template puts them together.

use serde_json::Value;

use super::super::arguments::object;
use super::super::json::{Kind, Node, quoted};

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Data {
    /// Plain text.
    Text(String),
    /// A JSON value that is no container, as it was written.
    Scalar(String),
    /// An object, and its source if it was written as JSON.
    Object(Vec<(String, Data)>, Option<String>),
    /// The same for a list.
    List(Vec<Data>, Option<String>),
}

impl Data {
    /// A value that was read as JSON from `text`.
    pub(super) fn of(node: &Node, text: &str) -> Data {
        let source = text.get(node.span.clone()).unwrap_or_default().to_owned();
        match &node.kind {
            Kind::Object(members) => {
                let members = members.iter().map(|(key, node)| (key.clone(), Data::of(node, text)));
                Data::Object(members.collect(), Some(source))
            }
            Kind::Array(items) => {
                let items = items.iter().map(|node| Data::of(node, text));
                Data::List(items.collect(), Some(source))
            }
            _ => Data::Scalar(source),
        }
    }

    /// The value as JSON.
    pub(super) fn json(&self) -> String {
        match self {
            Data::Text(text) => quoted(text),
            Data::Scalar(source) | Data::Object(_, Some(source)) | Data::List(_, Some(source)) => {
                source.clone()
            }
            Data::Object(members, None) => {
                let members: Vec<(String, String)> =
                    members.iter().map(|(key, data)| (key.clone(), data.json())).collect();
                object(&members)
            }
            Data::List(items, None) => {
                let items: Vec<String> = items.iter().map(Data::json).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }

    /// The text of a string.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Data::Text(text) => Some(text.clone()),
            Data::Scalar(source) => serde_json::from_str(source).ok(),
            _ => None,
        }
    }

    /// The member of this key.
    pub(super) fn get(&self, key: &str) -> Option<&Data> {
        match self {
            Data::Object(members, _) => {
                members.iter().find(|(other, _)| other == key).map(|(_, data)| data)
            }
            _ => None,
        }
    }
}

/// The path of a text that is a placeholder and nothing else, such as `{content.args}`.
fn placeholder(text: &str) -> Option<&str> {
    let path = text.strip_prefix('{')?.strip_suffix('}')?;
    let is_word = |word: &str| {
        !word.is_empty()
            && word.chars().all(|character| character.is_alphanumeric() || character == '_')
    };
    path.split('.').all(is_word).then_some(path)
}

/// A text of a transform that holds a placeholder beside other text, which is not supported.
pub(super) fn mixed_placeholder(transform: &Value) -> Option<&str> {
    match transform {
        Value::String(text) if placeholder(text).is_none() => {
            let mut opens = text.match_indices('{');
            opens.find_map(|(at, _)| {
                let rest = text.get(at..)?;
                let end = rest.find('}')? + 1;
                placeholder(rest.get(..end)?)
            })?;
            Some(text)
        }
        Value::Array(items) => items.iter().find_map(mixed_placeholder),
        Value::Object(members) => members.values().find_map(mixed_placeholder),
        _ => None,
    }
}

/// Puts values in the places of a transform's placeholders.
pub(super) fn transform(transform_: &Value, scope: &[(String, Data)]) -> Result<Data, String> {
    match transform_ {
        Value::String(text) => match placeholder(text) {
            Some(path) => look_up(path, scope),
            None => Ok(Data::Scalar(quoted(text))),
        },
        Value::Array(items) => {
            let items = items.iter().map(|item| transform(item, scope));
            Ok(Data::List(items.collect::<Result<_, _>>()?, None))
        }
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| Ok((key.clone(), transform(value, scope)?)));
            Ok(Data::Object(members.collect::<Result<_, String>>()?, None))
        }
        other => Ok(Data::Scalar(other.to_string())),
    }
}

fn look_up(path: &str, scope: &[(String, Data)]) -> Result<Data, String> {
    let mut words = path.split('.');
    let root = words.next().unwrap_or_default();
    // Later entries hide earlier ones: an element's own keys come before captured groups.
    let found = scope.iter().rev().find(|(name, _)| name == root).map(|(_, data)| data);
    let found = words.try_fold(found, |data, word| data.map(|data| data.get(word)));
    found.flatten().cloned().ok_or_else(|| format!("`{path}` of the template is not in the text"))
}
