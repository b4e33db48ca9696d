//! A recording as people write it: JSON Lines, each line an answer with what it answers.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::entry::{Entry, Fault, Wanted};
use crate::capture::{Attempt, Line, WireResponse};
use crate::diagnostic::choices;

/// What a recording says about the server; everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Head {
    /// The version of the format.
    #[serde(default)]
    pub(super) recording: u64,
    /// Where the server was.
    #[serde(default)]
    pub(super) url: Option<String>,
    /// What it was.
    #[serde(default)]
    pub(super) dialect: Option<String>,
    /// The model's name in requests.
    #[serde(default)]
    pub(super) model: Option<String>,
}

/// A recording, read.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub(super) head: Head,
    pub(super) entries: Vec<Entry>,
}

const HEAD: &[&str] = &["recording", "url", "dialect", "model"];
const ENTRY: &[&str] =
    &["case", "turn", "request", "response", "fault", "purpose", "attempts", "broke"];
const REQUEST: &[&str] = &["method", "path", "body"];
const RESPONSE: &[&str] =
    &["status", "headers", "body", "text", "sse", "chunks_base64", "cut_bytes"];
const BODIES: &[&str] = &["body", "text", "sse", "chunks_base64"];

/// A line with its parts as they were written, so that a body stays byte for byte what it was.
#[derive(Deserialize)]
struct Typed<'a> {
    case: Option<String>,
    turn: Option<usize>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    fault: Option<String>,
    #[serde(default)]
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct TypedRequest {
    method: Option<String>,
    path: Option<String>,
    body: Option<Value>,
}

/// Reads a recording.
///
/// # Errors
/// `file:line: what is wrong; the fix`, for the first line at fault.
pub(super) fn read(path: &Path, text: &str) -> Result<Recording, String> {
    let mut recording = Recording::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") || line.starts_with('#') {
            continue;
        }
        let first = recording.entries.is_empty() && recording.head == Head::default();
        take(&mut recording, line, number, first)
            .map_err(|problem| format!("{}:{number}: {problem}", path.display()))?;
    }
    if recording.entries.is_empty() {
        return Err(format!(
            "{}: the recording holds no answer; write one on each line, as in \
             {{\"case\":\"oslo\",\"turn\":0,\"response\":{{\"body\":{{…}}}}}}",
            path.display()
        ));
    }
    Ok(recording)
}

fn take(recording: &mut Recording, line: &str, number: usize, first: bool) -> Result<(), String> {
    let fields: Map<String, Value> = parse(line)
        .map_err(|why| format!("this is no JSON object: {why}; write one object on each line"))?;
    if fields.contains_key("recording") {
        if !first {
            return Err("`recording` begins a recording; move this line to the top".to_owned());
        }
        known(&fields, HEAD, "the first line")?;
        let head: Head = parse(line)?;
        if head.recording != 1 {
            return Err(format!("version {} is not known; write 1", head.recording));
        }
        recording.head = head;
        return Ok(());
    }
    recording.entries.push(entry(line, &fields, number)?);
    Ok(())
}

fn entry(line: &str, fields: &Map<String, Value>, number: usize) -> Result<Entry, String> {
    known(fields, ENTRY, "an answer")?;
    for (name, legal) in [("request", REQUEST), ("response", RESPONSE)] {
        match fields.get(name) {
            Some(Value::Object(part)) => known(part, legal, &format!("`{name}`"))?,
            Some(_) => return Err(format!("`{name}` is no object; it has {}", list(legal))),
            None => {}
        }
    }
    let typed: Typed<'_> = parse(line)?;
    let fault = match typed.fault.as_deref() {
        None => None,
        Some("cut") => Some(Fault::Cut),
        Some("stall") => Some(Fault::Stall),
        Some(other) => {
            let legal = choices(other, &["cut", "stall"]);
            return Err(format!("unknown fault `{other}`: {legal}"));
        }
    };
    let request = match typed.request {
        Some(raw) => parse::<TypedRequest>(raw.get()).map_err(|why| format!("`request`: {why}"))?,
        None => TypedRequest { method: None, path: None, body: None },
    };
    let response = typed.response.map(|raw| response(raw.get())).transpose()?;
    if response.is_none() && fault.is_none() {
        return Err("there is no `response`; add one, or a `fault`: cut or stall".to_owned());
    }
    if typed.turn.is_some() && typed.case.is_none() {
        return Err("`turn` counts in a case; add the `case`".to_owned());
    }
    Ok(Entry {
        place: format!("line {number}"),
        case: typed.case,
        turn: typed.turn,
        request: Wanted { method: request.method, path: request.path, body: request.body },
        response,
        attempts: typed.attempts,
        fault,
    })
}

fn response(raw: &str) -> Result<WireResponse, String> {
    let mut response: WireResponse = parse(raw).map_err(|why| format!("`response`: {why}"))?;
    let bodies = [
        response.body.is_some(),
        response.text.is_some(),
        response.sse.is_some(),
        response.chunks_base64.is_some(),
    ];
    if bodies.into_iter().filter(|there| *there).count() > 1 {
        return Err(format!("`response` has several bodies; keep one of {}", list(BODIES)));
    }
    for (n, chunk) in response.chunks_base64.iter().flatten().enumerate() {
        STANDARD.decode(chunk).map_err(|error| {
            format!(
                "chunk {} of `chunks_base64` is no base64: {error}; `base64 -w0` writes it",
                n + 1
            )
        })?;
    }
    if let Some(lines) = &mut response.sse {
        if let Some(line) = lines.iter().find(|line| line.text().contains(['\n', '\r'])) {
            return Err(format!(
                "a line of `sse` holds a line break: {}; make two lines of it",
                crate::text::quote(&crate::text::clip(line.text(), 60))
            ));
        }
        end_events(lines);
    }
    Ok(response)
}

/// An empty line ends an event. People leave all of them out, and then every line is an event.
fn end_events(lines: &mut Vec<Line>) {
    if lines.iter().any(|line| line.text().is_empty()) {
        return;
    }
    let each = std::mem::take(lines).into_iter();
    *lines = each
        .flat_map(|line| {
            let end = match &line {
                Line::Timed(at_ms, _) => Line::Timed(*at_ms, String::new()),
                Line::Plain(_) => Line::Plain(String::new()),
            };
            [line, end]
        })
        .collect();
}

/// What is wrong with a JSON text, without a position that means nothing here.
fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        message.replace(" at line 1 column", " at column")
    })
}

fn known(fields: &Map<String, Value>, legal: &[&str], of: &str) -> Result<(), String> {
    match fields.keys().find(|name| !legal.contains(&name.as_str())) {
        Some(name) => Err(format!("{of} has no field `{name}`: {}", choices(name, legal))),
        None => Ok(()),
    }
}

fn list(words: &[&str]) -> String {
    words.join(", ")
}
