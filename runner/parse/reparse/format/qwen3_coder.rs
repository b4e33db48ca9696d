//! Functions and parameters between XML-like tags, inside `<tool_call>`, which is sometimes missing.

use super::super::RawCall;
use super::super::defect::Fault;
use super::super::scan::{Resync, Scan};
use super::super::tags::{Names, Tags};
use super::super::thinking::THINK;
use super::Format;

const OUTER: &str = "<tool_call>";
const CLOSE_OUTER: &str = "</tool_call>";
const OPEN: &str = "<function=";
const CLOSE: &str = "</function>";
const TAGS: Tags = Tags {
    names: Names::Plain,
    parameter: "<parameter=",
    close_parameter: "</parameter>",
    close_call: CLOSE,
    barriers: &["<parameter=", CLOSE, OPEN],
    breaks: true,
    json: false,
};

pub(super) const QWEN3_CODER: Format = Format {
    name: "qwen3_coder",
    summary: "<tool_call><function=NAME><parameter=KEY>VALUE</parameter>…</function></tool_call>",
    families: &["Qwen3-Coder", "Qwen3.5", "Step-3.7"],
    detect: |template| template.contains(OPEN),
    thinking: THINK,
    ends: &["<|im_end|>", "<|endoftext|>"],
    tool_ends: &[],
    marks: &[CLOSE_OUTER, CLOSE, "</parameter>"],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    scan.regions(&[OUTER, OPEN], |scan, start, open| {
        if open == OUTER {
            let resync = Resync { close: CLOSE_OUTER, next: &[OUTER, OPEN] };
            return scan.call(start, resync, outer);
        }
        scan.call(start, Resync { close: CLOSE, next: &[OUTER, OPEN] }, |scan| {
            scan.tag_call(&TAGS)
        });
        let here = scan.at;
        scan.spaces();
        if !scan.eat(CLOSE_OUTER) {
            scan.at = here;
        }
    });
}

fn outer(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    scan.expect(OPEN)?;
    let call = scan.tag_call(&TAGS)?;
    scan.expect(CLOSE)?;
    Ok(call)
}
