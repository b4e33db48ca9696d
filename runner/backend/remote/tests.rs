//! Requests to a server that answers from a table.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::transport::{Call, Received, Receiving};
use super::*;
use crate::assertion::sample;
use crate::capture::{Observed, Termination, WireCall, WireRequest, WireResponse};
use crate::request::Role;

const KEY: &str = "sk-secret-key";

type Answers = fn(&str, Option<&Value>) -> (u16, Value);

/// Answers with what the table says, and keeps what it was asked.
struct Table {
    answers: Answers,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Transport for Table {
    fn call<'a>(&'a self, call: Call<'a>) -> Receiving<'a> {
        let (status, answer) = (self.answers)(&call.path, call.body.as_ref());
        let body = call.body.clone().unwrap_or(Value::Null);
        self.asked.lock().unwrap().push((call.path.clone(), body.clone()));
        let raw = |value: &Value| Some(serde_json::value::to_raw_value(value).unwrap());
        let wire = WireCall {
            purpose: call.purpose.to_owned(),
            request: WireRequest {
                method: "POST".to_owned(),
                path: call.path.clone(),
                body: raw(&body),
            },
            response: Some(WireResponse {
                status,
                headers: BTreeMap::new(),
                body: raw(&answer),
                text: None,
                sse: None,
                chunks_base64: None,
                cut_bytes: None,
            }),
            attempts: Vec::new(),
            broke: None,
        };
        let received = Received {
            wire,
            status,
            content_type: "application/json".to_owned(),
            body: answer.to_string().into_bytes(),
            events: Vec::new(),
            faults: Vec::new(),
            broke: None,
        };
        Box::pin(async move { received })
    }

    fn address(&self) -> &str {
        "http://table"
    }

    fn scrub(&self, text: String) -> String {
        text.replace(KEY, "[redacted]")
    }
}

fn missing() -> (u16, Value) {
    (404, json!({"error": {"message": "no such route"}}))
}

fn reply(content: &str, more: Value, usage: Value) -> Value {
    let mut choice = json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}});
    choice.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})
}

fn wait<T>(answer: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(answer)
}

/// The exchanges of these requests with such a server, and what it was asked.
fn ask(
    dialect: &str,
    answers: Answers,
    requests: &[Request],
) -> (Vec<Exchange>, Vec<(String, Value)>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let table = Box::new(Table { answers, asked: Arc::clone(&asked) });
    let remote = wait(over(table, "m", dialect, None)).unwrap();
    let exchange = |request: &Request| {
        let ask = Ask { request, case: "stopping/a.b", turn: 0 };
        wait(remote.exchange(ask)).map_err(|failed| failed.error).unwrap()
    };
    let exchanges = requests.iter().map(exchange).collect();
    let asked = asked.lock().unwrap().clone();
    (exchanges, asked)
}

fn request() -> Request {
    sample::request(&[(Role::User, "hi")])
}

#[test]
fn a_key_that_only_tokens_spell_is_kept_nowhere() {
    let answers: Answers = |path, _| match path {
        "/v1/chat/completions" => {
            let token = |text: &str, id: u32| json!({"token": text, "id": id, "logprob": -0.1, "bytes": text.as_bytes(), "top_logprobs": []});
            let logprobs = json!({"content": [token("sk-secret", 1), token("-key", 2)]});
            let more = json!({"logprobs": logprobs, "token_ids": [1, 2]});
            let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
            (200, reply("fine", more, usage))
        }
        _ => missing(),
    };
    let (exchanges, _) = ask("vllm", answers, &[request()]);
    let kept = serde_json::to_string(&exchanges).unwrap();
    assert!(!kept.contains("sk-secret") && !kept.contains("-key"), "{kept}");
    assert!(exchanges[0].output_tokens().unwrap_err().contains("redacted"));
    assert_eq!(exchanges[0].response.seen().unwrap().content.as_deref(), Some("fine"));
}

#[test]
fn a_field_that_is_refused_in_one_kind_of_request_is_still_sent_in_others() {
    let answers: Answers = |path, body| match (path, body) {
        ("/v1/chat/completions", Some(body)) => {
            if body.get("tools").is_some() && body.get("logprobs").is_some() {
                let message = "logprobs is not supported with tools";
                return (400, json!({"error": {"message": message}}));
            }
            let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
            (200, reply("fine", json!({}), usage))
        }
        _ => missing(),
    };
    let mut tools = request();
    tools.tools = vec![json!({"type": "function", "function": {"name": "f"}})];
    let (exchanges, asked) = ask("openai", answers, &[tools.clone(), request(), tools]);
    let chats = asked.iter().filter(|(path, _)| path == "/v1/chat/completions");
    let sent: Vec<bool> = chats.map(|(_, body)| body.get("logprobs").is_some()).collect();
    assert_eq!(sent, [true, false, true, false]);
    let settings = exchanges[0].settings.seen().unwrap();
    let dropped = settings.iter().find(|setting| setting.name == "logprobs").unwrap();
    assert!(dropped.resolved.seen().unwrap_err().contains("not supported with tools"));
    assert!(exchanges[1].settings.seen().unwrap().iter().all(|setting| setting.name != "logprobs"));
}

#[test]
fn counts_beyond_all_bounds_are_counts() {
    let answers: Answers = |path, _| match path {
        "/v1/chat/completions" => {
            let usage = json!({"prompt_tokens": u64::MAX, "completion_tokens": u64::MAX});
            (200, reply("fine", json!({}), usage))
        }
        "/v1/models" => (200, json!({"data": [{"id": "m", "max_model_len": 100}]})),
        _ => missing(),
    };
    let (exchanges, _) = ask("vllm", answers, &[request()]);
    assert_eq!(exchanges[0].generation.seen().unwrap().termination, Termination::LengthContext);
}

#[test]
fn a_route_that_counts_otherwise_than_the_reply_shows_no_prompt() {
    let answers: Answers = |path, _| match path {
        "/v1/chat/completions" => {
            let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
            (200, reply("fine", json!({}), usage))
        }
        "/tokenize" => (200, json!({"tokens": []})),
        _ => missing(),
    };
    let (exchanges, _) = ask("sglang", answers, &[request()]);
    let input = exchanges[0].input.seen().unwrap();
    assert_eq!((input.count, input.rung.as_str()), (Some(3), "count only"));
    assert!(matches!(input.tokens, Observed::Hidden(_)));
}

#[test]
fn what_a_server_returns_is_seen_and_the_rest_has_a_reason() {
    let answers: Answers = |path, _| match path {
        "/v1/chat/completions" => {
            let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
            let mut reply = reply("fine", json!({"token_ids": [7, 2], "stop_reason": null}), usage);
            reply["prompt_token_ids"] = json!([4, 5, 6]);
            (200, reply)
        }
        _ => missing(),
    };
    let (exchanges, asked) = ask("vllm", answers, &[request(), request()]);
    let exchange = &exchanges[0];
    assert_eq!(exchange.input.seen().unwrap().ids().unwrap(), [4, 5, 6]);
    assert_eq!(exchange.input.seen().unwrap().rung, "returned with the reply");
    let generation = exchange.generation.seen().unwrap();
    assert_eq!(generation.ids().unwrap(), [7, 2]);
    assert_eq!(generation.termination, Termination::Eos(2));
    assert!(exchange.raw_text().unwrap_err().contains("tokenizer"));
    // A route that is not granted is asked once.
    let renders = asked.iter().filter(|(path, _)| path.ends_with("/render")).count();
    assert_eq!(renders, 1);
}

#[test]
fn a_model_that_the_server_does_not_list_is_named_so() {
    let answers: Answers = |path, _| match path {
        "/v1/models" => (200, json!({"data": [{"id": "other"}]})),
        _ => missing(),
    };
    let table = Box::new(Table { answers, asked: Arc::default() });
    let remote = wait(over(table, "m", "openai", None)).unwrap();
    assert_eq!(remote.identity()[0].1, "m, not among those that the server lists: other");
}
