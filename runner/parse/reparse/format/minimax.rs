//! MiniMax: M2 with named tags, M3 with tags that are names behind a namespace token.

use super::super::RawCall;
use super::super::arguments::{Arguments, object};
use super::super::defect::Fault;
use super::super::json::MAX_DEPTH;
use super::super::scan::{Resync, Scan};
use super::super::schema::{Schema, Typed};
use super::super::tags::{Names, Tags};
use super::super::thinking::{THINK, Thinking};
use super::Format;

const INVOKE: &str = "<invoke";
const CLOSE: &str = "</invoke>";
const TAGS: Tags = Tags {
    names: Names::Attribute,
    parameter: "<parameter",
    close_parameter: "</parameter>",
    close_call: CLOSE,
    barriers: &["<parameter name=", CLOSE, "<invoke name="],
    breaks: false,
    json: false,
};

pub(super) const M2: Format = Format {
    name: "minimax_m2",
    summary: r#"<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter>…</invoke>…</minimax:tool_call>"#,
    families: &["MiniMax M2"],
    detect: |template| template.contains("<minimax:tool_call>"),
    thinking: THINK,
    ends: &["[e~["],
    tool_ends: &[],
    marks: &["</minimax:tool_call>", CLOSE, "</parameter>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<minimax:tool_call>"], |scan, start, _| {
            scan.calls(start, INVOKE, &["</minimax:tool_call>"], |scan, start| {
                let resync = Resync { close: CLOSE, next: &[INVOKE, "</minimax:tool_call>"] };
                scan.call(start, resync, |scan| scan.tag_call(&TAGS));
            });
        });
    },
};

pub(super) const M3: Format = Format {
    name: "minimax_m3",
    summary: r#"N<tool_call>N<invoke name="NAME">N<KEY>VALUE N</KEY>…N</invoke>…N</tool_call>, where N is ]<]minimax[>["#,
    families: &["MiniMax M3"],
    detect: |template| template.contains("]<]minimax[>["),
    thinking: Thinking { opens: &["<mm:think>", "<think>"], closes: &["</mm:think>", "</think>"] },
    ends: &["[e~["],
    tool_ends: &[],
    marks: &["]<]minimax[>["],
    may_trail: false,
    body: |scan| {
        scan.regions(&["]<]minimax[>[<tool_call>"], |scan, start, _| {
            scan.calls(start, M3_INVOKE, &[M3_CLOSE_REGION], |scan, start| {
                let resync = Resync { close: M3_CLOSE, next: &[M3_INVOKE, M3_CLOSE_REGION] };
                scan.call(start, resync, m3_call);
            });
        });
    },
};

const M3_TAG: &str = "]<]minimax[>[<";
const M3_END: &str = "]<]minimax[>[</";
const M3_INVOKE: &str = "]<]minimax[>[<invoke name=\"";
const M3_CLOSE: &str = "]<]minimax[>[</invoke>";
const M3_CLOSE_REGION: &str = "]<]minimax[>[</tool_call>";

fn m3_call(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let name = scan.name(&["\">", "\n"])?;
    scan.expect("\">")?;
    let schema = scan.parameters(&name);
    let mut arguments = Arguments::default();
    while let Some((start, key)) = m3_opening(scan)? {
        let value = m3_value(scan, &key, schema.property(&key), 0)?;
        arguments.add(scan, start, &key, value);
    }
    Ok(arguments.call(name))
}

/// Takes an opening tag, if one comes next: where it begins, and its name.
fn m3_opening(scan: &mut Scan<'_>) -> Result<Option<(usize, String)>, Fault> {
    scan.spaces();
    let start = scan.at;
    if scan.may_become(M3_END) && scan.rest() != M3_TAG {
        return Err(Fault::cut(scan.text.len()));
    }
    if scan.rest().starts_with(M3_END) {
        return Ok(None);
    }
    scan.expect(M3_TAG)?;
    let name = scan.before(">", &["<", "\n", "]"])?.trim();
    let is_call = name.starts_with("invoke") || name == "tool_call";
    if name.is_empty() || is_call {
        return Err(Fault::malformed(start, "an argument's tag is missing"));
    }
    Ok(Some((start, name.to_owned())))
}

/// Reads a value up to its closing tag: a text, or members, or items.
fn m3_value(
    scan: &mut Scan<'_>,
    key: &str,
    schema: Schema<'_>,
    depth: usize,
) -> Result<Typed, Fault> {
    let close = format!("{M3_END}{key}>");
    let start = scan.at;
    scan.spaces();
    if !scan.rest().starts_with(M3_TAG) || scan.rest().starts_with(M3_END) {
        scan.at = start;
        let text = scan.before(&close, &["]<]minimax[>["])?;
        return Ok(match schema.empty().filter(|_| text.trim().is_empty()) {
            Some(empty) => Typed::json(empty),
            None => schema.read(text),
        });
    }
    if depth >= MAX_DEPTH {
        return Err(Fault::too_deep(scan.at));
    }
    let value = m3_parts(scan, schema, depth)?;
    scan.expect(&close)?;
    Ok(value)
}

/// Reads the members or items of a container, up to its closing tag.
fn m3_parts(scan: &mut Scan<'_>, schema: Schema<'_>, depth: usize) -> Result<Typed, Fault> {
    let (mut parts, mut whole) = (Vec::<(String, String)>::new(), Typed::json("{}"));
    let is_item = |key: &str| key == "item";
    while let Some((_, key)) = m3_opening(scan)? {
        let inner = if schema.is_array() { schema.item() } else { schema.property(&key) };
        let part = m3_value(scan, &key, inner, depth + 1)?;
        whole.absorb(&part);
        whole.duplicate |= !is_item(&key) && parts.iter().any(|(other, _)| *other == key);
        parts.push((key, part.json));
    }
    let is_list = parts.iter().all(|(key, _)| is_item(key));
    if schema.is_array() || (is_list && parts.len() > 1) {
        whole.wrong |= !is_list;
        let items: Vec<&str> = parts.iter().map(|(_, json)| json.as_str()).collect();
        whole.json = format!("[{}]", items.join(", "));
    } else {
        whole.json = object(&parts);
    }
    Ok(whole)
}
