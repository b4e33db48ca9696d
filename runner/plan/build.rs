//! From a selection to a plan: discover, read, resolve, check, select; one file after another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::case::Draft;
use super::files::{discover, show};
use super::ids::Ids;
use super::lazy::{Cases, Part};
use super::ledger::{Ledger, SpecFile};
use super::score::{self, Rows};
use super::select::{Selection, Selector};
use super::unfold::Unfolding;
use super::{Case, Outline, Plan, Target};
use crate::diagnostic::{Diagnostic, choices};
use crate::error::Error;

/// Reads every spec that `selection` reaches and resolves the cases that it selects.
///
/// # Errors
/// [`Error::Specs`] with every problem of every file, [`Error::Usage`] when the selection itself is wrong,
/// [`Error::NothingSelected`] when nothing is left.
pub fn plan(selection: &Selection) -> Result<Plan, Error> {
    let mut cases = Vec::new();
    let (outline, _) = scan(selection, &mut |case| cases.push(case))?;
    Ok(Plan { outline, cases })
}

/// Checks all that [`plan`] checks and keeps no case: what is known of them together, and the cases one by one.
///
/// # Errors
/// As for [`plan`].
pub fn outline(selection: &Selection) -> Result<(Outline, Cases), Error> {
    scan(selection, &mut drop)
}

fn scan(selection: &Selection, keep: &mut dyn FnMut(Case)) -> Result<(Outline, Cases), Error> {
    let mut selection = selection.clone();
    if selection.paths.is_empty() {
        selection.paths.push(PathBuf::from("specs"));
    }
    let selector = Selector::new(&selection)?;
    let mut ledger = Ledger::default();
    let paths = discover(&selection.paths, &mut ledger.problems)?;
    let mut scan = Scan {
        selection: &selection,
        selector,
        ledger,
        ids: Ids::default(),
        opened: BTreeSet::new(),
        outline: Outline::default(),
    };
    let mut parts = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let Some(file) = Unfolding::open(path, index, &mut scan.ledger) else { continue };
        scan.check_targets(&file.file)?;
        let picked = scan.file(file, keep);
        scan.ledger.forget();
        if picked.contains(&true) {
            parts.push(Part { path: path.clone(), picked });
        }
    }
    let Scan { selector, ledger, mut outline, .. } = scan;
    if !ledger.problems.is_empty() {
        return Err(Error::Specs(in_order(ledger.problems)));
    }
    if outline.count == 0 {
        return Err(selector.nothing(&everything(&paths, &selection.target), paths.len()));
    }
    outline.selection = selector.words();
    outline.chosen.clone_from(&selection.target);
    outline.files = ledger.hashes();
    Ok((outline, Cases::new(parts, ledger, selection.target.clone())))
}

/// What is known while one file after another is read.
struct Scan<'a> {
    selection: &'a Selection,
    selector: Selector<'a>,
    ledger: Ledger,
    ids: Ids,
    /// The target files and the targets in them that were opened.
    opened: BTreeSet<(PathBuf, String)>,
    outline: Outline,
}

impl Scan<'_> {
    /// Checks every case of a file and says which are selected; those are handed to `keep`.
    fn file(&mut self, mut unfolding: Unfolding, keep: &mut dyn FnMut(Case)) -> Vec<bool> {
        let mut picked = Vec::new();
        let mut rows = Rows::default();
        while let Some(drafts) = unfolding.next(&self.selection.target, &mut self.ledger) {
            for draft in drafts {
                self.check_id(&draft);
                let picks = self.selector.picks(&draft);
                picked.push(picks);
                if !picks {
                    continue;
                }
                self.open_target(&unfolding.file, &draft);
                if draft.group.is_some() {
                    rows.add(&draft.case.target, self.outline.count);
                }
                self.outline.count += 1;
                keep(draft.case);
            }
        }
        let Unfolding { file, dataset, .. } = unfolding;
        self.outline.scores.extend(score::over_spec(&file, &rows));
        if let Some(targets) = &file.targets {
            // The strictest of the target files: one run has one folder.
            self.outline.privacy = self.outline.privacy.max(targets.privacy());
        }
        if let Some(dataset) = dataset.filter(|_| picked.contains(&true)) {
            self.outline.datasets.insert(dataset.file, dataset.hash);
        }
        picked
    }

    fn check_targets(&self, file: &SpecFile) -> Result<(), Error> {
        let Some(targets) = file.targets.as_ref().filter(|_| !self.selection.answered) else {
            return Ok(());
        };
        let Some(name) = self.selection.target.iter().find(|name| !targets.knows(name)) else {
            return Ok(());
        };
        let legal = choices(name, &targets.names());
        let message = format!("there is no target `{name}` in {}: {legal}", show(&targets.path));
        Err(Error::Usage(message))
    }

    fn check_id(&mut self, draft: &Draft) {
        let Some(at) = &draft.named else { return };
        if let Some(earlier) = self.ids.take(&draft.base, at) {
            let message = format!("the id `{}` is already taken", draft.base);
            let help = format!("it is first used at {earlier}; give each case its own");
            self.ledger.report(at.clone(), message, help);
        }
    }

    fn open_target(&mut self, file: &SpecFile, draft: &Draft) {
        let Some(targets) = file.targets.as_ref().filter(|_| !self.selection.answered) else {
            return;
        };
        let name = &draft.case.target;
        if !targets.knows(name) || !self.opened.insert((targets.path.clone(), name.clone())) {
            return;
        }
        let target = match targets.open(name) {
            Ok(target) => target,
            Err(problem) => return self.ledger.problems.push(problem),
        };
        let open: &mut BTreeMap<String, Target> = &mut self.outline.targets;
        if *open.entry(name.clone()).or_insert_with(|| target.clone()) != target {
            let message = format!("two targets are named `{name}`, in two target files");
            let help = "rename one, or run the two suites one after the other";
            self.ledger.report(draft.case.location.clone(), message, help);
        }
    }
}

/// The id and the tags of every case, for somebody who selected none.
fn everything(paths: &[PathBuf], chosen: &[String]) -> Vec<(String, Vec<String>)> {
    let mut ledger = Ledger::default();
    let mut all = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        let Some(mut file) = Unfolding::open(path, index, &mut ledger) else { continue };
        while let Some(drafts) = file.next(chosen, &mut ledger) {
            all.extend(drafts.into_iter().map(|draft| (draft.case.id, draft.case.tags)));
        }
        ledger.forget();
    }
    all
}

pub(super) fn in_order(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |p: &Diagnostic| {
        (p.location.file.clone(), p.location.line, p.location.column, p.message.clone())
    };
    problems.sort_by_key(key);
    problems.dedup();
    problems
}
