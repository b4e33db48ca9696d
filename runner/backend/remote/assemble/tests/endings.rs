//! What ends without a reply, and what is a reply nonetheless.

use serde_json::json;

use super::{DONE, data, finish, openai, received, role, streamed, text, whole};
use crate::backend::BackendError;
use crate::backend::remote::reply::NoReply;
use crate::backend::remote::transport::Received;

fn incomplete(received: &Received) -> String {
    match openai(received) {
        Err(NoReply::Incomplete(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stream_without_a_finish_reason_is_no_reply() {
    let half = [role().to_string(), text("a\u{7}").to_string()];
    let message = incomplete(&streamed(&half));
    assert!(
        message.starts_with("expected the finish reason of choice 0, but the stream ended without [DONE] after event 2; its last event: \"{"),
        "{message}"
    );
    let done = [half[0].as_str(), DONE];
    let message = incomplete(&streamed(&done));
    assert!(message.contains("the stream ended with [DONE] after event 2"), "{message}");
    let none: [&str; 0] = [];
    let message = incomplete(&streamed(&none));
    let expected = "expected a first chunk with `choices`, but the stream ended without [DONE] after event 0; its last event: there is none";
    assert_eq!(message, expected);
    let broke = Some(BackendError::Incomplete("connection reset".to_owned()));
    let message = incomplete(&Received { broke: broke.clone(), ..streamed(&half) });
    assert!(message.contains("the stream broke off (connection reset) after event 2"), "{message}");
    let message = incomplete(&Received { broke: broke.clone(), ..whole("{\"id\": \"x\"") });
    assert!(
        message.starts_with("expected a whole body, but it broke off: connection reset"),
        "{message}"
    );
    // Everything had come by then.
    let all = data(&[role(), finish("stop")]);
    let faults = |end: usize| {
        openai(&Received { broke: broke.clone(), ..streamed(&all[..end]) }).unwrap().faults
    };
    assert_eq!(faults(2), ["the stream broke off before [DONE]: connection reset"]);
    assert_eq!(faults(3), ["the connection broke after [DONE]: connection reset"]);
    let nothing = Received { status: 0, broke, ..streamed(&none) };
    assert_eq!(incomplete(&nothing), "expected an answer, but nothing came back: connection reset");
}

#[test]
fn what_is_no_reply_says_what_was_expected_and_what_came() {
    let html = Received { content_type: "text/html".to_owned(), ..whole("<html>\r\n502") };
    let events = Received { wire: whole("").wire, ..streamed(&["{\"a\": 1}"]) };
    let asked = json!({"stream": false});
    let events = Received { events: events.events, ..received(&asked, "text/event-stream") };
    let table: [(Received, &str); 8] = [
        (
            html,
            "expected JSON (expected value at line 1 column 1), but got text/html: \"<html>\\r\\n502\"",
        ),
        (
            events,
            "expected application/json, as no stream was asked for, but got an event stream; its first event: \"{\\\"a\\\": 1}\"",
        ),
        (whole(""), "expected a JSON body, but got application/json: \"\""),
        (whole("[]"), "expected a JSON object, but got application/json: \"[]\""),
        (
            whole("{\"id\": 1}"),
            "expected `choices` with at least one choice, but got application/json: \"{\\\"id\\\": 1}\"",
        ),
        (
            whole("{\"choices\": []}"),
            "expected `choices` with at least one choice, but got application/json: \"{\\\"choices\\\": []}\"",
        ),
        (
            whole("{\"choices\": [{}]}"),
            "expected a `message` or a `text` in choice 0, but got application/json: \"{\\\"choices\\\": [{}]}\"",
        ),
        (
            streamed(&[DONE]),
            "expected a first chunk with `choices`, but the stream ended with [DONE] after event 1; its last event: there is none",
        ),
    ];
    for (received, expected) in table {
        assert_eq!(openai(&received), Err(NoReply::Malformed(expected.to_owned())));
    }
    let long = format!("<{}>", "a".repeat(1000));
    let Err(NoReply::Malformed(message)) = openai(&whole(&long)) else { panic!() };
    assert!(message.len() < 300, "{message}");
}

#[test]
fn a_whole_reply_where_a_stream_was_asked_is_a_reply() {
    let body = json!({"id": "x", "object": "chat.completion", "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}
    ]});
    let asked = json!({"stream": true, "stream_options": {"include_usage": true}});
    let kind =
        |kind: &str| Received { body: body.to_string().into_bytes(), ..received(&asked, kind) };
    let reply = openai(&kind("application/json")).unwrap();
    assert_eq!((reply.faults.len(), reply.choices[0].deltas.len()), (0, 0));
    let Err(NoReply::Malformed(message)) = openai(&kind("text/plain")) else { panic!() };
    let expected = "expected the content type application/json, but got text/plain: ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn faults_of_a_whole_reply() {
    let body = json!({"object": "text_completion", "choices": [
        {"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}},
        {"index": 0, "message": {"content": "c"}, "finish_reason": "stop", "logprobs": "none"},
    ]});
    let reply = openai(&whole(&body.to_string())).unwrap();
    let contents = reply.choices.iter().map(|choice| choice.content.as_deref());
    assert_eq!(contents.collect::<Vec<_>>(), [Some("ab"), Some("c")]);
    assert_eq!(
        reply.faults,
        [
            "`object` is \"text_completion\", not \"chat.completion\"",
            "the id is missing or empty",
            "a choice has no `index`",
            "the content of choice 0 is JSON, not a text",
            "two choices have the index 0",
            "the `logprobs` are in no known shape",
            "choice 0 has no finish reason",
            "1 choices were asked for, those with the indices [0, 1] came",
        ]
    );
}

#[test]
fn an_error_is_no_reply_wherever_it_stands() {
    let refused = |received: &Received| match openai(received) {
        Err(NoReply::Refused(error)) => (error.status, error.message, error.kind),
        other => panic!("{other:?}"),
    };
    let error = json!({"error": {"message": "no", "type": "server_error", "code": 503}});
    let middle = [role(), text("a"), error.clone()].map(|chunk| chunk.to_string());
    let said = (503, "no".to_owned(), Some("server_error".to_owned()));
    assert_eq!(refused(&streamed(&middle)), said);
    let end = [role(), finish("stop"), error.clone()].map(|chunk| chunk.to_string());
    assert_eq!(refused(&streamed(&end)), said);
    assert_eq!(refused(&whole(&error.to_string())), said);
    let status = Received { status: 500, ..whole(&error.to_string()) };
    assert_eq!(refused(&status), (500, said.1.clone(), said.2.clone()));
    let events = Received { status: 400, ..streamed(&[error]) };
    assert_eq!(refused(&events), (400, said.1, said.2));
}
