//! Expected tool calls against the tools on offer: a name that is not offered, and an argument that YAML turned
//! into another type than the tool declares. Read from the tree, so that the place is the argument's own.

use serde_json::Value;

use super::session::{Session, SpecFile};
use super::tools;
use crate::diagnostic::choices;
use crate::spec::{Data, NodeId};

/// Checks every expected call below an `expect` entry.
pub(super) fn check(file: &SpecFile, expect: NodeId, offered: &[Value], session: &mut Session) {
    if let Some(calls) = file.tree.child(expect, "tool_calls") {
        walk(file, calls, offered, session);
    }
}

fn walk(file: &SpecFile, node: NodeId, offered: &[Value], session: &mut Session) {
    let tree = &file.tree;
    let name = tree.child(node, "name").and_then(|id| Some((id, tree.text(id)?)));
    let Some((name_node, name)) = name else {
        for child in tree.children(node) {
            walk(file, child, offered, session);
        }
        return;
    };
    let names = tools::names(offered);
    if !names.contains(&name) {
        let message = format!("`{name}` is not among the tools of this case");
        session.report(tree.location(name_node), message, choices(name, &names));
        return;
    }
    let Some(Data::Map(entries)) = tree.child(node, "arguments").map(|id| tree.data(id)) else {
        return;
    };
    for (key, value) in entries {
        let Some(argument) = tree.text(*key) else { continue };
        let Some(declared) = tools::argument(offered, name, argument) else { continue };
        if let Some((message, help)) = mismatch(file, *value, argument, declared) {
            session.report(tree.location(*value), message, help);
        }
    }
}

fn mismatch(
    file: &SpecFile,
    node: NodeId,
    argument: &str,
    declared: &Value,
) -> Option<(String, String)> {
    let types: Vec<&str> = match declared.get("type")? {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let data = file.tree.data(node);
    let found = match data {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Int(_) | Data::Uint(_) => "integer",
        Data::Float(number) if number.fract() == 0.0 => "integer",
        Data::Float(_) => "number",
        Data::Text(_) => "string",
        Data::List(_) | Data::Map(_) => return None,
    };
    if types.contains(&found) || (found == "integer" && types.contains(&"number")) {
        return None;
    }
    let shown = match data {
        Data::Text(text) => format!("{text:?}"),
        _ => file.tree.bare(node).unwrap_or_default().to_owned(),
    };
    let declared = types.join(" or ");
    let message = format!(
        "the tool declares `{argument}` as {declared}, but YAML reads `{shown}` as {found}"
    );
    let help = match (types.as_slice(), data) {
        (["string"], _) => format!("quote it: \"{shown}\""),
        (["boolean"], _) => "write `true` or `false`, without quotes".to_owned(),
        (_, Data::Text(_)) => format!("write a value of type {declared}, without quotes"),
        _ => format!("write a value of type {declared}"),
    };
    Some((message, help))
}
