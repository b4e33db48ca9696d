//! One JSON object between `<tool_call>` tags per call.

use super::super::objects::ARGUMENTS;
use super::super::scan::{Resync, Scan};
use super::super::thinking::THINK;
use super::Format;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";
const RESYNC: Resync = Resync { close: CLOSE, next: &[OPEN] };

pub(super) const HERMES: Format = Format {
    name: "hermes",
    summary: r#"<tool_call>{"name": NAME, "arguments": {…}}</tool_call>"#,
    families: &[
        "Hermes 2 and 3",
        "Qwen2.5",
        "Qwen3",
        "Granite 4",
        "SmolLM3 (not its Python tools)",
    ],
    detect: |template| template.contains(OPEN),
    thinking: THINK,
    ends: &["<|im_end|>", "<|endoftext|>", "<|end_of_text|>"],
    tool_ends: &[],
    marks: &[CLOSE],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    scan.regions(&[OPEN], |scan, start, _| {
        scan.call(start, RESYNC, |scan| scan.object_call(ARGUMENTS));
    });
}
