//! Scores over all cases of a spec: each case records its own, the verdict is taken over all.

use super::ledger::SpecFile;
use super::{Expectation, SpecScore};
use crate::assertion::Assertion;
use crate::capture::Boundary;

/// Whether the assertion scores, so that it is taken over all cases when it stands at the top of a spec.
pub(super) fn is_score(assertion: &Assertion) -> bool {
    assertion.info().boundary == Boundary::Score
}

/// The selected cases of a spec by the target that answers, each with its place in the plan.
#[derive(Debug, Default)]
pub(super) struct Rows(Vec<(String, Vec<usize>)>);

impl Rows {
    /// Adds the case at `position` of the plan.
    pub(super) fn add(&mut self, target: &str, position: usize) {
        match self.0.iter_mut().find(|(name, _)| name == target) {
            Some((_, rows)) => rows.push(position),
            None => self.0.push((target.to_owned(), vec![position])),
        }
    }
}

/// The scores over the selected cases of a spec, one for each target that answers.
pub(super) fn over_spec(file: &SpecFile, rows: &Rows) -> Vec<SpecScore> {
    let typed: Vec<_> = file.spec.expect.iter().filter(|e| is_score(&e.value)).collect();
    let branch = file.spec.branch.value;
    let mut scores = Vec::new();
    for (number, expectation) in typed.iter().enumerate() {
        for (target, cases) in &rows.0 {
            let mut labels = Vec::new();
            if typed.len() > 1 {
                labels.push(format!("score={number}"));
            }
            if rows.0.len() > 1 {
                labels.push(format!("target={target}"));
            }
            let suffix =
                if labels.is_empty() { String::new() } else { format!("[{}]", labels.join(",")) };
            scores.push(SpecScore {
                id: format!("{}/{}{suffix}", branch.name(), file.topic),
                branch,
                target: target.clone(),
                expectation: Expectation {
                    assertion: expectation.value.clone(),
                    location: file.at(expectation.node),
                },
                cases: cases.clone(),
            });
        }
    }
    scores
}
