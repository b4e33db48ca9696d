//! A conversation as typed, into the steps of a plan.

use serde_json::Value;

use super::content::python_json;
use super::ledger::{Ledger, SpecFile};
use super::{Say, Turn, document, tools};
use crate::diagnostic::choices;
use crate::request::{Message, Role, ToolCall};
use crate::spec::{self, Document, Given, Spanned, TextOr};

/// The turns without their expectations; `sentences` is the matrix's length for documents.
pub(super) fn resolve(
    file: &SpecFile,
    typed: &Spanned<Vec<Spanned<spec::Turn>>>,
    offered: &[Value],
    sentences: Option<usize>,
    ledger: &mut Ledger,
) -> Vec<Turn> {
    let mut turns = Vec::new();
    for turn in &typed.value {
        let Some(say) = say(file, turn, sentences, ledger) else { continue };
        if let (Say::Tool { name, .. }, Some(tool)) = (&say, &turn.value.tool) {
            let names = tools::names(offered);
            if !names.contains(&name.as_str()) {
                let message = format!("`{name}` is not among the tools of this case");
                ledger.report(file.at(tool.value.name.node), message, choices(name, &names));
            }
        }
        turns.push(Turn { say, asks: false, expect: Vec::new(), location: file.at(turn.node) });
    }
    mark_asking(&mut turns);
    if turns.len() == typed.value.len() {
        check_order(file, typed, &turns, ledger);
    }
    turns
}

/// A turn asks for a reply unless the reply is given, begun by a prefill, or a second tool result follows.
fn mark_asking(turns: &mut [Turn]) {
    for index in 0..turns.len() {
        let next = turns.get(index + 1).map(|turn| &turn.say);
        let given = matches!(turns[index].say, Say::Assistant(_))
            || matches!(next, Some(Say::Assistant(_) | Say::Prefill(_)));
        let more_results =
            matches!(turns[index].say, Say::Tool { .. }) && matches!(next, Some(Say::Tool { .. }));
        turns[index].asks = !given && !more_results;
    }
}

fn check_order(
    file: &SpecFile,
    typed: &Spanned<Vec<Spanned<spec::Turn>>>,
    turns: &[Turn],
    ledger: &mut Ledger,
) {
    if turns.is_empty() {
        ledger.report(file.at(typed.node), "a conversation needs a turn", "begin with `- user: …`");
        return;
    }
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &turns[before].say);
        let problem = match (&turn.say, before) {
            (Say::Tool { .. } | Say::Prefill(_), None) => Some((
                "a conversation begins with `user` or `assistant`",
                "put a `user` turn before it",
            )),
            (Say::Prefill(_), Some(Say::Assistant(_) | Say::Prefill(_))) => Some((
                "a `prefill` begins the reply to a `user` or `tool` turn",
                "put it directly behind that turn",
            )),
            (Say::Prefill(_), _) if !turn.asks => Some((
                "a `prefill` is followed by the reply, not by a given message",
                "write the whole message as `assistant`, or remove what follows",
            )),
            (Say::Assistant(_), _) if index + 1 == turns.len() => Some((
                "the conversation ends without asking for a reply",
                "end it with a `user` turn, or use `prefill`",
            )),
            _ => None,
        };
        if let Some((message, help)) = problem {
            ledger.report(turn.location.clone(), message, help);
        }
        let expects = typed.value[index].value.expect.first();
        if let (Some(first), false) = (expects, turn.asks) {
            let message = "no reply is asked for after this turn, so nothing can be expected of it";
            ledger.report(
                file.at(first.node),
                message,
                "move `expect` to the turn before the reply",
            );
        }
    }
}

fn say(
    file: &SpecFile,
    turn: &Spanned<spec::Turn>,
    sentences: Option<usize>,
    ledger: &mut Ledger,
) -> Option<Say> {
    let typed = &turn.value;
    match (&typed.user, &typed.tool, &typed.assistant, &typed.prefill) {
        (Some(user), None, None, None) => match &user.value {
            TextOr::Text(text) => Some(Say::User(text.clone())),
            TextOr::Other(document) => read(file, document, sentences, ledger).map(Say::User),
        },
        (None, Some(tool), None, None) => Some(Say::Tool {
            name: tool.value.name.value.clone(),
            content: match &tool.value.content.value {
                TextOr::Text(text) => text.clone(),
                TextOr::Other(value) => python_json(value),
            },
        }),
        (None, None, Some(given), None) => Some(Say::Assistant(message(&given.value))),
        (None, None, None, Some(prefill)) => Some(Say::Prefill(prefill.value.clone())),
        (user, tool, assistant, prefill) => {
            let none = user.is_none() && tool.is_none() && assistant.is_none() && prefill.is_none();
            let message = if none { "nobody speaks in this turn" } else { "two speak in one turn" };
            let help = "a turn has exactly one of `user`, `tool`, `assistant` and `prefill`";
            ledger.report(file.at(turn.node), message, help);
            None
        }
    }
}

fn message(given: &TextOr<Given>) -> Message {
    let given = match given {
        TextOr::Text(text) => return Message::text(Role::Assistant, text),
        TextOr::Other(given) => given,
    };
    let calls = given.tool_calls.iter().enumerate().map(|(index, call)| ToolCall {
        id: format!("call_{index}"),
        name: call.value.name.value.clone(),
        arguments: match &call.value.arguments.value {
            TextOr::Text(text) => text.clone(),
            TextOr::Other(map) => python_json(&Value::Object(map.clone())),
        },
    });
    Message {
        content: given.content.as_ref().map(|content| content.value.clone()),
        reasoning: given.reasoning.as_ref().map(|reasoning| reasoning.value.clone()),
        tool_calls: calls.collect(),
        ..Message::text(Role::Assistant, "")
    }
}

fn read(
    file: &SpecFile,
    typed: &Document,
    sentences: Option<usize>,
    ledger: &mut Ledger,
) -> Option<String> {
    let at = file.at(typed.document.node);
    let path = match file.fixtures.resolve(&typed.document.value, at.clone()) {
        Ok(path) => path,
        Err(problem) => {
            ledger.problems.push(problem);
            return None;
        }
    };
    let text = ledger.text(&path, Some(at.clone()))?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        ledger.report(at, "the document is empty", "it holds one sentence on each line");
        return None;
    }
    if let Some(depth) = typed.depth.as_ref().filter(|depth| !(0.0..=1.0).contains(&depth.value)) {
        let message = format!("`depth` cannot be {}", depth.value);
        ledger.report(
            file.at(depth.node),
            message,
            "0 is the beginning of the document, 1 its end",
        );
    }
    if let (Some(depth), None) = (&typed.depth, &typed.insert) {
        ledger.report(
            file.at(depth.node),
            "`depth` has no effect without `insert`",
            "remove it, or add `insert`",
        );
    }
    let count =
        sentences.or(typed.sentences.as_ref().map(|count| count.value)).unwrap_or(lines.len());
    if count == 0 {
        ledger.report(at, "a document of 0 sentences is empty", "write `sentences: 1` or more");
    }
    let depth = typed.depth.as_ref().map_or(0.5, |depth| depth.value);
    let insert = typed.insert.as_ref().map(|insert| insert.value.as_str());
    let document = document::compose(&lines, count, insert, depth);
    let ends = |end: &Option<Spanned<String>>| end.as_ref().map(|end| end.value.clone());
    let parts = [ends(&typed.lead), Some(document), ends(&typed.ask)];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}
