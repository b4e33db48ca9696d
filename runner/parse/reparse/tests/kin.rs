//! The same for formats that are neither JSON nor tags: Python calls, and messages with headers.

use super::defects::check;
use super::*;

#[test]
fn python_and_llama_calls_must_be_literal() {
    check(&[
        ("pythonic", "[f(1)]", &[], "", "", &["malformed_call"]),
        ("pythonic", "[f(a=g())]", &[], "", "", &["malformed_call"]),
        ("pythonic", "[f(a=1), g(b=x)]", &["f {\"a\": 1} ?"], "", "", &["malformed_call"]),
        ("pythonic", "[f(a=1), g(", &["f {\"a\": 1} ?"], "", "", &["unclosed_call"]),
        ("pythonic", "[f()] done", &["f {}"], "", " done", &["trailing_text"]),
        ("pythonic", "[1, 2]", &[], "[1, 2]", "", &[]),
        ("pythonic", "See [f(x)].", &[], "See [f(x)].", "", &[]),
        ("pythonic", "<|python_start|>[]<|python_end|>", &[], "", "", &["malformed_call"]),
        (
            "lfm2",
            "<|tool_call_start|>[now()]<|tool_call_end|>Looking.",
            &["now {}"],
            "",
            "Looking.",
            &[],
        ),
        (
            "lfm2",
            r#"<|tool_call_start|>[{"name": "f", "arguments": {}}]<|tool_call_end|>"#,
            &["f {}"],
            "",
            "",
            &[],
        ),
        ("lfm2", "<|tool_call_start|>[now()]", &["now {} ?"], "", "", &["unclosed_region"]),
        (
            "olmo3",
            "<function_calls>\nnow()\n1\n</function_calls>",
            &["now {}"],
            "",
            "",
            &["malformed_call"],
        ),
        ("olmo3", "<function_calls>\nnow()\n", &["now {} ?"], "", "", &["unclosed_region"]),
        ("llama3_json", r#"{"answer": 4}"#, &[], r#"{"answer": 4}"#, "", &[]),
        (
            "llama3_json",
            r#"{"name": "f", "parameters": {}} so"#,
            &["f {}"],
            "",
            " so",
            &["trailing_text"],
        ),
        ("llama3_json", r#"{"name": "f", "parameters": {"#, &[], "", "", &["unclosed_call"]),
        (
            "llama3_json",
            r#"{"name": "f", "parameters": 1}"#,
            &[],
            "",
            "",
            &["arguments_not_object"],
        ),
        (
            "llama3_json",
            r#"{"name": "f", "parameters": {}, "arguments": {}}"#,
            &[],
            "",
            "",
            &["malformed_call"],
        ),
        (
            "llama3_json",
            "<|python_tag|>brave_search.call(query=\"x\")<|eom_id|>",
            &["brave_search {\"query\": \"x\"}"],
            "",
            "",
            &[],
        ),
        (
            "llama3_json",
            "<|python_tag|>print(1)\n<|eom_id|>",
            &["code_interpreter {\"code\": \"print(1)\\n\"}"],
            "",
            "",
            &[],
        ),
        (
            "llama3_json",
            "<|python_tag|>print(1)",
            &["code_interpreter {\"code\": \"print(1)\"} ?"],
            "",
            "",
            &["unclosed_call"],
        ),
        ("llama3_json", "<|python_tag|>", &[], "", "", &["unclosed_call"]),
    ]);
}

#[test]
fn messages_need_headers() {
    let call = "<|channel|>analysis to=functions.f<|message|>{}<|call|>";
    let python = "<|channel|>analysis to=python code<|message|>1 + 1<|call|>";
    let twice = "<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>analysis<|message|>B<|end|><|start|>assistant<|channel|>final<|message|>C<|return|>";
    check(&[
        ("harmony", twice, &[], "C", "", &[]),
        ("harmony", call, &["f {}"], "", "", &[]),
        ("harmony", python, &["python {\"code\": \"1 + 1\"}"], "", "", &[]),
        ("harmony", &call.replace("<|call|>", ""), &["f {} ?"], "", "", &["unclosed_call"]),
        ("harmony", &call.replace("<|call|>", "<|end|>"), &["f {} ?"], "", "", &["unclosed_call"]),
        ("harmony", &call.replace("{}", "{"), &[], "", "", &["malformed_call"]),
        ("harmony", &call.replace("{}<|call|>", "{"), &[], "", "", &["unclosed_call"]),
        ("harmony", &call.replace("{}", "{} x"), &[], "", "", &["malformed_call"]),
        ("harmony", &call.replace("{}", "[]"), &[], "", "", &["arguments_not_object"]),
        ("harmony", "<|channel|>analysis<|message|>Hm", &[], "", "", &["unclosed_region"]),
        ("harmony", "<|channel|>final<|message|>Hm", &[], "Hm", "", &[]),
        ("harmony", "<|channel|>other<|message|>Hm<|end|>", &[], "", "", &["bad_header"]),
        ("harmony", "<|channel|>final<|end|>", &[], "", "", &["bad_header"]),
        (
            "harmony",
            "<|start|>user<|channel|>final<|message|>Hm<|end|>",
            &[],
            "",
            "",
            &["bad_header"],
        ),
        ("harmony", "<|channel|>fin", &[], "", "", &["unclosed_region"]),
        ("harmony", "Hello", &[], "Hello", "", &["bad_header"]),
    ]);
    let found = read("harmony", twice, "", &[]);
    assert_eq!(found.reasoning.as_deref(), Some("A\nB"));
    let begun =
        read("harmony", "m.<|end|>", "<|start|>assistant<|channel|>analysis<|message|>H", &[]);
    assert_eq!((begun.reasoning.as_deref(), begun.defects), (Some("m."), Vec::new()));
    let header = read(
        "harmony",
        "<|message|>{}<|call|>",
        "<|start|>assistant to=functions.f<|channel|>commentary",
        &[],
    );
    assert_eq!(calls(&header), ["f {}"]);
}

#[test]
fn ids_are_kept_where_the_family_has_them() {
    for (name, raw, id) in [
        ("mistral", "[TOOL_CALLS]f[CALL_ID]abcdef123[ARGS]{}", Some("abcdef123")),
        (
            "mistral",
            r#"[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abcdef123"}]"#,
            Some("abcdef123"),
        ),
        ("mistral", "[TOOL_CALLS]f[ARGS]{}", None),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:12<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
            Some("functions.f:12"),
        ),
        ("hermes", r#"<tool_call>{"name": "f", "arguments": {}, "id": "x"}</tool_call>"#, None),
    ] {
        let found = read(name, raw, "", &[]);
        let ids: Vec<Option<&str>> = found.calls.iter().map(|call| call.id.as_deref()).collect();
        assert_eq!(ids, [id], "{raw}");
    }
}
