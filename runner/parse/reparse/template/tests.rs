use serde_json::json;

use super::super::tests::{calls, defects, samples::samples, tools};
use super::super::{Grammar, by_name, reparse};
use super::*;

/// Templates of checkpoints whose format is known, so that the two readings can be compared.
fn known() -> [(&'static str, Value); 5] {
    let function =
        json!({"type": "function", "function": {"name": "{name}", "arguments": "{content}"}});
    let each =
        json!({"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}});
    let think = json!({"open": "<think>", "close": "</think>"});
    [
        (
            "hermes",
            json!({
                "version": 1,
                "defaults": {"role": "assistant"},
                "start_anchor": "<|im_start|>assistant\n",
                "fields": {
                    "thinking": think,
                    "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "content": "json",
                        "repeats": true, "transform": {"type": "function", "function": "{content}"}},
                    "content": {"close": ["<|im_end|>", "<|endoftext|>"]},
                },
            }),
        ),
        (
            "qwen3_coder",
            json!({
                "start_anchor_pattern": r"<\|im_start\|>assistant\n",
                "fields": {
                    "reasoning_content": think,
                    "tool_calls": {"open_pattern": r"<tool_call>\s*<function=(?P<name>[^>\n]+)>\s*",
                        "close_pattern": r"</function>\s*</tool_call>", "content": "xml-inline",
                        "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>"},
                        "repeats": true, "transform": function},
                    "content": {"close": "<|im_end|>"},
                },
            }),
        ),
        (
            "gemma4",
            json!({
                "start_anchor": "<|turn>model\n",
                "fields": {
                    "thinking": {"open": "<|channel>thought\n", "close": "<channel|>"},
                    "tool_calls": {"open_pattern": r"<\|tool_call>call:(?P<name>\w+)", "close": "<tool_call|>",
                        "content": "json", "content_args": {"unquoted_keys": true, "string_delims": [["<|\"|>", "<|\"|>"]]},
                        "repeats": true, "transform": function},
                    "content": {"close": ["<turn|>", "<|tool_response>"]},
                },
            }),
        ),
        (
            "lfm2",
            json!({
                "start_anchor": "<|im_start|>assistant\n",
                "fields": {
                    "thinking": think,
                    "tool_calls": {"open": "<|tool_call_start|>", "close": "<|tool_call_end|>",
                        "content": "python-call-list", "transform_each": true, "transform": each},
                    "content": {"close": "<|im_end|>"},
                },
            }),
        ),
        (
            "granite",
            json!({
                "start_anchor": "<|start_of_role|>assistant<|end_of_role|>",
                "fields": {
                    "thinking": {"open": "Here is my thought process:", "close": "Here is my response:"},
                    "tool_calls": {"open": ["<|tool_call|>", "<tool_call>"], "close_pattern": r"<\|end_of_text\|>|$",
                        "content": "json", "transform_each": true, "transform": each},
                    "content": {"close": "<|end_of_text|>"},
                },
            }),
        ),
    ]
}

#[test]
fn a_template_reads_what_the_format_reads() {
    for (name, object) in known() {
        let template = ResponseTemplate::load(&object).unwrap();
        let samples = samples().into_iter().find(|samples| samples.format == name).unwrap();
        for raw in samples.raws() {
            let expected = reparse(by_name(name).unwrap(), raw, "", &tools());
            let found = template.reparse(raw, "", &tools());
            let reads = |text: &str| {
                let (name, json) = text.split_once(' ').unwrap();
                (name.to_owned(), serde_json::from_str::<Value>(json).unwrap())
            };
            let values =
                |found: &Reparsed| calls(found).iter().map(|call| reads(call)).collect::<Vec<_>>();
            assert_eq!(values(&found), values(&expected), "{name}: {raw}");
            assert_eq!(found.content, expected.content, "{name}: {raw}");
            assert_eq!(found.reasoning, expected.reasoning, "{name}: {raw}");
            assert_eq!(found.defects, [], "{name}: {raw}");
            for (at, _) in raw.char_indices() {
                let cut = template.reparse(&raw[..at], "", &tools());
                let closed = cut.calls.iter().filter(|call| call.closed).count();
                // This Granite grammar lets the end of the text close a call, so only whole JSON is one.
                let expected = found.calls.iter().take(closed);
                assert!(
                    cut.calls.iter().filter(|call| call.closed).eq(expected),
                    "{name}: {:?}",
                    &raw[..at]
                );
            }
        }
    }
}

fn hermes() -> ResponseTemplate {
    ResponseTemplate::load(&known()[0].1).unwrap()
}

#[test]
fn the_prompt_may_begin_a_field() {
    let prompt =
        "<|im_start|>assistant\nOld <think>x</think><|im_end|>\n<|im_start|>assistant\n<think>\nSo";
    let found = hermes().reparse(" be it.</think>Yes.<|im_end|>", prompt, &[]);
    assert_eq!(found.reasoning.as_deref(), Some(" be it."));
    assert_eq!((found.content.as_str(), found.defects), ("Yes.", vec![]));
    let found = hermes().reparse("never ends", prompt, &[]);
    assert_eq!(defects(&found), ["unclosed_region"]);
    assert_eq!((found.defects[0].at, found.content.as_str()), (0, ""));
}

#[test]
fn what_breaks_a_template_is_told() {
    let f = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    let after = format!("{f} Done.<|im_end|>");
    let rows: [(&str, &[&str], &str, &[&str]); 9] = [
        (f, &["f {}"], "", &[]),
        (&after, &["f {}"], " Done.", &["trailing_text"]),
        (r#"<tool_call>{"name": "f", "arguments": {}}"#, &["f {} ?"], "", &["unclosed_call"]),
        (r#"<tool_call>{"name": "f", "arg"#, &[], "", &["unclosed_call"]),
        (r#"<tool_call>{"name": "f", "arg"</tool_call>"#, &[], "", &["malformed_call"]),
        (r#"<tool_call>{"name": "f"}</tool_call>"#, &[], "", &["malformed_call"]),
        (r#"<tool_call>{"arguments": {}}</tool_call>"#, &[], "", &["malformed_call"]),
        (r#"<tool_call>{"name": "f", "arguments": 1}</tool_call>"#, &[], "", &["malformed_call"]),
        (
            r#"<tool_call>{"name": "f", "arguments": {"a": 1, "a": 2}}</tool_call>"#,
            &[r#"f {"a": 1, "a": 2}"#],
            "",
            &["duplicate_key"],
        ),
    ];
    for (raw, expected, trailing, kinds) in rows {
        let found = hermes().reparse(raw, "", &[]);
        assert_eq!(calls(&found), expected, "{raw}");
        assert_eq!((found.trailing.as_str(), found.content.as_str()), (trailing, ""), "{raw}");
        assert_eq!(defects(&found), kinds, "{raw}");
        for defect in &found.defects {
            assert!(raw[defect.at..].starts_with(&defect.text), "{raw}");
        }
    }
}

#[test]
fn fields_may_be_needed_and_text_may_be_nobodys() {
    let object = json!({"start_anchor": "A:", "fields": {
        "content": {"open": "<a>", "close": "</a>", "optional": false},
        "tool_calls": {"open_pattern": "<c (?P<name>\\w+)>", "close": "</c>", "content": "kv-lines",
            "content_args": {"kv_sep": "=", "value_parser": {"name": "json", "args": {"allow_non_json": true}}},
            "transform": {"name": "{name}", "arguments": "{content}"}},
    }});
    let template = ResponseTemplate::load(&object).unwrap();
    let found = template.reparse("<a>Hi</a><c f>\nn = 1\nt = so so\nl = [1.50]\n</c>", "A:", &[]);
    assert_eq!(calls(&found), [r#"f {"n": 1, "t": "so so", "l": [1.50]}"#]);
    assert_eq!((found.content.as_str(), defects(&found)), ("Hi", vec![]));
    assert_eq!(defects(&template.reparse("<a>Hi</a> there", "", &[])), ["text_between_calls"]);
    assert_eq!(defects(&template.reparse("", "", &[])), ["bad_header"]);
}

#[test]
fn a_pattern_that_gives_up_is_told() {
    let object = json!({"start_anchor": "A:", "fields": {
        "content": {},
        "tool_calls": {"open_pattern": r"(x+)(x+)+\2y", "content": "json"},
    }});
    let template = ResponseTemplate::load(&object).unwrap();
    let found = template.reparse(&"x".repeat(60), "", &[]);
    assert_eq!(defects(&found), ["unclosed_region"]);
    assert_eq!(template.reparse("plain", "", &[]).defects, []);
}

#[test]
fn source_texts_survive_a_dialect() {
    let (_, object) = &known()[2];
    let template = ResponseTemplate::load(object).unwrap();
    let raw =
        "<|tool_call>call:f{n:12345678901234567890123,x:1.0,s:<|\"|>{a:\"1\"}<|\"|>}<tool_call|>";
    let found = template.reparse(raw, "", &[]);
    assert_eq!(calls(&found), [r#"f {"n":12345678901234567890123,"x":1.0,"s":"{a:\"1\"}"}"#]);
}

#[test]
fn an_object_that_is_no_template_says_why() {
    let field = |field: Value| json!({"start_anchor": "A", "fields": {"content": field}});
    for (object, message) in [
        (json!([]), "it is not an object"),
        (json!({"start_anchor": "A", "fields": {}}), "no fields"),
        (json!({"fields": {"content": {}}}), "neither `start_anchor` nor"),
        (json!({"version": 2, "start_anchor": "A", "fields": {"content": {}}}), "version is not 1"),
        (json!({"schema": 1}), "unknown key `schema`"),
        (json!({"start_anchor": "A", "fields": {"a": {}, "b": {}}}), "more than one field"),
        (field(json!({"opens": "x"})), "field `content` has the unknown key `opens`"),
        (field(json!({"open": "x", "open_pattern": "x"})), "has both"),
        (field(json!({"open": ""})), "is no text"),
        (field(json!({"open": []})), "is no text"),
        (field(json!({"open_pattern": "("})), "is no pattern"),
        (field(json!({"content": "yaml"})), "`yaml` is no content parser"),
        (field(json!({"content": "xml-inline"})), "needs `tag_pattern`"),
        (field(json!({"join": "\n"})), "`join` needs"),
        (field(json!({"transform_each": true})), "needs `transform`"),
        (field(json!({"repeats": 1})), "neither true nor false"),
        (field(json!({"transform": {"name": "f-{name}"}})), "mixes a placeholder"),
    ] {
        let error = ResponseTemplate::load(&object).unwrap_err().to_string();
        assert!(error.contains(message), "{object}: {error}");
    }
}

#[test]
fn a_checkpoints_own_grammar_counts_more() {
    let (_, own) = &known()[2];
    let chat = "{{ '<tool_call>' }}";
    assert!(
        matches!(Grammar::of(chat, None), Ok(Some(Grammar::Format(format))) if format.name == "hermes")
    );
    assert!(matches!(Grammar::of(chat, Some(own)), Ok(Some(Grammar::Template(_)))));
    assert!(matches!(Grammar::of("{{ messages }}", None), Ok(None)));
    assert!(Grammar::of(chat, Some(&json!({}))).is_err());
    let grammar = Grammar::of(chat, None).unwrap().unwrap();
    let raw = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    assert_eq!(calls(&grammar.reparse(raw, "", &[])), ["f {}"]);
}
