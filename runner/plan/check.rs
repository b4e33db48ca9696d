//! Problems of one case: in its words, with its tools, and when everything is laid together.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::case::{Source, all_expectations, tool_choice};
use super::ledger::Ledger;
use super::targets::is_plain;
use super::{Case, settings, tools};
use crate::branch::Branch;
use crate::branch::form::FORM;
use crate::capture::Boundary;
use crate::diagnostic::choices;
use crate::spec::NodeId;

/// File systems take names of 255 bytes; topic, matrix and ending need their share.
const LONGEST_ID: usize = 100;

/// What `allow` can silence: a boundary, whose snapshot may then differ, or a rule of a branch.
fn allowable() -> Vec<&'static str> {
    let rules = Branch::ALL.iter().flat_map(|branch| branch.info().rules);
    Boundary::ALL
        .iter()
        .map(|boundary| boundary.name())
        .chain(rules.map(|rule| rule.name))
        .chain([FORM.name])
        .collect()
}

/// Problems of the typed words that no combination changes.
pub(super) fn words(source: Source<'_>, ledger: &mut Ledger) {
    let Source { file, case: typed, .. } = source;
    let (spec, case) = (&file.spec, &typed.value);
    if source.row.is_none() && !is_plain(&case.id.value) {
        let message = format!("{:?} cannot be an id", case.id.value);
        ledger.report(file.at(case.id.node), message, "use letters, digits, `-`, `_` and `.`");
    }
    if source.row.is_none() && case.id.value.len() > LONGEST_ID {
        let message = format!("an id has at most {LONGEST_ID} characters");
        ledger.report(file.at(case.id.node), message, "shorten it: it names the snapshot files");
    }
    if let Some(reason) =
        case.known_failure.as_ref().filter(|reason| reason.value.trim().is_empty())
    {
        ledger.report(
            file.at(reason.node),
            "`known_failure` needs a reason",
            "say why it fails, or remove it",
        );
    }
    for (check, reason) in spec.allow.iter().chain(&case.allow) {
        if reason.value.trim().is_empty() {
            let message = format!("silencing `{check}` needs a reason");
            ledger.report(file.at(reason.node), message, "say why it is fine here");
        }
        let legal = allowable();
        if !legal.contains(&check.as_str()) {
            let message = format!("`allow` cannot silence `{check}`");
            ledger.report(file.at(reason.node), message, choices(check, &legal));
        }
    }
    for repeat in [&spec.repeat, &case.repeat].into_iter().flatten() {
        if repeat.value == 0 {
            ledger.report(
                file.at(repeat.node),
                "a case that repeats 0 times never runs",
                "write 1 or more",
            );
        }
    }
    for timeout in [&spec.timeout, &case.timeout].into_iter().flatten() {
        if timeout.value <= 0.0 || Duration::try_from_secs_f64(timeout.value).is_err() {
            let message =
                format!("`timeout` cannot be {}", file.tree.bare(timeout.node).unwrap_or_default());
            ledger.report(file.at(timeout.node), message, "it is a number of seconds, more than 0");
        }
    }
    for layer in [&spec.settings, &case.settings].into_iter().flatten() {
        settings::check(file, layer, ledger);
    }
    for matrix in [&spec.matrix, &case.matrix].into_iter().flatten() {
        for layer in matrix.value.settings.iter().flat_map(|list| &list.value) {
            settings::check(file, layer, ledger);
        }
    }
}

/// Problems with tools on offer.
pub(super) fn tools(source: Source<'_>, offered: &[Value], ledger: &mut Ledger) {
    let Source { file, case, .. } = source;
    let branch = &file.spec.branch;
    if branch.value == Branch::ToolCall && case.value.tools.is_none() && file.spec.tools.is_none() {
        let message = "the branch `tool_call` needs tools";
        ledger.report(
            file.at(branch.node),
            message,
            "add `tools: PATH` to the spec or to the case",
        );
    }
    let Some(choice) = tool_choice(&case.value, &file.spec) else { return };
    let names = tools::names(offered);
    let named = |word: &str| names.contains(&word);
    let problem = match &choice.value {
        Value::String(word) if ["auto", "none", "required"].contains(&word.as_str()) => None,
        Value::String(word) if named(word) => Some((
            format!("`{word}` is a function, which is chosen by name"),
            format!("write {{ type: function, function: {{ name: {word} }} }}"),
        )),
        Value::String(word) => Some((
            format!("unknown tool choice `{word}`"),
            choices(word, &["auto", "none", "required"]),
        )),
        other => match other["function"]["name"].as_str() {
            Some(name) if named(name) => None,
            Some(name) => Some((
                format!("`{name}` is not among the tools of this case"),
                choices(name, &names),
            )),
            None => Some((
                "this is no tool choice".to_owned(),
                "write auto, none, required or { type: function, function: { name: … } }"
                    .to_owned(),
            )),
        },
    };
    if let Some((message, help)) = problem {
        ledger.report(file.at(choice.node), message, help);
    }
}

/// Problems that show only when everything is laid together.
pub(super) fn complete(source: Source<'_>, case: &Case, ledger: &mut Ledger) {
    let Source { file, case: typed, .. } = source;
    let at: NodeId = typed.value.id.node;
    settings::check_together(file, &case.settings, at, ledger);
    let replies = case.turns.iter().filter(|turn| turn.asks).count();
    if case.branch == Branch::MultiTurn && replies < 2 && !case.turns.is_empty() {
        let message =
            format!("the branch `multi_turn` needs two replies; this case asks for {replies}");
        ledger.report(file.at(at), message, "add a `user` turn, or use another branch");
    }
    if case.snapshot.is_empty() && all_expectations(&case.turns, &case.expect).next().is_none() {
        let help = "add `expect:` to a turn, the case or the spec, or `snapshot: [input, generation, response]`";
        ledger.report(file.at(at), "nothing is judged in this case", help);
    }
    for expectation in all_expectations(&case.turns, &case.expect) {
        let Some(boundary) = expectation.assertion.needs().accepted else { continue };
        let mut path = case.snapshot_stem.clone().into_os_string();
        path.push(format!("@{boundary}.snap"));
        let path = PathBuf::from(path);
        if !case.snapshot.contains(&boundary) && !path.is_file() {
            let name = expectation.assertion.info().name;
            let message = format!(
                "`{name}` compares with what was accepted at `{boundary}`, but nothing was"
            );
            let help = format!(
                "add `snapshot: [{boundary}]` to the case and accept what the first run writes to {}",
                super::files::show(&path)
            );
            ledger.report(expectation.location.clone(), message, help);
        }
    }
}

/// Expectations that could never be evaluated on this case.
pub(super) fn evaluable(case: &Case, ledger: &mut Ledger) {
    let replies = case.turns.iter().filter(|turn| turn.asks).count();
    for expectation in all_expectations(&case.turns, &case.expect) {
        let assertion = &expectation.assertion;
        let (message, help) = match assertion.info().name {
            "stream" if !case.stream && !assertion.needs().twin => (
                "the case is not streamed, so `stream` has nothing to judge",
                "add `stream: true` to the case, or write `stream: { equals_non_stream: true }`",
            ),
            "carries" if replies < 2 => (
                "the case asks for one reply, so `carries` has nothing to compare",
                "add a turn, or remove it",
            ),
            _ => continue,
        };
        ledger.report(expectation.location.clone(), message, help);
    }
}
