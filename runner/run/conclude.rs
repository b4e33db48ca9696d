//! From captures to verdicts, whoever brings the captures.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use super::flights::Flights;
use super::stored::Stored;
use super::tally::Tally;
use super::{Tell, settle, shell_word, signal};
use crate::branch::Branch;
use crate::capture::Capture;
use crate::error::Error;
use crate::event::{CaseReport, CaseStatus, Event, RunStarted, SCHEMA};
use crate::evidence::RunFolder;
use crate::judge;
use crate::manifest::Manifest;
use crate::plan::{Case, Outline};
use crate::snapshot::Update;

/// Where captures come from, in the order of the plan.
pub(super) enum Source<'a> {
    /// From backends.
    Flights(Box<Flights<'a>>),
    /// From evidence.
    Stored(Stored),
}

impl Source<'_> {
    /// The next case with what was captured; `None` after the last. This may be cancelled and called again.
    async fn next(&mut self) -> Option<Result<(Arc<Case>, Capture), Error>> {
        match self {
            Source::Flights(flights) => flights.next().await,
            Source::Stored(stored) => stored.next().map(Ok),
        }
    }

    fn notes(&self) -> Vec<String> {
        match self {
            Source::Flights(_) => Vec::new(),
            Source::Stored(stored) => stored.notes.clone(),
        }
    }

    /// Why not all that was to be captured can come.
    fn broken_off(&self) -> Option<String> {
        match self {
            Source::Flights(_) => None,
            Source::Stored(stored) => stored.broken_off.clone(),
        }
    }
}

/// What judging needs beside the captures.
pub(super) struct Conclude<'a> {
    pub(super) plan: &'a Outline,
    pub(super) manifest: &'a Manifest,
    pub(super) started: Instant,
    pub(super) fail_fast: bool,
    pub(super) hidden_fails: bool,
    pub(super) update: Update,
    /// The command line that does the same, without a selection.
    pub(super) again: String,
}

impl Conclude<'_> {
    /// Judges every case that comes, then the scores over specs; gives the exit code.
    pub(super) async fn all(&self, mut source: Source<'_>, mut out: Out<'_>) -> Result<u8, Error> {
        out.event(Event::Run(self.start()))?;
        let rows = self.plan.scores.iter().flat_map(|score| score.cases.iter().copied());
        let mut tally = Tally::new(source.notes(), rows);
        let mut broken = None;
        if let Some(why) = source.broken_off() {
            tally.stop(why);
        }
        // One listener for the whole run: a signal between two cases must not be missed.
        let mut stop = pin!(signal::told_to_stop());
        loop {
            let landed = tokio::select! {
                landed = source.next() => landed,
                () = &mut stop => {
                    tally.stop(format!("interrupted, {} not run", self.left(&tally)));
                    break;
                }
            };
            let (case, mut capture) = match landed {
                None => break,
                Some(Ok(landed)) => landed,
                // The reports are completed before the error is told.
                Some(Err(error)) => {
                    tally.stop(format!("interrupted by an error, {} not run", self.left(&tally)));
                    broken = Some(error);
                    break;
                }
            };
            let (report, pending) = self.verdict(&case, &mut capture)?;
            out.close(&capture)?;
            let ends = ends_a_fast_run(report.status);
            tally.case(&capture, &report, pending);
            out.event(Event::Case(Box::new(report)))?;
            let left = self.left(&tally);
            if ends && self.fail_fast && left > 0 {
                tally.stop(format!("--fail-fast, {left} not run"));
                break;
            }
        }
        drop(source);
        self.scores(&mut tally, &mut out)?;
        let summary = tally.summary(self.started.elapsed());
        let exit = summary.exit;
        out.event(Event::Summary(summary))?;
        broken.map_or(Ok(exit), Err)
    }

    fn left(&self, tally: &Tally) -> usize {
        self.plan.count - tally.cases()
    }

    fn start(&self) -> RunStarted {
        RunStarted {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            manifest: self.manifest.digest(),
            targets: self.manifest.targets.clone(),
            selection: self.plan.selection.clone(),
            branches: Branch::ALL.iter().map(|branch| branch.name().to_owned()).collect(),
            cases: self.plan.count,
            time: self.manifest.time.clone(),
        }
    }

    /// The verdict on a case, and how many of its snapshots wait for review.
    fn verdict(&self, case: &Case, capture: &mut Capture) -> Result<(CaseReport, usize), Error> {
        if let Some(run) = capture.runs.first() {
            capture.scores = judge::scores(case, run);
        }
        let settled = settle::settle(case, capture, &self.manifest.targets, self.update)?;
        let again = self.reproduce(&case.target, &case.id);
        let mut report =
            judge::judge(case, capture, settled.accepted.as_ref(), settled.findings, again);
        if self.hidden_fails && report.status == CaseStatus::NotEvaluated {
            report.status = CaseStatus::Failed;
        }
        Ok((report, settled.pending))
    }

    /// A score over some of the rows would look like a score over all of them, so there is none of a run that
    /// stopped early.
    fn scores(&self, tally: &mut Tally, out: &mut Out<'_>) -> Result<(), Error> {
        if tally.stopped() {
            return Ok(());
        }
        for score in &self.plan.scores {
            let rows: Vec<_> = score.cases.iter().map(|&n| tally.score(n)).collect();
            let again = self.reproduce(&score.target, &format!("{}.*", score.id));
            if let Some(report) = judge::judge_spec(score, &rows, again) {
                tally.verdict(&report);
                out.event(Event::Case(Box::new(report)))?;
            }
        }
        Ok(())
    }

    /// The command that does these cases again.
    fn reproduce(&self, target: &str, id: &str) -> String {
        format!("{} --target {} --case {}", self.again, shell_word(target), shell_word(id))
    }
}

fn ends_a_fast_run(status: CaseStatus) -> bool {
    matches!(status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed)
}

/// Events and captures go to the evidence before they are told, so that a crash of a reporter loses nothing.
pub(super) struct Out<'a> {
    pub(super) folder: Option<RunFolder>,
    pub(super) tell: Tell<'a>,
}

impl Out<'_> {
    fn event(&mut self, event: Event) -> Result<(), Error> {
        if let Some(folder) = &mut self.folder {
            folder.event(&event)?;
        }
        (self.tell)(&event)
    }

    fn close(&self, capture: &Capture) -> Result<(), Error> {
        self.folder.as_ref().map_or(Ok(()), |folder| folder.log().close(capture))
    }
}

#[expect(clippy::disallowed_methods, reason = "the run loop times the run")]
pub(super) fn now() -> Instant {
    Instant::now()
}
