//! Streams and bodies that are not as they should be.

use serde_json::{Value, json};

use super::chat;
use crate::backend::BackendError;
use crate::backend::remote::dialect::{self, Dialect};
use crate::backend::remote::reply::{NoReply, Reply};
use crate::backend::remote::sse::Event;
use crate::backend::remote::transport::Received;
use crate::capture::{Usage, WireCall, WireRequest};

mod servers;

pub(super) const DONE: &str = "[DONE]";

pub(super) fn by_name(name: &str) -> &'static Dialect {
    dialect::by_name(name).unwrap()
}

pub(super) fn received(asked: &Value, content_type: &str) -> Received {
    let request = WireRequest {
        method: "POST".to_owned(),
        path: "/v1/chat/completions".to_owned(),
        body: Some(serde_json::value::to_raw_value(asked).unwrap()),
    };
    Received {
        wire: WireCall {
            purpose: "chat".to_owned(),
            request,
            response: None,
            attempts: Vec::new(),
            broke: None,
        },
        status: 200,
        content_type: content_type.to_owned(),
        body: Vec::new(),
        events: Vec::new(),
        faults: Vec::new(),
        broke: None,
    }
}

pub(super) fn streamed<T: ToString>(data: &[T]) -> Received {
    let event = |(at, data): (u32, &T)| Event {
        at_ms: f64::from(at),
        name: String::new(),
        data: data.to_string(),
    };
    Received {
        events: (0..).zip(data).map(event).collect(),
        ..received(&json!({"stream": true}), "text/event-stream")
    }
}

pub(super) fn whole(body: &str) -> Received {
    Received { body: body.as_bytes().to_vec(), ..received(&json!({}), "application/json") }
}

pub(super) fn chunk(choices: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices})
}

pub(super) fn delta(delta: Value) -> Value {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

pub(super) fn finish(word: &str) -> Value {
    chunk(json!([{"index": 0, "delta": {}, "finish_reason": word}]))
}

fn role() -> Value {
    delta(json!({"role": "assistant", "content": ""}))
}

fn text(text: &str) -> Value {
    delta(json!({"content": text}))
}

fn piece(index: u32, rest: Value) -> Value {
    let mut call = rest;
    call["index"] = json!(index);
    delta(json!({"tool_calls": [call]}))
}

fn begin(index: u32, id: &str, name: &str) -> Value {
    piece(index, json!({"id": id, "type": "function", "function": {"name": name, "arguments": ""}}))
}

fn arguments(index: u32, text: &str) -> Value {
    piece(index, json!({"function": {"arguments": text}}))
}

fn usage(prompt: u32, completion: u32) -> Value {
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion})
}

/// `chunk` with `key` set.
pub(super) fn with(mut chunk: Value, key: &str, value: Value) -> Value {
    chunk[key] = value;
    chunk
}

/// Data of events: chunks, then `[DONE]`.
pub(super) fn data(chunks: &[Value]) -> Vec<String> {
    chunks.iter().map(Value::to_string).chain([DONE.to_owned()]).collect()
}

pub(super) fn openai(received: &Received) -> Result<Reply, NoReply> {
    chat(by_name("openai"), received)
}

#[test]
fn a_good_stream_has_no_fault() {
    let last = with(chunk(json!([])), "usage", usage(3, 2));
    let mut stream = streamed(&data(&[role(), text("Hi"), text("!"), finish("stop"), last]));
    let asked = json!({"stream": true, "n": 1, "stream_options": {"include_usage": true}});
    stream.wire.request.body = Some(serde_json::value::to_raw_value(&asked).unwrap());
    let reply = openai(&stream).unwrap();
    assert_eq!(reply.faults, [""; 0]);
    assert_eq!((reply.id.as_deref(), reply.model.as_deref()), (Some("x"), Some("m")));
    assert_eq!(reply.usage, Some(Usage { prompt_tokens: 3, completion_tokens: 2 }));
    let [choice] = reply.choices.as_slice() else { panic!("{reply:?}") };
    assert_eq!(choice.content.as_deref(), Some("Hi!"));
    assert_eq!(choice.finish_reason.as_deref(), Some("stop"));
    let times: Vec<f64> = choice.deltas.iter().map(|delta| delta.at_ms).collect();
    assert_eq!(times, [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(choice.deltas[0].role.as_deref(), Some("assistant"));
    assert_eq!(choice.deltas[4].usage, reply.usage);
}

/// The faults of a stream that ends with a finish reason, in front of which the chunks come, and `[DONE]`.
fn faults(chunks: &[Value]) -> Vec<String> {
    let all: Vec<Value> = chunks.iter().cloned().chain([finish("stop")]).collect();
    openai(&streamed(&data(&all))).unwrap().faults
}

#[test]
#[rustfmt::skip]
fn every_broken_rule_is_said_with_its_event() {
    let other_id = with(text("a"), "id", json!("y"));
    let other_model = with(text("a"), "model", json!("n"));
    let other_object = with(text("a"), "object", json!("chat.completion"));
    let no_id = with(text("a"), "id", json!(""));
    let late = |id: &str| piece(0, json!({"id": id, "function": {"name": null, "arguments": "{"}}));
    let table: [(&[Value], &[&str]); 26] = [
        (&[role(), text("a")], &[]),
        (&[role(), other_id], &["event 2: the id is \"y\" after \"x\""]),
        (&[other_model, text("b")], &["event 2: the model is \"m\" after \"n\" (and 1 more like it)"]),
        (&[other_object], &["event 1: `object` is \"chat.completion\", not \"chat.completion.chunk\""]),
        (&[no_id], &["event 1: the id is missing or empty"]),
        (&[text("a"), role()], &["event 2: the role of choice 0 comes late or again"]),
        (&[role(), delta(json!({"role": "tool"}))], &["event 2: the role of choice 0 is \"tool\" after \"assistant\""]),
        (&[delta(json!({"role": "user"}))], &["event 1: the role of choice 0 is \"user\", not \"assistant\""]),
        (&[finish("stop")], &["event 2: choice 0 finishes again: \"stop\" after \"stop\""]),
        (&[finish("eos")], &["event 1: the finish reason \"eos\" is none of openai's: stop, length, tool_calls, content_filter, function_call", "event 2: choice 0 finishes again: \"stop\" after \"eos\""]),
        (&[with(text("a"), "usage", usage(1, 1))], &["event 1: it has usage that was not asked for"]),
        (&[with(text("a"), "usage", usage(1, 1)), with(text("a"), "usage", usage(1, 2))],
            &["event 2: usage comes a second time", "event 2: it has usage that was not asked for"]),
        (&[with(text("a"), "usage", usage(1, 2)), with(text("a"), "usage", usage(1, 1))],
            &["event 2: the usage fell from 1 + 2 tokens to 1 + 1", "event 2: it has usage that was not asked for"]),
        (&[with(text("a"), "usage", json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 2}))],
            &["event 1: total_tokens is 2, but 1 + 2 = 3", "event 1: it has usage that was not asked for"]),
        (&[with(text("a"), "usage", json!({"completion_tokens": 2}))], &["event 1: the usage has no `prompt_tokens`"]),
        (&[begin(1, "a", "f")], &["event 1: call 1 begins where call 0 was due"]),
        (&[begin(0, "a", "f"), begin(2, "b", "f")], &["event 2: call 2 begins where call 1 was due"]),
        (&[begin(0, "a", "f"), begin(1, "b", "f"), arguments(0, "{}")], &["event 3: a piece of call 0 comes after call 1 began"]),
        (&[begin(0, "a", "f"), late("b")], &["event 2: call 0 has the id \"b\" after \"a\""]),
        (&[begin(0, "a", "f"), late("a")], &[]),
        (&[begin(0, "a", "f"), begin(0, "a", "g")], &["event 2: call 0 has the name \"g\" after \"f\""]),
        (&[begin(0, "a", "f"), begin(1, "a", "f")], &["calls 0 and 1 have the same id \"a\""]),
        (&[late("a"), begin(0, "a", "f")], &["event 2: the arguments of call 0 begin before its name"]),
        (&[late("")], &["call 0 has no id", "call 0 has no name"]),
        (&[chunk(json!([]))], &["event 1: it has neither choices nor usage"]),
        (&[with(text("a"), "choices", Value::Null), role()], &["event 1: there are no `choices`"]),
    ];
    for (chunks, expected) in table {
        assert_eq!(faults(chunks), expected, "{chunks:?}");
    }
}

/// The faults of a stream with these data.
fn faults_of<T: ToString>(data: &[T]) -> Vec<String> {
    openai(&streamed(data)).unwrap().faults
}

#[test]
fn done_comes_once_and_last() {
    let (a, end) = (text("a").to_string(), finish("stop").to_string());
    assert_eq!(faults_of(&[&a, &end]), ["the stream ends without [DONE]"]);
    assert_eq!(faults_of(&[&a, &end, DONE, DONE]), ["event 4: [DONE] comes again"]);
    assert_eq!(faults_of(&[&a, &end, DONE, &a]), ["event 4: it comes after [DONE]"]);
    // What comes behind is not read.
    let reply = openai(&streamed(&[&a, &end, DONE, &a])).unwrap();
    assert_eq!(reply.choices[0].content.as_deref(), Some("a"));
}

#[test]
fn what_is_no_chunk_is_said_and_left_out() {
    let (a, end) = (text("a").to_string(), finish("stop").to_string());
    for (data, fault) in [
        (
            "{\"id\": \"x\u{1}",
            "event 2: it is neither JSON nor [DONE] (control character (\\u0000-\\u001F) found while parsing a string at line 1 column 10): \"{\\\"id\\\": \\\"x\\u0001\"",
        ),
        ("[1]", "event 2: it is JSON, but no object: \"[1]\""),
        (
            r#"{"id": "\ud800"}"#,
            "event 2: it is neither JSON nor [DONE] (unexpected end of hex escape at line 1 column 15): \"{\\\"id\\\": \\\"\\\\ud800\\\"}\"",
        ),
    ] {
        assert_eq!(faults_of(&[&a, data, &end, DONE]), [fault]);
    }
    let mut stream = streamed(&[&a, &end, DONE]);
    stream.faults = vec!["line 3 is no UTF-8".to_owned()];
    assert_eq!(openai(&stream).unwrap().faults, ["line 3 is no UTF-8"]);
}

#[test]
fn a_delta_that_comes_twice_is_there_twice() {
    let reply = openai(&streamed(&data(&[role(), text("a"), text("a"), finish("stop")]))).unwrap();
    let choice = &reply.choices[0];
    assert_eq!((choice.content.as_deref(), choice.deltas.len()), (Some("aa"), 4));
    let twice = [begin(0, "a", "f"), begin(0, "a", "f")];
    assert_eq!(faults(&twice), ["event 2: call 0 has the name \"f\" after \"f\""]);
    let late = [finish("stop"), text("a")];
    let stream = streamed(&data(&late));
    let reply = openai(&stream).unwrap();
    assert_eq!(reply.faults, ["event 2: something of choice 0 comes after its finish reason"]);
    assert_eq!(reply.choices[0].content.as_deref(), Some("a"));
}

#[test]
fn pieces_of_calls_are_joined_by_index_and_never_by_guess() {
    let pieces = [begin(1, "b", "g"), begin(0, "a", "f"), arguments(0, "{"), arguments(1, "[")];
    let stream =
        streamed(&data(&[&pieces[..], &[arguments(0, "}"), finish("tool_calls")]].concat()));
    let reply = openai(&stream).unwrap();
    let calls: Vec<[&str; 3]> = reply.choices[0]
        .tool_calls
        .iter()
        .map(|call| [call.id.as_str(), &call.name, &call.arguments])
        .collect();
    assert_eq!(calls, [["a", "f", "{}"], ["b", "g", "["]]);
    assert_eq!(
        reply.faults,
        [
            "event 1: call 1 begins where call 0 was due (and 1 more like it)",
            "event 2: a piece of call 0 comes after call 1 began (and 2 more like it)",
        ]
    );
    let lost = delta(
        json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}, 5]}),
    );
    let reply = openai(&streamed(&data(&[lost, finish("tool_calls")]))).unwrap();
    assert_eq!(reply.choices[0].tool_calls[0].arguments, r#"{"x":1}"#);
    assert_eq!(
        reply.faults,
        [
            "event 1: a piece of a tool call has no `index`",
            "event 1: the arguments of call 0 are JSON, not JSON in a text",
            "event 1: a tool call is no object: \"5\"",
        ]
    );
}

#[test]
fn choices_grow_side_by_side() {
    let of = |index: u32, delta: Value, finish: Value| {
        chunk(json!([{"index": index, "delta": delta, "finish_reason": finish}]))
    };
    let mut stream = streamed(&data(&[
        of(1, json!({"role": "assistant"}), Value::Null),
        of(0, json!({"role": "assistant"}), Value::Null),
        of(1, json!({"content": "b"}), Value::Null),
        of(0, json!({"content": "a"}), json!("length")),
        of(1, json!({}), json!("stop")),
    ]));
    let mut ask = |n: u32| {
        let asked = json!({"stream": true, "n": n});
        stream.wire.request.body = Some(serde_json::value::to_raw_value(&asked).unwrap());
        openai(&stream).unwrap()
    };
    let reply = ask(2);
    let read = reply.choices.iter().map(|choice| {
        (choice.content.as_deref(), choice.finish_reason.as_deref(), choice.deltas.len())
    });
    let expected = [(Some("a"), Some("length"), 2), (Some("b"), Some("stop"), 3)];
    assert_eq!(read.collect::<Vec<_>>(), expected);
    assert_eq!(reply.faults, [""; 0]);
    assert_eq!(ask(3).faults, ["3 choices were asked for, those with the indices [0, 1] came"]);
}

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
