use super::*;
use crate::assertion::sample::{capture, edit_generation, edit_response, good, hidden, read};
use crate::branch::Branch;
use crate::capture::{Observed, Termination};
use crate::finding::Location;
use crate::plan::{Say, sample};

fn entry(yaml: &str) -> Expectation {
    Expectation { assertion: read(yaml).unwrap(), location: Location::default() }
}

/// A case of one turn with these case-level expectations.
fn case(expect: &[&str]) -> Case {
    let mut case = sample::case(Branch::Stopping, vec![(Say::User("hello".to_owned()), true)]);
    case.expect = expect.iter().map(|yaml| entry(yaml)).collect();
    case
}

fn verdict(case: &Case, capture: &Capture) -> CaseReport {
    judge(case, capture, None, Vec::new(), String::new())
}

fn snapshot(boundary: Boundary, outcome: Outcome) -> Finding {
    let name = format!("snapshot:{boundary}");
    Finding::new(name, Kind::Snapshot, boundary, outcome, &Location::default())
}

#[test]
fn the_first_boundary_is_blamed_and_the_rest_is_not_comparable() {
    let case = case(&["settings: { temperature: 1 }", "content: other", "termination: eos"]);
    let report = verdict(&case, &capture(vec![good()]));
    assert_eq!(report.status, CaseStatus::Failed);
    assert_eq!(report.boundary, Some(Boundary::Settings));
    let states: Vec<_> = report.boundaries.values().map(|state| state.name()).collect();
    assert_eq!(
        states,
        ["not_exercised", "changed", "not_comparable", "not_comparable", "not_exercised"]
    );
}

#[test]
fn what_holds_is_held() {
    let report = verdict(&case(&["finish_reason: stop"]), &capture(vec![good()]));
    assert_eq!((report.status, report.boundary), (CaseStatus::Passed, None));
    assert_eq!(report.boundaries[&Boundary::Response], BoundaryStatus::Held);
    assert_eq!(report.boundaries[&Boundary::Input], BoundaryStatus::NotExercised);
    assert!(report.ladder.is_empty());
}

#[test]
fn unseen_is_never_a_pass() {
    let report = verdict(&case(&["finish_reason: stop"]), &capture(vec![hidden()]));
    assert_eq!(report.status, CaseStatus::NotEvaluated);
    assert_eq!(report.boundaries[&Boundary::Response], BoundaryStatus::Hidden);
    assert!(report.reason.unwrap().contains("the server shows no ids"));
}

#[test]
fn a_failure_outranks_what_was_not_seen() {
    let mut exchange = good();
    exchange.input = Observed::Hidden("no prompt".to_owned());
    let report =
        verdict(&case(&["prompt: { contains: x }", "content: other"]), &capture(vec![exchange]));
    assert_eq!(report.status, CaseStatus::Failed);
    assert_eq!(report.boundary, Some(Boundary::Response));
    assert_eq!(report.boundaries[&Boundary::Input], BoundaryStatus::Hidden);
}

#[test]
fn a_broken_exchange_is_an_error_and_nothing_is_evaluated_on_it() {
    let mut capture = capture(Vec::new());
    let message = "the prompt has 3000 tokens".to_owned();
    capture.runs[0].error =
        Some(Failure { kind: "rejected".to_owned(), turn: 0, message, wire: Vec::new() });
    let report = verdict(&case(&["content: { not_contains: x }"]), &capture);
    assert_eq!(report.status, CaseStatus::Errored);
    assert!(report.findings.iter().all(|f| f.outcome.status == Status::NotEvaluated));
    assert!(report.reason.unwrap().contains("3000"));
}

#[test]
fn a_tool_that_was_not_called_is_the_models_fault() {
    let mut capture = capture(vec![good()]);
    let message = "`f` has a result here, but no reply called it".to_owned();
    capture.runs[0].error =
        Some(Failure { kind: NO_CALL.to_owned(), turn: 1, message, wire: Vec::new() });
    let report = verdict(&case(&["content: x"]), &capture);
    assert_eq!(report.status, CaseStatus::Failed);
    assert_eq!(report.boundary, Some(Boundary::Response));
}

#[test]
fn the_worst_run_is_reported_with_its_number() {
    let mut capture = capture(vec![good()]);
    let mut second = capture.runs[0].clone();
    edit_response(&mut second.exchanges[0], |response| response.finish_reason = None);
    capture.runs.push(second);
    let report = verdict(&case(&["finish_reason: stop"]), &capture);
    let finding = report.findings.iter().find(|f| f.name == "finish_reason").unwrap();
    assert_eq!((finding.outcome.status, finding.run), (Status::Fail, Some(2)));
}

#[test]
fn a_known_failure_fails_until_it_is_fixed() {
    let mut case = case(&["content: other"]);
    case.known_failure = Some("it says hello".to_owned());
    let report = verdict(&case, &capture(vec![good()]));
    assert_eq!(report.status, CaseStatus::KnownFailure);
    case.expect.clear();
    let report = verdict(&case, &capture(vec![good()]));
    assert_eq!(report.status, CaseStatus::Fixed);
    assert_eq!(report.reason.as_deref(), Some("it says hello"));
}

#[test]
fn a_new_snapshot_fails_without_blaming_a_boundary() {
    let new = snapshot(Boundary::Input, Outcome::fail(crate::finding::NEW_SNAPSHOT, "none", "new"));
    let report = judge(&case(&[]), &capture(vec![good()]), None, vec![new], String::new());
    assert_eq!((report.status, report.boundary), (CaseStatus::Failed, None));
    assert_eq!(report.boundaries[&Boundary::Input], BoundaryStatus::NotExercised);
}

#[test]
fn a_new_snapshot_is_not_the_known_failure() {
    let mut case = case(&[]);
    case.known_failure = Some("it says hello".to_owned());
    let new = snapshot(Boundary::Input, Outcome::fail(crate::finding::NEW_SNAPSHOT, "none", "new"));
    let report = judge(&case, &capture(vec![good()]), None, vec![new], String::new());
    assert_eq!(report.status, CaseStatus::Failed);
}

#[test]
fn an_allowed_difference_is_a_warning_and_the_next_boundary_is_judged() {
    let mut case = case(&["content: other"]);
    case.allow.insert("input".to_owned(), "the template was rewritten".to_owned());
    let changed = snapshot(Boundary::Input, Outcome::fail("a", "b", "differs"));
    let report = judge(&case, &capture(vec![good()]), None, vec![changed], String::new());
    assert_eq!(report.boundary, Some(Boundary::Response));
    let finding = &report.findings[0];
    assert_eq!(finding.outcome.status, Status::Warn);
    assert!(finding.outcome.message.contains("the template was rewritten"));
}

#[test]
fn the_rules_of_the_branch_are_judged_unasked() {
    let mut exchange = good();
    edit_generation(&mut exchange, |generation| {
        generation.termination = Termination::LengthMaxTokens;
    });
    let report = verdict(&case(&[]), &capture(vec![exchange]));
    assert_eq!(report.status, CaseStatus::Failed);
    assert_eq!(report.findings[0].name, "finish_agrees");
}

#[test]
fn the_form_of_a_servers_reply_is_judged_unasked() {
    let mut exchange = good();
    let none = verdict(&case(&[]), &capture(vec![exchange.clone()]));
    assert!(none.findings.iter().all(|finding| finding.name != FORM.name), "not in process");
    exchange.wire = vec![crate::capture::WireCall {
        purpose: crate::capture::CHAT.to_owned(),
        request: serde_json::from_str(r#"{"path": "/v1/chat/completions"}"#).unwrap(),
        response: None,
        attempts: Vec::new(),
        broke: None,
    }];
    let clean = verdict(&case(&[]), &capture(vec![exchange.clone()]));
    assert_eq!(clean.status, CaseStatus::Passed);
    assert!(clean.findings.iter().any(|finding| finding.name == FORM.name));
    let fault = "the stream ends without [DONE]".to_owned();
    exchange.response.edit().faults = vec![fault.clone()];
    let broken = verdict(&case(&[]), &capture(vec![exchange.clone()]));
    assert_eq!((broken.status, broken.boundary), (CaseStatus::Failed, Some(Boundary::Response)));
    let finding = broken.findings.iter().find(|finding| finding.name == FORM.name).unwrap();
    assert_eq!(finding.outcome.message, fault);
    let mut allowed = case(&[]);
    allowed.allow.insert(FORM.name.to_owned(), "known".to_owned());
    assert_eq!(verdict(&allowed, &capture(vec![exchange])).status, CaseStatus::Passed);
}
