use std::sync::Mutex;

use super::*;
use crate::backend::{Answer, BackendError};
use crate::branch::Branch;
use crate::capture::{Observed, Response};
use crate::plan::sample;

/// Answers with scripted responses and keeps what it was asked.
struct Scripted {
    replies: Mutex<Vec<Result<Response, BackendError>>>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    fn new(mut replies: Vec<Result<Response, BackendError>>) -> Self {
        replies.reverse();
        Scripted { replies: Mutex::new(replies), asked: Mutex::new(Vec::new()) }
    }
}

impl Backend for Scripted {
    fn identity(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn exchange<'a>(&'a self, ask: Ask<'a>) -> Answer<'a> {
        self.asked.lock().unwrap().push(ask.request.clone());
        let reply = self.replies.lock().unwrap().pop().unwrap();
        let hidden = || "scripted".to_owned();
        Box::pin(async move {
            Ok(Exchange {
                turn: 0,
                request: ask.request.clone(),
                input: Observed::Hidden(hidden()),
                settings: Observed::Hidden(hidden()),
                generation: Observed::Hidden(hidden()),
                response: Observed::Seen(reply?),
                wire: Vec::new(),
                elapsed_ms: 0.0,
            })
        })
    }
}

fn says(content: &str) -> Result<Response, BackendError> {
    Ok(Response {
        content: Some(content.to_owned()),
        reasoning: None,
        tool_calls: Vec::new(),
        finish_reason: Some("stop".to_owned()),
        usage: None,
        stream: None,
        faults: Vec::new(),
    })
}

fn calls(names: &[&str]) -> Result<Response, BackendError> {
    let call = |(n, name): (usize, &&str)| ToolCall {
        id: format!("call_{n}"),
        name: (*name).to_owned(),
        arguments: "{}".to_owned(),
    };
    let mut response = says("")?;
    response.content = None;
    response.tool_calls = names.iter().enumerate().map(call).collect();
    Ok(response)
}

fn case(turns: Vec<(Say, bool)>) -> Case {
    let mut case = sample::case(Branch::ToolCall, turns);
    case.system = Some("Be brief.".to_owned());
    case
}

fn user(text: &str) -> (Say, bool) {
    (Say::User(text.to_owned()), true)
}

fn tool(name: &str, content: &str, asks: bool) -> (Say, bool) {
    (Say::Tool { name: name.to_owned(), content: content.to_owned() }, asks)
}

#[tokio::test]
async fn replies_become_history() {
    let backend = Scripted::new(vec![says("one"), says("two")]);
    let run = converse(&case(vec![user("a"), user("b")]), &backend, false, 1, &|_| {}).await;
    assert_eq!(run.error, None);
    assert_eq!(run.exchanges.iter().map(|e| e.turn).collect::<Vec<_>>(), [0, 1]);
    let asked = backend.asked.lock().unwrap();
    let texts: Vec<_> = asked[1].messages.iter().filter_map(|m| m.content.as_deref()).collect();
    assert_eq!(texts, ["Be brief.", "a", "one", "b"]);
}

#[tokio::test]
async fn results_answer_the_calls_of_their_name_in_order() {
    let backend = Scripted::new(vec![calls(&["f", "g", "f"]), says("done")]);
    let turns = vec![user("a"), tool("f", "1", false), tool("f", "2", false), tool("g", "3", true)];
    let run = converse(&case(turns), &backend, false, 1, &|_| {}).await;
    assert_eq!(run.error, None);
    let asked = backend.asked.lock().unwrap();
    let answered: Vec<_> =
        asked[1].messages.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
    assert_eq!(answered, ["call_0", "call_2", "call_1"]);
}

#[tokio::test]
async fn a_result_without_a_call_ends_the_conversation_as_the_models_fault() {
    let backend = Scripted::new(vec![says("I will not call")]);
    let run =
        converse(&case(vec![user("a"), tool("f", "1", true)]), &backend, false, 1, &|_| {}).await;
    let failure = run.error.unwrap();
    assert_eq!((failure.kind.as_str(), failure.turn), (NO_CALL, 1));
    assert_eq!(run.exchanges.len(), 1, "what was answered is kept");
}

#[tokio::test]
async fn a_prefill_and_its_continuation_are_one_message() {
    let backend = Scripted::new(vec![says(" world"), says("x")]);
    let mut turns = vec![(Say::User("a".to_owned()), false)];
    turns.push((Say::Prefill("hello".to_owned()), true));
    turns.push(user("b"));
    converse(&case(turns), &backend, false, 1, &|_| {}).await;
    let asked = backend.asked.lock().unwrap();
    assert!(asked[0].prefill && !asked[1].prefill);
    assert_eq!(asked[0].messages.last().unwrap().content.as_deref(), Some("hello"));
    assert_eq!(asked[1].messages[2].content.as_deref(), Some("hello world"));
}

#[tokio::test]
async fn a_refused_request_ends_the_conversation_and_keeps_what_was_answered() {
    let backend =
        Scripted::new(vec![says("one"), Err(BackendError::Rejected("too long".to_owned()))]);
    let run =
        converse(&case(vec![user("a"), user("b"), user("c")]), &backend, false, 1, &|_| {}).await;
    let failure = run.error.unwrap();
    assert_eq!((failure.kind.as_str(), failure.turn), ("rejected", 1));
    assert_eq!(run.exchanges.len(), 1);
}
