//! Drives one conversation: turns become requests, replies become history.

use crate::backend::{Ask, Backend, Failed};
use crate::capture::{Exchange, Failure, Run};
use crate::judge::NO_CALL;
use crate::plan::{Case, Say};
use crate::request::{Message, Request, Role, ToolCall};

/// How many alternatives per output token are kept as evidence.
const TOP_LOGPROBS: usize = 8;

/// Takes each exchange as soon as it is over.
pub(crate) type Keep<'a> = &'a (dyn Fn(&Exchange) + Send + Sync);

/// Runs the conversation of `case` once. A failure ends it; what was answered before is kept.
pub(crate) async fn converse(
    case: &Case,
    backend: &dyn Backend,
    stream: bool,
    load: usize,
    keep: Keep<'_>,
) -> Run {
    let mut messages = Vec::new();
    messages.extend(case.system.as_ref().map(|text| Message::text(Role::System, text)));
    let mut run = Run { load, exchanges: Vec::new(), error: None };
    for (n, turn) in case.turns.iter().enumerate() {
        if let Err(failure) = say(&mut messages, &turn.say, n) {
            run.error = Some(failure);
            return run;
        }
        if !turn.asks {
            continue;
        }
        let prefill = matches!(turn.say, Say::Prefill(_));
        let request = request(case, &messages, stream, prefill);
        match backend.exchange(Ask { request: &request, case: &case.id, turn: n }).await {
            Ok(mut exchange) => {
                exchange.turn = n;
                keep(&exchange);
                reply(&mut messages, &exchange, prefill);
                run.exchanges.push(exchange);
            }
            Err(failed) => {
                run.error = Some(failure(failed, n));
                return run;
            }
        }
    }
    run
}

fn request(case: &Case, messages: &[Message], stream: bool, prefill: bool) -> Request {
    Request {
        messages: messages.to_vec(),
        tools: case.tools.clone(),
        tool_choice: case.tool_choice.clone(),
        settings: case.settings.clone(),
        template: case.template.clone(),
        stream,
        prefill,
        top_logprobs: TOP_LOGPROBS,
        timeout: case.timeout,
    }
}

/// Adds a turn to the conversation.
fn say(messages: &mut Vec<Message>, say: &Say, turn: usize) -> Result<(), Failure> {
    match say {
        Say::User(text) => messages.push(Message::text(Role::User, text)),
        Say::Assistant(message) => messages.push(message.clone()),
        Say::Prefill(text) => messages.push(Message::text(Role::Assistant, text)),
        Say::Tool { name, content } => {
            let id = open_call(messages, name).ok_or_else(|| Failure {
                kind: NO_CALL.to_owned(),
                turn,
                message: format!("`{name}` has a result here, but no reply called it"),
                wire: Vec::new(),
            })?;
            let mut message = Message::text(Role::Tool, content);
            message.tool_call_id = Some(id);
            message.name = Some(name.clone());
            messages.push(message);
        }
    }
    Ok(())
}

/// The first call of `name` since the last user message that has no result yet.
fn open_call(messages: &[Message], name: &str) -> Option<String> {
    let start = messages.iter().rposition(|m| m.role == Role::User).unwrap_or(0);
    let recent = &messages[start..];
    let answered = |call: &ToolCall| {
        recent.iter().any(|message| message.tool_call_id.as_deref() == Some(call.id.as_str()))
    };
    let mut calls = recent.iter().flat_map(|message| &message.tool_calls);
    calls.find(|call| call.name == name && !answered(call)).map(|call| call.id.clone())
}

/// Feeds a reply back as history, as a client of the API would.
fn reply(messages: &mut Vec<Message>, exchange: &Exchange, prefill: bool) {
    let Ok(response) = exchange.response.seen() else { return };
    let mut content = response.content.clone();
    if prefill && let Some(begun) = messages.pop() {
        let begun = begun.content.unwrap_or_default();
        content = Some(begun + content.as_deref().unwrap_or_default());
    }
    // Ids are unique within the conversation, so that a result names one call only.
    let made = messages.iter().map(|message| message.tool_calls.len()).sum::<usize>();
    let calls = response
        .tool_calls
        .iter()
        .enumerate()
        .map(|(n, call)| ToolCall { id: format!("call_{}", made + n), ..call.clone() });
    let mut message = Message::text(Role::Assistant, "");
    message.reasoning = response.reasoning.clone();
    message.tool_calls = calls.collect();
    // A stream cannot tell an absent text from an empty one, and templates render the two differently; a message that
    // only calls has none.
    message.content = content.filter(|text| !text.is_empty() || message.tool_calls.is_empty());
    messages.push(message);
}

fn failure(failed: Failed, turn: usize) -> Failure {
    Failure {
        kind: failed.error.kind().to_owned(),
        turn,
        message: failed.error.to_string(),
        wire: failed.wire,
    }
}

#[cfg(test)]
mod tests;
