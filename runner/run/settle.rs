//! The snapshots of a case: compared with what was accepted, and written where the update mode says so.

use crate::capture::{Accepted, Boundary, Capture};
use crate::error::Error;
use crate::event::TargetIdentity;
use crate::finding::{Finding, Kind, Outcome};
use crate::plan::Case;
use crate::privacy;
use crate::snapshot::{self, Meta, TOLERANCE, Update};

/// What the snapshots of a case say.
pub(super) struct Settled {
    /// What was accepted before, where something was.
    pub(super) accepted: Option<Accepted>,
    /// One finding per boundary with a snapshot.
    pub(super) findings: Vec<Finding>,
    /// How many files were left for review.
    pub(super) pending: usize,
}

/// Compares and writes the snapshots of a case. Nothing is written for a run that broke off.
pub(super) fn settle(
    case: &Case,
    capture: &Capture,
    targets: &[TargetIdentity],
    update: Update,
) -> Result<Settled, Error> {
    let Some(run) = capture.runs.first() else {
        return Ok(Settled { accepted: None, findings: Vec::new(), pending: 0 });
    };
    // With `always` the files are about to be replaced, so expectations are judged against the new ones.
    let before = match update {
        Update::Always => None,
        _ => Some(snapshot::accepted(&case.snapshot_stem)?),
    };
    let meta = Meta {
        source: case.location.file.clone(),
        line: case.location.line,
        description: case.id.clone(),
        info: info(case, targets),
    };
    let update = if run.error.is_some() { Update::No } else { update };
    let (mut findings, mut pending) = (Vec::new(), 0);
    for &boundary in &case.snapshot {
        let withheld = run.exchanges.first().and_then(privacy::withheld);
        let outcome = if run.error.is_some() {
            Outcome::hidden("as accepted", "the conversation broke off")
        } else if let Some(why) = withheld.filter(|_| boundary != Boundary::Settings) {
            Outcome::hidden("as accepted", why)
        } else {
            let stem = &case.snapshot_stem;
            let compared = snapshot::check(stem, boundary, capture, &meta, update, TOLERANCE)?;
            pending += usize::from(compared.pending().is_some());
            compared.outcome()
        };
        let name = format!("snapshot:{boundary}");
        findings.push(Finding::new(name, Kind::Snapshot, boundary, outcome, &case.location));
    }
    let accepted = match update {
        Update::Always => Some(snapshot::accepted(&case.snapshot_stem)?),
        _ => before,
    };
    Ok(Settled { accepted, findings, pending })
}

/// What identifies the target, for the front matter.
fn info(case: &Case, targets: &[TargetIdentity]) -> Vec<(String, String)> {
    let target = targets.iter().find(|target| target.name == case.target);
    let mut info = vec![("target".to_owned(), case.target.clone())];
    info.extend(target.into_iter().flat_map(|target| target.facts.iter().cloned()));
    info
}
