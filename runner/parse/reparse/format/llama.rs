//! Llama 3: JSON objects, or a built-in tool behind `<|python_tag|>`.

use super::super::RawCall;
use super::super::arguments::object;
use super::super::defect::DefectKind;
use super::super::json::{self, Kind, quoted};
use super::super::objects::PARAMETERS;
use super::super::scan::{End, Resync, Scan};
use super::super::thinking::THINK;
use super::Format;

const TAG: &str = "<|python_tag|>";

pub(super) const LLAMA3_JSON: Format = Format {
    name: "llama3_json",
    summary: r#"[<|python_tag|>]{"name": NAME, "parameters": {…}}[; …], or <|python_tag|>CODE<|eom_id|>"#,
    families: &["Llama 3.1", "Llama 3.2", "Llama 3.3"],
    detect: |template| template.contains(TAG) || template.contains("\"parameters\": dictionary"),
    thinking: THINK,
    ends: &["<|eot_id|>", "<|end_of_text|>"],
    tool_ends: &["<|eom_id|>"],
    marks: &[],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    if scan.rest().contains(TAG) {
        scan.regions(&[TAG], |scan, start, _| {
            scan.spaces();
            if scan.rest().starts_with('{') {
                objects(scan);
            } else {
                built_in(scan, start);
            }
        });
        return;
    }
    if is_call(scan) {
        scan.begin();
        scan.spaces();
        objects(scan);
    }
    scan.rest_is_outside();
}

fn objects(scan: &mut Scan<'_>) {
    while scan.rest().starts_with('{') {
        let resync = Resync { close: "", next: &[TAG] };
        scan.call(scan.at, resync, |scan| scan.object_call(PARAMETERS));
        let here = scan.at;
        scan.spaces();
        if scan.eat(";") {
            scan.spaces();
        } else if !scan.rest().starts_with('{') {
            scan.at = here;
        }
    }
}

/// Whether the text begins with a call and not with some other JSON, which is an answer.
fn is_call(scan: &Scan<'_>) -> bool {
    let text = scan.rest().trim_start();
    if !text.starts_with('{') {
        return false;
    }
    match json::read(text, 0) {
        Ok((node, _)) => matches!(&node.kind, Kind::Object(members) if {
            let has = |key: &str| members.iter().any(|(name, _)| name == key);
            has("name") && (has("parameters") || has("arguments"))
        }),
        // What may have become a call must not pass for content.
        Err(_) => scan.offers_tools() && text.contains("\"name\""),
    }
}

/// Everything behind the tag: `tool.call(key=value)`, or code for the interpreter.
fn built_in(scan: &mut Scan<'_>, start: usize) {
    let code = scan.at;
    let call = scan.python_call().ok().filter(|_| scan.rest().trim().is_empty());
    let call = call.and_then(|call| {
        let name = call.name.strip_suffix(".call")?.to_owned();
        Some(RawCall { name, ..call })
    });
    scan.at = scan.text.len();
    let text = scan.since(code);
    if text.trim().is_empty() {
        scan.defect(DefectKind::UnclosedCall, start, "the text ends inside the call");
        return;
    }
    let closed = scan.end == End::Tool;
    let call = call.unwrap_or_else(|| RawCall {
        name: "code_interpreter".to_owned(),
        arguments: object(&[("code".to_owned(), quoted(text))]),
        id: None,
        closed,
        ambiguous: Vec::new(),
    });
    scan.found.calls.push(RawCall { closed, ..call });
    if !closed {
        scan.defect(DefectKind::UnclosedCall, start, "`<|eom_id|>` is missing");
    }
}
