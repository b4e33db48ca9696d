//! Scores over all cases of a spec: each case records its own, the verdict is taken over all.

use super::case::Draft;
use super::ledger::SpecFile;
use super::{Expectation, SpecScore};
use crate::assertion::Assertion;
use crate::capture::Boundary;

/// Whether the assertion scores, so that it is taken over all cases when it stands at the top of a spec.
pub(super) fn is_score(assertion: &Assertion) -> bool {
    assertion.info().boundary == Boundary::Score
}

/// The scores over the selected cases of each spec, one for each target that answers.
pub(super) fn over_specs(files: &[SpecFile], drafts: &[Draft]) -> Vec<SpecScore> {
    files.iter().enumerate().flat_map(|(index, file)| over_spec(file, index, drafts)).collect()
}

fn over_spec(file: &SpecFile, index: usize, drafts: &[Draft]) -> Vec<SpecScore> {
    let typed: Vec<_> = file.spec.expect.iter().filter(|e| is_score(&e.value)).collect();
    let mut targets: Vec<&str> = Vec::new();
    for draft in drafts.iter().filter(|draft| draft.file == index) {
        if !targets.contains(&draft.case.target.as_str()) {
            targets.push(&draft.case.target);
        }
    }
    let branch = file.spec.branch.value;
    let mut scores = Vec::new();
    for (number, expectation) in typed.iter().enumerate() {
        for target in &targets {
            let mut labels = Vec::new();
            if typed.len() > 1 {
                labels.push(format!("score={number}"));
            }
            if targets.len() > 1 {
                labels.push(format!("target={target}"));
            }
            let suffix =
                if labels.is_empty() { String::new() } else { format!("[{}]", labels.join(",")) };
            let of_spec = |draft: &Draft| draft.file == index && draft.case.target == *target;
            scores.push(SpecScore {
                id: format!("{}/{}{suffix}", branch.name(), file.topic),
                branch,
                target: (*target).to_owned(),
                expectation: Expectation {
                    assertion: expectation.value.clone(),
                    location: file.at(expectation.node),
                },
                cases: drafts
                    .iter()
                    .enumerate()
                    .filter(|(_, d)| of_spec(d))
                    .map(|(i, _)| i)
                    .collect(),
            });
        }
    }
    scores
}
