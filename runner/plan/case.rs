//! One case: the spec's fields with the case's laid over them, once for each combination of the matrix.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::matrix::{self, Cell};
use super::score::is_score;
use super::session::{Session, SpecFile};
use super::targets::is_plain;
use super::{Case, Expectation, Turn, arguments, settings, tools, turns};
use crate::assertion::{Assertion, Needs};
use crate::branch::Branch;
use crate::capture::Boundary;
use crate::diagnostic::{Diagnostic, choices};
use crate::finding::Location;
use crate::request::Settings;
use crate::spec::{self, Matrix, NodeId, Spanned, TextOr};

/// A case before the selection.
#[derive(Debug)]
pub(super) struct Draft {
    /// The case.
    pub(super) case: Case,
    /// Its id without the matrix.
    pub(super) base: String,
    /// Where it got that id, once for all combinations of the matrix.
    pub(super) named: Option<Location>,
    /// The index of its file.
    pub(super) file: usize,
    /// The index of the file and the target, where the cases of a file are scored together.
    pub(super) group: Option<(usize, String)>,
}

/// What a case is made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// The file.
    pub(super) file: &'a SpecFile,
    /// Its index.
    pub(super) index: usize,
    /// The case as typed, or made of a row.
    pub(super) case: &'a Spanned<spec::Case>,
    /// The row's reference answer.
    pub(super) reference: Option<&'a str>,
    /// The row's place in the data set.
    pub(super) row: Option<&'a Location>,
}

/// The case once for each combination; problems are reported.
pub(super) fn expand(source: Source<'_>, chosen: &[String], session: &mut Session) -> Vec<Draft> {
    let Source { file, case, .. } = source;
    check_words(source, session);
    let matrix = case.value.matrix.as_ref().or(file.spec.matrix.as_ref());
    if let Some(matrix) = matrix {
        matrix::check(file, matrix, has_document(&case.value), session);
    }
    let (targets, named) = targets(file, matrix, chosen, session);
    let offered = case.value.tools.as_ref().or(file.spec.tools.as_ref());
    let offered = offered.map(|typed| tools::resolve(file, typed, session)).unwrap_or_default();
    check_tools(source, &offered, session);
    let cells = matrix::expand(matrix.map(|matrix| &matrix.value), &targets, named);
    let mut drafts: Vec<Draft> =
        cells.iter().map(|cell| draft(source, cell, &offered, session)).collect();
    if let Some(first) = drafts.first_mut() {
        first.named = Some(source.row.cloned().unwrap_or_else(|| file.at(case.value.id.node)));
    }
    drafts
}

fn draft(source: Source<'_>, cell: &Cell, offered: &[Value], session: &mut Session) -> Draft {
    let Source { file, index, case: typed, .. } = source;
    let (spec, case) = (&file.spec, &typed.value);
    let branch = spec.branch.value;
    let base = format!("{}/{}.{}", branch.name(), file.topic, case.id.value);
    let target = cell.target.clone().unwrap_or_default();
    let snapshots = file.targets.as_ref().map(|targets| targets.snapshots()).unwrap_or_default();
    let stem = format!("{}.{}{}", file.topic, case.id.value, cell.file_suffix());
    let layers = [spec.settings.as_ref(), case.settings.as_ref()].map(|s| s.map(|s| &s.value));
    let pinned = layers.into_iter().flatten().chain(cell.settings.as_ref());
    let settings = pinned.fold(Settings::default(), |below, above| below.overlaid(above));
    let mut template = spec.template.clone();
    template.extend(case.template.clone());
    let stream = cell.stream.or(case.stream).or(spec.stream);
    let (turns, expect) = expectations(source, cell, offered, session);
    let needs = needs(&turns, &expect);
    let repeat = case.repeat.as_ref().or(spec.repeat.as_ref()).map_or(1, |repeat| repeat.value);
    let mut snapshot: Vec<Boundary> = case
        .snapshot
        .as_ref()
        .or(spec.snapshot.as_ref())
        .map(|list| list.iter().map(|boundary| boundary.value).collect())
        .unwrap_or_default();
    snapshot.sort_unstable();
    snapshot.dedup();
    let case = Case {
        id: format!("{base}{}", cell.suffix()),
        branch,
        target: target.clone(),
        location: file.at(typed.node),
        system: case.system.as_ref().or(spec.system.as_ref()).map(|text| text.value.clone()),
        turns,
        tools: offered.to_vec(),
        tool_choice: tool_choice(case, spec).map(|choice| choice.value.clone()),
        settings,
        template,
        stream: stream.unwrap_or(branch == Branch::Streaming),
        repeat: repeat.max(needs.repeats).max(1),
        load: needs.load,
        twin: needs.twin,
        tags: tags(spec, case),
        known_failure: case.known_failure.as_ref().map(|reason| reason.value.clone()),
        allow: allowed(spec, case),
        expect,
        snapshot,
        snapshot_stem: snapshots.join(branch.name()).join(stem),
        timeout: case
            .timeout
            .as_ref()
            .or(spec.timeout.as_ref())
            .and_then(|seconds| Duration::try_from_secs_f64(seconds.value).ok()),
    };
    check_case(source, &case, session);
    let grouped = spec.expect.iter().any(|e| is_score(&e.value));
    let group = grouped.then(|| (index, target));
    Draft { case, base, named: None, file: index, group }
}

fn tags(spec: &spec::Spec, case: &spec::Case) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in spec.tags.iter().chain(&case.tags) {
        if !tags.contains(&tag.value) {
            tags.push(tag.value.clone());
        }
    }
    tags
}

fn allowed(spec: &spec::Spec, case: &spec::Case) -> BTreeMap<String, String> {
    let both = spec.allow.iter().chain(&case.allow);
    both.map(|(check, reason)| (check.clone(), reason.value.clone())).collect()
}

fn tool_choice<'a>(case: &'a spec::Case, spec: &'a spec::Spec) -> Option<&'a Spanned<Value>> {
    case.tool_choice.as_ref().or(spec.tool_choice.as_ref())
}

/// The turns with what is expected of their replies, and what is expected of the case.
fn expectations(
    source: Source<'_>,
    cell: &Cell,
    offered: &[Value],
    session: &mut Session,
) -> (Vec<Turn>, Vec<Expectation>) {
    let Source { file, case, .. } = source;
    let typed = &case.value.turns;
    let mut turns = turns::resolve(file, typed, offered, cell.sentences, session);
    for (turn, typed) in turns.iter_mut().zip(&typed.value) {
        turn.expect = typed
            .value
            .expect
            .iter()
            .map(|typed| expectation(file, typed, |_| {}, offered, session))
            .collect();
        if let Some(row) = source.row {
            turn.location = row.clone();
        }
    }
    let of_case = case.value.expect.iter();
    let mut expect: Vec<Expectation> =
        of_case.map(|typed| expectation(file, typed, |_| {}, offered, session)).collect();
    for typed in &file.spec.expect {
        let bind = |assertion: &mut Assertion| {
            if is_score(assertion) {
                assertion.bind(source.reference, true);
            }
        };
        expect.push(expectation(file, typed, bind, offered, session));
    }
    (turns, expect)
}

fn expectation(
    file: &SpecFile,
    typed: &Spanned<Assertion>,
    bind: impl Fn(&mut Assertion),
    offered: &[Value],
    session: &mut Session,
) -> Expectation {
    let mut assertion = typed.value.clone();
    bind(&mut assertion);
    let location = file.at(typed.node);
    let name = assertion.info().name;
    for problem in assertion.problems() {
        let help = format!("`evalsuite explain {name}` shows how it is written");
        session
            .problems
            .push(Diagnostic::new(location.clone(), format!("`{name}`: {problem}")).help(help));
    }
    arguments::check(file, typed.node, offered, session);
    Expectation { assertion, location }
}

fn all_expectations<'a>(
    turns: &'a [Turn],
    expect: &'a [Expectation],
) -> impl Iterator<Item = &'a Expectation> {
    turns.iter().flat_map(|turn| &turn.expect).chain(expect)
}

fn needs(turns: &[Turn], expect: &[Expectation]) -> Needs {
    let all = all_expectations(turns, expect).map(|expectation| expectation.assertion.needs());
    all.fold(Needs::default(), |sum, needs| Needs {
        accepted: None,
        repeats: sum.repeats.max(needs.repeats),
        load: sum.load.max(needs.load),
        twin: sum.twin || needs.twin,
    })
}

/// The targets that answer, and whether the id names them.
fn targets(
    file: &SpecFile,
    matrix: Option<&Spanned<Matrix>>,
    chosen: &[String],
    session: &mut Session,
) -> (Vec<String>, bool) {
    let Some(known) = &file.targets else { return (vec![String::new()], false) };
    let mut check = |name: &Spanned<String>| {
        if !known.knows(&name.value) {
            let message = format!("there is no target `{}`", name.value);
            session.report(file.at(name.node), message, choices(&name.value, &known.names()));
        }
    };
    if let Some(name) = &file.spec.target {
        check(name);
    }
    if let Some(list) = matrix.and_then(|matrix| matrix.value.target.as_ref()) {
        list.value.iter().for_each(check);
        let names = list.value.iter().map(|name| name.value.clone());
        let kept = names.filter(|name| chosen.is_empty() || chosen.contains(name));
        return (kept.collect(), true);
    }
    if !chosen.is_empty() {
        return (chosen.to_vec(), chosen.len() > 1);
    }
    let typed = file.spec.target.as_ref().map(|name| name.value.as_str());
    if typed.is_none() && known.default_name().is_none() {
        let help = format!(
            "name one with `target:`, or a `default:` in targets.yaml; {}",
            choices("", &known.names())
        );
        session.report(file.at(file.spec.branch.node), "no target answers this spec", help);
    }
    (vec![typed.or(known.default_name()).unwrap_or_default().to_owned()], false)
}

fn has_document(case: &spec::Case) -> bool {
    let is_document = |turn: &Spanned<spec::Turn>| {
        turn.value.user.as_ref().is_some_and(|user| matches!(user.value, TextOr::Other(_)))
    };
    case.turns.value.iter().any(is_document)
}

/// Problems of the typed words that no combination changes.
fn check_words(source: Source<'_>, session: &mut Session) {
    let Source { file, case: typed, .. } = source;
    let (spec, case) = (&file.spec, &typed.value);
    if source.row.is_none() && !is_plain(&case.id.value) {
        let message = format!("{:?} cannot be an id", case.id.value);
        session.report(file.at(case.id.node), message, "use letters, digits, `-`, `_` and `.`");
    }
    if let Some(reason) =
        case.known_failure.as_ref().filter(|reason| reason.value.trim().is_empty())
    {
        session.report(
            file.at(reason.node),
            "`known_failure` needs a reason",
            "say why it fails, or remove it",
        );
    }
    for (check, reason) in spec.allow.iter().chain(&case.allow) {
        if reason.value.trim().is_empty() {
            let message = format!("silencing `{check}` needs a reason");
            session.report(file.at(reason.node), message, "say why it is fine here");
        }
    }
    for repeat in [&spec.repeat, &case.repeat].into_iter().flatten() {
        if repeat.value == 0 {
            session.report(
                file.at(repeat.node),
                "a case that repeats 0 times never runs",
                "write 1 or more",
            );
        }
    }
    for timeout in [&spec.timeout, &case.timeout].into_iter().flatten() {
        if timeout.value <= 0.0 || Duration::try_from_secs_f64(timeout.value).is_err() {
            let message = format!("`timeout` cannot be {}", timeout.value);
            session.report(
                file.at(timeout.node),
                message,
                "it is a number of seconds, more than 0",
            );
        }
    }
    for layer in [&spec.settings, &case.settings].into_iter().flatten() {
        settings::check(file, layer, session);
    }
    for matrix in [&spec.matrix, &case.matrix].into_iter().flatten() {
        for layer in matrix.value.settings.iter().flat_map(|list| &list.value) {
            settings::check(file, layer, session);
        }
    }
}

fn check_tools(source: Source<'_>, offered: &[Value], session: &mut Session) {
    let Source { file, case, .. } = source;
    let branch = &file.spec.branch;
    if branch.value == Branch::ToolCall && case.value.tools.is_none() && file.spec.tools.is_none() {
        let message = "the branch `tool_call` needs tools";
        session.report(
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
        session.report(file.at(choice.node), message, help);
    }
}

/// Problems that show only when everything is laid together.
fn check_case(source: Source<'_>, case: &Case, session: &mut Session) {
    let Source { file, case: typed, .. } = source;
    let at: NodeId = typed.value.id.node;
    settings::check_together(file, &case.settings, at, session);
    let replies = case.turns.iter().filter(|turn| turn.asks).count();
    if case.branch == Branch::MultiTurn && replies < 2 && !case.turns.is_empty() {
        let message =
            format!("the branch `multi_turn` needs two replies; this case asks for {replies}");
        session.report(file.at(at), message, "add a `user` turn, or use another branch");
    }
    if case.snapshot.is_empty() && all_expectations(&case.turns, &case.expect).next().is_none() {
        let help = "add `expect:` to a turn, the case or the spec, or `snapshot: [input, generation, response]`";
        session.report(file.at(at), "nothing is judged in this case", help);
    }
    for expectation in all_expectations(&case.turns, &case.expect) {
        let Some(boundary) = expectation.assertion.needs().accepted else { continue };
        let mut path = case.snapshot_stem.clone().into_os_string();
        path.push(format!("@{boundary}.snap"));
        let path = std::path::PathBuf::from(path);
        if !case.snapshot.contains(&boundary) && !path.is_file() {
            let name = expectation.assertion.info().name;
            let message = format!(
                "`{name}` compares with what was accepted at `{boundary}`, but nothing was"
            );
            let help = format!(
                "add `snapshot: [{boundary}]` to the case and accept what the first run writes to {}",
                super::files::show(&path)
            );
            session.report(expectation.location.clone(), message, help);
        }
    }
}
