//! The cases of one spec file, one as typed or one row at a time, so that the file may be of any length.

use std::collections::BTreeMap;
use std::path::Path;

use super::case::{self, Draft, Source};
use super::dataset::{self, DataSet};
use super::files::show;
use super::fixture::Fixtures;
use super::ledger::{Ledger, SpecFile};
use super::settings::{Zone, check_stop_strings};
use super::targets::{self, is_plain};
use crate::diagnostic::Diagnostic;
use crate::spec::{self, CasesFrom, Spanned, TextOr, yaml};

/// A spec file on its way into drafts.
#[derive(Debug)]
pub(super) struct Unfolding {
    /// The file.
    pub(super) file: SpecFile,
    /// Its data set.
    pub(super) dataset: Option<DataSet>,
    index: usize,
    next: usize,
}

impl Unfolding {
    /// Reads the file, which is the one of that `index`; problems are reported, those of its cases later.
    pub(super) fn open(path: &Path, index: usize, ledger: &mut Ledger) -> Option<Unfolding> {
        let file = load(path, ledger)?;
        let from = file.spec.cases_from.as_ref();
        let dataset = from.and_then(|from| dataset::open(&file, from, ledger));
        Some(Unfolding { file, dataset, index, next: 0 })
    }

    /// The next case, once for each combination of its matrix; `None` after the last.
    pub(super) fn next(&mut self, chosen: &[String], ledger: &mut Ledger) -> Option<Vec<Draft>> {
        let Unfolding { file, dataset, index, next } = self;
        let index = *index;
        while let Some(typed) = file.spec.cases.get(*next) {
            *next += 1;
            let Some(case) = &typed.read(&file.tree) else { continue };
            let source = Source { file, index, case, reference: None, row: None };
            return Some(case::expand(source, chosen, ledger));
        }
        let from = file.spec.cases_from.as_ref()?;
        let row = dataset.as_mut()?.next(&from.value, ledger)?;
        let case = &row_case(from, &row.id, &row.user);
        let reference = row.reference.as_deref();
        let source = Source { file, index, case, reference, row: Some(&row.at) };
        Some(case::expand(source, chosen, ledger))
    }
}

fn load(path: &Path, ledger: &mut Ledger) -> Option<SpecFile> {
    let name = show(path);
    let text = ledger.read(path, None)?;
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
    drop(text);
    let spec = spec::read(&tree, &mut ledger.problems)?;
    let targets = targets::nearest(path, ledger);
    let topic =
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let fixtures = Fixtures::of(path, targets.as_ref().map(|targets| targets.path.as_path()));
    let snapshots = targets.as_ref().map(|targets| targets.snapshots()).unwrap_or_default();
    let file = SpecFile { tree, spec, topic, targets, fixtures, snapshots };
    check_file(&file, ledger);
    Some(file)
}

fn check_file(file: &SpecFile, ledger: &mut Ledger) {
    check_stop_strings(file, file.tree.root(), Zone::Elsewhere, ledger);
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
