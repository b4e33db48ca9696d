//! From the command line to the library, and from its result to an exit code.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use evalsuite::backend::{Opening, Secret, Secrets};
use evalsuite::error::{Error, exit};
use evalsuite::event::Event;
use evalsuite::plan::{Case, Plan, Selection, TargetKind};
use evalsuite::report::{self, Progress, Reporter};
use evalsuite::run::Options;
use evalsuite::snapshot::{self, Update};
use evalsuite::{evidence, explain, init, ladder, plan, schema};

mod args;

pub(crate) use args::Args;
use args::{
    Color, Command, Hidden, Init, Inspect, List, Run, SchemaOf, Select, SnapshotAction, Snapshots,
};

/// Carries out a command and gives its exit code.
pub(crate) fn execute(args: Args) -> Result<u8, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let color = args.color;
    let code = match args.command {
        Command::Run(run) => {
            drop(out);
            return execute_run(run, color);
        }
        Command::Check(select) => check(&select, &mut out),
        Command::List(list) => execute_list(&list, &mut out),
        Command::Explain { word } => execute_explain(word.as_deref(), &mut out),
        Command::Inspect(args) => inspect(&args, &mut out),
        Command::Snapshots(args) => snapshots(args, color, &mut out),
        Command::Schema { of } => execute_schema(of, &mut out),
        Command::Init(args) => execute_init(&args, &mut out),
    }?;
    out.flush().map_err(stdout)?;
    Ok(code)
}

fn stdout(source: io::Error) -> Error {
    Error::Io { action: "write", path: "standard output".into(), source }
}

fn selection(select: &Select) -> Selection {
    Selection {
        paths: select.paths.clone(),
        target: select.target.clone(),
        branch: select.branch.clone(),
        case: select.case.clone(),
        tag: select.tag.clone(),
        partition: select.partition,
    }
}

fn execute_run(args: Run, color: Color) -> Result<u8, Error> {
    let update = update_mode(&args.update)?;
    let mut plan = plan::plan(&selection(&args.select))?;
    for case in &mut plan.cases {
        case.timeout.get_or_insert(Duration::from_secs(args.timeout));
    }
    let options = Options {
        opening: Opening { jobs: args.jobs, retries: args.retries, secrets: secrets(&plan)? },
        fail_fast: args.fail_fast,
        update,
        hidden_fails: args.hidden == Hidden::Fail,
        args: std::env::args().skip(1).collect(),
        evidence: (!args.no_evidence).then(|| args.evidence.clone()),
        paths: args.select.paths.clone(),
    };
    let mut reporters = reporters(&args, color)?;
    let terminal = io::stderr().is_terminal();
    let mut progress = Progress::new(plan.cases.len(), terminal, args.quiet);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Io { action: "start", path: "the event loop".into(), source })?;
    runtime.block_on(evalsuite::run::run(&plan, &options, &mut |event| {
        match event {
            Event::Case(case) => progress.case(case),
            Event::Summary(_) => progress.finish(),
            Event::Run(_) => {}
        }
        let mut failed = None;
        reporters.retain_mut(|(path, reporter)| {
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
    }))
}

/// The keys that the targets of a plan name, from the environment.
#[expect(
    clippy::disallowed_methods,
    reason = "keys come from the environment and from nowhere else"
)]
fn secrets(plan: &Plan) -> Result<Secrets, Error> {
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
fn reporters(args: &Run, color: Color) -> Result<Vec<Report>, Error> {
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

fn check(select: &Select, out: &mut dyn Write) -> Result<u8, Error> {
    let plan = plan::plan(&selection(select))?;
    let targets: Vec<&str> = plan.targets.keys().map(String::as_str).collect();
    let cases = evalsuite::diagnostic::count(plan.cases.len(), "case");
    writeln!(out, "{cases} on {}: nothing wrong found", targets.join(", ")).map_err(stdout)?;
    Ok(exit::OK)
}

fn execute_list(list: &List, out: &mut dyn Write) -> Result<u8, Error> {
    let plan: Plan = plan::plan(&selection(&list.select))?;
    for case in &plan.cases {
        let line = if list.json { json_line(case) } else { text_line(case) };
        writeln!(out, "{line}").map_err(stdout)?;
    }
    Ok(exit::OK)
}

fn text_line(case: &Case) -> String {
    let mut line = case.id.clone();
    if !case.tags.is_empty() {
        line += &format!("  [{}]", case.tags.join(", "));
    }
    if let Some(reason) = &case.known_failure {
        line += &format!("  known failure: {reason}");
    }
    line
}

fn json_line(case: &Case) -> String {
    serde_json::json!({
        "id": case.id,
        "branch": case.branch.name(),
        "target": case.target,
        "tags": case.tags,
        "known_failure": case.known_failure,
        "spec": case.location.to_string(),
    })
    .to_string()
}

fn execute_explain(word: Option<&str>, out: &mut dyn Write) -> Result<u8, Error> {
    let Some(word) = word else {
        let mut kind = "";
        for topic in explain::topics() {
            if topic.kind != kind {
                let gap = if kind.is_empty() { "" } else { "\n" };
                kind = topic.kind;
                writeln!(out, "{gap}{kind}").map_err(stdout)?;
            }
            writeln!(out, "  {:<20} {}", topic.name, topic.summary).map_err(stdout)?;
        }
        return Ok(exit::OK);
    };
    for topic in explain::explain(word).map_err(Error::Usage)? {
        writeln!(
            out,
            "{} `{}`: {}\n\n{}\n",
            topic.kind,
            topic.name,
            topic.summary,
            topic.help.trim_end()
        )
        .map_err(stdout)?;
    }
    Ok(exit::OK)
}

fn inspect(args: &Inspect, out: &mut dyn Write) -> Result<u8, Error> {
    let run = evidence::open_run(&args.evidence, &args.run)?;
    let (capture, report) = run.case(&args.case)?;
    write!(out, "{}", ladder::inspect(&capture, report.as_ref())).map_err(stdout)?;
    Ok(exit::OK)
}

fn snapshots(args: Snapshots, color: Color, out: &mut dyn Write) -> Result<u8, Error> {
    let (select, verb) = match &args.action {
        SnapshotAction::List(select) => (select, "pending"),
        SnapshotAction::Accept(select) => (select, "accepted"),
        SnapshotAction::Reject(select) => (select, "rejected"),
    };
    let pending = snapshot::list(&select.dir, &select.globs)?;
    if pending.is_empty() && !select.globs.is_empty() {
        let waiting = snapshot::list(&select.dir, &[])?.len();
        let message = format!(
            "none of {} in {} matches {}",
            evalsuite::diagnostic::count(waiting, "pending snapshot"),
            select.dir.display(),
            select.globs.join(", ")
        );
        return Err(Error::NothingSelected(message));
    }
    if pending.is_empty() {
        writeln!(out, "no pending snapshots in {}", select.dir.display()).map_err(stdout)?;
        return Ok(exit::OK);
    }
    match args.action {
        SnapshotAction::List(_) => {}
        SnapshotAction::Accept(_) => snapshot::accept(&pending)?,
        SnapshotAction::Reject(_) => snapshot::reject(&pending)?,
    }
    for entry in &pending {
        if matches!(args.action, SnapshotAction::List(_)) {
            writeln!(out, "{}", entry.diff(color.enabled(&io::stdout()))?).map_err(stdout)?;
        } else {
            writeln!(out, "{verb} {}", entry.path.display()).map_err(stdout)?;
        }
    }
    let n = evalsuite::diagnostic::count(pending.len(), "snapshot");
    writeln!(out, "{n} {verb}").map_err(stdout)?;
    // `list` exits 1 while something waits for review, so that CI can ask.
    let waiting = matches!(args.action, SnapshotAction::List(_));
    Ok(if waiting { exit::FAILED } else { exit::OK })
}

fn execute_schema(of: SchemaOf, out: &mut dyn Write) -> Result<u8, Error> {
    let schema = match of {
        SchemaOf::Spec => schema::schema(),
        SchemaOf::Targets => schema::targets_schema(),
    };
    writeln!(out, "{schema:#}").map_err(stdout)?;
    Ok(exit::OK)
}

fn execute_init(args: &Init, out: &mut dyn Write) -> Result<u8, Error> {
    for path in init::init(&args.model, &args.dir)? {
        writeln!(out, "wrote {}", path.display()).map_err(stdout)?;
    }
    let dir = args.dir.display();
    writeln!(out, "now: `evalsuite run {dir}`, then `evalsuite snapshots list`").map_err(stdout)?;
    Ok(exit::OK)
}
