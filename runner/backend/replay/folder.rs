//! The folder of a run as a recording: the calls behind its exchanges, in the order in which they were made.

use serde_json::Value;

use super::entry::{Entry, Fault, Wanted};
use super::recording::Head;
use crate::backend::BackendError;
use crate::capture::{CHAT, Capture, Failure, Run, WireCall};
use crate::evidence::StoredRun;
use crate::request::Settings;

/// What of a chat request must be as it was. The rest is how evalsuite asks for evidence, which may change.
const ASKED: [&str; 5] = ["messages", "prompt", "tools", "tool_choice", "stream"];

/// What the manifest says about the server of a run.
pub(super) fn head(run: &StoredRun) -> Head {
    let fact = |name: &str| {
        let mut facts = run.manifest.targets.iter().flat_map(|target| &target.facts);
        facts.find(|(known, _)| known == name).map(|(_, fact)| fact.clone())
    };
    // `vllm, as the target says`: how it was found is of no use here.
    let dialect = fact("dialect").map(|fact| fact.split(',').next().unwrap_or_default().to_owned());
    // Behind the name may stand what the server listed instead.
    let model = fact("model").map(|fact| fact.split(", ").next().unwrap_or_default().to_owned());
    Head { url: fact("server"), dialect, model, ..Head::default() }
}

/// The answers that a capture holds.
pub(super) fn entries(capture: &Capture) -> Vec<Entry> {
    capture.runs.iter().chain(&capture.twin).flat_map(|run| of_run(&capture.case, run)).collect()
}

fn of_run(case: &str, run: &Run) -> Vec<Entry> {
    let mut entries = Vec::new();
    for exchange in &run.exchanges {
        let pinned = &exchange.request.settings;
        entries.extend(exchange.wire.iter().map(|call| entry(case, exchange.turn, call, pinned)));
    }
    if let Some(failure) = &run.error {
        let pinned = Settings::default();
        let mut failed: Vec<Entry> =
            failure.wire.iter().map(|call| entry(case, failure.turn, call, &pinned)).collect();
        // The failure is that of the last call.
        if let Some(last) = failed.last_mut()
            && let Some(fault) = &mut last.fault
        {
            *fault = Fault::Kept(error(failure));
        }
        entries.extend(failed);
    }
    entries
}

/// The answer to a call that belongs to no case.
pub(super) fn probe(call: &WireCall) -> Entry {
    let mut entry = entry("", 0, call, &Settings::default());
    (entry.case, entry.turn) = (None, None);
    "evidence of the probes".clone_into(&mut entry.place);
    entry
}

fn entry(case: &str, turn: usize, call: &WireCall, pinned: &Settings) -> Entry {
    let body = call.request.body.as_ref().and_then(|body| serde_json::from_str(body.get()).ok());
    let body = match body {
        Some(Value::Object(mut fields)) if call.purpose == CHAT => {
            let pinned = pinned.pinned();
            fields.retain(|name, _| ASKED.contains(&name.as_str()) || pinned.contains_key(name));
            Some(Value::Object(fields))
        }
        other => other,
    };
    let broke = call.broke.as_ref().map(|why| match call.response {
        Some(_) => BackendError::Incomplete(why.clone()),
        None => BackendError::Unreachable(why.clone()),
    });
    Entry {
        place: format!("evidence of `{case}`, turn {turn}"),
        case: Some(case.to_owned()),
        turn: Some(turn),
        request: Wanted {
            method: Some(call.request.method.clone()),
            path: Some(call.request.path.clone()),
            body,
        },
        response: call.response.clone(),
        attempts: call.attempts.clone(),
        fault: broke.map(Fault::Kept),
    }
}

/// A failure as the backend told it.
pub(super) fn error(failure: &Failure) -> BackendError {
    let message = failure.message.clone();
    match failure.kind.as_str() {
        "unreachable" => BackendError::Unreachable(message),
        "unavailable" => BackendError::Unavailable(message),
        "rejected" => BackendError::Rejected(message),
        "timeout" => timeout(message),
        "malformed" => BackendError::Malformed(message),
        "incomplete" => BackendError::Incomplete(message),
        _ => BackendError::Broken(message),
    }
}

/// `no complete answer within 500 ms`, taken apart as the error is.
fn timeout(message: String) -> BackendError {
    let parts = message.strip_suffix(" ms").and_then(|rest| rest.rsplit_once(" within "));
    match parts.and_then(|(what, ms)| Some((what.to_owned(), ms.parse().ok()?))) {
        Some((what, ms)) => BackendError::Timeout(what, ms),
        None => BackendError::Timeout(message, 0),
    }
}
