//! An exchange without its texts.

use serde_json::{Value, json};

use super::{Privacy, WITHHELD, wire};
use crate::capture::{
    Delta, Exchange, Generation, Input, Observed, OutputToken, Response, Termination, Token,
    ToolCallDelta, TopToken,
};
use crate::request::{Message, Request, ToolCall};

pub(super) fn mask(privacy: Privacy, exchange: &Exchange) -> Exchange {
    Exchange {
        turn: exchange.turn,
        request: request(privacy, &exchange.request),
        input: seen(&exchange.input, |it| input(privacy, it)),
        // Settings stay, stop strings among them: they are what the deployment was asked to do.
        settings: exchange.settings.clone(),
        generation: seen(&exchange.generation, |it| generation(privacy, it)),
        response: seen(&exchange.response, |it| response(privacy, it)),
        wire: exchange.wire.iter().map(|call| wire::mask(privacy, call)).collect(),
        elapsed_ms: exchange.elapsed_ms,
    }
}

fn seen<T>(observed: &Observed<T>, mask: impl Fn(&T) -> T) -> Observed<T> {
    match observed {
        Observed::Seen(value) => Observed::Seen(mask(value)),
        Observed::Hidden(reason) => Observed::Hidden(reason.clone()),
    }
}

fn hide(privacy: Privacy, text: &Observed<String>) -> Observed<String> {
    match text {
        Observed::Seen(text) => Observed::Hidden(privacy.reason(text)),
        Observed::Hidden(reason) => Observed::Hidden(reason.clone()),
    }
}

fn request(privacy: Privacy, request: &Request) -> Request {
    let messages = request.messages.iter().map(|it| message(privacy, it));
    let template = request.template.iter();
    Request {
        messages: messages.collect(),
        tools: request.tools.iter().map(|it| tool(privacy, it)).collect(),
        tool_choice: request.tool_choice.as_ref().map(|choice| match choice {
            // `auto`, `none`, `required`; anything else names a function.
            Value::String(word) => Value::String(word.clone()),
            other => privacy.mask_json(other),
        }),
        template: template.map(|(name, it)| (name.clone(), privacy.mask_json(it))).collect(),
        ..request.clone()
    }
}

/// A tool keeps its form, since rules about tools must see that there is one.
fn tool(privacy: Privacy, tool: &Value) -> Value {
    let Some(name) = tool.pointer("/function/name").and_then(Value::as_str) else {
        return privacy.mask_json(tool);
    };
    json!({
        "type": "function",
        "function": { "name": privacy.mask(name), "definition": privacy.mask_json(tool) },
    })
}

fn message(privacy: Privacy, message: &Message) -> Message {
    Message {
        role: message.role,
        content: message.content.as_ref().map(|text| privacy.mask(text)),
        reasoning: message.reasoning.as_ref().map(|text| privacy.mask(text)),
        tool_calls: message.tool_calls.iter().map(|it| call(privacy, it)).collect(),
        tool_call_id: message.tool_call_id.clone(),
        name: message.name.as_ref().map(|name| privacy.mask(name)),
    }
}

fn call(privacy: Privacy, call: &ToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        name: privacy.mask(&call.name),
        arguments: privacy.mask(&call.arguments),
    }
}

fn input(privacy: Privacy, input: &Input) -> Input {
    let blank = |token: &Token| Token { id: token.id, piece: WITHHELD.to_owned() };
    Input {
        prompt: hide(privacy, &input.prompt),
        tokens: seen(&input.tokens, |tokens| tokens.iter().map(blank).collect()),
        count: input.count,
        rung: input.rung.clone(),
        rendered: input.rendered.clone(),
    }
}

fn generation(privacy: Privacy, generation: &Generation) -> Generation {
    Generation {
        tokens: seen(&generation.tokens, |tokens| tokens.iter().map(output).collect()),
        count: generation.count,
        text: hide(privacy, &generation.text),
        termination: match &generation.termination {
            Termination::Aborted(why) => Termination::Aborted(privacy.mask(why)),
            other => other.clone(),
        },
        rung: generation.rung.clone(),
    }
}

fn output(token: &OutputToken) -> OutputToken {
    let top = token.top.iter().map(alternative);
    OutputToken {
        id: token.id,
        piece: WITHHELD.to_owned(),
        logprob: token.logprob,
        top: top.collect(),
    }
}

pub(super) fn alternative(token: &TopToken) -> TopToken {
    TopToken { id: token.id, piece: WITHHELD.to_owned(), logprob: token.logprob }
}

fn response(privacy: Privacy, response: &Response) -> Response {
    let deltas = |deltas: &Vec<Delta>| deltas.iter().map(|it| delta(privacy, it)).collect();
    Response {
        content: text(privacy, response.content.as_ref()),
        reasoning: text(privacy, response.reasoning.as_ref()),
        tool_calls: response.tool_calls.iter().map(|it| call(privacy, it)).collect(),
        finish_reason: response.finish_reason.clone(),
        usage: response.usage,
        stream: response.stream.as_ref().map(deltas),
        faults: response.faults.iter().map(|fault| privacy.mask(fault)).collect(),
    }
}

/// A text of a reply; an empty one has nothing to withhold.
fn text(privacy: Privacy, text: Option<&String>) -> Option<String> {
    text.map(|text| if text.is_empty() { String::new() } else { privacy.mask(text) })
}

fn delta(privacy: Privacy, delta: &Delta) -> Delta {
    let call = |call: &ToolCallDelta| ToolCallDelta {
        index: call.index,
        id: call.id.clone(),
        name: text(privacy, call.name.as_ref()),
        arguments: text(privacy, Some(&call.arguments)).unwrap_or_default(),
    };
    Delta {
        content: text(privacy, delta.content.as_ref()),
        reasoning: text(privacy, delta.reasoning.as_ref()),
        tool_calls: delta.tool_calls.iter().map(call).collect(),
        ..delta.clone()
    }
}
