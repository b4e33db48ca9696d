//! One expected call.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::assertion::json::{Keys, Mismatch, compare, sentence};
use crate::assertion::json_schema::{Violation, schema_problem, violation};
use crate::request::ToolCall;

/// A call with its name and at most one rule for its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// The function's name.
    pub(super) name: String,
    /// The arguments by value, no key more or less.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    /// Arguments that must be among the actual ones.
    #[serde(default)]
    arguments_match: Option<Map<String, Value>>,
    /// A JSON Schema for the arguments.
    #[serde(default)]
    arguments_schema: Option<Value>,
}

/// Why a call is not the expected one.
pub(super) struct Miss {
    /// Where below the call, such as `.arguments $.city`.
    pub(super) path: String,
    /// The end of a sentence that names the call.
    pub(super) message: String,
}

impl Call {
    pub(super) fn describe(&self) -> String {
        let json = |map: &Map<String, Value>| Value::Object(map.clone()).to_string();
        match (&self.arguments, &self.arguments_match, &self.arguments_schema) {
            (Some(arguments), ..) => format!("{}({})", self.name, json(arguments)),
            (None, Some(part), _) => format!("{}(at least {})", self.name, json(part)),
            (None, None, Some(schema)) => format!("{}(by schema {schema})", self.name),
            (None, None, None) => format!("{}(any arguments)", self.name),
        }
    }

    /// Compares with a call of the reply.
    pub(super) fn check(&self, call: &ToolCall) -> Result<(), Miss> {
        if self.name != call.name {
            let message = format!("expected a call to `{}`", self.name);
            return Err(Miss { path: ".name".to_owned(), message });
        }
        if self.arguments.is_none()
            && self.arguments_match.is_none()
            && self.arguments_schema.is_none()
        {
            return Ok(());
        }
        let value: Value = serde_json::from_str(&call.arguments).map_err(|error| Miss {
            path: ".arguments".to_owned(),
            message: format!("the arguments are not JSON: {error}"),
        })?;
        let by_value =
            |map: &Map<String, Value>, keys| compare(&Value::Object(map.clone()), &value, keys);
        let exact = self.arguments.as_ref().map(|map| by_value(map, Keys::Exact));
        let part = self.arguments_match.as_ref().map(|map| by_value(map, Keys::Subset));
        let mismatches: Vec<Mismatch> = exact.into_iter().chain(part).flatten().collect();
        if let Some(first) = mismatches.first() {
            return Err(Miss {
                path: format!(".arguments {}", first.path),
                message: sentence(&mismatches),
            });
        }
        let broken = self.arguments_schema.as_ref().and_then(|schema| violation(schema, &value));
        match broken {
            Some(Violation { path, message }) => Err(Miss {
                message: format!("`{path}`: {message}"),
                path: format!(".arguments {path}"),
            }),
            None => Ok(()),
        }
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.name.is_empty() {
            problems.push("a call needs a `name`".to_owned());
        }
        if self.arguments.is_some() && self.arguments_match.is_some() {
            problems.push(format!(
                "call `{}`: `arguments` already says all; drop `arguments_match`",
                self.name
            ));
        }
        problems.extend(self.arguments_schema.as_ref().and_then(schema_problem));
        problems
    }
}
