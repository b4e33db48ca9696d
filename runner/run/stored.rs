//! The captures of a stored run, in the order of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::capture::Capture;
use crate::diagnostic::count;
use crate::error::Error;
use crate::event::Event;
use crate::evidence::{INTERRUPTED, StoredRun};
use crate::plan::{Case, Outline, Plan};

/// What a stored run holds for a plan.
pub(super) struct Stored {
    captures: BTreeMap<String, Capture>,
    cases: std::vec::IntoIter<Case>,
    /// What of the plan or of the run is not judged.
    pub(super) notes: Vec<String>,
    /// Why the run ended early, when that is why cases are missing.
    pub(super) broken_off: Option<String>,
}

impl Stored {
    /// Reads the captures, and leaves of the plan the cases that have one, on the target that the run used.
    pub(super) fn new(run: &StoredRun, mut plan: Plan) -> Result<(Outline, Stored), Error> {
        let mut captures: BTreeMap<String, Capture> =
            run.captures()?.into_iter().map(|capture| (capture.case.clone(), capture)).collect();
        // What the specs say about the target may have changed since; what answered has not.
        if let [only] = run.manifest.targets.as_slice() {
            for case in &mut plan.cases {
                case.target.clone_from(&only.name);
            }
            for score in &mut plan.outline.scores {
                score.target.clone_from(&only.name);
            }
        }
        let all = plan.cases.len();
        keep(&mut plan, |case| captures.contains_key(&case.id));
        let ids: BTreeSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
        let held = captures.len();
        captures.retain(|id, _| ids.contains(id.as_str()));
        let (missing, left_over) = (all - plan.cases.len(), held - captures.len());
        if plan.cases.is_empty() {
            let message = format!(
                "{} has {}, and none of them is among the {} of the specs",
                run.path.display(),
                count(held, "case"),
                count(all, "case")
            );
            return Err(Error::NothingSelected(message));
        }
        let mut notes = Vec::new();
        if missing > 0 {
            let verb = if missing == 1 { "is" } else { "are" };
            notes.push(format!("{} of the specs {verb} not in this run", count(missing, "case")));
        }
        // With a selection, the rest of the run was left out on purpose.
        if left_over > 0 && plan.outline.selection.is_empty() {
            let verb = if left_over == 1 { "is" } else { "are" };
            notes.push(format!("{} of this run {verb} not in the specs", count(left_over, "case")));
        }
        let broken_off = if missing > 0 { broken_off(run)? } else { None };
        let Plan { outline, cases } = plan;
        Ok((outline, Stored { captures, cases: cases.into_iter(), notes, broken_off }))
    }

    pub(super) fn next(&mut self) -> Option<(Arc<Case>, Capture)> {
        let case = self.cases.next()?;
        let capture = self.captures.remove(&case.id)?;
        Some((Arc::new(case), capture))
    }
}

/// Leaves the cases that `wanted` takes, and of each score its rows among them.
fn keep(plan: &mut Plan, wanted: impl Fn(&Case) -> bool) {
    let mut places = BTreeMap::new();
    for (old, case) in plan.cases.iter().enumerate() {
        if wanted(case) {
            places.insert(old, places.len());
        }
    }
    plan.cases.retain(|case| wanted(case));
    plan.outline.count = plan.cases.len();
    for score in &mut plan.outline.scores {
        score.cases = score.cases.iter().filter_map(|old| places.get(old).copied()).collect();
    }
    plan.outline.scores.retain(|score| !score.cases.is_empty());
}

/// Why a run ended before its last case, if it did.
fn broken_off(run: &StoredRun) -> Result<Option<String>, Error> {
    let last = run.results()?.pop();
    Ok(match last {
        Some(Event::Summary(summary)) => summary.stopped,
        _ => Some(format!("{INTERRUPTED}, the stored run has no end")),
    })
}
