use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::backend::remote::transport::{Call, Received, Transport};
use crate::capture::CHAT;

mod folders;

const FILE: &str = "r.jsonl";

fn recorded(text: &str) -> Recorded {
    let recording = recording::read(Path::new(FILE), text).unwrap();
    Recorded::new(Path::new(FILE), recording.head.url, recording.entries)
}

fn chat<'a>(case: &'a str, turn: usize, body: Value) -> Call<'a> {
    Call {
        purpose: CHAT,
        body: Some(body),
        path: "/v1/chat/completions".to_owned(),
        timeout: Some(Duration::from_millis(500)),
        origin: Some((case, turn)),
    }
}

async fn ask(recorded: &Recorded, case: &str, turn: usize, body: Value) -> Received {
    recorded.call(chat(case, turn, body)).await
}

/// The word that an answer holds, or what broke.
fn word(received: &Received) -> String {
    match &received.broke {
        Some(error) => format!("{}: {error}", error.kind()),
        None => String::from_utf8(received.body.clone()).unwrap(),
    }
}

#[tokio::test]
async fn the_nearest_answer_is_given_once_and_the_last_again() {
    let recorded = recorded(
        r#"
        # a note
        {"recording":1,"url":"http://h:1"}
        {"response":{"text":"any 1"}}
        {"response":{"text":"any 2"}}
        {"request":{"body":{"messages":[{"content":"Hello"}]}},"response":{"text":"hello"}}
        {"case":"oslo","turn":0,"response":{"text":"oslo 0, first"}}
        {"case":"weather.oslo","turn":0,"response":{"text":"oslo 0, second"}}
        {"case":"tool_call/weather.oslo","turn":2,"response":{"text":"oslo 2"}}
        {"case":"bergen","response":{"text":"bergen, any turn"}}
        "#,
    );
    assert_eq!(recorded.address(), "http://h:1");
    let hello = json!({"messages": [{"role": "user", "content": "Hello"}]});
    let other = json!({"messages": [{"role": "user", "content": "Bye"}]});
    let oslo = "tool_call/weather.oslo";
    let table = [
        (oslo, 0, &hello, "oslo 0, first"),
        (oslo, 0, &hello, "oslo 0, second"),
        (oslo, 0, &hello, "oslo 0, second"),
        (oslo, 2, &hello, "oslo 2"),
        (oslo, 1, &hello, "hello"),
        ("a/weather.bergen", 7, &other, "bergen, any turn"),
        ("a/x.y", 0, &other, "any 1"),
        ("a/x.y", 1, &other, "any 2"),
        ("a/x.z", 0, &other, "any 2"),
    ];
    for (case, turn, body, expected) in table {
        assert_eq!(
            word(&ask(&recorded, case, turn, body.clone()).await),
            expected,
            "{case} {turn}"
        );
    }
}

#[tokio::test]
async fn a_stream_answers_a_request_for_one_where_there_is_the_choice() {
    let recorded = recorded(
        r#"{"case":"a","response":{"sse":["data: 1"]}}
           {"case":"a","response":{"body":{"n":1}}}
           {"case":"b","response":{"body":{"n":2}}}"#,
    );
    for _ in 0..2 {
        assert!(!ask(&recorded, "x/y.a", 0, json!({"stream": false})).await.is_stream());
        assert!(ask(&recorded, "x/y.a", 0, json!({"stream": true})).await.is_stream());
    }
    assert_eq!(word(&ask(&recorded, "x/y.b", 0, json!({"stream": true})).await), "{\"n\":2}");
}

#[tokio::test]
async fn no_answer_says_what_was_asked_and_what_there_is() {
    let recorded = recorded(
        r#"{"case":"oslo","turn":0,"request":{"body":{"messages":[{"content":"Hello"}],"seed":7}},"response":{"text":"x"}}
           {"request":{"path":"/v1/completions"},"response":{"text":"x"}}"#,
    );
    let asked =
        |content: &str, seed: u64| json!({"messages": [{"content": content}], "seed": seed});
    let table = [
        ("b/w.oslo", 0, asked("Hello", 7), "x"),
        (
            "b/w.oslo",
            0,
            asked("Bye", 7),
            "rejected: r.jsonl: the answer to case `b/w.oslo`, turn 0 (counted from 0), POST /v1/chat/completions (line 1) \
             is to another request: `body.messages[0].content` is \"Bye\", and \"Hello\" is recorded",
        ),
        (
            "b/w.oslo",
            0,
            json!({"messages": [], "seed": 7}),
            "rejected: r.jsonl: the answer to case `b/w.oslo`, turn 0 (counted from 0), POST /v1/chat/completions (line 1) \
             is to another request: `body.messages` has 0 entries, and 1 are recorded",
        ),
        (
            "b/w.oslo",
            1,
            asked("Hello", 7),
            "rejected: r.jsonl: no answer to case `b/w.oslo`, turn 1 (counted from 0), POST /v1/chat/completions; \
             there is line 1 (case `oslo`, turn 0); line 2 (any case, /v1/completions)",
        ),
    ];
    for (case, turn, body, expected) in table {
        let received = ask(&recorded, case, turn, body).await;
        assert_eq!(word(&received), expected);
        assert_eq!(received.wire.response.is_some(), expected == "x");
    }
}

#[tokio::test]
async fn calls_beside_the_chat_are_granted_only_where_they_are_recorded() {
    let recorded = recorded(
        r#"{"response":{"text":"a chat"}}
           {"request":{"path":"/tokenize","body":{"prompt":"a"}},"response":{"body":{"tokens":[1]}}}
           {"case":"oslo","request":{"method":"GET","path":"/props"},"response":{"body":{"n":1}}}"#,
    );
    let call = |path: &str, body: Option<Value>, origin| Call {
        purpose: "prompt ids",
        body,
        path: path.to_owned(),
        timeout: None,
        origin,
    };
    let table = [
        (call("/tokenize", Some(json!({"prompt": "a", "x": 1})), Some(("a/b.c", 0))), 200),
        (call("/tokenize", Some(json!({"prompt": "b"})), Some(("a/b.c", 0))), 422),
        (call("/tokenize", None, None), 422),
        (call("/props", None, None), 200),
        (call("/props", None, Some(("a/b.oslo", 3))), 200),
        (call("/props", None, Some(("a/b.c", 0))), 422),
        (call("/metrics", None, None), 404),
        (call("/v1/chat/completions", Some(json!({})), None), 404),
    ];
    for (call, status) in table {
        let shown = format!("{call:?}");
        let received = recorded.call(call).await;
        assert_eq!((received.status, received.broke.is_none()), (status, true), "{shown}");
    }
}

#[tokio::test]
async fn every_kind_of_body_becomes_its_bytes_or_its_events() {
    let recorded = recorded(
        r#"{"case":"json","response":{"body":{"b": 1, "a": 1.50}}}
           {"case":"typed","response":{"status":418,"headers":{"Content-Type":"Application/Problem+JSON; q=1"},"body":{}}}
           {"case":"text","response":{"text":"{\"cut"}}
           {"case":"sse","response":{"sse":[[1.5,"event: x"],[2.5,"data: a"],[2.5,"data: b"],[3.0,""],[4.0,"data: [DONE]"],[4.0,""]]}}
           {"case":"short","response":{"sse":["data: a","data: [DONE]"]}}
           {"case":"bytes","response":{"chunks_base64":["ZGF0YTogw6", "kKCg=="]}}
           {"case":"none","response":{"status":204}}"#
            .replace(r#""ZGF0YTogw6", "kKCg==""#, r#""ZGF0YTogww==", "qQoK""#)
            .as_str(),
    );
    let table: [(&str, u16, &str, &str, Events); 7] = [
        ("json", 200, "application/json", r#"{"b": 1, "a": 1.50}"#, &[]),
        ("typed", 418, "application/problem+json", "{}", &[]),
        ("text", 200, "text/plain", "{\"cut", &[]),
        ("sse", 200, "text/event-stream", "", &[(3.0, "x", "a\nb"), (4.0, "", "[DONE]")]),
        ("short", 200, "text/event-stream", "", &[(0.0, "", "a"), (0.0, "", "[DONE]")]),
        ("bytes", 200, "text/event-stream", "", &[(0.0, "", "é")]),
        ("none", 204, "", "", &[]),
    ];
    for (case, status, kind, body, events) in table {
        let received = ask(&recorded, &format!("a/b.{case}"), 0, json!({})).await;
        assert_eq!((received.status, received.content_type.as_str()), (status, kind), "{case}");
        assert_eq!(String::from_utf8(received.body).unwrap(), body, "{case}");
        let got = received.events.iter().map(|e| (e.at_ms, e.name.as_str(), e.data.as_str()));
        assert_eq!(got.collect::<Vec<_>>(), events, "{case}");
        assert_eq!((received.faults, received.broke), (Vec::<String>::new(), None), "{case}");
        assert_eq!(received.wire.attempts.len(), 1);
    }
}

#[test]
fn a_line_at_fault_is_named_with_the_fix() {
    let table = [
        ("", "r.jsonl: the recording holds no answer; write one on each line"),
        ("{\"recording\":1}", "r.jsonl: the recording holds no answer"),
        (
            "\n{\"case\":",
            "r.jsonl:2: this is no JSON object: EOF while parsing a value at column 8; write one object",
        ),
        ("[]", "r.jsonl:1: this is no JSON object: invalid type"),
        ("{\"recording\":2}", "r.jsonl:1: version 2 is not known; write 1"),
        (
            "{\"recording\":1,\"modell\":\"m\"}",
            "r.jsonl:1: the first line has no field `modell`: did you mean `model`?",
        ),
        (
            "{\"fault\":\"cut\"}\n{\"recording\":1}",
            "r.jsonl:2: `recording` begins a recording; move this line to the top",
        ),
        (
            "{\"responce\":{}}",
            "r.jsonl:1: an answer has no field `responce`: did you mean `response`?",
        ),
        (
            "{\"case\":\"a\"}",
            "r.jsonl:1: there is no `response`; add one, or a `fault`: cut or stall",
        ),
        ("{\"turn\":0,\"response\":{}}", "r.jsonl:1: `turn` counts in a case; add the `case`"),
        (
            "{\"case\":\"a\",\"turn\":-1,\"response\":{}}",
            "r.jsonl:1: invalid value: integer `-1`, expected usize",
        ),
        ("{\"case\":7,\"response\":{}}", "r.jsonl:1: invalid type: integer `7`, expected a string"),
        ("{\"response\":[]}", "r.jsonl:1: `response` is no object; it has status, headers, body"),
        (
            "{\"response\":{\"stauts\":1}}",
            "r.jsonl:1: `response` has no field `stauts`: did you mean `status`?",
        ),
        (
            "{\"response\":{\"status\":\"200\"}}",
            "r.jsonl:1: `response`: invalid type: string \"200\", expected u16",
        ),
        (
            "{\"response\":{\"body\":1,\"sse\":[]}}",
            "r.jsonl:1: `response` has several bodies; keep one of body, text, sse, chunks_base64",
        ),
        (
            "{\"response\":{\"sse\":[1]}}",
            "r.jsonl:1: `response`: data did not match any variant of untagged enum Line",
        ),
        (
            "{\"response\":{\"sse\":[\"data: a\\n\"]}}",
            "r.jsonl:1: a line of `sse` holds a line break: \"data: a\\n\"; make two lines of it",
        ),
        (
            "{\"response\":{\"chunks_base64\":[\"YQ==\",\"%\"]}}",
            "r.jsonl:1: chunk 2 of `chunks_base64` is no base64",
        ),
        (
            "{\"request\":{\"url\":\"x\"},\"response\":{}}",
            "r.jsonl:1: `request` has no field `url`",
        ),
        (
            "{\"response\":{},\"fault\":\"stal\"}",
            "r.jsonl:1: unknown fault `stal`: did you mean `stall`?",
        ),
    ];
    for (text, expected) in table {
        let message = recording::read(Path::new(FILE), text).unwrap_err();
        assert!(message.starts_with(expected), "{text}\n{message}\n{expected}");
    }
}

#[tokio::test]
async fn the_recordings_of_the_repository_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let open = |file: &str| {
        let path = root.join(file);
        let recording = recording::read(&path, &read(&path).unwrap()).unwrap();
        assert_eq!(recording.head.model.as_deref(), Some("tiny-chat"));
        Recorded::new(&path, recording.head.url, recording.entries)
    };
    let split = open("fixtures/recordings/split-delimiter.jsonl");
    let oslo = "tool_call/weather.oslo";
    let received = ask(&split, oslo, 0, json!({"stream": true})).await;
    let pieces: Vec<Value> = received.events[1..7]
        .iter()
        .map(|event| serde_json::from_str::<Value>(&event.data).unwrap())
        .map(|chunk| chunk["choices"][0]["delta"]["content"].clone())
        .collect();
    assert_eq!(pieces[..2], ["<tool", "_call>"]);
    assert_eq!((received.events.len(), received.events[8].at_ms), (10, 20.6));
    let whole = ask(&split, oslo, 0, json!({"stream": false})).await.json().unwrap();
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");

    let cut = open("fixtures/recordings/cut-stream.jsonl");
    let received = ask(&cut, "streaming/plain.cut", 0, json!({"stream": true})).await;
    assert_eq!(word(&received), "incomplete: the recording cuts the answer (line 3)");
    assert_eq!(received.events.len(), 3);
    let received = ask(&cut, "streaming/plain.stall", 0, json!({"stream": true})).await;
    let stalled = "timeout: the recording stalls (line 4): no complete answer within 500 ms";
    assert_eq!((word(&received).as_str(), received.events.len()), (stalled, 1));
    let received = ask(&cut, "streaming/plain.silent", 0, json!({})).await;
    assert_eq!((received.status, received.wire.response.is_none()), (0, true));

    let error = open("fixtures/recordings/error-in-stream.jsonl");
    let received = ask(&error, "streaming/plain.error", 0, json!({"stream": true})).await;
    assert!(received.is_success() && received.events[2].data.contains("CUDA out of memory"));

    let incident = open("examples/recordings/incident.jsonl");
    assert_eq!(ask(&incident, oslo, 0, json!({})).await.status, 200);
    let hello = json!({"messages": [{"role": "user", "content": "Hello"}]});
    assert_eq!(ask(&incident, "stopping/hello.hello", 0, hello).await.status, 503);
}

/// The time, the name and the data of each event.
type Events = &'static [(f64, &'static str, &'static str)];
