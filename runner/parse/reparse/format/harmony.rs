//! gpt-oss: messages with headers, on channels. Special tokens separate and end them.

use super::super::RawCall;
use super::super::arguments::object;
use super::super::defect::{DefectKind, Fault};
use super::super::json::{self, Kind, quoted};
use super::super::scan::{Scan, checked_name};
use super::super::thinking::NO_THINKING;
use super::Format;

const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const CONSTRAIN: &str = "<|constrain|>";
const MESSAGE: &str = "<|message|>";
const CALL: &str = "<|call|>";
const ENDS: [&str; 4] = ["<|end|>", "<|return|>", CALL, START];

pub(super) const HARMONY: Format = Format {
    name: "harmony",
    summary: "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>",
    families: &["gpt-oss"],
    detect: |template| template.contains(CHANNEL) && template.contains(MESSAGE),
    // Reasoning has a channel, and each message says itself how it ends.
    thinking: NO_THINKING,
    ends: &[],
    tool_ends: &[],
    marks: &[],
    may_trail: false,
    body,
};

/// Where a message goes.
#[derive(Debug, Default)]
struct Header<'h> {
    channel: &'h str,
    recipient: Option<&'h str>,
}

fn body(scan: &mut Scan<'_>) {
    let mut pending = open_header(scan.prompt_tail).to_owned();
    if let Some((header, _)) = pending.clone().split_once(MESSAGE) {
        pending.clear();
        message(scan, 0, header);
    }
    while !scan.rest().trim().is_empty() {
        let start = scan.at;
        if scan.eat(START) {
            pending.clear();
        }
        let ends: Vec<&str> = ENDS.into_iter().chain([MESSAGE]).collect();
        match scan.nearest(&ends) {
            Some((length, MESSAGE)) => {
                let header = pending.clone() + scan.rest().get(..length).unwrap_or_default();
                pending.clear();
                scan.at += length + MESSAGE.len();
                message(scan, start, &header);
            }
            found => without_message(scan, start, found, &pending),
        }
    }
}

/// The header that a prompt leaves open, with the message that it may have begun.
fn open_header(prompt_tail: &str) -> &str {
    let tail = prompt_tail.rsplit_once(START).map_or("", |(_, tail)| tail);
    if ENDS.iter().any(|end| tail.contains(end)) { "" } else { tail }
}

/// Text that no `<|message|>` follows, at least not in the same message.
fn without_message(scan: &mut Scan<'_>, start: usize, end: Option<(usize, &str)>, pending: &str) {
    let text = scan.rest();
    let is_first = scan.found == super::super::Reparsed::default();
    let is_header = |text: &str| {
        let text = text.trim_start();
        text.starts_with("<|") || text.starts_with("to=") || CHANNEL.starts_with(text)
    };
    match end {
        Some((length, end)) => {
            scan.at += length;
            scan.at += if end == START { 0 } else { end.len() };
            scan.defect(DefectKind::BadHeader, start, "a message without `<|message|>`");
        }
        None if start < scan.at || !is_first || is_header(text) || pending.contains(CHANNEL) => {
            scan.at = scan.text.len();
            let message = "the text ends inside a message's header";
            scan.defect(DefectKind::UnclosedRegion, start, message);
        }
        None => {
            scan.at = scan.text.len();
            scan.found.content.push_str(text);
            scan.defect(DefectKind::BadHeader, start, "a reply without a channel");
        }
    }
}

/// Reads a message from behind its header.
fn message(scan: &mut Scan<'_>, start: usize, header: &str) {
    let from = scan.at;
    let found = scan.nearest(&ENDS);
    scan.at += found.map_or(scan.rest().len(), |(length, _)| length);
    let to = scan.at;
    let text = scan.since(from);
    let end = found.map_or("", |(_, end)| end);
    scan.at += if end == START { 0 } else { end.len() };
    let Header { channel, recipient } = match parse_header(header) {
        Ok(header) => header,
        Err(message) => return scan.defect(DefectKind::BadHeader, start, message),
    };
    if let Some(recipient) = recipient {
        return call(scan, start, recipient, from..to, end);
    }
    if channel == "analysis" {
        let reasoning = scan.found.reasoning.get_or_insert_default();
        join(reasoning, text);
        if end.is_empty() {
            scan.defect(DefectKind::UnclosedRegion, start, "the reasoning is not closed");
        }
    } else {
        join(&mut scan.found.content, text);
    }
}

/// Messages of one kind are put together with a line break between them.
fn join(whole: &mut String, text: &str) {
    if !whole.is_empty() {
        whole.push('\n');
    }
    whole.push_str(text);
}

fn parse_header(header: &str) -> Result<Header<'_>, String> {
    let (role, channel) = header.split_once(CHANNEL).unwrap_or((header, ""));
    let words = |text| {
        let text: &str = text;
        text.split(CONSTRAIN).next().unwrap_or_default().split_whitespace()
    };
    let is_role = |word: &&str| !word.starts_with("to=");
    if let Some(role) = words(role).find(is_role).filter(|role| *role != "assistant") {
        return Err(format!("a message of the role `{role}`"));
    }
    let recipient = words(role).chain(words(channel)).find_map(|word| word.strip_prefix("to="));
    match words(channel).next().unwrap_or_default() {
        channel @ ("analysis" | "commentary" | "final") => Ok(Header { channel, recipient }),
        channel => Err(format!("`{channel}` is no channel")),
    }
}

fn call(
    scan: &mut Scan<'_>,
    start: usize,
    recipient: &str,
    body: std::ops::Range<usize>,
    end: &str,
) {
    let defects = scan.found.defects.len();
    match read(scan, start, recipient, body) {
        Ok(call) => {
            let closed = end == CALL;
            scan.found.calls.push(RawCall { closed, ..call });
            if !closed {
                scan.defect(DefectKind::UnclosedCall, start, "`<|call|>` is missing");
            }
        }
        Err(fault) => {
            scan.found.defects.truncate(defects);
            let is_cut = fault.is_cut() && end.is_empty();
            let kind = match fault.kind {
                DefectKind::UnclosedCall if !is_cut => DefectKind::MalformedCall,
                kind => kind,
            };
            let message = if is_cut || !fault.is_cut() {
                fault.message
            } else {
                "the arguments end before their object does".to_owned()
            };
            scan.defect(kind, start, message);
        }
    }
}

fn read(
    scan: &mut Scan<'_>,
    start: usize,
    recipient: &str,
    body: std::ops::Range<usize>,
) -> Result<RawCall, Fault> {
    let name = recipient.strip_prefix("functions.").unwrap_or(recipient);
    let name = checked_name(name, start)?;
    let text = scan.text.get(..body.end).unwrap_or_default();
    let source = scan.text.get(body.clone()).unwrap_or_default();
    let call = |arguments: String| RawCall {
        name: name.clone(),
        arguments,
        id: None,
        closed: false,
        ambiguous: Vec::new(),
    };
    // The interpreter of gpt-oss is sent plain code.
    if recipient == "python" {
        return Ok(call(object(&[("code".to_owned(), quoted(source))])));
    }
    let (node, duplicates) = json::read(text, body.start)?;
    if !text.get(node.span.end..).unwrap_or_default().trim().is_empty() {
        return Err(Fault::malformed(node.span.end, "text behind the arguments"));
    }
    let Kind::Object(_) = node.kind else { return Err(Fault::not_an_object(node.span.start)) };
    scan.duplicates(duplicates);
    Ok(call(text.get(node.span).unwrap_or_default().to_owned()))
}
