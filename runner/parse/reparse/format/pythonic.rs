//! Calls as Python writes them, in a list or line by line.

use super::super::defect::DefectKind;
use super::super::objects::ARGUMENTS;
use super::super::scan::{Resync, Scan};
use super::super::thinking::THINK;
use super::Format;

pub(super) const PYTHONIC: Format = Format {
    name: "pythonic",
    summary: "[<|python_start|>][NAME(KEY=LITERAL, …), …][<|python_end|>]",
    families: &["Llama 4", "Llama 3.2 (zero-shot prompt)"],
    detect: |template| template.contains(START) || template.contains("[func_name1("),
    thinking: THINK,
    ends: &["<|eot|>", "<|eot_id|>", "<|end_of_text|>"],
    tool_ends: &["<|eom|>", "<|eom_id|>"],
    marks: &[END],
    may_trail: false,
    body: llama,
};

pub(super) const LFM2: Format = Format {
    name: "lfm2",
    summary: r#"<|tool_call_start|>[NAME(KEY=LITERAL, …), …]<|tool_call_end|>, or [{"name": NAME, "arguments": {…}}, …]"#,
    families: &["LFM2"],
    detect: |template| {
        template.contains("<|tool_call_start|>") || template.contains("<|tool_list_start|>")
    },
    thinking: THINK,
    ends: &["<|im_end|>", "<|endoftext|>"],
    tool_ends: &[],
    marks: &["<|tool_call_end|>"],
    // The model goes on to say what it is doing.
    may_trail: true,
    body: |scan| {
        scan.regions(&["<|tool_call_start|>"], |scan, start, _| {
            let is_json = |text: &str| text.trim_start().starts_with('{');
            // The model writes JSON when it is asked to.
            if scan.rest().trim_start().strip_prefix('[').is_some_and(is_json) {
                scan.array_of_calls(start, ARGUMENTS, "<|tool_call_end|>");
            } else {
                list(scan, start, "<|tool_call_end|>", true);
            }
        });
    },
};

pub(super) const OLMO3: Format = Format {
    name: "olmo3",
    summary: "<function_calls>NAME(KEY=LITERAL, …), one to a line</function_calls>",
    families: &["OLMo 3"],
    detect: |template| template.contains("<function_calls>"),
    thinking: THINK,
    ends: &["<|im_end|>", "<|endoftext|>"],
    tool_ends: &[],
    marks: &["</function_calls>"],
    may_trail: false,
    body: |scan| scan.regions(&["<function_calls>"], |scan, start, _| lines(scan, start)),
};

const START: &str = "<|python_start|>";
const END: &str = "<|python_end|>";

fn llama(scan: &mut Scan<'_>) {
    if scan.rest().contains(START) {
        return scan.regions(&[START], |scan, start, _| list(scan, start, END, false));
    }
    if begins_with_a_call(scan.rest()) {
        scan.begin();
        list(scan, scan.at, END, false);
    }
    scan.rest_is_outside();
}

/// Whether a text begins with `[name(`, which no prose does.
fn begins_with_a_call(text: &str) -> bool {
    let Some(text) = text.trim_start().strip_prefix('[') else { return false };
    let is_part = |character: char| character.is_alphanumeric() || "_.".contains(character);
    let text = text.trim_start();
    let behind = text.trim_start_matches(is_part);
    behind.len() < text.len() && behind.starts_with('(')
}

/// Reads a list; behind a broken call the rest of it is told as it stands.
fn list(scan: &mut Scan<'_>, start: usize, close: &'static str, must_close: bool) {
    let (calls, defects) = (scan.found.calls.len(), scan.found.defects.len());
    if let Err((at, fault)) = scan.python_list() {
        scan.found.defects.truncate(defects);
        scan.skip(&fault, Resync { close, next: &[] });
        scan.found.calls.iter_mut().skip(calls).for_each(|call| call.closed = false);
        return scan.defect(fault.kind, at, fault.message);
    }
    let here = scan.at;
    scan.spaces();
    if scan.eat(close) {
        if calls == scan.found.calls.len() {
            scan.defect(DefectKind::MalformedCall, start, "the list holds no call");
        }
        return;
    }
    if must_close {
        if scan.may_become(close) {
            scan.at = scan.text.len();
        }
        return scan.unclosed_region(start, calls, defects);
    }
    scan.at = here;
    if calls == scan.found.calls.len() {
        scan.defect(DefectKind::MalformedCall, start, "the list holds no call");
    }
}

fn lines(scan: &mut Scan<'_>, start: usize) {
    const CLOSE: &str = "</function_calls>";
    let (calls, defects) = (scan.found.calls.len(), scan.found.defects.len());
    loop {
        scan.spaces();
        if scan.eat(CLOSE) {
            if calls == scan.found.calls.len() && defects == scan.found.defects.len() {
                scan.defect(DefectKind::MalformedCall, start, "the region holds no call");
            }
            return;
        }
        if scan.may_become(CLOSE) {
            scan.at = scan.text.len();
            return scan.unclosed_region(start, calls, defects);
        }
        scan.call(scan.at, Resync { close: "", next: &[CLOSE] }, Scan::python_call);
    }
}
