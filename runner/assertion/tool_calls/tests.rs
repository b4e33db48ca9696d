use crate::assertion::sample::{calling, good, hidden, judge, problems, read};
use crate::finding::Status;

const OSLO: &str = "tool_calls: [{ name: get_weather, arguments: { city: Oslo, days: 1 } }]";

#[test]
fn arguments_are_compared_by_value() {
    let call = calling(&[("get_weather", r#"{ "days": 1.0, "city": "Oslo" }"#)]);
    let outcome = judge(OSLO, &call);
    assert_eq!(outcome.status, Status::Pass, "{}", outcome.message);
}

#[test]
fn a_renamed_argument_is_missing_and_extra() {
    let call = calling(&[("get_weather", r#"{"town": "Oslo", "days": 1}"#)]);
    let outcome = judge(OSLO, &call);
    assert_eq!(outcome.status, Status::Fail);
    assert!(
        outcome.message.contains("`$.city` is missing and `$.town` is extra"),
        "{}",
        outcome.message
    );
    assert_eq!(outcome.at.as_deref(), Some("tool_calls[0].arguments $.city"));
}

#[test]
fn name_order_and_number_of_calls_count() {
    let two = calling(&[("a", "{}"), ("b", "{}")]);
    assert_eq!(judge("tool_calls: [{ name: a }, { name: b }]", &two).status, Status::Pass);
    for (yaml, said) in [
        ("tool_calls: [{ name: b }, { name: a }]", "expected a call to `b`"),
        ("tool_calls: [{ name: a }]", "`b` was not expected"),
        ("tool_calls: [{ name: a }, { name: b }, { name: c }]", "`c` was not made"),
        ("tool_calls: none", "2 calls"),
        ("tool_calls: { count: 1 }", "2 calls"),
    ] {
        let outcome = judge(yaml, &two);
        assert_eq!(outcome.status, Status::Fail, "{yaml}");
        assert!(outcome.message.contains(said), "{yaml}: {}", outcome.message);
    }
}

#[test]
fn none_and_count() {
    assert_eq!(judge("tool_calls: none", &good()).status, Status::Pass);
    assert_eq!(judge("tool_calls: { count: { min: 1 } }", &good()).status, Status::Fail);
    assert_eq!(
        judge("tool_calls: { count: { min: 1 } }", &calling(&[("a", "{}")])).status,
        Status::Pass
    );
    assert_eq!(judge(OSLO, &good()).status, Status::Fail);
}

#[test]
fn a_part_or_a_schema() {
    let call = calling(&[("f", r#"{"a": 1, "b": "x"}"#)]);
    for (yaml, status) in [
        ("tool_calls: [{ name: f, arguments_match: { a: 1 } }]", Status::Pass),
        ("tool_calls: [{ name: f, arguments_match: { a: 2 } }]", Status::Fail),
        ("tool_calls: [{ name: f, arguments: { a: 1 } }]", Status::Fail),
        ("tool_calls: [{ name: f, arguments_schema: { required: [a, b] } }]", Status::Pass),
        (
            "tool_calls: [{ name: f, arguments_schema: { properties: { b: { type: integer } } } }]",
            Status::Fail,
        ),
    ] {
        assert_eq!(judge(yaml, &call).status, status, "{yaml}");
    }
}

#[test]
fn cut_arguments_are_not_json() {
    let outcome = judge(OSLO, &calling(&[("get_weather", r#"{"city": "Os"#)]));
    assert!(outcome.message.contains("not JSON"), "{}", outcome.message);
}

#[test]
fn hidden_is_not_evaluated_even_for_none() {
    assert_eq!(judge("tool_calls: none", &hidden()).status, Status::NotEvaluated);
    assert_eq!(judge(OSLO, &hidden()).status, Status::NotEvaluated);
}

#[test]
fn bad_arguments_are_named() {
    assert!(problems("tool_calls: []").contains("tool_calls: none"));
    assert!(problems("tool_calls: {}").contains("nothing is expected"));
    assert!(
        problems("tool_calls: [{ name: f, arguments_schema: { type: strin } }]")
            .contains("JSON Schema")
    );
    assert!(read("tool_calls: nothing").unwrap_err().to_string().contains("`none`"));
    assert!(
        read("tool_calls: [{ name: f, argument: {} }]")
            .unwrap_err()
            .to_string()
            .contains("arguments")
    );
}
