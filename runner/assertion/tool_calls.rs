//! `tool_calls`: the calls that the reply asks for.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::arg::{Bounds, Short, Shorthand};
use super::{Assert, Info, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;
use crate::request::ToolCall;

mod call;

use call::Call;

/// The expected calls.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolCalls(Shorthand<Arguments>);

/// The arguments in their long form.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ToolCallsArguments")]
struct Arguments {
    /// How many calls there are: a number, or `min` and `max`.
    count: Option<Shorthand<Bounds>>,
    /// The calls, all of them, in order.
    calls: Option<Vec<Call>>,
}

impl Short for Arguments {
    const FORMS: &'static str =
        "a list of calls, the word `none`, or a mapping with `count` or `calls`";
    const TYPES: &'static [&'static str] = &["string", "array"];
    type Item = Call;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        if text != "none" {
            let message =
                format!("unknown word `{text}`; the only word here is `none`, for no call at all");
            return Some(Err(message));
        }
        Some(Ok(Arguments { count: Bounds::from_number(0).map(Shorthand), calls: None }))
    }

    fn from_list(items: Vec<Call>) -> Option<Self> {
        Some(Arguments { count: None, calls: Some(items) })
    }
}

impl Arguments {
    fn describe(&self) -> String {
        let mut parts = Vec::new();
        if let Some(count) = &self.count {
            parts.push(match (count.min, count.max) {
                (Some(0), Some(0)) => "no call".to_owned(),
                _ => format!("{} calls", count.0),
            });
        }
        if let Some(calls) = &self.calls {
            let calls: Vec<_> = calls.iter().map(Call::describe).collect();
            parts.push(calls.join(", "));
        }
        parts.join(" and ")
    }
}

impl Assert for ToolCalls {
    const INFO: Info = Info {
        name: "tool_calls",
        boundary: Boundary::Response,
        summary: "the reply calls these tools with these arguments",
        help: "\
All calls of the reply, in order. `arguments` are compared by value: 1 is 1.0, key order does not
matter, every key counts. `arguments_match` allows further keys; `arguments_schema` is a JSON
Schema. Ids of calls are not compared.

    - tool_calls: [{ name: get_weather, arguments: { city: Oslo } }]
    - tool_calls: [{ name: search, arguments_match: { query: rain } }]
    - tool_calls: [{ name: add, arguments_schema: { required: [a, b] } }]
    - tool_calls: none
    - tool_calls: { count: { min: 1 } }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = self.0.describe();
        let calls = match view.exchange.response.seen() {
            Ok(response) => &response.tool_calls,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let actual = written(calls);
        if let Some(count) = &self.0.count
            && !count.contains(calls.len())
        {
            let message =
                format!("the reply has {}", crate::diagnostic::count(calls.len(), "call"));
            return Outcome::fail(expected, actual, message);
        }
        let Some(wanted) = &self.0.calls else { return Outcome::pass(expected, actual) };
        for (index, (want, call)) in wanted.iter().zip(calls).enumerate() {
            if let Err(miss) = want.check(call) {
                let message = format!("call {} to `{}`: {}", index + 1, call.name, miss.message);
                return Outcome::fail(want.describe(), one(call), message)
                    .at(format!("tool_calls[{index}]{}", miss.path));
            }
        }
        if wanted.len() != calls.len() {
            let at = wanted.len().min(calls.len());
            let message = match (wanted.get(at), calls.get(at)) {
                (Some(want), _) => format!("call {} to `{}` was not made", at + 1, want.name),
                (None, Some(call)) => {
                    format!("call {} to `{}` was not expected", at + 1, call.name)
                }
                (None, None) => String::new(),
            };
            return Outcome::fail(expected, actual, message).at(format!("tool_calls[{at}]"));
        }
        Outcome::pass(expected, actual)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(count) = &self.0.count {
            problems.extend(count.problems("count"));
        }
        match &self.0.calls {
            Some(calls) if calls.is_empty() => {
                problems.push("an empty list of calls; write `tool_calls: none`".to_owned());
            }
            Some(calls) => problems.extend(calls.iter().flat_map(Call::problems)),
            None if self.0.count.is_none() => {
                problems.push(format!("nothing is expected; give {}", Arguments::FORMS))
            }
            None => {}
        }
        problems
    }
}

fn one(call: &ToolCall) -> String {
    let arguments = super::show::excerpt(&call.arguments);
    match serde_json::from_str::<Value>(&call.arguments) {
        // Arguments that are JSON read better without a second layer of quotes.
        Ok(value) if call.arguments.len() < 200 => format!("{}({value})", call.name),
        _ => format!("{}({arguments})", call.name),
    }
}

fn written(calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        return "no call".to_owned();
    }
    calls.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
