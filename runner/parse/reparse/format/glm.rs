//! Names, keys and values between tags: GLM, and Hunyuan with a region around its calls.

use super::super::RawCall;
use super::super::arguments::Arguments;
use super::super::defect::Fault;
use super::super::scan::{Resync, Scan};
use super::super::thinking::{THINK, Thinking};
use super::Format;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

pub(super) const GLM: Format = Format {
    name: "glm",
    summary: "<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>",
    families: &["GLM-4.5", "GLM-4.6", "GLM-4.7"],
    detect: |template| template.contains("<arg_key>"),
    thinking: THINK,
    ends: &["<|endoftext|>", "<|user|>"],
    tool_ends: &["<|observation|>"],
    marks: &[CLOSE, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&[OPEN], |scan, start, _| {
            let resync = Resync { close: CLOSE, next: &[OPEN] };
            scan.call(start, resync, |scan| {
                let name = scan.name(&["<arg_key>", CLOSE, OPEN])?;
                pairs(scan, name, &PLAIN)
            });
        });
    },
};

pub(super) const HUNYUAN: Format = Format {
    name: "hunyuan",
    summary: "<tool_calls><tool_call>NAME<tool_sep><arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>…</tool_calls>",
    families: &["Hunyuan (Hy3)"],
    detect: |template| template.contains("<tool_sep"),
    thinking: Thinking {
        opens: &["<think>", "<think:opensource>"],
        closes: &["</think>", "</think:opensource>"],
    },
    ends: &["<|eos|>", "<|eos:opensource|>"],
    tool_ends: &[],
    marks: &["<tool_sep>", "</tool_calls>", CLOSE, "</arg_key>", "</arg_value>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<tool_calls>", "<tool_calls:opensource>"], |scan, start, open| {
            let tags = if open == "<tool_calls>" { &PLAIN } else { &OPEN_SOURCE };
            scan.calls(start, tags.open, &[tags.close_region], |scan, start| {
                let resync = Resync { close: tags.close, next: tags.next };
                scan.call(start, resync, |scan| {
                    let name = scan.name(&[tags.separator, tags.close, tags.open])?;
                    scan.expect(tags.separator)?;
                    pairs(scan, name, tags)
                });
            });
        });
    },
};

/// The tags of one tokenizer.
struct Tags {
    close_region: &'static str,
    open: &'static str,
    close: &'static str,
    next: &'static [&'static str],
    separator: &'static str,
    key: [&'static str; 2],
    value: [&'static str; 2],
}

const PLAIN: Tags = Tags {
    close_region: "</tool_calls>",
    open: OPEN,
    close: CLOSE,
    next: &[OPEN, "</tool_calls>"],
    separator: "<tool_sep>",
    key: ["<arg_key>", "</arg_key>"],
    value: ["<arg_value>", "</arg_value>"],
};
/// The released Hunyuan tokenizer has a suffix in each of its special tokens.
const OPEN_SOURCE: Tags = Tags {
    close_region: "</tool_calls:opensource>",
    open: "<tool_call:opensource>",
    close: "</tool_call:opensource>",
    next: &["<tool_call:opensource>", "</tool_calls:opensource>"],
    separator: "<tool_sep:opensource>",
    key: ["<arg_key:opensource>", "</arg_key:opensource>"],
    value: ["<arg_value:opensource>", "</arg_value:opensource>"],
};

/// Reads the arguments up to the call's end.
fn pairs(scan: &mut Scan<'_>, name: String, tags: &Tags) -> Result<RawCall, Fault> {
    let schema = scan.parameters(&name);
    let [key_open, key_close] = tags.key;
    let [value_open, value_close] = tags.value;
    let barriers = [key_open, value_open, tags.close, tags.open];
    let mut arguments = Arguments::default();
    loop {
        scan.spaces();
        let start = scan.at;
        if !scan.eat(key_open) {
            if !scan.rest().is_empty() && scan.may_become(key_open) {
                return Err(Fault::cut(scan.text.len()));
            }
            return Ok(arguments.call(name));
        }
        let key = scan.before(key_close, &barriers)?.trim();
        scan.expect(value_open)?;
        let text = scan.before(value_close, &barriers)?;
        arguments.add(scan, start, key, schema.property(key).read(text));
    }
}
