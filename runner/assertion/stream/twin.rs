//! A reply against the same reply with streaming flipped.

use serde_json::Value;

use crate::assertion::{View, show};
use crate::capture::Response;
use crate::compare::walk::walk;
use crate::finding::Outcome;
use crate::request::ToolCall;

/// The first difference from the twin, or why there is no comparison; `None` when both are equal.
pub(super) fn compare(view: &View<'_>, expected: &str) -> Option<Outcome> {
    let Some(run) = &view.capture.twin else {
        return Some(Outcome::hidden(expected, "the case was not run with streaming flipped"));
    };
    let Some(twin) = run.exchanges.get(view.index) else {
        let reason = run
            .error
            .as_ref()
            .map_or("the run with streaming flipped has fewer replies", |e| &e.message);
        return Some(Outcome::hidden(expected, reason));
    };
    let (here, there) = match (view.exchange.response.seen(), twin.response.seen()) {
        (Ok(here), Ok(there)) => (here, there),
        (Err(reason), _) | (_, Err(reason)) => return Some(Outcome::hidden(expected, reason)),
    };
    let streamed = view.exchange.request.stream;
    let (stream, whole) = if streamed { (here, there) } else { (there, here) };
    // Other ids are a difference of decoding; the stream is then not what is wrong.
    if let (Ok(a), Ok(b)) = (view.exchange.output_tokens(), twin.output_tokens())
        && let (_, Some(fork)) = walk(b, a)
    {
        let index = fork.index;
        let message = format!(
            "the output ids already differ at token {index}: the decoding differs, not the assembly"
        );
        let top = fork.candidate.map_or(&[][..], |token| &token.top);
        let window = show::difference(&show::plain(b), &show::plain(a), index, top);
        let outcome = Outcome::fail(expected, "different output ids", message);
        return Some(outcome.at(format!("token {index}")).differing(window));
    }
    let (field, stream, whole) = first_difference(stream, whole)?;
    let message = format!("the {field} is {stream} in the stream and {whole} in one piece");
    Some(Outcome::fail(expected, stream, message).at(field))
}

/// The first field that differs, with both values; ids of calls are new in every reply.
fn first_difference(a: &Response, b: &Response) -> Option<(&'static str, String, String)> {
    let text = |text: &Option<String>| text.as_deref().map_or("none".to_owned(), show::excerpt);
    // A stream cannot tell an absent text from an empty one.
    let same = |a: &Option<String>, b: &Option<String>| {
        a.as_deref().unwrap_or_default() == b.as_deref().unwrap_or_default()
    };
    if !same(&a.content, &b.content) {
        return Some(("content", text(&a.content), text(&b.content)));
    }
    if !same(&a.reasoning, &b.reasoning) {
        return Some(("reasoning", text(&a.reasoning), text(&b.reasoning)));
    }
    if a.tool_calls.len() != b.tool_calls.len()
        || !a.tool_calls.iter().zip(&b.tool_calls).all(same_call)
    {
        return Some(("tool_calls", written(&a.tool_calls), written(&b.tool_calls)));
    }
    if a.finish_reason != b.finish_reason {
        return Some(("finish_reason", text(&a.finish_reason), text(&b.finish_reason)));
    }
    if a.usage != b.usage && a.usage.is_some() && b.usage.is_some() {
        return Some(("usage", format!("{:?}", a.usage), format!("{:?}", b.usage)));
    }
    None
}

/// Arguments are compared as JSON; those that are none, byte by byte.
fn same_call((a, b): (&ToolCall, &ToolCall)) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    let same = match (json(&a.arguments), json(&b.arguments)) {
        (Some(a), Some(b)) => crate::assertion::json::equal(&a, &b),
        _ => a.arguments == b.arguments,
    };
    a.name == b.name && same
}

fn written(calls: &[ToolCall]) -> String {
    let calls: Vec<_> =
        calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
    if calls.is_empty() { "no call".to_owned() } else { calls.join(", ") }
}
