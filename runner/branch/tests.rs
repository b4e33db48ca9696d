//! Every rule: an exchange that breaks it, a clean twin that keeps it, a hidden boundary.

use serde_json::json;

use super::*;
use crate::assertion::sample::{
    calling, edit_generation, edit_response, good, hidden, request, streamed,
};
use crate::capture::{Observed, Termination};
use crate::finding::Status;
use crate::request::Role;

fn rule(name: &str) -> Rule {
    let mut rules = Branch::ALL.iter().flat_map(|branch| branch.info().rules);
    *rules.find(|rule| rule.name == name).unwrap()
}

/// The status of the rule's outcome, or `None` where it has nothing to say.
fn status(name: &str, exchange: &Exchange) -> Option<Status> {
    (rule(name).judge)(exchange).map(|outcome| outcome.status)
}

fn prompted(prompt: &str, messages: &[(Role, &str)]) -> Exchange {
    let mut exchange = good();
    exchange.request = request(messages);
    if let Observed::Seen(input) = &mut exchange.input {
        input.prompt = Observed::Seen(prompt.to_owned());
    }
    exchange
}

#[test]
fn names_are_unique_and_every_rule_sees_a_hidden_boundary() {
    let mut names = Vec::new();
    for branch in Branch::ALL {
        for rule in branch.info().rules {
            assert!(!names.contains(&rule.name), "{} is there twice", rule.name);
            names.push(rule.name);
            let mut exchange = hidden();
            exchange.request.stream = true;
            exchange.request.tools = vec![json!({"function": {"name": "f"}})];
            let outcome = (rule.judge)(&exchange);
            let status = outcome.map(|outcome| outcome.status);
            let silent = rule.name == "finish_agrees" && status.is_none();
            assert!(silent || status == Some(Status::NotEvaluated), "{}", rule.name);
        }
    }
}

#[test]
fn history_in_prompt_misses_a_dropped_message() {
    let messages = [(Role::System, "Be brief."), (Role::User, " one "), (Role::User, "two")];
    let whole = prompted("S Be brief. U one U two", &messages);
    assert_eq!(status("history_in_prompt", &whole), Some(Status::Pass));
    let dropped = prompted("U one U two", &messages);
    let outcome = (rule("history_in_prompt").judge)(&dropped).unwrap();
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("message 1")));
    let swapped = prompted("S Be brief. U two U one", &messages);
    assert_eq!(status("history_in_prompt", &swapped), Some(Status::Fail));
}

#[test]
fn tools_in_prompt_misses_a_tool() {
    let offered = |prompt: &str| {
        let mut exchange = prompted(prompt, &[(Role::User, "hi")]);
        exchange.request.tools = vec![json!({"function": {"name": "get_time"}})];
        exchange
    };
    assert_eq!(status("tools_in_prompt", &offered("get_time hi")), Some(Status::Pass));
    assert_eq!(status("tools_in_prompt", &offered("hi")), Some(Status::Fail));
    let mut none = offered("hi");
    none.request.tool_choice = Some(json!("none"));
    assert_eq!(status("tools_in_prompt", &none), None);
}

#[test]
fn calls_are_declared_refuses_strangers_and_broken_arguments() {
    let judged = |name: &str, arguments: &str| {
        let mut exchange = calling(&[(name, arguments)]);
        exchange.request.tools = vec![json!({"function": {"name": "get_time"}})];
        status("calls_are_declared", &exchange)
    };
    assert_eq!(judged("get_time", "{\"city\": \"Lima\"}"), Some(Status::Pass));
    assert_eq!(judged("get_tim", "{}"), Some(Status::Fail));
    assert_eq!(judged("get_time", "{\"city\": \"Lim"), Some(Status::Fail));
    assert_eq!(judged("get_time", "[1]"), Some(Status::Fail));
    assert_eq!(status("calls_are_declared", &good()), None);
}

#[test]
fn arrives_in_pieces_misses_a_stream_that_is_none() {
    assert_eq!(status("arrives_in_pieces", &streamed()), Some(Status::Pass));
    assert_eq!(status("arrives_in_pieces", &good()), None);
    let mut whole = good();
    whole.request.stream = true;
    assert_eq!(status("arrives_in_pieces", &whole), Some(Status::Fail));
    let mut lump = streamed();
    edit_response(&mut lump, |response| {
        if let Some(usage) = &mut response.usage {
            usage.completion_tokens = 9;
        }
        let deltas = response.stream.as_mut().unwrap();
        deltas.remove(2);
    });
    assert_eq!(status("arrives_in_pieces", &lump), Some(Status::Fail));
    // Whoever counts nothing is not let off.
    let mut uncounted = lump.clone();
    uncounted.response.edit().usage = None;
    uncounted.generation = Observed::Hidden("no ids".to_owned());
    assert_eq!(status("arrives_in_pieces", &uncounted), Some(Status::Fail));
}

#[test]
fn prompt_is_whole_misses_a_cut() {
    let messages = [(Role::User, "first to last")];
    assert_eq!(
        status("prompt_is_whole", &prompted("U first to last A", &messages)),
        Some(Status::Pass)
    );
    assert_eq!(status("prompt_is_whole", &prompted("U to last A", &messages)), Some(Status::Fail));
}

#[test]
fn finish_agrees_with_why_it_ended() {
    let judged = |termination: Termination, word: &str| {
        let mut exchange = good();
        edit_generation(&mut exchange, |generation| generation.termination = termination);
        edit_response(&mut exchange, |response| response.finish_reason = Some(word.to_owned()));
        status("finish_agrees", &exchange)
    };
    assert_eq!(judged(Termination::Eos(2), "stop"), Some(Status::Pass));
    assert_eq!(judged(Termination::Eos(2), "length"), Some(Status::Fail));
    assert_eq!(judged(Termination::LengthMaxTokens, "length"), Some(Status::Pass));
    assert_eq!(judged(Termination::LengthMaxTokens, "stop"), Some(Status::Fail));
    assert_eq!(judged(Termination::LengthContext, "tool_calls"), Some(Status::Fail));
    assert_eq!(judged(Termination::Aborted("x".to_owned()), "stop"), None);
}
