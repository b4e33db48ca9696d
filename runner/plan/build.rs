//! From a selection to a plan: discover, read, resolve, check, select.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::case::{self, Draft, Source};
use super::dataset::{self, DataSet};
use super::files::{discover, show};
use super::fixture::Fixtures;
use super::ledger::{Ledger, SpecFile};
use super::select::{Selection, Selector};
use super::settings::{Zone, check_stop_strings};
use super::targets::{self, is_plain};
use super::{Plan, Target, score};
use crate::diagnostic::{Diagnostic, choices};
use crate::error::Error;
use crate::finding::Location;
use crate::privacy::Privacy;
use crate::spec::{self, CasesFrom, Spanned, TextOr, yaml};

/// Reads every spec that `selection` reaches and resolves the cases that it selects.
///
/// # Errors
/// [`Error::Specs`] with every problem of every file, [`Error::Usage`] when the selection itself is wrong,
/// [`Error::NothingSelected`] when nothing is left.
pub fn plan(selection: &Selection) -> Result<Plan, Error> {
    let mut selection = selection.clone();
    if selection.paths.is_empty() {
        selection.paths.push(PathBuf::from("specs"));
    }
    let selector = Selector::new(&selection)?;
    let mut ledger = Ledger::default();
    let paths = discover(&selection.paths, &mut ledger.problems)?;
    let files: Vec<SpecFile> = paths.iter().filter_map(|path| load(path, &mut ledger)).collect();
    if !selection.answered {
        check_targets(&selection.target, &files)?;
    }
    let mut datasets = BTreeMap::new();
    let mut drafts = Vec::new();
    for (index, file) in files.iter().enumerate() {
        drafts.extend(cases(file, index, &selection.target, &mut datasets, &mut ledger));
    }
    check_ids(&drafts, &mut ledger);
    let all: Vec<_> = drafts.iter().map(|d| (d.case.id.clone(), d.case.tags.clone())).collect();
    let drafts = selector.apply(drafts);
    let targets = match selection.answered {
        true => BTreeMap::new(),
        false => open_targets(&files, &drafts, &mut ledger),
    };
    if !ledger.problems.is_empty() {
        return Err(Error::Specs(in_order(ledger.problems)));
    }
    if drafts.is_empty() {
        return Err(selector.nothing(&all, paths.len()));
    }
    datasets.retain(|index, _| drafts.iter().any(|draft| draft.file == *index));
    Ok(Plan {
        targets,
        scores: score::over_specs(&files, &drafts),
        cases: drafts.into_iter().map(|draft| draft.case).collect(),
        selection: selector.words(),
        chosen: selection.target.clone(),
        privacy: privacy(&files),
        datasets: datasets.into_values().collect(),
        files: ledger.hashes(),
    })
}

fn load(path: &Path, ledger: &mut Ledger) -> Option<SpecFile> {
    let name = show(path);
    let text = ledger.text(path, None)?;
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        let problem = Diagnostic::file(name, "the file is empty");
        ledger.problems.push(problem.help("begin with `branch:`, or remove the file"));
        return None;
    }
    let tree = match yaml::parse(&name, &text) {
        Ok(tree) => tree,
        Err(problem) => {
            ledger.problems.push(problem);
            return None;
        }
    };
    let spec = spec::read(&tree, &mut ledger.problems)?;
    let targets = targets::nearest(path, ledger);
    let topic =
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let fixtures = Fixtures::of(path, targets.as_ref().map(|targets| targets.path.as_path()));
    let file = SpecFile { tree, spec, topic, targets, fixtures };
    check_file(&file, ledger);
    Some(file)
}

fn check_file(file: &SpecFile, ledger: &mut Ledger) {
    check_stop_strings(file, 0, Zone::Elsewhere, ledger);
    if !is_plain(&file.topic) {
        let message = format!("the file's name {:?} cannot be part of an id", file.topic);
        let problem = Diagnostic::file(&file.tree.file, message);
        ledger.problems.push(problem.help("use letters, digits, `-`, `_` and `.`"));
    }
    // A target file that could not be read has been reported by itself.
    if file.targets.is_none() && !ledger.targets.values().any(Option::is_none) {
        let help = "write one into the folder of the spec or above it; `evalsuite init` does so";
        ledger.report(
            file.at(file.spec.branch.node),
            "there is no `targets.yaml` for this spec",
            help,
        );
    }
    if file.spec.cases.is_empty() && file.spec.cases_from.is_none() {
        let help = "add `cases:`, or `cases_from:` for a data set";
        ledger.report(file.at(file.spec.branch.node), "the spec has no case", help);
    }
}

fn cases(
    file: &SpecFile,
    index: usize,
    chosen: &[String],
    datasets: &mut BTreeMap<usize, (String, String)>,
    ledger: &mut Ledger,
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for case in &file.spec.cases {
        let source = Source { file, index, case, reference: None, row: None };
        drafts.extend(case::expand(source, chosen, ledger));
    }
    let Some(from) = &file.spec.cases_from else { return drafts };
    let DataSet { file: name, hash, rows } = dataset::load(file, from, ledger);
    datasets.insert(index, (name, hash));
    for row in &rows {
        let case = &row_case(from, &row.id, &row.user);
        let reference = row.reference.as_deref();
        let source = Source { file, index, case, reference, row: Some(&row.at) };
        drafts.extend(case::expand(source, chosen, ledger));
    }
    drafts
}

/// A row as if it had been typed where `cases_from` stands.
fn row_case(from: &Spanned<CasesFrom>, id: &str, user: &[String]) -> Spanned<spec::Case> {
    let node = from.node;
    let turn = |text: &String| {
        let user = Some(Spanned { value: TextOr::Text(text.clone()), node });
        let turn =
            spec::Turn { user, tool: None, assistant: None, prefill: None, expect: Vec::new() };
        Spanned { value: turn, node }
    };
    let value = spec::Case {
        id: Spanned { value: id.to_owned(), node },
        turns: Spanned { value: user.iter().map(turn).collect(), node },
        summary: None,
        system: None,
        tools: None,
        tool_choice: None,
        settings: None,
        template: serde_json::Map::new(),
        stream: None,
        repeat: None,
        tags: Vec::new(),
        timeout: None,
        known_failure: None,
        allow: BTreeMap::new(),
        expect: Vec::new(),
        snapshot: None,
        matrix: None,
    };
    Spanned { value, node }
}

fn check_targets(chosen: &[String], files: &[SpecFile]) -> Result<(), Error> {
    for name in chosen {
        for targets in files.iter().filter_map(|file| file.targets.as_ref()) {
            if !targets.knows(name) {
                let legal = choices(name, &targets.names());
                let message =
                    format!("there is no target `{name}` in {}: {legal}", show(&targets.path));
                return Err(Error::Usage(message));
            }
        }
    }
    Ok(())
}

/// Two cases with one id, in one file or in two.
fn check_ids(drafts: &[Draft], ledger: &mut Ledger) {
    let mut first: BTreeMap<&str, &Location> = BTreeMap::new();
    for draft in drafts {
        let Some(at) = &draft.named else { continue };
        if let Some(earlier) = first.get(draft.base.as_str()) {
            let message = format!("the id `{}` is already taken", draft.base);
            let help = format!("it is first used at {earlier}; give each case its own");
            ledger.report(at.clone(), message, help);
        } else {
            first.insert(&draft.base, at);
        }
    }
}

fn open_targets(
    files: &[SpecFile],
    drafts: &[Draft],
    ledger: &mut Ledger,
) -> BTreeMap<String, Target> {
    let mut open: BTreeMap<String, Target> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for draft in drafts {
        let Some(targets) = files.get(draft.file).and_then(|file| file.targets.as_ref()) else {
            continue;
        };
        let name = &draft.case.target;
        if !targets.knows(name) || !seen.insert((&targets.path, name)) {
            continue;
        }
        match targets.open(name) {
            Ok(target) => {
                let known = open.entry(name.clone()).or_insert_with(|| target.clone());
                if *known != target {
                    let at = draft.case.location.clone();
                    let message = format!("two targets are named `{name}`, in two target files");
                    ledger.report(
                        at,
                        message,
                        "rename one, or run the two suites one after the other",
                    );
                }
            }
            Err(problem) => ledger.problems.push(problem),
        }
    }
    open
}

/// The strictest of the target files: one run has one folder.
fn privacy(files: &[SpecFile]) -> Privacy {
    let asked = files.iter().filter_map(|file| Some(file.targets.as_ref()?.privacy()));
    asked.max().unwrap_or_default()
}

fn in_order(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |p: &Diagnostic| {
        (p.location.file.clone(), p.location.line, p.location.column, p.message.clone())
    };
    problems.sort_by_key(key);
    problems.dedup();
    problems
}
