//! Expected tool calls against the tools on offer: a name that is not offered, and an argument that YAML turned
//! into another type than the tool declares. Read from the tree, so that the place is the argument's own.

use serde_json::Value;

use super::ledger::Ledger;
use super::tools;
use crate::diagnostic::choices;
use crate::spec::{Data, NodeId, Tree};

/// Checks every expected call below an `expect` entry.
pub(super) fn check(tree: &Tree, expect: NodeId, offered: &[Value], ledger: &mut Ledger) {
    if let Some(calls) = tree.child(expect, "tool_calls") {
        walk(tree, calls, offered, ledger);
    }
}

fn walk(tree: &Tree, node: NodeId, offered: &[Value], ledger: &mut Ledger) {
    let name = tree.child(node, "name").and_then(|id| Some((id, tree.text(id)?)));
    let Some((name_node, name)) = name else {
        for child in tree.children(node) {
            walk(tree, child, offered, ledger);
        }
        return;
    };
    let names = tools::names(offered);
    if !names.contains(&name) {
        let message = format!("`{name}` is not among the tools of this case");
        ledger.report(tree.location(name_node), message, choices(name, &names));
        return;
    }
    let Some(Data::Map(entries)) = tree.child(node, "arguments").map(|id| tree.data(id)) else {
        return;
    };
    for [key, value] in entries {
        let Some(argument) = tree.text(*key) else { continue };
        let Some(declared) = tools::argument(offered, name, argument) else { continue };
        if let Some((message, help)) = mismatch(tree, *value, argument, declared) {
            ledger.report(tree.location(*value), message, help);
        }
    }
}

fn mismatch(
    tree: &Tree,
    node: NodeId,
    argument: &str,
    declared: &Value,
) -> Option<(String, String)> {
    let types: Vec<&str> = match declared.get("type")? {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let data = tree.data(node);
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
        _ => tree.bare(node).unwrap_or_default().to_owned(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::yaml;

    fn messages(calls: &str) -> Vec<String> {
        let properties = json!({ "city": { "type": "string" }, "days": { "type": "integer" }, "metric": { "type": "boolean" }, "share": { "type": ["number", "null"] } });
        let function = json!({ "name": "weather", "parameters": { "properties": properties } });
        let offered = [json!({ "type": "function", "function": function })];
        let tree = yaml::parse("s", &format!("tool_calls:\n  - {calls}")).unwrap();
        let mut ledger = Ledger::default();
        check(&tree, tree.root(), &offered, &mut ledger);
        ledger.problems.iter().map(|p| format!("{} {}", p.location.column, p.message)).collect()
    }

    #[test]
    fn what_yaml_turned_into_another_type_is_reported() {
        let wrong =
            "{ name: weather, arguments: { city: 1.10, days: \"3\", metric: yes, share: x } }";
        let expected = [
            "41 the tool declares `city` as string, but YAML reads `1.10` as number",
            "53 the tool declares `days` as integer, but YAML reads `\"3\"` as string",
            "66 the tool declares `metric` as boolean, but YAML reads `\"yes\"` as string",
            "78 the tool declares `share` as number or null, but YAML reads `\"x\"` as string",
        ];
        assert_eq!(messages(wrong), expected);
    }

    #[test]
    fn the_declared_types_and_undeclared_arguments_are_fine() {
        let right =
            "{ name: weather, arguments: { city: \"1.10\", days: 3, share: 2, other: no } }";
        assert_eq!(messages(right), Vec::<String>::new());
    }

    #[test]
    fn a_function_that_is_not_offered_is_reported() {
        assert_eq!(messages("name: wether"), ["11 `wether` is not among the tools of this case"]);
    }
}
