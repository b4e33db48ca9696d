//! Step-3: special tokens around tags of its own.

use super::super::RawCall;
use super::super::defect::Fault;
use super::super::scan::{Resync, Scan};
use super::super::tags::{Names, Tags};
use super::super::thinking::THINK;
use super::Format;

const CALL: &str = "<｜tool_call_begin｜>";
const CLOSE: &str = "<｜tool_call_end｜>";
const CLOSE_REGION: &str = "<｜tool_calls_end｜>";
const CLOSE_INVOKE: &str = "</steptml:invoke>";
const TAGS: Tags = Tags {
    names: Names::Attribute,
    parameter: "<steptml:parameter",
    close_parameter: "</steptml:parameter>",
    close_call: CLOSE_INVOKE,
    barriers: &["<steptml:parameter", CLOSE_INVOKE, CALL, CLOSE],
    breaks: false,
    json: false,
};

pub(super) const STEP3: Format = Format {
    name: "step3",
    summary: r#"<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">…"#,
    families: &["Step-3"],
    detect: |template| template.contains("<steptml:"),
    thinking: THINK,
    ends: &["<|im_end|>", "<|EOT|>", "<｜end▁of▁sentence｜>"],
    tool_ends: &[],
    marks: &[CLOSE_REGION, CALL, CLOSE, CLOSE_INVOKE],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    scan.regions(&["<｜tool_calls_begin｜>"], |scan, start, _| {
        scan.calls(start, CALL, &[CLOSE_REGION], |scan, start| {
            scan.call(start, Resync { close: CLOSE, next: &[CALL, CLOSE_REGION] }, read);
        });
    });
}

fn read(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let start = scan.at;
    let kind = scan.before("<｜tool_sep｜>", &[CALL, CLOSE, CLOSE_REGION])?.trim();
    if kind != "function" {
        return Err(Fault::malformed(start, format!("`{kind}` is no type of a tool")));
    }
    scan.expect("<steptml:invoke")?;
    let call = scan.tag_call(&TAGS)?;
    scan.expect(CLOSE_INVOKE)?;
    Ok(call)
}
