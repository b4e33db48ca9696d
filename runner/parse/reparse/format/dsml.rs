//! DeepSeek's markup language.

use super::super::scan::{Resync, Scan};
use super::super::tags::{Names, Tags};
use super::super::thinking::THINK;
use super::Format;

const INVOKE: &str = "<｜DSML｜invoke";
const CLOSE: &str = "</｜DSML｜invoke>";
const TAGS: Tags = Tags {
    names: Names::Attribute,
    parameter: "<｜DSML｜parameter",
    close_parameter: "</｜DSML｜parameter>",
    close_call: CLOSE,
    barriers: &["<｜DSML｜parameter", CLOSE, INVOKE],
    breaks: false,
    json: true,
};
/// The region's tags, as V3.2, V4 and two deployments of it write them.
const REGIONS: [(&str, &str); 4] = [
    ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    ("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    ("<｜DSML｜toolcalls>", "</｜DSML｜toolcalls>"),
    ("<｜DSML｜tool>", "</｜DSML｜tool>"),
];

pub(super) const DEEPSEEK_V32: Format = Format {
    name: "deepseek_v32",
    summary: r#"<｜DSML｜function_calls> or <｜DSML｜tool_calls> around <｜DSML｜invoke name="NAME">, parameters or JSON"#,
    families: &["DeepSeek V3.2", "DeepSeek V4"],
    detect: |template| template.contains("｜DSML｜"),
    thinking: THINK,
    ends: &["<｜end▁of▁sentence｜>"],
    tool_ends: &[],
    marks: &["｜DSML｜"],
    may_trail: false,
    body,
};

fn body(scan: &mut Scan<'_>) {
    scan.regions(&REGIONS.map(|(open, _)| open), |scan, start, open| {
        let close = REGIONS.iter().find(|(other, _)| *other == open).map_or("", |(_, close)| close);
        scan.calls(start, INVOKE, &[close], |scan, start| {
            scan.call(start, Resync { close: CLOSE, next: &[INVOKE] }, |scan| scan.tag_call(&TAGS));
        });
    });
}
