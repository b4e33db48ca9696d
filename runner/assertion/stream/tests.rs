use crate::assertion::sample::{
    capture, edit_generation, edit_response, exchange, good, hidden, judge, judge_capture,
    problems, read, run, streamed,
};
use crate::capture::{Delta, Exchange, ToolCallDelta, Usage};
use crate::finding::{Outcome, Status};
use crate::request::ToolCall;

/// The good stream with its deltas changed.
fn with_deltas(edit: impl FnOnce(&mut Vec<Delta>)) -> Exchange {
    let mut exchange = streamed();
    edit_response(&mut exchange, |response| edit(response.stream.as_mut().unwrap()));
    exchange
}

fn text(content: &str) -> Delta {
    Delta { at_ms: 5.0, content: Some(content.to_owned()), ..Delta::default() }
}

#[test]
fn the_clean_stream_passes() {
    let outcome = judge("stream: { min_deltas: 5 }", &streamed());
    assert_eq!(outcome.status, Status::Pass, "{}", outcome.message);
    assert_eq!(judge("stream: true", &streamed()).status, Status::Pass);
    assert_eq!(judge("stream: { min_deltas: 6 }", &streamed()).status, Status::Fail);
}

#[test]
fn every_broken_rule_is_found_at_its_delta() {
    let usage = Some(Usage { prompt_tokens: 4, completion_tokens: 3 });
    let cases: Vec<(&str, Exchange, &str)> = vec![
        ("no role", with_deltas(|d| d[0].role = None), "delta 0"),
        ("wrong role", with_deltas(|d| d[2].role = Some("user".to_owned())), "delta 2"),
        ("no finish", with_deltas(|d| d[3].finish_reason = None), "delta 4"),
        ("two finishes", with_deltas(|d| d[4].finish_reason = Some("stop".to_owned())), "delta 4"),
        ("late text", with_deltas(|d| d.push(text("x"))), "delta 5"),
        (
            "early usage",
            with_deltas(|d| {
                d.pop();
                d[1].usage = usage;
            }),
            "delta 1",
        ),
        ("time runs back", with_deltas(|d| d[2].at_ms = 0.5), "delta 2"),
        (
            "half a character",
            with_deltas(|d| d[1].content = Some("It\u{fffd}s ".to_owned())),
            "delta 1",
        ),
        ("lost piece", with_deltas(|d| drop(d.remove(1))), "delta 3"),
        (
            "doubled piece",
            with_deltas(|d| {
                let piece = d[1].clone();
                d.insert(1, piece);
            }),
            "delta 5",
        ),
        (
            "other finish",
            with_deltas(|d| d[3].finish_reason = Some("length".to_owned())),
            "delta 4",
        ),
        ("no delta", with_deltas(Vec::clear), "delta 0"),
    ];
    for (name, exchange, place) in cases {
        let outcome = judge("stream: true", &exchange);
        assert_eq!(
            (outcome.status, outcome.at.as_deref()),
            (Status::Fail, Some(place)),
            "{name}: {}",
            outcome.message
        );
    }
}

fn piece(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> ToolCallDelta {
    let (id, name) = (id.map(str::to_owned), name.map(str::to_owned));
    ToolCallDelta { index, id, name, arguments: arguments.to_owned() }
}

/// A stream of these pieces whose message has the calls `a` and `b`.
fn calling(pieces: Vec<ToolCallDelta>) -> Outcome {
    let mut exchange = streamed();
    edit_response(&mut exchange, |response| {
        let call = |id: &str, name: &str| ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        };
        response.content = None;
        response.tool_calls = vec![call("1", "a"), call("2", "b")];
        let deltas = response.stream.as_mut().unwrap();
        let carrying = pieces.into_iter().map(|piece| Delta {
            at_ms: 2.0,
            tool_calls: vec![piece],
            ..Delta::default()
        });
        deltas.splice(1..3, carrying);
    });
    judge("stream: true", &exchange)
}

type Edit = fn(&mut Vec<ToolCallDelta>);

#[test]
fn calls_are_numbered_and_named_once() {
    let clean = || {
        vec![
            piece(0, Some("1"), Some("a"), ""),
            piece(0, None, None, "{}"),
            piece(1, Some("2"), Some("b"), "{"),
            piece(1, None, None, "}"),
        ]
    };
    let outcome = calling(clean());
    assert_eq!(outcome.status, Status::Pass, "{}", outcome.message);
    let broken: [(&str, Edit); 7] = [
        ("gap", |p| p[2].index = 2),
        ("back to an earlier call", |p| p[3].index = 0),
        ("name again", |p| p[3].name = Some("b".to_owned())),
        ("no id", |p| p[2].id = None),
        ("empty name", |p| p[2].name = Some(String::new())),
        ("same id", |p| p[2].id = Some("1".to_owned())),
        ("lost arguments", |p| p[3].arguments.clear()),
    ];
    for (name, edit) in broken {
        let mut pieces = clean();
        edit(&mut pieces);
        assert_eq!(calling(pieces).status, Status::Fail, "{name}");
    }
}

#[test]
fn a_replacement_character_of_the_model_is_its_own() {
    let mut exchange = with_deltas(|d| d[1].content = Some("\u{fffd} ".to_owned()));
    edit_response(&mut exchange, |response| {
        response.content = Some("\u{fffd} 4 degrees.".to_owned())
    });
    assert_eq!(judge("stream: true", &exchange).status, Status::Fail);
    edit_generation(&mut exchange, |generation| generation.text.edit().push('\u{fffd}'));
    assert_eq!(judge("stream: true", &exchange).status, Status::Pass);
}

const TWIN: &str = "stream: { equals_non_stream: true }";

fn with_twin(twin: Exchange) -> Outcome {
    let mut capture = capture(vec![streamed()]);
    capture.twin = Some(run(vec![twin]));
    judge_capture(TWIN, &capture, None)
}

#[test]
fn the_reply_in_one_piece_must_be_equal() {
    assert_eq!(with_twin(good()).status, Status::Pass);
    let mut other = good();
    edit_response(&mut other, |response| response.content = Some("It is 5 degrees.".to_owned()));
    let outcome = with_twin(other);
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("content")));
    let mut other = good();
    edit_response(&mut other, |response| response.finish_reason = Some("length".to_owned()));
    assert_eq!(with_twin(other).at.as_deref(), Some("finish_reason"));
    let outcome = with_twin(exchange(&[10, 11, 12, 13], &[20, 99, 2], "It is 4 degrees."));
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 1")));
}

#[test]
fn without_a_stream_or_a_twin_nothing_is_said() {
    assert_eq!(judge("stream: true", &good()).status, Status::NotEvaluated);
    assert_eq!(judge("stream: true", &hidden()).status, Status::NotEvaluated);
    assert_eq!(judge(TWIN, &streamed()).status, Status::NotEvaluated);
    assert_eq!(with_twin(hidden()).status, Status::NotEvaluated);
    assert!(read(TWIN).unwrap().needs().twin);
    assert!(problems("stream: false").contains("asks for nothing"));
    assert!(problems("stream: { min_deltas: 0 }").contains("every stream"));
}
