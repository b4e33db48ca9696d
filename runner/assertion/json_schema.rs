//! `json_schema`: the answer is JSON of this shape. The same validation serves the arguments of tool calls.

use jsonschema::Validator;
use schemars::JsonSchema as Schema;
use serde::Deserialize;
use serde_json::Value;

use super::{Assert, Info, Scope, View, show};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// The JSON Schema that the content must satisfy.
#[derive(Debug, Clone, Deserialize, Schema)]
#[serde(transparent)]
pub struct JsonSchema(Value);

impl Assert for JsonSchema {
    const INFO: Info = Info {
        name: "json_schema",
        boundary: Boundary::Response,
        summary: "the answer's text is JSON that satisfies this schema",
        help: "\
The whole content must parse as JSON and satisfy the JSON Schema. Nothing is stripped: a code fence
or a word before the object fails, because a program that reads the answer would fail too.

    - json_schema:
        type: object
        required: [city]
        properties: { city: { type: string } }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = "JSON that satisfies the schema";
        let content = match view.exchange.response.seen() {
            Ok(response) => response.content.as_deref().unwrap_or_default(),
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let actual = show::excerpt(content);
        let value: Value = match serde_json::from_str(content) {
            Ok(value) => value,
            Err(error) => {
                let message = format!("the content is not JSON: {error}");
                let place = format!("line {} column {}", error.line(), error.column());
                return Outcome::fail(expected, actual, message).at(place);
            }
        };
        match violation(&self.0, &value) {
            None => Outcome::pass(expected, actual),
            Some((path, what)) => {
                Outcome::fail(expected, actual, format!("`{path}`: {what}")).at(path)
            }
        }
    }

    fn problems(&self) -> Vec<String> {
        problem(&self.0).into_iter().collect()
    }
}

/// What is wrong with a schema itself.
pub(super) fn problem(schema: &Value) -> Option<String> {
    let error = compiled(schema).err()?;
    Some(format!("this is no JSON Schema: {error}"))
}

/// The first place at which a value does not satisfy a schema, and how many more there are.
pub(super) fn violation(schema: &Value, value: &Value) -> Option<(String, String)> {
    let validator = match compiled(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(("$".to_owned(), format!("the schema cannot be used: {error}"))),
    };
    let mut errors = validator.iter_errors(value);
    let first = errors.next()?;
    let path = format!("${}", first.instance_path().to_string().replace('/', "."));
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some((path, format!("{first}{more}")))
}

fn compiled(schema: &Value) -> Result<Validator, String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err("it is a mapping".to_owned());
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{edit_response, good, hidden, judge, problems};
    use crate::capture::Exchange;
    use crate::finding::Status;

    const YAML: &str =
        "json_schema: { type: object, required: [city], properties: { city: { type: string } } }";

    fn saying(content: &str) -> Exchange {
        let mut exchange = good();
        edit_response(&mut exchange, |response| response.content = Some(content.to_owned()));
        exchange
    }

    #[test]
    fn json_of_the_shape_passes_and_the_place_of_the_rest_is_named() {
        assert_eq!(judge(YAML, &saying(r#"{"city": "Oslo"}"#)).status, Status::Pass);
        let wrong = judge(YAML, &saying(r#"{"city": 4}"#));
        assert_eq!((wrong.status, wrong.at.as_deref()), (Status::Fail, Some("$.city")));
        assert_eq!(judge(YAML, &saying("{}")).status, Status::Fail);
    }

    #[test]
    fn what_is_not_json_fails_with_its_place() {
        let outcome = judge(YAML, &saying("Here: {\"city\": \"Oslo\"}"));
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.message.contains("not JSON"), "{}", outcome.message);
        assert_eq!(judge(YAML, &hidden()).status, Status::NotEvaluated);
    }

    #[test]
    fn a_schema_that_is_none_is_named() {
        assert!(problems("json_schema: { type: objekt }").contains("no JSON Schema"));
        assert!(problems("json_schema: [1]").contains("a mapping"));
    }
}
