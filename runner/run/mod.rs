//! The loop: each case of the plan goes to its backend, comes back as a capture, is judged and told.
//!
//! Cases run up to `jobs` at a time; events leave in the order of the plan whatever finishes first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::backend::{self, Backend, Opening};
use crate::branch::Branch;
use crate::capture::Capture;
use crate::error::Error;
use crate::event::{CaseReport, CaseStatus, Event, RunStarted, SCHEMA, TargetIdentity};
use crate::evidence::RunFolder;
use crate::judge;
use crate::manifest::Manifest;
use crate::plan::{Case, Plan};
use crate::snapshot::Update;

mod flights;
mod settle;
mod tally;

use flights::Flights;
use tally::Tally;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many cases are in flight at once, and what else backends must know.
    pub opening: Opening,
    /// Stop after the first case that does not hold.
    pub fail_fast: bool,
    /// What becomes of snapshots that are new or differ.
    pub update: Update,
    /// Whether an unseen boundary fails its case.
    pub hidden_fails: bool,
    /// Where run folders are kept; `None` keeps no evidence.
    pub evidence: Option<PathBuf>,
    /// The command line, as evidence.
    pub args: Vec<String>,
    /// The specs as they were named on the command line, for the command that runs a case again.
    pub paths: Vec<PathBuf>,
}

/// Takes every event of a run, in order.
pub type Tell<'a> = &'a mut dyn FnMut(&Event) -> Result<(), Error>;

/// Runs a plan, tells `tell` of every event, and gives the exit code.
///
/// # Errors
/// [`Error::Backend`] when a target cannot be opened, [`Error::Io`] when a report, a snapshot or the evidence
/// cannot be written.
#[expect(clippy::disallowed_methods, reason = "the run loop times the run")]
pub async fn run(plan: &Plan, options: &Options, tell: Tell<'_>) -> Result<u8, Error> {
    let started = Instant::now();
    let backends = open(plan, &options.opening).await?;
    let now = Utc::now();
    let manifest = manifest(plan, identities(&backends), options, now);
    let evidence = options.evidence.as_ref().map(|root| RunFolder::create(root, &manifest, now));
    let mut out = Out { evidence: evidence.transpose()?, tell };
    out.event(Event::Run(RunStarted {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        manifest: manifest.digest(),
        targets: manifest.targets.clone(),
        selection: plan.selection.clone(),
        branches: Branch::ALL.iter().map(|branch| branch.name().to_owned()).collect(),
        cases: plan.cases.len(),
        time: manifest.time.clone(),
    }))?;

    let mut tally = Tally::default();
    let mut flights = Flights::new(&plan.cases, &backends, options.opening.jobs);
    // One listener for the whole run: a signal between two cases must not be missed.
    let mut stop = pin!(told_to_stop());
    loop {
        let landed = tokio::select! {
            landed = flights.next() => landed,
            () = &mut stop => {
                tally.stop(format!("interrupted, {} not run", plan.cases.len() - tally.cases()));
                break;
            }
        };
        let Some(landed) = landed else { break };
        let (case, mut capture) = landed?;
        let (report, pending) = verdict(case, &mut capture, &manifest.targets, options)?;
        out.capture(&capture)?;
        let ends = ends_a_fast_run(report.status);
        tally.case(&capture, &report, pending);
        out.event(Event::Case(Box::new(report)))?;
        let left = plan.cases.len() - tally.cases();
        if ends && options.fail_fast && left > 0 {
            tally.stop(format!("--fail-fast, {left} not run"));
            break;
        }
    }
    drop(flights);
    // A score over some of the rows would look like a score over all of them.
    if !tally.stopped() {
        for score in &plan.scores {
            let rows: Vec<_> = score.cases.iter().map(|&n| tally.score(n)).collect();
            let again = reproduce(options, &score.target, &format!("{}.*", score.id));
            if let Some(report) = judge::judge_spec(score, &rows, again) {
                tally.verdict(&report);
                out.event(Event::Case(Box::new(report)))?;
            }
        }
    }
    let summary = tally.summary(started.elapsed());
    let exit = summary.exit;
    out.event(Event::Summary(summary))?;
    Ok(exit)
}

/// Waits for Ctrl-C, or for the signal by which CI and containers end a program.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler there is nothing to wait for but Ctrl-C.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Events and captures go to the evidence before they are told, so that a crash of a reporter loses nothing.
struct Out<'a> {
    evidence: Option<RunFolder>,
    tell: Tell<'a>,
}

impl Out<'_> {
    fn event(&mut self, event: Event) -> Result<(), Error> {
        if let Some(evidence) = &mut self.evidence {
            evidence.event(&event)?;
        }
        (self.tell)(&event)
    }

    fn capture(&mut self, capture: &Capture) -> Result<(), Error> {
        match &mut self.evidence {
            Some(evidence) => evidence.capture(capture),
            None => Ok(()),
        }
    }
}

type Backends = BTreeMap<String, Arc<dyn Backend>>;

async fn open(plan: &Plan, opening: &Opening) -> Result<Backends, Error> {
    let mut backends = Backends::new();
    for (name, target) in &plan.targets {
        let backend = backend::open(target, opening).await.map_err(|failed| {
            let message = format!("{}\n --> {}", failed.error, target.kind.location());
            Error::Backend { target: name.clone(), message }
        })?;
        backends.insert(name.clone(), backend);
    }
    Ok(backends)
}

fn identities(backends: &Backends) -> Vec<TargetIdentity> {
    let identity = |(name, backend): (&String, &Arc<dyn Backend>)| TargetIdentity {
        name: name.clone(),
        facts: backend.identity(),
    };
    backends.iter().map(identity).collect()
}

fn manifest(
    plan: &Plan,
    targets: Vec<TargetIdentity>,
    options: &Options,
    now: DateTime<Utc>,
) -> Manifest {
    let time = now.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut manifest = Manifest::new(env!("CARGO_PKG_VERSION"), time);
    manifest.targets = targets;
    manifest.selection = plan.selection.clone();
    manifest.files = plan.files.clone();
    manifest.args = options.args.clone();
    manifest
}

/// The verdict on a case, and how many of its snapshots wait for review.
fn verdict(
    case: &Case,
    capture: &mut Capture,
    targets: &[TargetIdentity],
    options: &Options,
) -> Result<(CaseReport, usize), Error> {
    if let Some(run) = capture.runs.first() {
        capture.scores = judge::scores(case, run);
    }
    let settled = settle::settle(case, capture, targets, options.update)?;
    let again = reproduce(options, &case.target, &case.id);
    let mut report =
        judge::judge(case, capture, settled.accepted.as_ref(), settled.findings, again);
    if options.hidden_fails && report.status == CaseStatus::NotEvaluated {
        report.status = CaseStatus::Failed;
    }
    Ok((report, settled.pending))
}

fn ends_a_fast_run(status: CaseStatus) -> bool {
    matches!(status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed)
}

/// The command that runs these cases again.
fn reproduce(options: &Options, target: &str, id: &str) -> String {
    let mut words = vec!["evalsuite".to_owned(), "run".to_owned()];
    words.extend(options.paths.iter().map(|path| shell_word(&path.display().to_string())));
    words.extend(["--target".to_owned(), shell_word(target)]);
    words.extend(["--case".to_owned(), shell_word(id)]);
    words.join(" ")
}

/// `word`, quoted where a shell would change it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%#".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
