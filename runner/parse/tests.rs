use super::*;
use crate::capture::ToolCallDelta;

const CALL: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";

fn qwen3() -> Family {
    Family::detect("{{ '<think>' }}{{ '<tool_call>' }}")
}

/// What a client makes of the pieces.
fn assembled(family: &Family, prompt_tail: &str, pieces: &[&str]) -> Parsed {
    let mut incremental = Incremental::new(family, prompt_tail);
    let mut sent: Vec<Piece> = pieces.iter().map(|piece| incremental.push(piece)).collect();
    sent.push(incremental.finish());
    let mut calls: Vec<ToolCall> = Vec::new();
    for delta in sent.iter().flat_map(|piece| &piece.tool_calls) {
        let ToolCallDelta { index, id, name, arguments } = delta.clone();
        if let (Some(id), Some(name)) = (id, name) {
            assert_eq!(index, calls.len());
            calls.push(ToolCall { id, name, arguments: String::new() });
        }
        calls[index].arguments.push_str(&arguments);
    }
    let parsed = incremental.parsed();
    let content: String = sent.iter().map(|piece| piece.content.as_str()).collect();
    let reasoning: String = sent.iter().map(|piece| piece.reasoning.as_str()).collect();
    assert_eq!(parsed.content.as_deref().unwrap_or_default(), content);
    assert_eq!(parsed.reasoning.as_deref().unwrap_or_default(), reasoning);
    assert_eq!(parsed.tool_calls, calls);
    parsed
}

/// One text with what it is expected to be: content, reasoning, calls as `name arguments`, truncated.
type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>, &'a [&'a str], bool);

fn check(family: Family, prompt_tail: &str, rows: &[Row<'_>]) {
    for (raw, content, reasoning, calls, truncated) in rows {
        let whole = parse(&family, raw, prompt_tail);
        let written: Vec<String> = whole
            .tool_calls
            .iter()
            .map(|call| format!("{} {}", call.name, call.arguments))
            .collect();
        assert_eq!(whole.content.as_deref(), *content, "content of {raw:?}");
        assert_eq!(whole.reasoning.as_deref(), *reasoning, "reasoning of {raw:?}");
        assert_eq!(written, *calls, "calls of {raw:?}");
        assert_eq!(whole.truncated_call, *truncated, "truncated_call of {raw:?}");
        for (at, _) in raw.char_indices() {
            let (first, second) = raw.split_at(at);
            assert_eq!(
                assembled(&family, prompt_tail, &[first, second]),
                whole,
                "{raw:?} cut at {at}"
            );
        }
        let characters: Vec<&str> = raw.split("").collect();
        assert_eq!(assembled(&family, prompt_tail, &characters), whole, "{raw:?} one by one");
    }
}

#[test]
fn calls_are_set_apart_from_content() {
    let two = format!("{CALL}\n{CALL}");
    let around = format!("Let me look. \n{CALL}\n");
    let after = format!("A {CALL} \nB {CALL} C \n");
    let only_after = format!("{CALL}\nDone.");
    let call = "f {\"a\": 1}";
    check(
        qwen3(),
        "<|im_start|>assistant\n",
        &[
            ("", Some(""), None, &[], false),
            (" Hi \n", Some(" Hi \n"), None, &[], false),
            (CALL, None, None, &[call], false),
            (&two, None, None, &[call, call], false),
            (&around, Some("Let me look."), None, &[call], false),
            (&after, Some("A \nB C"), None, &[call, call], false),
            (&only_after, Some("Done."), None, &[call], false),
        ],
    );
}

#[test]
fn arguments_keep_their_text() {
    check(
        qwen3(),
        "",
        &[
            (
                "<tool_call>{\"arguments\":{ \"b\" : 1.0,\"a\":\"</tool_call> \\u00e9 é\\n\"},\"name\":\"g\\u0068\"} </tool_call>",
                None,
                None,
                &["gh { \"b\" : 1.0,\"a\":\"</tool_call> \\u00e9 é\\n\"}"],
                false,
            ),
            (
                "<tool_call>{\"name\": \"f\", \"arguments\": {}, \"id\": 3}</tool_call>",
                None,
                None,
                &["f {}"],
                false,
            ),
        ],
    );
}

#[test]
fn what_is_no_call_stays_content() {
    let quoted = format!("Use <tool_call> tags, as in <tool_call>{{…}}</tool_call>. {CALL}");
    let unchanged = [
        "Write <tool_call> and </tool_call>.",
        "<tool_call> <tool_cal <<tool_call",
        "</tool_call>\n",
        "<tool_call>{\"name\": \"f\"}</tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": \"{}\"}</tool_call>",
        "<tool_call>{\"name\": \"\", \"arguments\": {}}</tool_call>",
        "<tool_call>[]</tool_call>",
        "<tool_call>{\"name\": \"f\", \"name\": \"g\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}}</tool_call>",
        "<tool_call>\nf(1)\n</tool_call> ",
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_calls>",
        "<tool_call>{\"name\": f}",
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 01}}</tool_call>",
        "The tag is <tool_call>",
        "a < b <to",
    ];
    for raw in unchanged {
        check(qwen3(), "", &[(raw, Some(raw), None, &[], false)]);
    }
    let content = "Use <tool_call> tags, as in <tool_call>{…}</tool_call>.";
    check(qwen3(), "", &[(&quoted, Some(content), None, &["f {\"a\": 1}"], false)]);
    let restarted = format!("<tool_call>{{\"name\": {CALL}");
    check(
        qwen3(),
        "",
        &[(&restarted, Some("<tool_call>{\"name\":"), None, &["f {\"a\": 1}"], false)],
    );
}

#[test]
fn a_cut_call_stays_visible() {
    let unclosed = CALL.strip_suffix("</tool_call>").unwrap();
    let second = format!("{CALL}\n<tool_call>\n{{\"na");
    check(
        qwen3(),
        "",
        &[
            ("<tool_call>", Some("<tool_call>"), None, &[], true),
            ("Yes.\n<tool_call>\n", Some("Yes.\n<tool_call>\n"), None, &[], true),
            (
                "Yes. <tool_call>{\"name\": \"f",
                Some("Yes. <tool_call>{\"name\": \"f"),
                None,
                &[],
                true,
            ),
            (unclosed, Some(unclosed), None, &[], true),
            (&second, Some("<tool_call>\n{\"na"), None, &["f {\"a\": 1}"], true),
        ],
    );
}

#[test]
fn reasoning_is_set_apart() {
    let called = format!("\nI must ask.\n</think>\n\n{CALL}");
    let quoted = format!("<think>{CALL}</think>ok");
    let rows: &[Row<'_>] = &[
        ("\nHm.\n\nYes.\n</think>\n\n17\n", Some("17\n"), Some("Hm.\n\nYes."), &[], false),
        (
            "a </thin </think>Write </think> to close.",
            Some("Write </think> to close."),
            Some("a </thin "),
            &[],
            false,
        ),
        (&called, None, Some("I must ask."), &["f {\"a\": 1}"], false),
        ("cut <tool_call> </thi", None, Some("cut <tool_call> </thi"), &[], false),
        ("<think>again</think>b", Some("b"), Some("again"), &[], false),
        ("</think>b", Some("b"), None, &[], false),
    ];
    check(qwen3(), "<|im_start|>assistant\n<think>\n", rows);
    check(
        qwen3(),
        "<|im_start|>assistant\n",
        &[
            ("\n<think>\nHm.</think>b", Some("b"), Some("Hm."), &[], false),
            (&quoted, Some("ok"), Some(&quoted[7..quoted.len() - 10]), &[], false),
            ("17</think>", Some("17</think>"), None, &[], false),
            ("<thin", Some("<thin"), None, &[], false),
            (" say <think>x</think>", Some(" say <think>x</think>"), None, &[], false),
        ],
    );
}

#[test]
fn the_prompt_says_whether_a_think_block_is_open() {
    for (tail, open) in [
        ("<think>\n", true),
        ("assistant\n<think>\nLet me", true),
        ("<think>\n\n</think>\n\n", false),
        ("What is <think>?<|im_end|>\n<|im_start|>assistant\n", false),
        ("", false),
    ] {
        let parsed = parse(&qwen3(), "x", tail);
        assert_eq!(parsed.reasoning.is_some(), open, "{tail:?}");
    }
}

#[test]
fn the_template_says_which_markup_is_read() {
    assert_eq!(Family::detect("{{ messages }}"), Family::Plain);
    assert_eq!(Family::detect("<tool_call><function=f>"), Family::Plain);
    assert_eq!(qwen3().tool_format(), Some("hermes"));
    let thinking = qwen3().without_tools();
    assert_eq!(thinking.tool_format(), None);
    assert_eq!(parse(&thinking, CALL, "").content.as_deref(), Some(CALL));
    assert_eq!(
        parse(&Family::Plain, "<think>x</think>", "").content.as_deref(),
        Some("<think>x</think>")
    );
}

#[test]
fn text_is_not_held_back_longer_than_needed() {
    let mut incremental = Incremental::new(&qwen3(), "");
    let mut push = |text: &str| incremental.push(text).content;
    assert_eq!(push("Hi "), "Hi");
    assert_eq!(push("<tool"), "");
    assert_eq!(push(" x"), " <tool x");
    assert_eq!(push("<tool_call>"), "");
    assert_eq!(push(" no"), "<tool_call> no");
}
