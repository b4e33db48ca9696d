//! Gemma: `call:NAME{key:value}`, with marks around strings and nothing around keys.

use super::super::RawCall;
use super::super::arguments::{Arguments, object};
use super::super::defect::Fault;
use super::super::json::MAX_DEPTH;
use super::super::scan::{Resync, Scan};
use super::super::schema::{Schema, Typed};
use super::super::thinking::{NO_THINKING, Thinking};
use super::Format;

pub(super) const GEMMA4: Format = Format {
    name: "gemma4",
    summary: r#"<|tool_call>call:NAME{KEY:<|"|>TEXT<|"|>,KEY:42}<tool_call|>"#,
    families: &["Gemma 4"],
    detect: |template| template.contains("<|tool_call>"),
    thinking: Thinking {
        opens: &["<|channel>thought\n", "<|channel>thought"],
        closes: &["<channel|>"],
    },
    ends: &["<turn|>", "<eos>"],
    tool_ends: &["<|tool_response>"],
    marks: &["<tool_call|>", "<|\"|>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<|tool_call>"], |scan, start, _| {
            let resync = Resync { close: "<tool_call|>", next: &["<|tool_call>"] };
            scan.call(start, resync, |scan| call(scan, "<|\"|>"));
        });
    },
};

pub(super) const FUNCTIONGEMMA: Format = Format {
    name: "functiongemma",
    summary: "<start_function_call>call:NAME{KEY:<escape>TEXT<escape>,KEY:42}<end_function_call>",
    families: &["FunctionGemma"],
    detect: |template| template.contains("<start_function_call>"),
    thinking: NO_THINKING,
    ends: &["<end_of_turn>", "<eos>"],
    tool_ends: &["<start_function_response>"],
    marks: &["<end_function_call>", "<escape>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<start_function_call>"], |scan, start, _| {
            let resync = Resync { close: "<end_function_call>", next: &["<start_function_call>"] };
            scan.call(start, resync, |scan| call(scan, "<escape>"));
        });
    },
};

fn call(scan: &mut Scan<'_>, quote: &str) -> Result<RawCall, Fault> {
    scan.expect("call:")?;
    let name = scan.name(&["{", "<"])?;
    let schema = scan.parameters(&name);
    scan.expect("{")?;
    let mut arguments = Arguments::default();
    loop {
        let start = scan.at;
        let Some(key) = key(scan, quote)? else { return Ok(arguments.call(name)) };
        let value = value(scan, quote, schema.property(&key), 0)?;
        arguments.add(scan, start, &key, value);
        separator(scan, "}")?;
    }
}

/// Takes a key with its colon, or the object's end.
fn key(scan: &mut Scan<'_>, quote: &str) -> Result<Option<String>, Fault> {
    scan.spaces();
    if scan.eat("}") {
        return Ok(None);
    }
    if scan.eat(quote) {
        let key = scan.before(quote, &[])?.to_owned();
        scan.expect(":")?;
        return Ok(Some(key));
    }
    let start = scan.at;
    let key = scan.before(":", &["{", "}", "[", "]", ",", "<"])?.trim();
    if key.is_empty() {
        return Err(Fault::malformed(start, "a key is missing"));
    }
    Ok(Some(key.to_owned()))
}

/// Takes a comma unless the container ends here.
fn separator(scan: &mut Scan<'_>, close: &str) -> Result<(), Fault> {
    scan.spaces();
    if scan.rest().starts_with(close) { Ok(()) } else { scan.expect(",") }
}

fn value(
    scan: &mut Scan<'_>,
    quote: &str,
    schema: Schema<'_>,
    depth: usize,
) -> Result<Typed, Fault> {
    scan.spaces();
    if scan.eat(quote) {
        return Ok(Typed::string(scan.before(quote, &[])?));
    }
    if depth >= MAX_DEPTH && scan.rest().starts_with(['{', '[']) {
        return Err(Fault::too_deep(scan.at));
    }
    if scan.eat("{") {
        return members(scan, quote, schema, depth);
    }
    if scan.eat("[") {
        return items(scan, quote, schema, depth);
    }
    let start = scan.at;
    let (length, _) =
        scan.nearest(&[",", "}", "]", "<"]).ok_or_else(|| Fault::cut(scan.text.len()))?;
    scan.at += length;
    match scan.since(start) {
        text if text.trim().is_empty() && scan.rest().len() < quote.len() => {
            Err(Fault::cut(scan.text.len()))
        }
        text if text.trim().is_empty() => Err(Fault::malformed(start, "a value is missing")),
        text => Ok(schema.read_bare(text)),
    }
}

fn members(
    scan: &mut Scan<'_>,
    quote: &str,
    schema: Schema<'_>,
    depth: usize,
) -> Result<Typed, Fault> {
    let (mut found, mut whole) = (Vec::<(String, String)>::new(), Typed::json("{}"));
    while let Some(key) = key(scan, quote)? {
        let part = value(scan, quote, schema.property(&key), depth + 1)?;
        whole.absorb(&part);
        whole.duplicate |= found.iter().any(|(other, _)| *other == key);
        found.push((key, part.json));
        separator(scan, "}")?;
    }
    whole.json = object(&found);
    Ok(whole)
}

fn items(
    scan: &mut Scan<'_>,
    quote: &str,
    schema: Schema<'_>,
    depth: usize,
) -> Result<Typed, Fault> {
    let (mut found, mut whole) = (Vec::new(), Typed::json("[]"));
    loop {
        scan.spaces();
        if scan.eat("]") {
            whole.json = format!("[{}]", found.join(", "));
            return Ok(whole);
        }
        let part = value(scan, quote, schema.item(), depth + 1)?;
        whole.absorb(&part);
        found.push(part.json);
        separator(scan, "]")?;
    }
}
