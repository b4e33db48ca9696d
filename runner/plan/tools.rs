//! Tool definitions: from a JSON file or from the spec, bare or wrapped, into the OpenAI form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ledger::{Ledger, SpecFile};
use crate::diagnostic::Diagnostic;
use crate::finding::Location;
use crate::spec::{Spanned, TextOr, place};

/// The tools that `typed` names or holds; problems are reported.
pub(super) fn resolve(
    file: &SpecFile,
    typed: &Spanned<TextOr<Vec<Value>>>,
    ledger: &mut Ledger,
) -> Vec<Value> {
    let at = file.at(typed.node);
    match &typed.value {
        TextOr::Other(list) => {
            let nodes = file.tree.children(typed.node);
            let places: Vec<Location> = nodes.iter().map(|node| file.at(*node)).collect();
            normalise(list, |index| places.get(index).unwrap_or(&at).clone(), ledger)
        }
        TextOr::Text(written) => from_file(file, written, at, ledger),
    }
}

fn from_file(file: &SpecFile, written: &str, at: Location, ledger: &mut Ledger) -> Vec<Value> {
    let path = match file.fixtures.resolve(written, at.clone()) {
        Ok(path) => path,
        Err(problem) => {
            ledger.problems.push(problem);
            return Vec::new();
        }
    };
    let Some(text) = ledger.text(&path, Some(at)) else { return Vec::new() };
    let name = super::files::show(&path);
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(list)) => normalise(&list, |_| place(&name, &text, 1, 1), ledger),
        Ok(_) => {
            let help = "write `[{ \"name\": …, \"description\": …, \"parameters\": { … } }]`";
            ledger.report(place(&name, &text, 1, 1), "a file of tools holds a list", help);
            Vec::new()
        }
        Err(error) => {
            let at = place(&name, &text, error.line(), error.column());
            ledger
                .problems
                .push(Diagnostic::new(at, format!("this is not JSON: {}", cause(&error))));
            Vec::new()
        }
    }
}

/// What the JSON reader says, without the place, which is shown on its own.
pub(super) fn cause(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn normalise(list: &[Value], at: impl Fn(usize) -> Location, ledger: &mut Ledger) -> Vec<Value> {
    let mut names = BTreeSet::new();
    let mut tools = Vec::new();
    for (index, tool) in list.iter().enumerate() {
        let function = tool.get("function").unwrap_or(tool);
        let Some(name) = function.get("name").and_then(Value::as_str) else {
            let help = "a tool is `{ type: function, function: { name, description, parameters } }`, or the inner map alone";
            ledger.report(at(index), format!("tool {} has no name", index + 1), help);
            continue;
        };
        if !names.insert(name) {
            ledger.report(
                at(index),
                format!("two tools are named `{name}`"),
                "rename or remove one",
            );
        }
        if function.get("parameters").is_some_and(|parameters| !parameters.is_object()) {
            let help = "write a JSON Schema such as `{ type: object, properties: { … } }`";
            ledger.report(at(index), format!("the parameters of `{name}` are no map"), help);
        }
        tools.push(match tool.get("function") {
            Some(_) => tool.clone(),
            None => json!({ "type": "function", "function": function }),
        });
    }
    tools
}

/// The functions' names.
pub(super) fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool.get("function")?.get("name")?.as_str()).collect()
}

/// The declared schema of a function's argument.
pub(super) fn argument<'a>(
    tools: &'a [Value],
    function: &str,
    argument: &str,
) -> Option<&'a Value> {
    let named = |tool: &&Value| tool["function"]["name"] == function;
    tools.iter().find(named)?.get("function")?.get("parameters")?.get("properties")?.get(argument)
}
