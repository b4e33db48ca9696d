//! An answer as it arrives, and the record of it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::value::RawValue;

use super::address::bare;
use crate::backend::remote::sse::{Decoded, Decoder, Event, KEPT};
use crate::backend::{BackendError, Redactor};
use crate::capture::WireResponse;

/// The most bytes of one body; more is an error, so that a server cannot exhaust memory.
pub const LONGEST_BODY: usize = 32 << 20;

/// Headers that are kept. Others can hold cookies and keys.
const KEPT_HEADERS: [&str; 5] =
    ["content-type", "location", "retry-after", "server", "x-request-id"];

/// An answer of which the headers have arrived.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) headers: BTreeMap<String, String>,
    /// The bytes of the body so far.
    pub(super) size: usize,
    redactor: &'a Redactor,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Stream(Box<Decoder<'a>>),
    Body(Vec<u8>),
}

/// A body that has ended, without secrets.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) record: Option<WireResponse>,
    pub(super) body: Vec<u8>,
    pub(super) events: Vec<Event>,
    pub(super) faults: Vec<String>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(status: u16, headers: &HeaderMap, redactor: &'a Redactor) -> Self {
        let kept = kept_headers(headers, redactor);
        let content_type = redactor.scrub_owned(media_type(headers));
        let content = match content_type.as_str() {
            "text/event-stream" => Content::Stream(Box::new(Decoder::new(redactor))),
            _ => Content::Body(Vec::new()),
        };
        Answer { status, content_type, headers: kept, size: 0, redactor, content }
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// It is more than anybody needs.
    pub(super) fn push(&mut self, bytes: &[u8], at_ms: f64) -> Result<(), BackendError> {
        self.size += bytes.len();
        if self.size > LONGEST_BODY {
            let limit = LONGEST_BODY >> 20;
            return Err(BackendError::Malformed(format!("the answer is over {limit} MiB")));
        }
        match &mut self.content {
            Content::Stream(decoder) => decoder.push(bytes, at_ms),
            Content::Body(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// The end; `broken` when it is not where it should be.
    pub(super) fn close(self, at_ms: f64, broken: bool) -> Closed {
        let empty = WireResponse {
            status: self.status,
            headers: self.headers,
            body: None,
            text: None,
            sse: None,
            chunks_base64: None,
            cut_bytes: None,
        };
        match self.content {
            Content::Stream(decoder) => {
                let decoded = if broken { decoder.abandon(at_ms) } else { decoder.finish(at_ms) };
                close_stream(empty, decoded)
            }
            Content::Body(body) => {
                let body = self.redactor.scrub_bytes(body);
                Closed { record: Some(body_record(empty, &body)), body, ..Closed::default() }
            }
        }
    }
}

/// Lines as text, or all of them as bytes when one is no text: else the record would not be what came.
fn close_stream(mut record: WireResponse, decoded: Decoded) -> Closed {
    let Decoded { events, lines, raw, cut_bytes, faults } = decoded;
    record.cut_bytes = (cut_bytes > 0).then_some(cut_bytes);
    if raw.is_empty() {
        record.sse = Some(lines);
    } else {
        let raw: BTreeMap<usize, Vec<u8>> = raw.into_iter().collect();
        let line = |(index, text): (usize, &str)| {
            let mut bytes = raw.get(&index).cloned().unwrap_or_else(|| text.into());
            bytes.push(b'\n');
            STANDARD.encode(bytes)
        };
        record.chunks_base64 =
            Some(lines.iter().map(|line| line.text()).enumerate().map(line).collect());
    }
    Closed { record: Some(record), body: Vec::new(), events, faults }
}

fn body_record(mut record: WireResponse, body: &[u8]) -> WireResponse {
    let kept = body.get(..KEPT).unwrap_or(body);
    let cut = body.len() - kept.len();
    match str::from_utf8(kept) {
        _ if body.is_empty() => {}
        Ok(text) => match raw_json(text).filter(|_| cut == 0) {
            Some(json) => record.body = Some(json),
            None => record.text = Some(text.to_owned()),
        },
        // The cap may have fallen inside a character.
        Err(error) if cut > 0 && error.error_len().is_none() => {
            let (text, rest) = kept.split_at(error.valid_up_to());
            record.text = Some(String::from_utf8_lossy(text).into_owned());
            record.cut_bytes = Some(cut + rest.len());
            return record;
        }
        Err(_) => record.chunks_base64 = Some(vec![STANDARD.encode(kept)]),
    }
    record.cut_bytes = (cut > 0).then_some(cut);
    record
}

/// JSON on one line; a line break behind it does not count.
fn raw_json(text: &str) -> Option<Box<RawValue>> {
    let line = text.trim_end_matches(['\r', '\n']);
    if line.contains(['\r', '\n']) {
        return None;
    }
    RawValue::from_string(line.to_owned()).ok()
}

fn kept_headers(headers: &HeaderMap, redactor: &Redactor) -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    for name in KEPT_HEADERS {
        let Some(value) = headers.get(name) else { continue };
        let value = String::from_utf8_lossy(value.as_bytes());
        let value = if name == "location" { bare(&value).into() } else { value };
        kept.insert(name.to_owned(), redactor.scrub(&value).into_owned());
    }
    kept
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map(|value| value.as_bytes()).unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
