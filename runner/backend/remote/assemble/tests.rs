//! Streams and bodies that are not as they should be.

use serde_json::{Value, json};

use super::chat;
use crate::backend::remote::dialect::{self, Dialect};
use crate::backend::remote::reply::{NoReply, Reply};
use crate::backend::remote::sse::Event;
use crate::backend::remote::transport::Received;
use crate::capture::{Usage, WireCall, WireRequest};

mod endings;
mod servers;

const DONE: &str = "[DONE]";

fn by_name(name: &str) -> &'static Dialect {
    dialect::by_name(name).unwrap()
}

fn received(asked: &Value, content_type: &str) -> Received {
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

fn streamed<T: ToString>(data: &[T]) -> Received {
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

fn whole(body: &str) -> Received {
    Received { body: body.as_bytes().to_vec(), ..received(&json!({}), "application/json") }
}

fn chunk(choices: Value) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices})
}

fn delta(delta: Value) -> Value {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

fn finish(word: &str) -> Value {
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
fn with(mut chunk: Value, key: &str, value: Value) -> Value {
    chunk[key] = value;
    chunk
}

/// Data of events: chunks, then `[DONE]`.
fn data(chunks: &[Value]) -> Vec<String> {
    chunks.iter().map(Value::to_string).chain([DONE.to_owned()]).collect()
}

fn openai(received: &Received) -> Result<Reply, NoReply> {
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
fn what_is_no_chunk_makes_the_reply_unreadable() {
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
        let error = openai(&streamed(&[&a, data, &end, DONE])).unwrap_err();
        let message = format!("a part of the reply cannot be read: {fault}");
        assert_eq!(error, NoReply::Malformed(message));
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
        json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}),
    );
    let reply = openai(&streamed(&data(&[lost, finish("tool_calls")]))).unwrap();
    assert_eq!(reply.choices[0].tool_calls[0].arguments, r#"{"x":1}"#);
    assert_eq!(
        reply.faults,
        [
            "event 1: a piece of a tool call has no `index`",
            "event 1: the arguments of call 0 are JSON, not JSON in a text",
        ]
    );
    let lost = delta(json!({"tool_calls": [5]}));
    let error = openai(&streamed(&data(&[lost, finish("tool_calls")]))).unwrap_err();
    assert!(format!("{error:?}").contains("a tool call is no object"), "{error:?}");
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
