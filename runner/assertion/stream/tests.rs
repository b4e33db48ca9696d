use crate::assertion::sample::{
    capture, edit_response, good, hidden, judge, judge_capture, run, sound, streamed,
};
use crate::capture::{Delta, Exchange, ToolCallDelta};
use crate::finding::{Outcome, Status};
use crate::request::ToolCall;

/// The sample stream after a change to its pieces.
fn changed(edit: impl FnOnce(&mut Vec<Delta>)) -> Exchange {
    let mut exchange = streamed();
    edit_response(&mut exchange, |response| edit(response.stream.as_mut().unwrap()));
    exchange
}

fn fails(edit: impl FnOnce(&mut Vec<Delta>), message: &str) {
    let outcome = judge("stream: true", &changed(edit));
    assert_eq!(outcome.status, Status::Fail, "{message}");
    assert!(outcome.message.contains(message), "{}", outcome.message);
}

#[test]
fn a_good_stream_passes_and_every_invariant_can_break() {
    assert_eq!(judge("stream: true", &streamed()).status, Status::Pass);
    fails(|pieces| pieces[0].role = None, "assistant speaks");
    fails(|pieces| pieces[2].role = Some("user".to_owned()), "role changes");
    fails(|pieces| pieces[3].finish_reason = None, "without a finish reason");
    fails(|pieces| pieces[1].finish_reason = Some("stop".to_owned()), "second finish reason");
    fails(|pieces| pieces.swap(2, 3), "after the finish reason");
    fails(|pieces| pieces[1].usage = pieces[4].usage, "before the finish reason");
    fails(|pieces| pieces.push(pieces[4].clone()), "second time");
    fails(|pieces| pieces[2].content = Some("4 degr\u{fffd}".to_owned()), "half a character");
    fails(|pieces| pieces[2].at_ms = 0.5, "arrived before");
    fails(|pieces| drop(pieces.remove(1)), "add up");
    fails(|pieces| pieces.insert(1, pieces[1].clone()), "add up");
    fails(|pieces| pieces[1].reasoning = Some("Hm.".to_owned()), "reasoning");
}

/// A stream of two calls.
fn calling(edit: impl FnOnce(&mut Vec<ToolCallDelta>)) -> Outcome {
    let call =
        |id: &str| ToolCall { id: id.to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() };
    let piece = |index, id: Option<&str>, arguments: &str| ToolCallDelta {
        index,
        id: id.map(str::to_owned),
        name: id.map(|_| "f".to_owned()),
        arguments: arguments.to_owned(),
    };
    let mut pieces = vec![
        piece(0, Some("a"), ""),
        piece(0, None, "{}"),
        piece(1, Some("b"), ""),
        piece(1, None, "{"),
        piece(1, None, "}"),
    ];
    edit(&mut pieces);
    let mut exchange = streamed();
    edit_response(&mut exchange, |response| {
        response.content = None;
        response.tool_calls = vec![call("a"), call("b")];
        let deltas = response.stream.as_mut().unwrap();
        deltas[1] = Delta { at_ms: 2.0, tool_calls: pieces, ..Delta::default() };
        deltas.remove(2);
    });
    judge("stream: true", &exchange)
}

#[test]
fn calls_are_assembled_by_index() {
    assert_eq!(calling(|_| {}).status, Status::Pass);
    assert!(calling(|pieces| pieces.swap(0, 2)).message.contains("comes before"));
    assert!(calling(|pieces| pieces[2].name = None).message.contains("lacks its id or name"));
    assert!(calling(|pieces| pieces[4].id = Some("b".to_owned())).message.contains("again"));
    assert!(calling(|pieces| drop(pieces.pop())).message.contains("add up"));
    assert!(calling(|pieces| pieces.truncate(2)).message.contains("begins 1 calls"));
}

#[test]
fn few_pieces_and_no_stream() {
    assert_eq!(judge("stream: { min_deltas: 2 }", &streamed()).status, Status::Pass);
    assert_eq!(judge("stream: { min_deltas: 3 }", &streamed()).status, Status::Fail);
    assert_eq!(judge("stream: true", &good()).status, Status::NotEvaluated);
    assert_eq!(judge("stream: true", &hidden()).status, Status::NotEvaluated);
    let mut whole = good();
    whole.request.stream = true;
    assert_eq!(judge("stream: true", &whole).status, Status::Fail);
}

#[test]
fn the_twin_must_be_the_same() {
    let yaml = "stream: { equals_non_stream: true }";
    assert!(sound(yaml).needs().twin);
    let judged = |twin: Option<Exchange>| {
        let mut capture = capture(vec![streamed()]);
        capture.twin = twin.map(|twin| run(vec![twin]));
        judge_capture(yaml, &capture, None)
    };
    assert_eq!(judged(Some(good())).status, Status::Pass);
    assert_eq!(judged(None).status, Status::NotEvaluated);
    let mut other = good();
    edit_response(&mut other, |response| response.finish_reason = Some("length".to_owned()));
    let outcome = judged(Some(other));
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("finish reason")));
}
