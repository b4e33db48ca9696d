//! Answers of real servers, read by the assembly and by an independent reader.

use std::fs;

use base64::Engine;
use evalsuite::backend::BackendError;
use evalsuite::backend::remote::assemble;
use evalsuite::backend::remote::dialect::{self, Dialect, Quirks};
use evalsuite::backend::remote::reply::{Choice, NoReply, Reply};
use evalsuite::backend::remote::sse::Event;
use evalsuite::backend::remote::transport::Received;
use evalsuite::capture::{WireCall, WireResponse};
use serde_json::{Value, json};

use crate::support::root;

mod leaves;

const SERVERS: [&str; 7] = [
    "llamacpp",
    "llamacpp-jsontools",
    "llamacpp-startup-auth",
    "llm-katan-echo",
    "transformers-serve",
    "vllm-cpu",
    "vllm-cpu-fp32",
];

struct Recorded {
    server: &'static str,
    case: String,
    received: Received,
}

fn lines(file: &str) -> Vec<String> {
    let path = root().join("fixtures/transcripts").join(file);
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn recorded() -> Vec<Recorded> {
    let calls = |server: &'static str| {
        let read = move |line: &String| recording(server, line);
        lines(&format!("{server}.jsonl")).iter().map(read).collect::<Vec<_>>()
    };
    SERVERS.into_iter().flat_map(calls).collect()
}

fn recording(server: &'static str, line: &str) -> Recorded {
    let wire: WireCall = serde_json::from_str(line).unwrap();
    let value: Value = serde_json::from_str(line).unwrap();
    let response = wire.response.clone().unwrap();
    let kind = response.headers.get("content-type").map_or("", String::as_str);
    let content_type = kind.split(';').next().unwrap().trim().to_lowercase();
    let bytes = body(&response);
    let stream = content_type == "text/event-stream";
    let received = Received {
        status: response.status,
        events: if stream { events(&bytes) } else { Vec::new() },
        body: if stream { Vec::new() } else { bytes },
        faults: Vec::new(),
        broke: (value["fault"] == "cut")
            .then(|| BackendError::Incomplete("the connection was closed".to_owned())),
        wire,
        content_type,
    };
    Recorded { server, case: value["case"].as_str().unwrap().to_owned(), received }
}

fn body(response: &WireResponse) -> Vec<u8> {
    if let Some(body) = &response.body {
        return body.get().as_bytes().to_vec();
    }
    if let Some(lines) = &response.sse {
        return lines.iter().map(|line| format!("{}\n", line.text())).collect::<String>().into();
    }
    if let Some(chunks) = &response.chunks_base64 {
        let decode = |chunk| base64::prelude::BASE64_STANDARD.decode(chunk).unwrap();
        return chunks.iter().flat_map(decode).collect();
    }
    response.text.clone().unwrap_or_default().into_bytes()
}

/// The events of a stream whose events have one line of data.
fn events(bytes: &[u8]) -> Vec<Event> {
    let mut events = vec![];
    let mut event = Event::default();
    for line in std::str::from_utf8(bytes).unwrap().lines() {
        match line.split_once(": ") {
            Some(("data", data)) => event.data = data.to_owned(),
            Some(("event", name)) => event.name = name.to_owned(),
            _ if line.is_empty() => events.push(std::mem::take(&mut event)),
            _ => panic!("a line that no server sent: {line}"),
        }
    }
    events
}

/// A dialect with what the server's streams do.
fn dialect_of(server: &str) -> Dialect {
    let openai = dialect::by_name("openai").unwrap();
    let quirks = Quirks {
        no_done: server == "transformers-serve",
        usage_unasked: matches!(server, "transformers-serve" | "llm-katan-echo"),
        ..Quirks::default()
    };
    Dialect { quirks, ..*openai }
}

fn read(recorded: &Recorded) -> Result<Reply, NoReply> {
    assemble::chat(&dialect_of(recorded.server), &recorded.received)
}

/// The reply in the form of `expected.jsonl`.
fn found(reply: &Reply) -> Value {
    json!({
        "outcome": "reply",
        "id": reply.id,
        "model": reply.model,
        "fingerprint": reply.fingerprint,
        "usage": reply.usage.map(|usage| [usage.prompt_tokens, usage.completion_tokens]),
        "prompt_ids": reply.prompt_ids,
        "prompt_text": reply.prompt_text,
        "choices": reply.choices.iter().map(found_choice).collect::<Vec<_>>(),
    })
}

fn found_choice(choice: &Choice) -> Value {
    let calls = choice.tool_calls.iter().map(|call| [&call.id, &call.name, &call.arguments]);
    let tops: usize = choice.logprobs.iter().map(|entry| entry.top.len()).sum();
    let logprobs = choice.logprobs.iter().map(|entry| f64::from(entry.logprob));
    json!({
        "index": choice.index,
        "text": choice.content,
        "reasoning": choice.reasoning,
        "calls": calls.collect::<Vec<_>>(),
        "finish": choice.finish_reason,
        "stop": choice.stop_reason,
        "ids": choice.token_ids,
        "logprobs": [
            choice.logprobs.len(),
            tops,
            // An echoed prompt's first token has none.
            logprobs.filter(|logprob| !logprob.is_nan()).sum::<f64>(),
        ],
    })
}

/// Takes out the sums, which are rounded in one of the two.
fn sums(value: &mut Value) -> Vec<f64> {
    let choices = value["choices"].as_array_mut().into_iter().flatten();
    choices.map(|choice| choice["logprobs"][2].take().as_f64().unwrap()).collect()
}

#[test]
fn every_exchange_is_read_as_the_independent_reader_reads_it() {
    let recorded = recorded();
    let expected = lines("expected.jsonl");
    assert_eq!(expected.len(), 246);
    for line in expected {
        let mut expected: Value = serde_json::from_str(&line).unwrap();
        let object = expected.as_object_mut().unwrap();
        let server = object.shift_remove("server").unwrap();
        let case = object.shift_remove("case").unwrap();
        let name = format!("{server} {case}");
        let call = recorded.iter().find(|call| server == call.server && case == *call.case);
        match read(call.unwrap()) {
            Ok(reply) => {
                let mut found = found(&reply);
                for (a, b) in sums(&mut found).into_iter().zip(sums(&mut expected)) {
                    assert!((a - b).abs() < 1e-4, "{name}: {a} {b}");
                }
                assert_eq!(found, expected, "{name}");
            }
            Err(NoReply::Refused(error)) => {
                assert_eq!("refused", expected["outcome"], "{name}: {error:?}");
                assert_eq!(error.message, expected["message"], "{name}");
                assert_eq!(error.status, expected["status"], "{name}");
                assert_eq!(json!(error.kind), expected["kind"], "{name}");
            }
            Err(NoReply::Incomplete(message)) => {
                assert_eq!("incomplete", expected["outcome"], "{name}: {message}");
                assert!(message.contains(expected["message"].as_str().unwrap()), "{message}");
            }
            Err(NoReply::Malformed(message)) => panic!("{name}: {message}"),
        }
    }
}

#[test]
fn other_routes_are_no_replies() {
    let replies = ["/v1/chat/completions", "/v1/completions"];
    let mut others = 0;
    for call in recorded() {
        if !replies.contains(&call.received.wire.request.path.as_str()) {
            others += 1;
            read(&call).expect_err(&call.case);
        }
    }
    assert_eq!(others, 53);
}

/// What servers really do against the rules.
#[rustfmt::skip]
const FAULTS: &[(&str, &str, &[&str])] = &[
];

#[test]
fn only_real_faults_are_found() {
    let mut wrong = Vec::new();
    for call in recorded() {
        let Ok(reply) = read(&call) else { continue };
        let known =
            FAULTS.iter().find(|(server, case, _)| *server == call.server && *case == call.case);
        let known = known.map_or(&[][..], |(_, _, faults)| faults);
        if reply.faults != known {
            wrong.push(format!("{} {}: {:#?}", call.server, call.case, reply.faults));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
