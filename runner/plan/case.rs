//! One case: the spec's fields with the case's laid over them, once for each combination of the matrix.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::ledger::{Ledger, SpecFile};
use super::matrix::{self, Cell};
use super::score::is_score;
use super::{Case, Expectation, Turn, arguments, check, tools, turns};
use crate::assertion::{Assertion, Needs};
use crate::capture::Boundary;
use crate::diagnostic::{Diagnostic, choices};
use crate::finding::Location;
use crate::request::Settings;
use crate::spec::{self, Matrix, Spanned, TextOr};

/// A case before the selection.
#[derive(Debug)]
pub(super) struct Draft {
    /// The case.
    pub(super) case: Case,
    /// Its id without the matrix.
    pub(super) base: String,
    /// Where it got that id, once for all combinations of the matrix.
    pub(super) named: Option<Location>,
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
pub(super) fn expand(source: Source<'_>, chosen: &[String], ledger: &mut Ledger) -> Vec<Draft> {
    let Source { file, case, .. } = source;
    check::words(source, ledger);
    let matrix = case.value.matrix.as_ref().or(file.spec.matrix.as_ref());
    if let Some(matrix) = matrix {
        matrix::check(file, matrix, has_document(&case.value), ledger);
    }
    let (targets, named) = targets(file, matrix, chosen, ledger);
    let offered = case.value.tools.as_ref().or(file.spec.tools.as_ref());
    let offered = offered.map(|typed| tools::resolve(file, typed, ledger)).unwrap_or_default();
    check::tools(source, &offered, ledger);
    let cells = matrix::expand(matrix.map(|matrix| &matrix.value), &targets, named);
    let mut drafts: Vec<Draft> =
        cells.iter().map(|cell| draft(source, cell, &offered, ledger)).collect();
    if let Some(first) = drafts.first_mut() {
        first.named = Some(source.row.cloned().unwrap_or_else(|| file.at(case.value.id.node)));
    }
    drafts
}

fn draft(source: Source<'_>, cell: &Cell, offered: &[Value], ledger: &mut Ledger) -> Draft {
    let Source { file, index, case: typed, .. } = source;
    let (spec, case) = (&file.spec, &typed.value);
    let branch = spec.branch.value;
    let base = format!("{}/{}.{}", branch.name(), file.topic, case.id.value);
    let target = cell.target.clone().unwrap_or_default();
    let stem = format!("{}.{}{}", file.topic, case.id.value, cell.file_suffix());
    let layers = [spec.settings.as_ref(), case.settings.as_ref()].map(|s| s.map(|s| &s.value));
    let pinned = layers.into_iter().flatten().chain(cell.settings.as_ref());
    let settings = pinned.fold(Settings::default(), |below, above| below.overlaid(above));
    let mut template = spec.template.clone();
    template.extend(case.template.clone());
    let stream = cell.stream.or(case.stream).or(spec.stream);
    let (turns, expect) = expectations(source, cell, offered, ledger);
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
        stream: stream.unwrap_or(branch.info().streams),
        repeat: repeat.max(needs.repeats).max(1),
        load: needs.load,
        twin: needs.twin,
        tags: tags(spec, case),
        known_failure: case.known_failure.as_ref().map(|reason| reason.value.clone()),
        allow: allowed(spec, case),
        expect,
        snapshot,
        snapshot_stem: file.snapshots.join(branch.name()).join(stem),
        timeout: case
            .timeout
            .as_ref()
            .or(spec.timeout.as_ref())
            .and_then(|seconds| Duration::try_from_secs_f64(seconds.value).ok()),
    };
    check::complete(source, &case, ledger);
    check::evaluable(&case, ledger);
    let grouped = spec.expect.iter().any(|e| is_score(&e.value));
    let group = grouped.then_some((index, target));
    Draft { case, base, named: None, group }
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

pub(super) fn tool_choice<'a>(
    case: &'a spec::Case,
    spec: &'a spec::Spec,
) -> Option<&'a Spanned<Value>> {
    case.tool_choice.as_ref().or(spec.tool_choice.as_ref())
}

/// The turns with what is expected of their replies, and what is expected of the case.
fn expectations(
    source: Source<'_>,
    cell: &Cell,
    offered: &[Value],
    ledger: &mut Ledger,
) -> (Vec<Turn>, Vec<Expectation>) {
    let Source { file, case, .. } = source;
    let typed = &case.value.turns;
    let mut turns = turns::resolve(file, typed, offered, cell.sentences, ledger);
    // A score of one reply takes the reference of its row, where there is one, and is judged by itself.
    let bind_one = |assertion: &mut Assertion| {
        if is_score(assertion) {
            assertion.bind(source.reference, false);
        }
    };
    for (turn, typed) in turns.iter_mut().zip(&typed.value) {
        turn.expect = typed
            .value
            .expect
            .iter()
            .map(|typed| expectation(file, typed, bind_one, offered, ledger))
            .collect();
        if let Some(row) = source.row {
            turn.location = row.clone();
        }
    }
    let of_case = case.value.expect.iter();
    let mut expect: Vec<Expectation> =
        of_case.map(|typed| expectation(file, typed, bind_one, offered, ledger)).collect();
    for typed in &file.spec.expect {
        let bind = |assertion: &mut Assertion| {
            if is_score(assertion) {
                assertion.bind(source.reference, true);
            }
        };
        expect.push(expectation(file, typed, bind, offered, ledger));
    }
    (turns, expect)
}

fn expectation(
    file: &SpecFile,
    typed: &Spanned<Assertion>,
    bind: impl Fn(&mut Assertion),
    offered: &[Value],
    ledger: &mut Ledger,
) -> Expectation {
    let mut assertion = typed.value.clone();
    bind(&mut assertion);
    let location = file.at(typed.node);
    let name = assertion.info().name;
    for problem in assertion.problems() {
        let help = format!("`evalsuite explain {name}` shows how it is written");
        ledger
            .problems
            .push(Diagnostic::new(location.clone(), format!("`{name}`: {problem}")).help(help));
    }
    arguments::check(&file.tree, typed.node, offered, ledger);
    Expectation { assertion, location }
}

pub(super) fn all_expectations<'a>(
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
    ledger: &mut Ledger,
) -> (Vec<String>, bool) {
    let Some(known) = &file.targets else { return (vec![String::new()], false) };
    let mut check = |name: &Spanned<String>| {
        if !known.knows(&name.value) {
            let message = format!("there is no target `{}`", name.value);
            ledger.report(file.at(name.node), message, choices(&name.value, &known.names()));
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
        ledger.report(file.at(file.spec.branch.node), "no target answers this spec", help);
    }
    (vec![typed.or(known.default_name()).unwrap_or_default().to_owned()], false)
}

fn has_document(case: &spec::Case) -> bool {
    let is_document = |turn: &Spanned<spec::Turn>| {
        turn.value.user.as_ref().is_some_and(|user| matches!(user.value, TextOr::Other(_)))
    };
    case.turns.value.iter().any(is_document)
}
