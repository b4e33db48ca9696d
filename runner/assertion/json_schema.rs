//! `json_schema`: the answer is JSON that a schema accepts.

use schemars::JsonSchema as Describe;
use serde::Deserialize;
use serde_json::Value;

use super::{Assert, Info, Scope, View, show};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// The schema, written in place.
#[derive(Debug, Clone, Deserialize, Describe)]
#[serde(transparent)]
pub struct JsonSchema(Value);

/// The first place at which a value breaks a schema.
pub(crate) struct Violation {
    /// Such as `$.days[2]`.
    pub(crate) path: String,
    /// What is wrong there.
    pub(crate) message: String,
}

/// Why a schema is no JSON Schema.
pub(crate) fn schema_problem(schema: &Value) -> Option<String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Some(
            "a JSON Schema is a mapping, such as `{ type: object, required: [city] }`".to_owned(),
        );
    }
    let error = jsonschema::validator_for(schema).err()?;
    Some(format!("not a valid JSON Schema: {error}"))
}

/// The first violation, or that the schema itself is none.
pub(crate) fn violation(schema: &Value, value: &Value) -> Option<Violation> {
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(Violation { path: "$".to_owned(), message: error.to_string() }),
    };
    let error = validator.iter_errors(value).next()?;
    let path = dotted(&error.instance_path().to_string());
    Some(Violation { path, message: error.to_string() })
}

/// `/days/2` as `$.days[2]`.
fn dotted(pointer: &str) -> String {
    pointer.split('/').skip(1).fold("$".to_owned(), |path, part| match part.parse::<usize>() {
        Ok(index) => format!("{path}[{index}]"),
        Err(_) => format!("{path}.{}", part.replace("~1", "/").replace("~0", "~")),
    })
}

impl Assert for JsonSchema {
    const INFO: Info = Info {
        name: "json_schema",
        boundary: Boundary::Response,
        summary: "the answer's text is JSON that this schema accepts",
        help: "\
The whole content must be one JSON value; a fence of backticks around it is not. The schema
stands in place and refers to nothing outside of it.

    - json_schema:
        type: object
        required: [city, celsius]
        properties: { celsius: { type: integer } }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = format!("JSON by schema {}", self.0);
        let response = match view.exchange.response.seen() {
            Ok(response) => response,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let Some(content) = &response.content else {
            return Outcome::fail(expected, "none", "the reply has no content");
        };
        let actual = show::excerpt(content);
        let value: Value = match serde_json::from_str(content) {
            Ok(value) => value,
            Err(error) => {
                return Outcome::fail(
                    expected,
                    actual,
                    format!("the content is not JSON: {error}"),
                )
                .at(format!("line {} column {}", error.line(), error.column()));
            }
        };
        match violation(&self.0, &value) {
            Some(Violation { path, message }) => {
                Outcome::fail(expected, actual, format!("`{path}`: {message}")).at(path)
            }
            None => Outcome::pass(expected, actual),
        }
    }

    fn problems(&self) -> Vec<String> {
        schema_problem(&self.0).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{calling, edit_response, good, hidden, judge, problems};
    use crate::capture::Exchange;
    use crate::finding::Status;

    const DAYS: &str =
        "json_schema: { required: [days], properties: { days: { items: { type: integer } } } }";

    fn saying(text: &str) -> Exchange {
        let mut exchange = good();
        edit_response(&mut exchange, |response| response.content = Some(text.to_owned()));
        exchange
    }

    #[test]
    fn the_place_of_the_violation_is_named() {
        assert_eq!(judge(DAYS, &saying(r#"{"days": [1, 2]}"#)).status, Status::Pass);
        let outcome = judge(DAYS, &saying(r#"{"days": [1, "x"]}"#));
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("$.days[1]")));
        assert_eq!(judge(DAYS, &saying("{}")).status, Status::Fail);
    }

    #[test]
    fn text_around_the_json_fails() {
        let outcome = judge(DAYS, &saying("```json\n{\"days\": []}\n```"));
        assert!(outcome.message.contains("not JSON"), "{}", outcome.message);
        assert_eq!(judge(DAYS, &calling(&[("f", "{}")])).status, Status::Fail);
        assert_eq!(judge(DAYS, &hidden()).status, Status::NotEvaluated);
    }

    #[test]
    fn a_schema_that_is_none_is_named() {
        assert!(problems("json_schema: { type: strin }").contains("not a valid JSON Schema"));
        assert!(problems("json_schema: [1]").contains("is a mapping"));
    }
}
