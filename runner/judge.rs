//! From a capture to a verdict: findings, the first boundary that did not hold, the status.
//!
//! Verdicts go top-down. Below the first boundary that changed, differences are consequences: they are
//! listed, and the boundary is `not comparable`.

use std::collections::BTreeMap;

use crate::assertion::{Scope, View};
use crate::branch::Rule;
use crate::branch::form::FORM;
use crate::capture::{Accepted, Boundary, CHAT, Capture, Exchange, Failure, Run, Score, WireCall};
use crate::event::{BoundaryStatus, CaseReport, CaseStatus};
use crate::finding::{Finding, Kind, Outcome, Status};
use crate::ladder;
use crate::plan::{Case, Expectation, SpecScore};
use crate::privacy;

/// The kind of [`Failure`] of a conversation that stopped because the model did not call a tool. The model is
/// at fault, not the harness.
pub const NO_CALL: &str = "no_call";

/// The rule that such a conversation breaks.
pub const TOOL_WAS_CALLED: &str = "tool_was_called";

/// Judges one case. `snapshots` are the findings of its snapshot files, which only the run loop may touch.
pub fn judge(
    case: &Case,
    capture: &Capture,
    accepted: Option<&Accepted>,
    snapshots: Vec<Finding>,
    reproduce: String,
) -> CaseReport {
    let mut findings = rules(case, capture);
    for (n, turn) in case.turns.iter().enumerate() {
        for expectation in &turn.expect {
            findings.push(expect(expectation, capture, accepted, Some(n)));
        }
    }
    for expectation in &case.expect {
        findings.push(expect(expectation, capture, accepted, None));
    }
    findings.extend(snapshots);
    for finding in &mut findings {
        excuse(case, finding);
    }
    findings.sort_by_key(|finding| (finding.is_new_snapshot(), finding.boundary));

    let boundaries = boundaries(&findings);
    let failure =
        capture.runs.iter().filter_map(|run| run.error.as_ref()).find(|f| f.kind != NO_CALL);
    let verdict = status(&findings, failure);
    let (status, reason) = known(case, verdict, failure, &findings);
    let boundary = findings.iter().find(|finding| breaks(finding)).map(|finding| finding.boundary);
    let shown = boundary.is_some() || status == CaseStatus::Errored;
    let steps = match capture.runs.first() {
        Some(run) if shown => ladder::ladder(run, &findings, &boundaries),
        _ => Vec::new(),
    };
    CaseReport {
        id: case.id.clone(),
        branch: case.branch.name().to_owned(),
        target: case.target.clone(),
        status,
        boundary,
        reason,
        findings,
        boundaries,
        attempts: capture.runs.iter().map(attempts).sum(),
        ladder: steps,
        reproduce,
        spec: case.location.clone(),
        elapsed_ms: capture.runs.iter().flat_map(|run| &run.exchanges).map(|e| e.elapsed_ms).sum(),
    }
}

/// How often the requests of a run were sent.
fn attempts(run: &Run) -> usize {
    let sent = |wire: &[WireCall]| {
        let chats = wire.iter().filter(|call| call.purpose == CHAT);
        chats.map(|call| call.attempts.len()).sum::<usize>().max(1)
    };
    let answered: usize = run.exchanges.iter().map(|exchange| sent(&exchange.wire)).sum();
    let failed = run.error.as_ref().filter(|failure| !failure.wire.is_empty());
    answered + failed.map_or(0, |failure| sent(&failure.wire))
}

/// Judges a score over all cases of a spec; `rows` are the reports of those cases.
pub fn judge_spec(
    score: &SpecScore,
    rows: &[Option<Score>],
    reproduce: String,
) -> Option<CaseReport> {
    let outcome = score.expectation.assertion.judge_scores(rows)?;
    let info = score.expectation.assertion.info();
    let spec = &score.expectation.location;
    let finding = Finding::new(info.name, Kind::Assertion, info.boundary, outcome, spec);
    let findings = vec![finding];
    let status = status(&findings, None);
    Some(CaseReport {
        id: format!("{}#score", score.id),
        branch: score.branch.name().to_owned(),
        target: score.target.clone(),
        status,
        boundary: (status == CaseStatus::Failed).then_some(info.boundary),
        reason: None,
        boundaries: boundaries(&findings),
        findings,
        attempts: 0,
        ladder: Vec::new(),
        reproduce,
        spec: score.expectation.location.clone(),
        elapsed_ms: 0.0,
    })
}

/// The score of the first `task_score` of a case, where its reply could be scored.
pub fn scores(case: &Case, run: &Run) -> Vec<Score> {
    let Some((index, exchange)) = run.exchanges.iter().enumerate().next_back() else {
        return Vec::new();
    };
    if run.error.is_some() || privacy::withheld(exchange).is_some() {
        return Vec::new();
    }
    let capture =
        Capture { case: case.id.clone(), runs: Vec::new(), twin: None, scores: Vec::new() };
    let view = View { capture: &capture, run, exchange, index, accepted: None };
    case.expect.iter().filter_map(|entry| entry.assertion.score(&view)).collect()
}

/// What the branch demands by itself, and of a server's reply every branch.
fn rules(case: &Case, capture: &Capture) -> Vec<Finding> {
    let rules = case.branch.info().rules.iter();
    let mut findings: Vec<Finding> =
        rules.filter_map(|rule| worst(case, capture, rule, &capture.runs)).collect();
    findings.extend(missing_call(case, capture));
    // The twin is asked for to be compared with; of itself only its form is judged.
    findings.extend(worst(case, capture, &FORM, capture.runs.iter().chain(&capture.twin)));
    findings
}

/// What a rule says of these conversations: the first exchange that breaks it, or the last that keeps it.
fn worst<'a>(
    case: &Case,
    capture: &Capture,
    rule: &Rule,
    runs: impl IntoIterator<Item = &'a Run>,
) -> Option<Finding> {
    let mut found: Option<Finding> = None;
    for (n, run) in runs.into_iter().enumerate() {
        // The twin comes after the runs and is told under the number of the first.
        let number = number(capture, if n < capture.runs.len() { n } else { 0 });
        for exchange in &run.exchanges {
            let Some(mut outcome) = (rule.judge)(exchange) else { continue };
            if let Some(why) = unreadable(rule.name, rule.boundary, exchange) {
                outcome = Outcome::hidden(rule.summary, why);
            }
            let turn = case.turns.get(exchange.turn).map(|turn| &turn.location);
            let spec = turn.unwrap_or(&case.location);
            let finding = Finding::new(rule.name, Kind::Branch, rule.boundary, outcome, spec)
                .in_reply(exchange.turn + 1, number);
            found = Some(worse(found, finding));
        }
    }
    found
}

/// The finding for a tool result that has no call to answer.
fn missing_call(case: &Case, capture: &Capture) -> Option<Finding> {
    let (n, failure) = capture
        .runs
        .iter()
        .enumerate()
        .find_map(|(n, run)| Some((n, run.error.as_ref().filter(|f| f.kind == NO_CALL)?)))?;
    let spec = case.turns.get(failure.turn).map_or(&case.location, |turn| &turn.location);
    let outcome = Outcome::fail("a call to answer", "no call", failure.message.clone());
    let finding = Finding::new(TOOL_WAS_CALLED, Kind::Branch, Boundary::Response, outcome, spec);
    Some(finding.in_reply(failure.turn + 1, number(capture, n)))
}

/// One finding for an `expect` entry: the worst over the runs and replies that it is judged on.
fn expect(
    entry: &Expectation,
    capture: &Capture,
    accepted: Option<&Accepted>,
    turn: Option<usize>,
) -> Finding {
    let info = entry.assertion.info();
    let finding =
        |outcome| Finding::new(info.name, Kind::Assertion, info.boundary, outcome, &entry.location);
    let mut worst = None;
    for (n, run) in capture.runs.iter().enumerate() {
        let number = number(capture, n);
        for index in chosen(info.scope, run, turn) {
            let exchange = &run.exchanges[index];
            let outcome = match unreadable(info.name, info.boundary, exchange) {
                Some(why) => Outcome::hidden(info.summary, why),
                None => entry.assertion.judge(&View { capture, run, exchange, index, accepted }),
            };
            worst = Some(worse(worst, finding(outcome).in_reply(exchange.turn + 1, number)));
        }
        // A run that broke off before the reply leaves the expectation without anything to judge.
        if let Some(failure) = &run.error
            && turn.is_none_or(|turn| turn >= failure.turn)
        {
            let outcome = Outcome::hidden(info.summary, &format!("no reply: {}", failure.message));
            worst = Some(worse(worst, finding(outcome).in_reply(failure.turn + 1, number)));
        }
    }
    worst.unwrap_or_else(|| {
        let mut finding = finding(Outcome::hidden(info.summary, "no reply"));
        finding.turn = turn.map(|turn| turn + 1);
        finding
    })
}

/// Why what is read at this boundary is not in the evidence. Input and generation hide their texts by themselves and
/// keep their ids; of a response only the finish reason is no text.
fn unreadable(name: &str, boundary: Boundary, exchange: &Exchange) -> Option<&'static str> {
    let needs_text = match boundary {
        Boundary::Input | Boundary::Settings | Boundary::Generation => false,
        Boundary::Response => !READS_NO_TEXT.contains(&name),
        Boundary::Score => true,
    };
    if needs_text { privacy::withheld(exchange) } else { None }
}

/// What reads the response and none of its texts.
const READS_NO_TEXT: [&str; 2] = ["finish_reason", "finish_agrees"];

/// The 1-based number of a run, in a case that repeats.
fn number(capture: &Capture, run: usize) -> Option<usize> {
    (capture.runs.len() > 1).then_some(run + 1)
}

/// The positions in `run.exchanges` that an entry is judged on.
fn chosen(scope: Scope, run: &Run, turn: Option<usize>) -> Vec<usize> {
    if let Some(turn) = turn {
        return (0..run.exchanges.len()).filter(|&n| run.exchanges[n].turn == turn).collect();
    }
    match scope {
        Scope::Each => (0..run.exchanges.len()).collect(),
        // The last reply of a run that broke off is not the case's last reply.
        Scope::Last | Scope::Whole if run.error.is_some() => Vec::new(),
        Scope::Last | Scope::Whole => run.exchanges.len().checked_sub(1).into_iter().collect(),
    }
}

fn severity(status: Status) -> u8 {
    match status {
        Status::Pass => 0,
        Status::Warn => 1,
        Status::Inconclusive => 2,
        Status::NearTie => 3,
        Status::NotEvaluated => 4,
        Status::Fail => 5,
    }
}

/// The worse of the two; the earlier one when they are equally bad.
fn worse(current: Option<Finding>, next: Finding) -> Finding {
    match current {
        Some(current) if severity(current.outcome.status) >= severity(next.outcome.status) => {
            current
        }
        _ => next,
    }
}

/// Turns a failure that the spec allows by name into a warning with the reason.
fn excuse(case: &Case, finding: &mut Finding) {
    let name = match finding.kind {
        Kind::Snapshot => finding.boundary.name(),
        Kind::Branch | Kind::Seam => &finding.name,
        Kind::Assertion => return,
    };
    if finding.outcome.status == Status::Fail
        && let Some(reason) = case.allow.get(name)
    {
        finding.outcome.status = Status::Warn;
        finding.outcome.message = format!("{} (allowed: {reason})", finding.outcome.message);
    }
}

/// Whether this finding says that its boundary changed. A snapshot that is new says nothing of the kind.
fn breaks(finding: &Finding) -> bool {
    finding.outcome.status == Status::Fail && !finding.is_new_snapshot()
}

fn boundaries(findings: &[Finding]) -> BTreeMap<Boundary, BoundaryStatus> {
    let mut changed = false;
    let mut states = BTreeMap::new();
    for boundary in Boundary::ALL {
        let here: Vec<&Finding> =
            findings.iter().filter(|finding| finding.boundary == boundary).collect();
        let seen =
            here.iter().any(|f| f.outcome.status != Status::NotEvaluated && !f.is_new_snapshot());
        let state = if here.iter().all(|finding| finding.is_new_snapshot()) {
            BoundaryStatus::NotExercised
        } else if changed {
            BoundaryStatus::NotComparable
        } else if here.iter().any(|finding| breaks(finding)) {
            changed = true;
            BoundaryStatus::Changed
        } else if seen {
            BoundaryStatus::Held
        } else {
            BoundaryStatus::Hidden
        };
        states.insert(boundary, state);
    }
    states
}

fn status(findings: &[Finding], failure: Option<&Failure>) -> CaseStatus {
    let any = |status| findings.iter().any(|finding| finding.outcome.status == status);
    // A broken exchange outranks a failed expectation, because the judgement is incomplete.
    if failure.is_some() {
        CaseStatus::Errored
    } else if any(Status::Fail) {
        CaseStatus::Failed
    } else if any(Status::NotEvaluated) {
        CaseStatus::NotEvaluated
    } else {
        CaseStatus::Passed
    }
}

/// Applies `known_failure`, and gives the reason that belongs to the status.
fn known(
    case: &Case,
    verdict: CaseStatus,
    failure: Option<&Failure>,
    findings: &[Finding],
) -> (CaseStatus, Option<String>) {
    let why = match verdict {
        CaseStatus::Errored => {
            failure.map(|f| format!("turn {}: {}: {}", f.turn + 1, f.kind, f.message))
        }
        CaseStatus::NotEvaluated => findings
            .iter()
            .find(|finding| finding.outcome.status == Status::NotEvaluated)
            .map(|finding| format!("{}: {}", finding.name, finding.outcome.message)),
        _ => None,
    };
    match (&case.known_failure, verdict) {
        // A snapshot that is new is not what is known to fail.
        (Some(reason), CaseStatus::Failed) if findings.iter().any(breaks) => {
            (CaseStatus::KnownFailure, Some(reason.clone()))
        }
        (Some(reason), CaseStatus::Passed) => (CaseStatus::Fixed, Some(reason.clone())),
        _ => (verdict, why),
    }
}

#[cfg(test)]
mod tests;
