//! Kimi K2: special tokens around ids, which hold the names, and JSON.

use super::super::RawCall;
use super::super::defect::Fault;
use super::super::scan::{Resync, Scan, checked_name};
use super::super::thinking::THINK;
use super::Format;

const CALL: &str = "<|tool_call_begin|>";
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
const CLOSE: &str = "<|tool_call_end|>";
const CLOSE_REGION: &[&str] = &["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
const RESYNC: Resync = Resync {
    close: CLOSE,
    next: &[CALL, "<|tool_calls_section_end|>", "<|tool_call_section_end|>"],
};

pub(super) const KIMI_K2: Format = Format {
    name: "kimi_k2",
    summary: "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:N<|tool_call_argument_begin|>{…}<|tool_call_end|>…",
    families: &["Kimi K2", "Kimi K2 Thinking", "Kimi K2.5"],
    detect: |template| template.contains(ARGUMENTS),
    thinking: THINK,
    ends: &["<|im_end|>", "[EOS]"],
    tool_ends: &[],
    marks: &[CALL, ARGUMENTS, CLOSE, "<|tool_calls_section_end|>"],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    let opens = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
    scan.regions(&opens, |scan, start, _| {
        scan.calls(start, CALL, CLOSE_REGION, |scan, start| scan.call(start, RESYNC, read));
    });
}

fn read(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let start = scan.at;
    let id = scan.before(ARGUMENTS, &[CALL, CLOSE])?.trim();
    let name = id.strip_prefix("functions.").and_then(|rest| {
        let (name, index) = rest.rsplit_once(':')?;
        let is_index = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        is_index.then_some(name)
    });
    let bad = || Fault::malformed(start, format!("the id `{id}` is not `functions.NAME:N`"));
    let name = checked_name(name.ok_or_else(bad)?, start)?;
    let arguments = scan.json_arguments()?;
    let id = Some(id.to_owned());
    Ok(RawCall { name, arguments, id, closed: false, ambiguous: Vec::new() })
}
