//! What breaks a format is told with its text, and never passes for content.

use super::*;

/// A format and a raw text; then calls, content, trailing text, and kinds of defects.
pub(super) type Row<'a> = (&'a str, &'a str, &'a [&'a str], &'a str, &'a str, &'a [&'a str]);

pub(super) fn check(rows: &[Row<'_>]) {
    for (name, raw, expected, content, trailing, kinds) in rows {
        let found = read(name, raw, "", &tools());
        assert_eq!(calls(&found), *expected, "{name}: {raw}");
        assert_eq!(found.content, *content, "content of {name}: {raw}");
        assert_eq!(found.trailing, *trailing, "trailing of {name}: {raw}");
        assert_eq!(defects(&found), *kinds, "{name}: {raw}\n{:#?}", found.defects);
        for defect in &found.defects {
            assert!(raw[defect.at..].starts_with(&defect.text), "{name}: {raw}: {defect:?}");
            assert!(!defect.message.is_empty());
        }
    }
}

const F: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

#[test]
fn broken_json_calls_keep_their_text() {
    let f = "f {}";
    let two = format!("a {F} b {F} c");
    let restarted = format!("<tool_call>{{\"name\": {F}");
    let unclosed = format!("<tool_call>{{\"name\": \"g\", \"arguments\": {{}}}}\n{F}");
    check(&[
        ("hermes", &two, &[f, f], "a ", " c", &["text_between_calls", "trailing_text"]),
        ("hermes", &restarted, &[f], "", "", &["malformed_call"]),
        ("hermes", &unclosed, &["g {} ?", f], "", "", &["unclosed_call"]),
        ("hermes", r#"x<tool_call>{"name": "f", "arg"#, &[], "x", "", &["unclosed_call"]),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "arguments": {}}"#,
            &["f {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "arguments": {}}</tool"#,
            &["f {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "arguments": {}}}</tool_call>"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "arguments": "{}"}</tool_call>"#,
            &[],
            "",
            "",
            &["arguments_not_object"],
        ),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "parameters": {}}</tool_call>"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "hermes",
            r#"<tool_call>{"name": "", "arguments": {}}</tool_call>"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        ("hermes", r#"<tool_call>{"arguments": {}}</tool_call>"#, &[], "", "", &["malformed_call"]),
        (
            "hermes",
            r#"<tool_call>{"name": "f", "name": "g", "arguments": {}}</tool_call>"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        ("hermes", r#"<tool_call>[]</tool_call>"#, &[], "", "", &["malformed_call"]),
        ("hermes", r#"<tool_call></tool_call>"#, &[], "", "", &["malformed_call"]),
        ("hermes", "Write </tool_call> now", &[], "Write </tool_call> now", "", &["unknown_tag"]),
        ("hermes", "17</think>", &[], "17</think>", "", &["unknown_tag"]),
        ("hermes", "<think>17", &[], "", "", &["unclosed_region"]),
        (
            "granite",
            r#"<|tool_call|>[{"name": "f", "arguments": {}}, 3]"#,
            &["f {} ?"],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "granite",
            r#"<|tool_call|>[{"name": "f", "arguments": {}}, {"na"#,
            &["f {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        (
            "granite",
            r#"<|tool_call|>[{"name": "f", "arguments": {}}] x"#,
            &[f],
            "",
            " x",
            &["trailing_text"],
        ),
        ("granite", "<|tool_call|>[]", &[], "", "", &["malformed_call"]),
        ("granite", "<|tool_call|>f()", &[], "", "", &["malformed_call"]),
        (
            "jamba",
            r#"<tool_calls>[{"name": "f", "arguments": {}}]"#,
            &["f {} ?"],
            "",
            "",
            &["unclosed_region"],
        ),
        (
            "jamba",
            r#"<tool_calls>[{"name": "f", "arguments": {}}]</tool"#,
            &["f {} ?"],
            "",
            "",
            &["unclosed_region"],
        ),
        (
            "jamba",
            r#"<tool_calls>[{"name": "f", "arguments": {}}</tool_calls>"#,
            &["f {} ?"],
            "",
            "",
            &["malformed_call"],
        ),
        ("phi4_mini", "import functools", &[], "import functools", "", &[]),
        (
            "phi4_mini",
            r#"functools[{"name": "f", "arguments": {"a": [1]}}]"#,
            &[r#"f {"a": [1]}"#],
            "",
            "",
            &[],
        ),
        ("mistral", r#"[TOOL_CALLS]f[ARGS]{"a": "#, &[], "", "", &["unclosed_call"]),
        (
            "mistral",
            r#"[TOOL_CALLS]f[ARGS]{a}[TOOL_CALLS]g[ARGS]{}"#,
            &["g {}"],
            "",
            "",
            &["malformed_call"],
        ),
        ("mistral", r#"[TOOL_CALLS]f[ARGS][1]"#, &[], "", "", &["arguments_not_object"]),
        ("mistral", r#"[TOOL_CALLS]f g[ARGS]{}"#, &[], "", "", &["malformed_call"]),
        (
            "internlm2",
            r#"<|action_start|><|interpreter|>1+1<|action_end|>"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
    ]);
}

#[test]
fn regions_must_be_closed() {
    const KIMI: &str = "<|tool_calls_section_begin|><|tool_call_begin|>functions.a.b:3<|tool_call_argument_begin|>{}<|tool_call_end|>";
    let closed = format!("{KIMI}<|tool_call_section_end|>");
    let junk = format!("{KIMI} and {}", closed.replacen("<|tool_calls_section_begin|>", "", 1));
    let bare = closed.replace("functions.a.b:3", "3");
    let dotted = closed.replace("functions.a.b:3", "a.b:3");
    let empty = "<|tool_calls_section_begin|><|tool_calls_section_end|>";
    let ab = "a.b {}";
    check(&[
        ("kimi_k2", KIMI, &["a.b {} ?"], "", "", &["unclosed_region"]),
        ("kimi_k2", &closed, &[ab], "", "", &[]),
        ("kimi_k2", &junk, &[ab, ab], "", "", &["text_between_calls"]),
        ("kimi_k2", &bare, &[], "", "", &["malformed_call"]),
        ("kimi_k2", &dotted, &[], "", "", &["malformed_call"]),
        ("kimi_k2", empty, &[], "", "", &["malformed_call"]),
        (
            "deepseek_v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁calls▁end｜>",
            &["f {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        (
            "deepseek_v31",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "deepseek_v3",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>code<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "deepseek_v32",
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\"></｜DSML｜invoke></｜DSML｜function_calls>",
            &["f {} ?"],
            "",
            "",
            &["unclosed_region", "text_between_calls"],
        ),
        (
            "deepseek_v32",
            "<｜DSML｜tool><｜DSML｜invoke name=\"f\">{\"a\": 1}</｜DSML｜invoke></｜DSML｜tool>",
            &["f {\"a\": 1}"],
            "",
            "",
            &[],
        ),
        (
            "deepseek_v32",
            "<｜DSML｜tool><｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"a\" string=\"maybe\">1</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "minimax_m2",
            "<minimax:tool_call><invoke name=\"f\"><parameter name=\"a\">1<parameter name=\"b\">2</parameter></invoke></minimax:tool_call>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "minimax_m2",
            "<minimax:tool_call><invoke name=\"f\"></invoke>",
            &["f {} ?"],
            "",
            "",
            &["unclosed_region"],
        ),
        ("qwen3_coder", "<function=now>\n</function>\n</tool_call>", &["now {}"], "", "", &[]),
        ("qwen3_coder", "<tool_call><function=now>", &[], "", "", &["unclosed_call"]),
        (
            "qwen3_coder",
            "<tool_call><function=now></function>",
            &["now {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        (
            "qwen3_coder",
            "<tool_call>{\"name\": \"f\"}</tool_call>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "qwen3_coder",
            "<tool_call><function=f>\n<parameter=a>\n1\n</function></tool_call>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        ("glm", "<tool_call>f<arg_key>a</arg_key></tool_call>", &[], "", "", &["malformed_call"]),
        ("glm", "<tool_call>f<arg_key>a</arg_key><arg_value>x", &[], "", "", &["unclosed_call"]),
        ("glm", "<tool_call>a b</tool_call>", &[], "", "", &["malformed_call"]),
        ("glm", "<tool_call>now<|observation|>", &[], "", "", &["unclosed_call"]),
        (
            "hunyuan",
            "<tool_calls><tool_call>now</tool_call></tool_calls>",
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "step3",
            "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"now\"></steptml:invoke><｜tool_calls_end｜>",
            &["now {} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        ("gemma4", "<|tool_call>call:now{}<|tool_response>", &["now {}"], "", "", &[]),
        ("gemma4", "<|tool_call>call:now{}<turn|>", &["now {} ?"], "", "", &["unclosed_call"]),
        ("gemma4", "<|tool_call>call:f{a:}<tool_call|>", &[], "", "", &["malformed_call"]),
        ("gemma4", "<|tool_call>now{}<tool_call|>", &[], "", "", &["malformed_call"]),
        (
            "functiongemma",
            "<start_function_call>call:f{a:<escape>x}<end_function_call>",
            &[],
            "",
            "",
            &["unclosed_call"],
        ),
    ]);
}
