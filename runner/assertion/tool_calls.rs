//! `tool_calls`: the calls that the API returned, their arguments compared by value.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arg::{Bounds, Short, Shorthand};
use super::json::{Keys, compare, sentence};
use super::{Assert, Info, Scope, View, json_schema, show};
use crate::capture::Boundary;
use crate::diagnostic::count;
use crate::finding::Outcome;
use crate::request::ToolCall;

/// One expected call.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The function's name.
    name: String,
    /// The arguments, exactly these.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    /// These arguments, and any others.
    #[serde(default)]
    arguments_match: Option<Map<String, Value>>,
    /// A JSON Schema that the arguments satisfy.
    #[serde(default)]
    arguments_schema: Option<Value>,
}

/// The expected calls; everything that is written must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Calls {
    /// How many calls.
    count: Option<Shorthand<Bounds>>,
    /// Exactly these calls, in this order.
    calls: Option<Vec<Call>>,
    /// Whether the calls may come in another order.
    any_order: bool,
}

impl Short for Calls {
    const FORMS: &'static str =
        "a list of calls, the word `none`, or a mapping with `calls`, `count` or `any_order`";
    const TYPES: &'static [&'static str] = &["string", "array"];
    type Item = Call;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(match text {
            "none" => Ok(Calls {
                count: Some(Shorthand(Bounds { min: None, max: Some(0) })),
                ..Calls::default()
            }),
            other => Err(format!("`{other}` is no list of calls; the only word here is `none`")),
        })
    }

    fn from_list(items: Vec<Call>) -> Option<Self> {
        Some(Calls { calls: Some(items), ..Calls::default() })
    }
}

/// The calls of the reply.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolCalls(Shorthand<Calls>);

impl Assert for ToolCalls {
    const INFO: Info = Info {
        name: "tool_calls",
        boundary: Boundary::Response,
        summary: "the reply makes these calls, arguments compared by value",
        help: "\
A list stands for exactly these calls in this order. `arguments` are compared by value (1 is 1.0,
the order of keys does not matter) and exhaustively; `arguments_match` allows further keys;
`arguments_schema` is a JSON Schema.

    - tool_calls: [{ name: get_weather, arguments: { city: Oslo } }]
    - tool_calls: [{ name: send, arguments_match: { to: Clara } }]
    - tool_calls: none
    - tool_calls: { count: { min: 1, max: 2 } }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = self.expected();
        let calls = match view.exchange.response.seen() {
            Ok(response) => &response.tool_calls,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let actual = match calls.as_slice() {
            [] => "no call".to_owned(),
            calls => calls.iter().map(written).collect::<Vec<_>>().join(", "),
        };
        match self.broken(calls) {
            None => Outcome::pass(expected, actual),
            Some((place, message)) => Outcome::fail(expected, actual, message).at(place),
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        match &self.0.calls {
            None if self.0.count.is_none() => {
                problems.push("`tool_calls` needs a list of calls, `none` or `count`".to_owned());
            }
            Some(calls) if calls.is_empty() => {
                problems.push("an empty list of calls: write `tool_calls: none`".to_owned());
            }
            _ => {}
        }
        if let Some(bounds) = &self.0.count {
            problems.extend(bounds.problems("count"));
        }
        for call in self.0.calls.iter().flatten() {
            let forms = [
                call.arguments.is_some(),
                call.arguments_match.is_some(),
                call.arguments_schema.is_some(),
            ];
            if forms.iter().filter(|form| **form).count() > 1 {
                let name = &call.name;
                problems.push(format!(
                    "`{name}` has more than one of `arguments`, `arguments_match` and `arguments_schema`"
                ));
            }
            problems.extend(call.arguments_schema.as_ref().and_then(json_schema::problem));
        }
        problems
    }
}

impl ToolCalls {
    fn expected(&self) -> String {
        if let Some(calls) = &self.0.calls {
            let order = if self.0.any_order { " in any order" } else { "" };
            return calls.iter().map(Call::written).collect::<Vec<_>>().join(", ") + order;
        }
        match &self.0.count {
            Some(bounds) if bounds.max == Some(0) => "no call".to_owned(),
            Some(bounds) => format!("{} calls", **bounds),
            None => "calls".to_owned(),
        }
    }

    /// The place and the sentence of the first thing that does not hold.
    fn broken(&self, actual: &[ToolCall]) -> Option<(String, String)> {
        if let Some(bounds) = self.0.count.as_ref().filter(|bounds| !bounds.contains(actual.len()))
        {
            let wanted = if bounds.max == Some(0) { "none".to_owned() } else { bounds.to_string() };
            let message = format!("the reply makes {}, not {wanted}", count(actual.len(), "call"));
            return Some(("calls".to_owned(), message));
        }
        let expected = self.0.calls.as_ref()?;
        let mut open: Vec<&ToolCall> = actual.iter().collect();
        for (n, call) in expected.iter().enumerate() {
            let place = format!("call {}", n + 1);
            let fitting = open.iter().position(|open| call.differs(open).is_none());
            let chosen = if self.0.any_order { fitting.or(Some(0)) } else { Some(0) };
            let Some(found) = chosen.filter(|_| !open.is_empty()).map(|at| open.remove(at)) else {
                return Some((place.clone(), format!("{place}, `{}`, was not made", call.name)));
            };
            if let Some((path, what)) = call.differs(found) {
                let place = if path.is_empty() { place } else { format!("{place} {path}") };
                return Some((place, what));
            }
        }
        let extra = open.first()?;
        let place = format!("call {}", expected.len() + 1);
        let message = format!(
            "`{}` was called beyond the {} expected",
            extra.name,
            count(expected.len(), "call")
        );
        Some((place, message))
    }
}

impl Call {
    fn written(&self) -> String {
        let object = |map: &Map<String, Value>| Value::Object(map.clone()).to_string();
        let arguments = match (&self.arguments, &self.arguments_match, &self.arguments_schema) {
            (Some(arguments), ..) => object(arguments),
            (_, Some(part), _) => format!("{} and more", object(part)),
            (_, _, Some(_)) => "arguments of a schema".to_owned(),
            _ => "any arguments".to_owned(),
        };
        format!("{}({arguments})", self.name)
    }

    /// Where and how a call differs from this one.
    fn differs(&self, call: &ToolCall) -> Option<(String, String)> {
        if self.name != call.name {
            let what = format!("the reply calls `{}`, not `{}`", call.name, self.name);
            return Some((String::new(), what));
        }
        if self.arguments.is_none()
            && self.arguments_match.is_none()
            && self.arguments_schema.is_none()
        {
            return None;
        }
        let value: Value = match serde_json::from_str(&call.arguments) {
            Ok(value) => value,
            Err(error) => {
                let raw = show::excerpt(&call.arguments);
                let what =
                    format!("the arguments of `{}` are not JSON ({error}): {raw}", self.name);
                return Some((String::new(), what));
            }
        };
        if let Some(schema) = &self.arguments_schema {
            let (path, what) = json_schema::violation(schema, &value)?;
            return Some((
                path.clone(),
                format!("the arguments of `{}`: `{path}`: {what}", self.name),
            ));
        }
        let (wanted, keys) = match (&self.arguments, &self.arguments_match) {
            (Some(wanted), _) => (wanted, Keys::Exact),
            (_, Some(wanted)) => (wanted, Keys::Subset),
            _ => return None,
        };
        let mismatches = compare(&Value::Object(wanted.clone()), &value, keys);
        let first = mismatches.first()?;
        let what = format!("in the arguments of `{}`, {}", self.name, sentence(&mismatches));
        Some((first.path.clone(), what))
    }
}

fn written(call: &ToolCall) -> String {
    format!("{}({})", call.name, call.arguments)
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{calling, good, hidden, judge, problems, read};
    use crate::finding::{Outcome, Status};

    const OSLO: &str = "tool_calls: [{ name: get_weather, arguments: { city: Oslo, days: 1 } }]";

    fn judged(yaml: &str, calls: &[(&str, &str)]) -> Outcome {
        judge(yaml, &calling(calls))
    }

    #[test]
    fn arguments_are_compared_by_value() {
        for arguments in [r#"{"city": "Oslo", "days": 1}"#, r#"{"days":1.0,"city":"Oslo"}"#] {
            assert_eq!(judged(OSLO, &[("get_weather", arguments)]).status, Status::Pass);
        }
        let outcome = judged(OSLO, &[("get_weather", r#"{"city": "Rome", "days": 1}"#)]);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("call 1 $.city")));
    }

    #[test]
    fn a_renamed_key_is_missing_and_extra() {
        let outcome = judged(OSLO, &[("get_weather", r#"{"town": "Oslo", "days": 1}"#)]);
        assert!(outcome.message.contains("`$.city` is missing"), "{}", outcome.message);
        assert!(outcome.message.contains("`$.town` is extra"), "{}", outcome.message);
    }

    #[test]
    fn other_missing_and_further_calls_are_named() {
        let one = r#"{"city": "Oslo", "days": 1}"#;
        let other = judged(OSLO, &[("get_time", one)]);
        assert!(other.message.contains("`get_time`, not `get_weather`"), "{}", other.message);
        assert!(judged(OSLO, &[]).message.contains("was not made"));
        let twice = judged(OSLO, &[("get_weather", one), ("get_weather", one)]);
        assert_eq!((twice.status, twice.at.as_deref()), (Status::Fail, Some("call 2")));
    }

    #[test]
    fn broken_arguments_are_shown_raw() {
        let outcome = judged(OSLO, &[("get_weather", "{\"city\": \"Os")]);
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.message.contains("not JSON"), "{}", outcome.message);
    }

    #[test]
    fn a_part_or_a_schema_of_the_arguments_is_enough() {
        let part = "tool_calls: [{ name: f, arguments_match: { a: 1 } }]";
        assert_eq!(judged(part, &[("f", r#"{"a": 1, "b": 2}"#)]).status, Status::Pass);
        assert_eq!(judged(part, &[("f", r#"{"b": 2}"#)]).status, Status::Fail);
        let schema =
            "tool_calls: [{ name: f, arguments_schema: { properties: { a: { type: integer } } } }]";
        assert_eq!(judged(schema, &[("f", r#"{"a": 1}"#)]).status, Status::Pass);
        let outcome = judged(schema, &[("f", r#"{"a": "x"}"#)]);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("call 1 $.a")));
    }

    #[test]
    fn none_counts_and_order() {
        assert_eq!(judge("tool_calls: none", &good()).status, Status::Pass);
        assert_eq!(judged("tool_calls: none", &[("f", "{}")]).status, Status::Fail);
        let range = "tool_calls: { count: { min: 2 } }";
        assert_eq!(judged(range, &[("f", "{}")]).status, Status::Fail);
        assert_eq!(judged(range, &[("f", "{}"), ("g", "{}")]).status, Status::Pass);
        let any = "tool_calls: { calls: [{ name: g }, { name: f }], any_order: true }";
        assert_eq!(judged(any, &[("f", "{}"), ("g", "{}")]).status, Status::Pass);
        let strict = "tool_calls: [{ name: g }, { name: f }]";
        assert_eq!(judged(strict, &[("f", "{}"), ("g", "{}")]).status, Status::Fail);
    }

    #[test]
    fn no_response_is_not_evaluated_and_senseless_arguments_are_named() {
        assert_eq!(judge("tool_calls: none", &hidden()).status, Status::NotEvaluated);
        assert!(problems("tool_calls: []").contains("tool_calls: none"));
        assert!(problems("tool_calls: {}").contains("needs a list"));
        let both = "tool_calls: [{ name: f, arguments: {}, arguments_match: {} }]";
        assert!(problems(both).contains("more than one"));
        let schema = "tool_calls: [{ name: f, arguments_schema: { type: 3 } }]";
        assert!(problems(schema).contains("no JSON Schema"));
        assert!(read("tool_calls: nothing").unwrap_err().to_string().contains("none"));
    }
}
