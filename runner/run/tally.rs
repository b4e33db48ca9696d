//! What adds up over a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::assertion::{not_sent, unpinned};
use crate::capture::{Boundary, CHAT, Capture, Score, WireCall};
use crate::error::exit;
use crate::event::{CaseReport, CaseStatus, Summary};

/// The running sum.
#[derive(Default)]
pub(super) struct Tally {
    statuses: BTreeMap<&'static str, usize>,
    boundaries: BTreeMap<Boundary, usize>,
    pending: usize,
    unpinned: BTreeMap<String, usize>,
    not_sent: BTreeMap<String, usize>,
    cases: usize,
    /// What was scored, of the cases that a score over a spec is taken over.
    scores: BTreeMap<usize, Option<Score>>,
    stopped: Option<String>,
    requests: usize,
    retried: usize,
    notes: Vec<String>,
}

impl Tally {
    /// Nothing yet, with what is known before the first case; of the cases at the positions `scored` the scores
    /// are kept.
    pub(super) fn new(notes: Vec<String>, scored: impl Iterator<Item = usize>) -> Self {
        let scores = scored.map(|case| (case, None)).collect();
        Tally { notes, scores, ..Tally::default() }
    }

    /// Counts a case with its capture and the snapshots that it left for review.
    pub(super) fn case(&mut self, capture: &Capture, report: &CaseReport, pending: usize) {
        self.pending += pending;
        if let Some(score) = self.scores.get_mut(&self.cases) {
            *score = capture.scores.first().cloned();
        }
        self.cases += 1;
        let (mut fields, mut lost) = (BTreeSet::new(), BTreeSet::new());
        for exchange in capture.runs.iter().flat_map(|run| &run.exchanges) {
            if let Ok(settings) = exchange.settings.seen() {
                fields.extend(unpinned(settings));
                lost.extend(not_sent(settings));
            }
        }
        for field in fields {
            *self.unpinned.entry(field).or_default() += 1;
        }
        for field in lost {
            *self.not_sent.entry(field).or_default() += 1;
        }
        self.requests(capture);
        self.verdict(report);
    }

    /// Counts the requests that were answered, and those of them that needed another attempt.
    fn requests(&mut self, capture: &Capture) {
        for exchange in capture.runs.iter().chain(&capture.twin).flat_map(|run| &run.exchanges) {
            let mut chats = exchange.wire.iter().filter(|call| call.purpose == CHAT);
            self.requests += 1;
            self.retried += usize::from(!chats.all(WireCall::first_attempt));
        }
    }

    /// Counts a verdict that has no capture of its own.
    pub(super) fn verdict(&mut self, report: &CaseReport) {
        *self.statuses.entry(report.status.name()).or_default() += 1;
        if report.status == CaseStatus::Failed
            && let Some(boundary) = report.boundary
        {
            *self.boundaries.entry(boundary).or_default() += 1;
        }
    }

    /// The run ends early, for this reason.
    pub(super) fn stop(&mut self, why: String) {
        self.stopped = Some(why);
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// How many cases were counted.
    pub(super) fn cases(&self) -> usize {
        self.cases
    }

    /// The score of the case at this position of the plan.
    pub(super) fn score(&self, case: usize) -> Option<Score> {
        self.scores.get(&case).cloned().flatten()
    }

    pub(super) fn summary(self, elapsed: Duration) -> Summary {
        let count = |status: CaseStatus| self.statuses.get(status.name()).copied().unwrap_or(0);
        let exit = if count(CaseStatus::Errored) > 0 || self.is_interrupted() {
            exit::BACKEND
        } else if count(CaseStatus::Failed) + count(CaseStatus::Fixed) > 0 {
            exit::FAILED
        } else {
            exit::OK
        };
        Summary {
            by_status: CaseStatus::ALL.iter().map(|&s| (s.name().to_owned(), count(s))).collect(),
            by_boundary: self.boundaries,
            pending_snapshots: self.pending,
            unpinned: self.unpinned,
            not_sent: self.not_sent,
            requests: self.requests,
            retried: self.retried,
            notes: self.notes,
            stopped: self.stopped,
            exit,
            elapsed_ms: elapsed.as_secs_f64() * 1e3,
        }
    }

    fn is_interrupted(&self) -> bool {
        self.stopped.as_deref().is_some_and(|why| why.starts_with("interrupted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Attempt, WireRequest};
    use crate::report::sample;

    fn call(purpose: &str, attempts: usize) -> WireCall {
        let request = WireRequest { method: "POST".to_owned(), path: "/".to_owned(), body: None };
        let attempt = Attempt { outcome: "200".to_owned(), waited_ms: 0.0 };
        WireCall {
            purpose: purpose.to_owned(),
            request,
            response: None,
            attempts: vec![attempt; attempts],
            broke: None,
        }
    }

    #[test]
    fn requests_that_needed_another_attempt_are_counted_and_side_calls_are_not() {
        let table = [
            (vec![], 0),
            (vec![call(CHAT, 1)], 0),
            (vec![call(CHAT, 2)], 1),
            (vec![call("prompt ids", 3), call(CHAT, 1)], 0),
            (vec![call(CHAT, 1), call(CHAT, 3)], 1),
        ];
        for (wire, retried) in table {
            let mut capture = sample::capture();
            capture.runs[0].exchanges[0].wire = wire;
            capture.twin = Some(sample::capture().runs.remove(0));
            let mut tally = Tally::default();
            tally.case(&capture, &sample::cases()[0], 0);
            let summary = tally.summary(Duration::ZERO);
            assert_eq!((summary.requests, summary.retried), (2, retried));
        }
    }
}
