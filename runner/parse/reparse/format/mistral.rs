//! `[TOOL_CALLS]` before an array of calls, or before the name of each.

use super::super::RawCall;
use super::super::defect::Fault;
use super::super::objects::Keys;
use super::super::scan::{Resync, Scan};
use super::super::thinking::Thinking;
use super::Format;

const OPEN: &str = "[TOOL_CALLS]";
const ARGS: &str = "[ARGS]";
const CALL_ID: &str = "[CALL_ID]";
const KEYS: Keys = Keys { arguments: &["arguments"], id: true };

pub(super) const MISTRAL: Format = Format {
    name: "mistral",
    summary: r#"[TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{…}, or [TOOL_CALLS][{"name": NAME, "arguments": {…}}, …]"#,
    families: &["Mistral (array before tokenizer v11, names since)", "Magistral", "Devstral"],
    detect: |template| template.contains(OPEN),
    thinking: Thinking { opens: &["[THINK]"], closes: &["[/THINK]"] },
    ends: &["</s>"],
    tool_ends: &[],
    marks: &[ARGS, CALL_ID],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    scan.regions(&[OPEN], |scan, start, _| {
        if scan.rest().trim_start().starts_with('[') {
            scan.array_of_calls(start, KEYS, "");
        } else {
            scan.call(start, Resync { close: "", next: &[OPEN] }, named);
        }
    });
}

fn named(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let name = scan.name(&[CALL_ID, ARGS, "{", OPEN])?;
    let id = match scan.eat(CALL_ID) {
        true => Some(scan.before(ARGS, &[OPEN, "{"])?.trim().to_owned()),
        false => {
            scan.eat(ARGS);
            None
        }
    };
    let arguments = scan.json_arguments()?;
    Ok(RawCall { name, arguments, id, closed: false, ambiguous: Vec::new() })
}
