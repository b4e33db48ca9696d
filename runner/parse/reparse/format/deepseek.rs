//! DeepSeek before its markup language: special tokens around names and JSON.

use super::super::RawCall;
use super::super::defect::Fault;
use super::super::scan::{Resync, Scan, checked_name};
use super::super::thinking::THINK;
use super::Format;

const REGION: &str = "<｜tool▁calls▁begin｜>";
const CLOSE_REGION: &str = "<｜tool▁calls▁end｜>";
const CALL: &str = "<｜tool▁call▁begin｜>";
const CLOSE: &str = "<｜tool▁call▁end｜>";
const SEPARATOR: &str = "<｜tool▁sep｜>";
const RESYNC: Resync = Resync { close: CLOSE, next: &[CALL, CLOSE_REGION] };
const ENDS: &[&str] = &["<｜end▁of▁sentence｜>"];
const MARKS: &[&str] = &[CLOSE_REGION, CALL, CLOSE, SEPARATOR];

pub(super) const V3: Format = Format {
    name: "deepseek_v3",
    summary: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME, then ```json {…} ```",
    families: &["DeepSeek V3", "DeepSeek R1"],
    detect: |template| template.contains(CALL) && template.contains("```json"),
    thinking: THINK,
    ends: ENDS,
    tool_ends: &[],
    marks: MARKS,
    may_trail: false,
    body: |scan| region(scan, fenced),
};

pub(super) const V31: Format = Format {
    name: "deepseek_v31",
    summary: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>…<｜tool▁calls▁end｜>",
    families: &["DeepSeek V3.1"],
    detect: |template| template.contains(CALL),
    thinking: THINK,
    ends: ENDS,
    tool_ends: &[],
    marks: MARKS,
    may_trail: false,
    body: |scan| region(scan, plain),
};

type Read = fn(&mut Scan<'_>) -> Result<RawCall, Fault>;

fn region(scan: &mut Scan<'_>, read: Read) {
    scan.regions(&[REGION], |scan, start, _| {
        scan.calls(start, CALL, &[CLOSE_REGION], |scan, start| scan.call(start, RESYNC, read));
    });
}

fn fenced(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let start = scan.at;
    let kind = scan.before(SEPARATOR, &[CALL, CLOSE, CLOSE_REGION])?.trim();
    if kind != "function" {
        return Err(Fault::malformed(start, format!("`{kind}` is no type of a tool")));
    }
    let name = scan.name(&["\n", "```"])?;
    scan.expect("```json")?;
    let arguments = scan.json_arguments()?;
    scan.expect("```")?;
    Ok(RawCall { name, arguments, id: None, closed: false, ambiguous: Vec::new() })
}

fn plain(scan: &mut Scan<'_>) -> Result<RawCall, Fault> {
    let start = scan.at;
    let name = checked_name(scan.before(SEPARATOR, &[CALL, CLOSE, CLOSE_REGION])?, start)?;
    let arguments = scan.json_arguments()?;
    Ok(RawCall { name, arguments, id: None, closed: false, ambiguous: Vec::new() })
}
