//! Values: source texts, declared types, literals.

use super::super::json;
use super::*;

/// The arguments of the only call of a GLM reply that gives `v` the text `value`.
fn typed(schema: Value, value: &str) -> (String, bool, Vec<&'static str>) {
    let parameters = json!({
        "type": "object",
        "properties": {"v": schema},
        "$defs": {"unit": {"enum": ["C", "F"]}, "loop": {"$ref": "#/$defs/loop"}},
    });
    let tools = [json!({"type": "function", "function": {"name": "f", "parameters": parameters}})];
    let raw = format!("<tool_call>f<arg_key>v</arg_key><arg_value>{value}</arg_value></tool_call>");
    let found = read("glm", &raw, "", &tools);
    let kinds = defects(&found);
    let [call] = found.calls.as_slice() else { panic!("{raw}: {found:?}") };
    assert!(call.closed);
    let json = call.arguments.strip_prefix("{\"v\": ").and_then(|text| text.strip_suffix('}'));
    (json.unwrap().to_owned(), call.ambiguous == ["v"], kinds)
}

#[test]
fn texts_are_read_by_their_declared_type() {
    let string = json!({"type": "string"});
    let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    for (schema, value, expected, ambiguous) in [
        (string.clone(), "42", r#""42""#, false),
        (string.clone(), " a\n", r#"" a\n""#, false),
        (string, "", r#""""#, false),
        (json!({"$ref": "#/$defs/unit"}), "C", r#""C""#, false),
        (json!({"enum": ["a", 1]}), "1", r#""1""#, true),
        (json!({"const": 7}), "7", "7", false),
        (optional.clone(), "null", r#""null""#, true),
        (optional, "Oslo", r#""Oslo""#, true),
        (json!({"type": ["string", "integer"]}), "7", r#""7""#, true),
        (json!({"type": "integer"}), " 7 ", "7", false),
        (json!({"type": "integer"}), "2.0", "2.0", false),
        (
            json!({"type": "integer"}),
            "123456789012345678901234567890",
            "123456789012345678901234567890",
            false,
        ),
        (json!({"type": "number"}), "1.50", "1.50", false),
        (json!({"type": "number"}), "7", "7", false),
        (json!({"type": "boolean"}), "True", "true", false),
        (json!({"type": "integer", "nullable": true}), "None", "null", false),
        (json!({"oneOf": [{"type": "integer"}, {"type": "null"}]}), "null", "null", false),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            r#"["a",  1]"#,
            r#"["a",  1]"#,
            false,
        ),
        (json!({"properties": {"a": {}}}), r#"{"a": 1.0}"#, r#"{"a": 1.0}"#, false),
        (json!({"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}), "7", "7", false),
        (json!({}), "7", r#""7""#, true),
        (json!({"$ref": "#/$defs/loop"}), "7", r#""7""#, true),
        (json!({"$ref": "#/$defs/none"}), "7", r#""7""#, true),
    ] {
        let place = format!("{schema} {value:?}");
        assert_eq!(typed(schema, value), (expected.to_owned(), ambiguous, vec![]), "{place}");
    }
    for (schema, value, expected, kind) in [
        (json!({"type": "integer"}), "seven", r#""seven""#, "wrong_type"),
        (json!({"type": "integer"}), "7.5", r#""7.5""#, "wrong_type"),
        (json!({"type": "integer"}), "007", r#""007""#, "wrong_type"),
        (json!({"type": "boolean"}), "1", r#""1""#, "wrong_type"),
        (json!({"type": "object"}), "{'a': 1}", r#""{'a': 1}""#, "wrong_type"),
        (json!({"type": "array"}), r#"{"a": 1}"#, r#""{\"a\": 1}""#, "wrong_type"),
        (json!({"type": "object"}), r#"{"a": 1, "a": 2}"#, r#"{"a": 1, "a": 2}"#, "duplicate_key"),
    ] {
        let place = format!("{schema} {value:?}");
        assert_eq!(typed(schema, value), (expected.to_owned(), false, vec![kind]), "{place}");
    }
}

#[test]
fn families_type_alike() {
    let tools = [json!({"name": "f", "parameters": {"properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "l": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "object", "properties": {"x": {"type": "number"}}},
    }}})];
    let expected = r#"f {"n": 7, "s": "8", "l": [1, 2], "o": {"x": 2.5}}"#;
    for (name, raw) in [
        (
            "qwen3_coder",
            "<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n<parameter=s>\n8\n</parameter>\n<parameter=l>[1, 2]</parameter><parameter=o>{\"x\": 2.5}</parameter></function></tool_call>",
        ),
        (
            "glm",
            "<tool_call>f<arg_key>n</arg_key><arg_value>7</arg_value><arg_key>s</arg_key><arg_value>8</arg_value><arg_key>l</arg_key><arg_value>[1, 2]</arg_value><arg_key>o</arg_key><arg_value>{\"x\": 2.5}</arg_value></tool_call>",
        ),
        (
            "deepseek_v32",
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"n\">7</｜DSML｜parameter><｜DSML｜parameter name=\"s\" string=\"true\">8</｜DSML｜parameter><｜DSML｜parameter string=\"false\" name=\"l\">[1, 2]</｜DSML｜parameter><｜DSML｜parameter name=\"o\" string=\"false\">{\"x\": 2.5}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
        ),
        (
            "minimax_m2",
            "<minimax:tool_call><invoke name=f><parameter name=n>7</parameter><parameter name='s'>8</parameter><parameter name=\"l\">[1, 2]</parameter><parameter name=\"o\">{\"x\": 2.5}</parameter></invoke></minimax:tool_call>",
        ),
        (
            "minimax_m3",
            "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"f\">]<]minimax[>[<n>7]<]minimax[>[</n>]<]minimax[>[<s>8]<]minimax[>[</s>]<]minimax[>[<l>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<item>2]<]minimax[>[</item>]<]minimax[>[</l>]<]minimax[>[<o>]<]minimax[>[<x>2.5]<]minimax[>[</x>]<]minimax[>[</o>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
        ),
        ("gemma4", "<|tool_call>call:f{n:7,s:8,l:[1,2],o:{x:2.5}}<tool_call|>"),
        (
            "functiongemma",
            "<start_function_call>call:f{n:7,s:<escape>8<escape>,l:[1,2],o:{x:2.5}}<end_function_call>",
        ),
    ] {
        let found = read(name, raw, "", &tools);
        assert_eq!(calls(&found), [expected], "{name}");
        assert_eq!(found.defects, [], "{name}");
        assert!(found.calls[0].ambiguous.is_empty(), "{name}");
    }
}

#[test]
fn gemma_marks_decide_over_types() {
    let raw = "<|tool_call>call:f{<|\"|>a b<|\"|>:<|\"|>1, }<|\"|>,n:-1e3,t:true,w:word,l:[],o:{x:{}}}<tool_call|>";
    let found = read("gemma4", raw, "", &[]);
    assert_eq!(
        calls(&found),
        [r#"f {"a b": "1, }", "n": -1e3, "t": true, "w": "word", "l": [], "o": {"x": {}}}"#]
    );
    assert_eq!(found.calls[0].ambiguous, ["w"]);
}

#[test]
fn json_keeps_its_source() {
    for arguments in [
        r#"{"n":12345678901234567890123,"x":1.0,"e":1E+2,"s":"\u00e9\/é","l":[ ]}"#,
        "{ \"a\" :\n[1,\t{\"a\": null}] }",
    ] {
        let raw = format!("<tool_call>{{\"arguments\": {arguments}, \"name\": \"f\"}}</tool_call>");
        let found = read("hermes", &raw, "", &[]);
        assert_eq!(calls(&found), [format!("f {arguments}")]);
        assert_eq!(found.defects, []);
    }
}

#[test]
fn keys_are_given_once() {
    for raw in [
        r#"<tool_call>{"name": "f", "arguments": {"a": {"b": 1, "\u0062": 2}}}</tool_call>"#,
        r#"<tool_call>{"name": "f", "arguments": {"a": 1, "a": 1}}</tool_call>"#,
    ] {
        let found = read("hermes", raw, "", &[]);
        assert_eq!((found.calls.len(), defects(&found)), (1, vec!["duplicate_key"]), "{raw}");
        assert!(raw[found.defects[0].at..].starts_with('"'));
    }
    for (name, raw) in [
        ("pythonic", "[f(a=1, a=2)]"),
        ("pythonic", "[f(a={'x': 1, 'x': 2})]"),
        (
            "glm",
            "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value><arg_key>a</arg_key><arg_value>2</arg_value></tool_call>",
        ),
        ("gemma4", "<|tool_call>call:f{a:{x:1,x:2}}<tool_call|>"),
    ] {
        let found = read(name, raw, "", &[]);
        assert_eq!((found.calls.len(), defects(&found)), (1, vec!["duplicate_key"]), "{raw}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{}", open.repeat(levels), close.repeat(levels))
    };
    for (name, before, behind, inner) in [
        ("hermes", r#"<tool_call>{"name": "f", "arguments": {"a": "#, "}}</tool_call>", 62),
        ("pythonic", "[f(a=", ")]", 64),
        ("gemma4", "<|tool_call>call:f{a:", "}<tool_call|>", 64),
    ] {
        let raw = |levels| format!("{before}{}{behind}", nested("[", "]", levels));
        assert_eq!(read(name, &raw(inner), "", &[]).calls.len(), 1, "{name}");
        let deep = read(name, &raw(inner + 1), "", &[]);
        assert_eq!((deep.calls.len(), defects(&deep)), (0, vec!["too_deep"]), "{name}");
        reparse(format(name), &raw(100_000), "", &[]);
    }
}

#[test]
fn python_literals_become_json() {
    for (literal, json) in [
        (r"'a\tb\'\\\x41\u00e9\101\d'", r#""a\tb'\\AéA\\d""#),
        (
            r#""""a "b"
c""""#,
            r#""a \"b\"\nc""#,
        ),
        ("'a' \"b\"", r#""ab""#),
        ("-12_000", "-12000"),
        ("+.5", "0.5"),
        ("1.", "1.0"),
        ("1e-5", "1e-5"),
        ("0xff", "255"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("[1, (2,), (), (3), {'a': None}, ]", r#"[1, [2], [], 3, {"a": null}]"#),
        ("[True, False, true, false, null]", "[true, false, true, false, null]"),
    ] {
        let found = read("pythonic", &format!("[f(v={literal})]"), "", &[]);
        assert_eq!(calls(&found), [format!("f {{\"v\": {json}}}")], "{literal}");
        assert_eq!(found.defects, [], "{literal}");
    }
    for literal in [
        "x",
        "1 + 1",
        "f'a'",
        "01",
        "1j",
        r"'\N{DASH}'",
        r"'\xZZ' and more text",
        "'a\nb'",
        "{1: 2}",
        "inf",
    ] {
        let found = read("pythonic", &format!("[f(v={literal})]"), "", &[]);
        assert_eq!(defects(&found), ["malformed_call"], "{literal}");
    }
}

#[test]
fn numbers_are_those_of_json() {
    for number in ["0", "-0", "1.50", "1e5", "-12.5E-10"] {
        assert!(json::is_number(number), "{number}");
    }
    for text in ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "NaN", "1e+-2"] {
        assert!(!json::is_number(text), "{text}");
    }
}
