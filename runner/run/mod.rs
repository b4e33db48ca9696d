//! The loop: each case of the plan comes back as a capture, from its backend or from evidence, is judged and told.
//!
//! Cases run up to `jobs` at a time; events leave in the order of the plan whatever finishes first.

use std::path::PathBuf;

use chrono::Utc;

use crate::backend::Opening;
use crate::error::Error;
use crate::event::Event;
use crate::evidence::{RunFolder, StoredRun};
use crate::plan::{Cases, Outline, Plan};
use crate::privacy::Privacy;
use crate::snapshot::Update;

mod backends;
mod conclude;
mod flights;
mod settle;
mod signal;
mod stored;
mod tally;

use conclude::{Conclude, Out, Source, now};
use flights::Flights;
use stored::Stored;

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
    /// Which texts the evidence holds, where the targets do not say something stricter.
    pub privacy: Privacy,
    /// The command line, as evidence.
    pub args: Vec<String>,
    /// The specs as they were named on the command line, for the command that runs a case again.
    pub paths: Vec<PathBuf>,
}

/// How evidence is judged again.
#[derive(Debug, Clone)]
pub struct Judging {
    /// Stop after the first case that does not hold.
    pub fail_fast: bool,
    /// Whether an unseen boundary fails its case.
    pub hidden_fails: bool,
    /// The run as it was named on the command line.
    pub run: String,
    /// The specs as they were named there.
    pub paths: Vec<PathBuf>,
}

/// Takes every event of a run, in order.
pub type Tell<'a> = &'a mut dyn FnMut(&Event) -> Result<(), Error>;

/// Runs the cases of a plan, tells `tell` of every event, and gives the exit code.
///
/// # Errors
/// [`Error::Backend`] when a target cannot be opened, [`Error::Specs`] when a spec or a fixture changed since it was
/// checked, [`Error::Io`] when a report, a snapshot or the evidence
/// cannot be written.
pub async fn run(
    mut plan: Outline,
    cases: Cases,
    options: &Options,
    tell: Tell<'_>,
) -> Result<u8, Error> {
    let started = now();
    let backends = tokio::select! {
        backends = backends::open(&plan, &options.opening) => backends?,
        () = signal::told_to_stop() => {
            let source = std::io::Error::from(std::io::ErrorKind::Interrupted);
            return Err(Error::Io { action: "open", path: "the targets".into(), source });
        }
    };
    let time = Utc::now();
    let mut manifest = backends::manifest(&mut plan, backends::identities(&backends), time);
    manifest.args = options.args.clone();
    manifest.privacy = options.privacy.max(plan.privacy);
    let folder = options.evidence.as_ref().map(|root| RunFolder::create(root, &manifest, time));
    let folder = folder.transpose()?;
    let log = folder.as_ref().map(RunFolder::log);
    if let Some(log) = &log {
        for (target, backend) in &backends {
            log.probes(target, backend.probes())?;
        }
    }
    let conclude = Conclude {
        plan: &plan,
        manifest: &manifest,
        started,
        fail_fast: options.fail_fast,
        hidden_fails: options.hidden_fails,
        update: options.update,
        again: command(&["run".to_owned()], &options.paths),
    };
    let flights = Flights::new(cases, &backends, options.opening.jobs, log);
    conclude.all(Source::Flights(Box::new(flights)), Out { folder, tell }).await
}

/// Judges the captures of a stored run by a plan, tells `tell` of every event, and gives the exit code. Nothing is
/// asked of a backend, and nothing is written.
///
/// # Errors
/// [`Error::NothingSelected`] when the run holds no case of the plan; [`Error::Io`] when the evidence cannot be
/// read or a report cannot be written.
pub async fn judge(
    plan: Plan,
    run: &StoredRun,
    options: &Judging,
    tell: Tell<'_>,
) -> Result<u8, Error> {
    let started = now();
    let (mut plan, stored) = Stored::new(run, plan)?;
    let mut manifest = backends::manifest(&mut plan, run.manifest.targets.clone(), Utc::now());
    manifest.chosen = run.manifest.chosen.clone();
    let conclude = Conclude {
        plan: &plan,
        manifest: &manifest,
        started,
        fail_fast: options.fail_fast,
        hidden_fails: options.hidden_fails,
        update: Update::No,
        again: command(&["judge".to_owned(), options.run.clone()], &options.paths),
    };
    conclude.all(Source::Stored(stored), Out { folder: None, tell }).await
}

/// The beginning of the command that does the same for one case.
fn command(words: &[String], paths: &[PathBuf]) -> String {
    let paths = paths.iter().map(|path| path.display().to_string());
    let words = words.iter().cloned().chain(paths).map(|word| shell_word(&word));
    words.fold("evalsuite".to_owned(), |command, word| format!("{command} {word}"))
}

/// `word`, quoted where a shell would change it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%#".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
