//! `tool_call`: tools are offered in the prompt, calls name one of them.

use serde_json::Value;

use super::{Info, Rule, prompt};
use crate::capture::{Boundary, Exchange};
use crate::finding::Outcome;

pub(super) const INFO: Info = Info {
    name: "tool_call",
    summary: "tools are offered; calls and their results are part of the conversation",
    help: "\
A `tool` turn answers the call of that name in the reply before it. By itself the branch
demands that every tool's name stands in the rendered prompt, and that every parsed call
names a declared tool with a JSON object as its arguments.",
    streams: false,
    rules: &[
        Rule {
            name: "tools_in_prompt",
            boundary: Boundary::Input,
            summary: "every offered tool's name stands in the rendered prompt",
            judge: tools_in_prompt,
        },
        Rule {
            name: "calls_are_declared",
            boundary: Boundary::Response,
            summary: "every call names an offered tool and its arguments are a JSON object",
            judge: calls_are_declared,
        },
    ],
};

fn names(exchange: &Exchange) -> Vec<&str> {
    let tools = exchange.request.tools.iter();
    tools.filter_map(|tool| tool.pointer("/function/name").and_then(Value::as_str)).collect()
}

fn tools_in_prompt(exchange: &Exchange) -> Option<Outcome> {
    let names = names(exchange);
    if names.is_empty() || exchange.request.tool_choice.as_ref().is_some_and(|c| c == "none") {
        return None;
    }
    let expected = format!("the prompt names {}", names.join(", "));
    let prompt = match prompt(exchange) {
        Ok(prompt) => prompt,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    let missing: Vec<&str> = names.into_iter().filter(|name| !prompt.contains(name)).collect();
    if missing.is_empty() {
        return Some(Outcome::pass(expected, "all there"));
    }
    let missing = missing.join(", ");
    let message = format!("the rendered prompt does not name the tool {missing}");
    Some(Outcome::fail(expected, format!("lacks {missing}"), message))
}

fn calls_are_declared(exchange: &Exchange) -> Option<Outcome> {
    let names = names(exchange);
    let expected = "calls of declared tools with JSON objects";
    let response = match exchange.response.seen() {
        Ok(response) => response,
        Err(reason) => return Some(Outcome::hidden(expected, reason)),
    };
    for (n, call) in response.tool_calls.iter().enumerate() {
        let place = format!("call {}", n + 1);
        if !names.contains(&call.name.as_str()) {
            let message = format!("the reply calls `{}`, which was not offered", call.name);
            return Some(Outcome::fail(expected, call.name.clone(), message).at(place));
        }
        if !matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_))) {
            let message = format!("the arguments of `{}` are not a JSON object", call.name);
            return Some(Outcome::fail(expected, call.arguments.clone(), message).at(place));
        }
    }
    (!response.tool_calls.is_empty()).then(|| Outcome::pass(expected, "all declared"))
}
