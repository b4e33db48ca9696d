//! The snapshots of a case: compared with what was accepted, and written where the update mode says so.

use crate::capture::{Accepted, Boundary, Capture};
use crate::error::Error;
use crate::finding::{Finding, Kind, Outcome, Status};
use crate::judge::NEW_SNAPSHOT;
use crate::manifest::Manifest;
use crate::plan::Case;
use crate::snapshot::{self, Comparison, Meta, Update};

/// What the snapshots of a case say.
pub(super) struct Settled {
    /// What was accepted before, where something was.
    pub(super) accepted: Option<Accepted>,
    /// One finding per boundary with a snapshot.
    pub(super) findings: Vec<Finding>,
}

/// Compares and writes the snapshots of a case. Nothing is written for a run that broke off.
pub(super) fn settle(
    case: &Case,
    capture: &Capture,
    manifest: &Manifest,
    update: Update,
) -> Result<Settled, Error> {
    let Some(run) = capture.runs.first() else {
        return Ok(Settled { accepted: None, findings: Vec::new() });
    };
    // With `always` the files are about to be replaced, so expectations are judged against the new ones.
    let before = match update {
        Update::Always => None,
        _ => snapshot::accepted(&case.snapshot_stem)?,
    };
    let meta = Meta {
        source: case.location.file.clone(),
        line: case.location.line,
        case: case.id.clone(),
        target: case.target.clone(),
        facts: manifest.facts(&case.target),
    };
    let update = if run.error.is_some() { Update::No } else { update };
    let mut findings = Vec::new();
    for &boundary in &case.snapshot {
        let outcome = if run.error.is_some() {
            Outcome::hidden("the accepted snapshot", "the conversation broke off")
        } else {
            let tolerance = snapshot::TOLERANCE;
            let stem = &case.snapshot_stem;
            told(snapshot::check(stem, boundary, capture, &meta, update, tolerance)?, boundary)
        };
        findings.push(Finding {
            name: format!("snapshot:{boundary}"),
            kind: Kind::Snapshot,
            boundary,
            turn: None,
            run: None,
            outcome,
            spec: case.location.clone(),
        });
    }
    let accepted = match update {
        Update::Always => snapshot::accepted(&case.snapshot_stem)?,
        _ => before,
    };
    Ok(Settled { accepted, findings })
}

fn told(comparison: Comparison, boundary: Boundary) -> Outcome {
    match comparison {
        Comparison::Same => Outcome::pass("the accepted snapshot", "the same"),
        Comparison::Hidden { reason } => Outcome::hidden("the accepted snapshot", &reason),
        Comparison::New { pending } => {
            let message = match pending {
                Some(path) => format!("no {boundary} snapshot was accepted yet; review {}", path.display()),
                None => format!("no {boundary} snapshot was accepted yet, and none was written"),
            };
            Outcome::fail(NEW_SNAPSHOT, "none", message)
        }
        Comparison::Changed { line, expected, actual, difference, .. } => {
            let message = format!("the {boundary} differs from the accepted snapshot at line {line}");
            let mut outcome =
                Outcome::new(Status::Fail, expected, actual, message).at(format!("line {line}"));
            outcome.difference = difference;
            outcome
        }
    }
}
