//! The rules that the deltas of one reply keep, whatever the server.

use std::collections::BTreeMap;

use crate::capture::{Delta, Response};

/// The first rule that is broken, and where.
pub(super) struct Broken {
    /// The index of the delta, from 0.
    pub(super) index: usize,
    /// One sentence.
    pub(super) message: String,
}

/// Judges every rule in turn; `raw` is the decoded output, which may hold a replacement character of its own.
pub(super) fn first_broken(
    deltas: &[Delta],
    response: &Response,
    raw: Option<&str>,
) -> Option<Broken> {
    let Some(last) = deltas.len().checked_sub(1) else {
        return broken(0, "the stream has no delta");
    };
    role(deltas)
        .or_else(|| finish(deltas, last))
        .or_else(|| usage(deltas))
        .or_else(|| times(deltas))
        .or_else(|| calls(deltas))
        .or_else(|| characters(deltas, raw))
        .or_else(|| assembled(deltas, response, last))
}

fn broken(index: usize, message: impl Into<String>) -> Option<Broken> {
    Some(Broken { index, message: message.into() })
}

/// Whether the delta carries something that was generated.
fn generated(delta: &Delta) -> bool {
    let some = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    some(&delta.content) || some(&delta.reasoning) || !delta.tool_calls.is_empty()
}

fn role(deltas: &[Delta]) -> Option<Broken> {
    if deltas[0].role.is_none() {
        return broken(0, "the first delta has no role");
    }
    let wrong = deltas
        .iter()
        .position(|delta| delta.role.as_deref().is_some_and(|role| role != "assistant"))?;
    let role = deltas[wrong].role.as_deref().unwrap_or_default();
    broken(wrong, format!("the role is {role:?}, not \"assistant\""))
}

fn finish(deltas: &[Delta], last: usize) -> Option<Broken> {
    let mut finishes = deltas.iter().enumerate().filter(|(_, delta)| delta.finish_reason.is_some());
    let Some((finish, _)) = finishes.next() else {
        return broken(last, "no delta has a finish reason");
    };
    if let Some((again, _)) = finishes.next() {
        return broken(again, format!("a second finish reason, after the one in delta {finish}"));
    }
    let late = deltas.iter().skip(finish + 1).position(generated)?;
    broken(
        finish + 1 + late,
        format!("something was sent after the finish reason in delta {finish}"),
    )
}

fn usage(deltas: &[Delta]) -> Option<Broken> {
    let mut usages =
        deltas.iter().enumerate().filter_map(|(index, delta)| Some((index, delta.usage?)));
    let finish = deltas.iter().position(|delta| delta.finish_reason.is_some())?;
    let (mut index, mut before) = usages.next()?;
    for (next, usage) in usages {
        if usage.completion_tokens < before.completion_tokens
            || usage.prompt_tokens != before.prompt_tokens
        {
            return broken(next, "running usage went down");
        }
        (index, before) = (next, usage);
    }
    if index < finish {
        broken(index, "the last usage comes before the finish reason")
    } else {
        None
    }
}

fn times(deltas: &[Delta]) -> Option<Broken> {
    let back = deltas.windows(2).position(|pair| pair[1].at_ms < pair[0].at_ms)?;
    broken(back + 1, "the delta arrived before the one it follows")
}

fn calls(deltas: &[Delta]) -> Option<Broken> {
    let mut seen = 0;
    let mut ids: Vec<&str> = Vec::new();
    for (index, delta) in deltas.iter().enumerate() {
        for call in &delta.tool_calls {
            let number = call.index;
            if number > seen || number + 1 < seen {
                return broken(
                    index,
                    format!(
                        "a piece of call {number} where call {} was due",
                        seen.saturating_sub(1)
                    ),
                );
            }
            if number < seen {
                if call.id.is_some() || call.name.is_some() {
                    return broken(
                        index,
                        format!("call {number} has its id or name a second time"),
                    );
                }
                continue;
            }
            let (Some(id), Some(name)) = (call.id.as_deref(), call.name.as_deref()) else {
                return broken(
                    index,
                    format!("the first piece of call {number} lacks its id or name"),
                );
            };
            if name.is_empty() || id.is_empty() {
                return broken(index, format!("call {number} has an empty id or name"));
            }
            if ids.contains(&id) {
                return broken(
                    index,
                    format!("call {number} has the id {id:?} of an earlier call"),
                );
            }
            ids.push(id);
            seen += 1;
        }
    }
    None
}

/// A character that was cut in half shows as U+FFFD where the decoded output has none.
fn characters(deltas: &[Delta], raw: Option<&str>) -> Option<Broken> {
    if raw.is_some_and(|raw| raw.contains('\u{fffd}')) {
        return None;
    }
    let cut = |text: &str| text.contains('\u{fffd}');
    let index = deltas.iter().position(|delta| {
        delta.content.as_deref().is_some_and(cut)
            || delta.reasoning.as_deref().is_some_and(cut)
            || delta.tool_calls.iter().any(|call| cut(&call.arguments))
    })?;
    broken(index, "a replacement character, as a character cut in half leaves it")
}

fn assembled(deltas: &[Delta], response: &Response, last: usize) -> Option<Broken> {
    let join =
        |part: fn(&Delta) -> Option<&str>| deltas.iter().filter_map(part).collect::<String>();
    let content = join(|delta| delta.content.as_deref());
    let reasoning = join(|delta| delta.reasoning.as_deref());
    for (name, pieces, whole) in
        [("content", content, &response.content), ("reasoning", reasoning, &response.reasoning)]
    {
        let whole = whole.as_deref().unwrap_or_default();
        if pieces != whole {
            let (pieces, whole) =
                (super::super::show::excerpt(&pieces), super::super::show::excerpt(whole));
            return broken(
                last,
                format!("the pieces of the {name} are {pieces}, the message has {whole}"),
            );
        }
    }
    let mut calls: BTreeMap<usize, (&str, &str, String)> = BTreeMap::new();
    for piece in deltas.iter().flat_map(|delta| &delta.tool_calls) {
        let call = calls.entry(piece.index).or_default();
        call.0 = piece.id.as_deref().unwrap_or(call.0);
        call.1 = piece.name.as_deref().unwrap_or(call.1);
        call.2 += &piece.arguments;
    }
    if calls.len() != response.tool_calls.len() {
        let (pieces, whole) = (calls.len(), response.tool_calls.len());
        return broken(last, format!("the stream has {pieces} calls, the message {whole}"));
    }
    for (number, ((id, name, arguments), whole)) in
        calls.into_values().zip(&response.tool_calls).enumerate()
    {
        if (id, name, arguments.as_str()) != (&whole.id, &whole.name, &whole.arguments) {
            let message = format!(
                "the pieces of call {number} are {name}({arguments}) with id {id:?}, the message has {}({}) with id {:?}",
                whole.name, whole.arguments, whole.id
            );
            return broken(last, message);
        }
    }
    let reason = deltas.iter().find_map(|delta| delta.finish_reason.as_ref());
    if reason != response.finish_reason.as_ref() {
        return broken(last, "the finish reason of the stream is not that of the message");
    }
    None
}
