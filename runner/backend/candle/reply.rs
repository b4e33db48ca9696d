//! What an API would return: decoded text taken apart, as a whole or as a stream of deltas.

use std::time::Instant;

use crate::capture::{
    Delta, Generation, NATIVE, Observed, OutputToken, Response, Termination, ToolCallDelta,
    TopToken, Usage,
};
use crate::engine::{Ending, Generated};
use crate::model::{ModelDir, Tokenizer};
use crate::parse::{self, Family, Incremental, Parsed, Piece};
use crate::request::{Request, ToolCall};

/// A reply as it grows.
pub(super) struct Reply<'a> {
    family: Family,
    prompt: &'a str,
    sent: Instant,
    stream: Option<Stream>,
}

struct Stream {
    parser: Incremental,
    deltas: Vec<Delta>,
}

impl<'a> Reply<'a> {
    pub(super) fn new(
        files: &ModelDir,
        request: &Request,
        prompt: &'a str,
        sent: Instant,
    ) -> Reply<'a> {
        let offers = !request.tools.is_empty();
        let template = files.templates.select(offers);
        let family = Family::detect(template.map_or("", |template| template.source.as_str()));
        let looks = offers && request.tool_choice.as_ref().is_none_or(|choice| choice != "none");
        let family = if looks { family } else { family.without_tools() };
        let stream = request
            .stream
            .then(|| Stream { parser: Incremental::new(&family, prompt), deltas: Vec::new() });
        Reply { family, prompt, sent, stream }
    }

    /// Takes the text that became certain with a token, which may be empty.
    pub(super) fn take(&mut self, text: &str) {
        let at_ms = self.elapsed_ms();
        if let Some(stream) = &mut self.stream {
            stream.open(at_ms);
            let piece = stream.parser.push(text);
            stream.send(at_ms, piece);
        }
    }

    /// The response, once everything was generated.
    pub(super) fn finish(mut self, done: &Generated, prompt_tokens: usize) -> Response {
        let at_ms = self.elapsed_ms();
        let usage = Usage { prompt_tokens, completion_tokens: done.tokens.len() };
        let Some(stream) = &mut self.stream else {
            let parsed = parse::parse(&self.family, &done.text, self.prompt);
            return response(parsed, &done.ending, usage);
        };
        stream.open(at_ms);
        let rest = stream.parser.finish();
        stream.send(at_ms, rest);
        let mut response = response(assembled(&stream.deltas), &done.ending, usage);
        let finish_reason = response.finish_reason.clone();
        stream.deltas.push(Delta { at_ms, finish_reason, ..Delta::default() });
        stream.deltas.push(Delta { at_ms, usage: Some(usage), ..Delta::default() });
        response.stream = Some(std::mem::take(&mut stream.deltas));
        response
    }

    fn elapsed_ms(&self) -> f64 {
        self.sent.elapsed().as_secs_f64() * 1e3
    }
}

impl Stream {
    /// The first event names the role.
    fn open(&mut self, at_ms: f64) {
        if self.deltas.is_empty() {
            let role = Some("assistant".to_owned());
            self.deltas.push(Delta { at_ms, role, ..Delta::default() });
        }
    }

    fn send(&mut self, at_ms: f64, piece: Piece) {
        let mut push = |delta: Delta| self.deltas.push(Delta { at_ms, ..delta });
        if !piece.reasoning.is_empty() {
            push(Delta { reasoning: Some(piece.reasoning), ..Delta::default() });
        }
        if !piece.content.is_empty() {
            push(Delta { content: Some(piece.content), ..Delta::default() });
        }
        for call in piece.tool_calls {
            push(Delta { tool_calls: vec![call], ..Delta::default() });
        }
    }
}

/// Puts deltas together as a client does, which sees nothing else.
fn assembled(deltas: &[Delta]) -> Parsed {
    let join = |part: fn(&Delta) -> Option<&String>| -> Option<String> {
        let parts: Vec<&str> = deltas.iter().filter_map(part).map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.concat())
    };
    let reasoning = join(|delta| delta.reasoning.as_ref());
    let mut tool_calls: Vec<ToolCall> = Vec::new();
    for part in deltas.iter().flat_map(|delta| &delta.tool_calls) {
        add(&mut tool_calls, part);
    }
    let content = join(|delta| delta.content.as_ref());
    let alone = reasoning.is_none() && tool_calls.is_empty();
    Parsed {
        content: content.or_else(|| alone.then(String::new)),
        reasoning,
        tool_calls,
        ..Parsed::default()
    }
}

fn add(calls: &mut Vec<ToolCall>, part: &ToolCallDelta) {
    if part.index == calls.len() {
        calls.push(ToolCall { id: String::new(), name: String::new(), arguments: String::new() });
    }
    if let Some(call) = calls.get_mut(part.index) {
        call.id.push_str(part.id.as_deref().unwrap_or_default());
        call.name.push_str(part.name.as_deref().unwrap_or_default());
        call.arguments.push_str(&part.arguments);
    }
}

fn response(parsed: Parsed, ending: &Ending, usage: Usage) -> Response {
    let finish_reason = match ending {
        Ending::MaxTokens | Ending::Context => "length",
        Ending::EndId(_) if !parsed.tool_calls.is_empty() => "tool_calls",
        Ending::NumericalFault => "error",
        _ => "stop",
    };
    Response {
        content: parsed.content,
        reasoning: parsed.reasoning,
        tool_calls: parsed.tool_calls,
        finish_reason: Some(finish_reason.to_owned()),
        usage: Some(usage),
        stream: None,
        faults: Vec::new(),
    }
}

/// Boundary 3 of a finished sequence.
pub(super) fn generation(tokenizer: &Tokenizer, done: &Generated) -> Generation {
    let ids: Vec<u32> = done.tokens.iter().map(|token| token.id).collect();
    let tokens = done.tokens.iter().map(|token| OutputToken {
        id: token.id,
        piece: tokenizer.piece(token.id),
        logprob: Some(token.logprob),
        top: token
            .top
            .iter()
            .map(|(id, logprob)| TopToken {
                id: *id,
                piece: tokenizer.piece(*id),
                logprob: *logprob,
            })
            .collect(),
    });
    Generation {
        tokens: Observed::Seen(tokens.collect()),
        count: Some(ids.len()),
        text: Observed::Seen(tokenizer.decode(&ids, false)),
        termination: termination(&done.ending),
        rung: NATIVE.to_owned(),
    }
}

fn termination(ending: &Ending) -> Termination {
    match ending {
        Ending::EndId(id) => Termination::Eos(*id),
        Ending::StopId(id) => Termination::StopToken(*id),
        Ending::StopString(text) => Termination::StopString(text.clone()),
        Ending::MaxTokens => Termination::LengthMaxTokens,
        Ending::Context => Termination::LengthContext,
        Ending::Aborted(abort) => Termination::Aborted(abort.to_string()),
        Ending::NumericalFault => Termination::NumericalFault,
    }
}
