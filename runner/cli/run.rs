//! `run` and `judge`: what is asked of the library, and who is told of its events.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use evalsuite::backend::{Opening, Secret, Secrets};
use evalsuite::error::Error;
use evalsuite::event::Event;
use evalsuite::plan::{Outline, TargetKind};
use evalsuite::privacy::Privacy;
use evalsuite::report::{self, Progress, Reporter};
use evalsuite::run::{Judging, Options};
use evalsuite::snapshot::Update;
use evalsuite::{evidence, plan};

use super::args::{Color, Hidden, Judge, Output, Run, Texts};
use super::selection;

/// Runs specs.
pub(super) fn run(args: Run, color: Color) -> Result<u8, Error> {
    let update = update_mode(&args.update)?;
    let (plan, cases) = plan::outline(&selection(&args.select))?;
    let cases = cases.with_timeout(Duration::from_secs(args.timeout));
    let options = Options {
        opening: Opening { jobs: args.jobs, retries: args.retries, secrets: secrets(&plan)? },
        fail_fast: args.fail_fast,
        update,
        hidden_fails: args.output.hidden == Hidden::Fail,
        args: std::env::args().skip(1).collect(),
        evidence: (!args.no_evidence).then(|| args.evidence.clone()),
        privacy: match args.privacy {
            Texts::Full => Privacy::Full,
            Texts::Hashed => Privacy::Hashed,
            Texts::IdsOnly => Privacy::IdsOnly,
        },
        paths: args.select.paths.clone(),
    };
    let mut told = Told::new(&args.output, color, plan.count)?;
    let mut tell = |event: &Event| told.event(event);
    event_loop()?.block_on(evalsuite::run::run(plan, cases, &options, &mut tell))
}

/// Judges the evidence of a run.
pub(super) fn judge(args: &Judge, color: Color) -> Result<u8, Error> {
    let run = evidence::open_run(&args.evidence, &args.run)?;
    let mut selection = selection(&args.select);
    selection.answered = true;
    if selection.target.is_empty() {
        selection.target.clone_from(&run.manifest.chosen);
    }
    let plan = plan::plan(&selection)?;
    let options = Judging {
        fail_fast: args.fail_fast,
        hidden_fails: args.output.hidden == Hidden::Fail,
        run: args.run.clone(),
        paths: args.select.paths.clone(),
    };
    let mut told = Told::new(&args.output, color, plan.cases.len())?;
    let mut tell = |event: &Event| told.event(event);
    event_loop()?.block_on(evalsuite::run::judge(plan, &run, &options, &mut tell))
}

fn event_loop() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|source| Error::Io {
        action: "start",
        path: "the event loop".into(),
        source,
    })
}

/// Those who are told of a run: its reports, and whoever watches the progress.
struct Told {
    reporters: Vec<Report>,
    progress: Progress,
}

impl Told {
    fn new(output: &Output, color: Color, cases: usize) -> Result<Told, Error> {
        let reporters = reporters(output, color)?;
        let terminal = io::stderr().is_terminal();
        Ok(Told { reporters, progress: Progress::new(cases, terminal, output.quiet) })
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let progress = &mut self.progress;
        match event {
            Event::Case(case) => progress.case(case),
            Event::Summary(_) => progress.finish(),
            Event::Run(_) => {}
        }
        let mut failed = None;
        self.reporters.retain_mut(|(path, reporter)| {
            match progress.suspend(|| reporter.event(event)) {
                Ok(()) => true,
                // Whoever read this report has gone. The run is judged all the same: its exit code, its evidence
                // and the other reports are still wanted.
                Err(source) if source.kind() == io::ErrorKind::BrokenPipe => false,
                Err(source) => {
                    let path = PathBuf::from(path.as_str());
                    failed.get_or_insert(Error::Io { action: "write", path, source });
                    true
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }
}

/// The keys that the targets of a plan name, from the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "keys come from the environment and from nowhere else"
)]
fn secrets(plan: &Outline) -> Result<Secrets, Error> {
    let mut secrets = Secrets::new();
    for target in plan.targets.values() {
        let TargetKind::Remote(remote) = &target.kind else { continue };
        let Some(name) = &remote.api_key_env else { continue };
        match std::env::var(name) {
            Ok(value) if !value.is_empty() => {
                secrets.insert(name.clone(), Secret::new(value));
            }
            _ => {
                return Err(Error::Usage(format!(
                    "target `{}` takes its key from the variable {name}, which is not set\n --> {}",
                    target.name, remote.location
                )));
            }
        }
    }
    Ok(secrets)
}

/// What the environment and `--update` say together: in CI, `auto` writes nothing.
#[expect(clippy::disallowed_methods, reason = "CI is part of the command line")]
fn update_mode(word: &str) -> Result<Update, Error> {
    let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    let update: Update = word
        .parse()
        .map_err(|error| Error::Usage(format!("`--update` or INSTA_UPDATE: {error}")))?;
    Ok(update.resolved(ci))
}

/// A reporter with the name of what it writes to.
type Report = (String, Box<dyn Reporter>);

/// The reporters that the command line asks for.
fn reporters(args: &Output, color: Color) -> Result<Vec<Report>, Error> {
    let verbosity = i8::from(args.verbose) - i8::from(args.quiet);
    let options = report::Options { color: color.enabled(&io::stdout()), verbosity };
    let mut wanted = args.report.clone();
    let shown = wanted.iter().filter(|report| !report.contains('=')).count();
    if shown > 1 {
        let message = "only one report can go to standard output; \
                       give the others a path, as in `--report json=out.jsonl`";
        return Err(Error::Usage(message.to_owned()));
    }
    if shown == 0 && !wanted.iter().any(|report| report.starts_with("human=")) {
        wanted.push("human".to_owned());
    }
    let open = |report: &String| {
        let place = report.split_once('=').map_or("standard output", |(_, path)| path);
        Ok((place.to_owned(), report::open_at(report, options)?))
    };
    wanted.iter().map(open).collect()
}
