//! From the command line to the library, and from its result to an exit code.

use std::io::{self, BufWriter, Write};

use evalsuite::error::{Error, exit};
use evalsuite::plan::{Case, Plan, Selection};
use evalsuite::snapshot;
use evalsuite::{evidence, explain, init, ladder, plan, schema};

mod args;
mod run;

pub(crate) use args::Args;
use args::{Color, Command, Init, Inspect, List, SchemaOf, Select, SnapshotAction, Snapshots};

/// Carries out a command and gives its exit code.
pub(crate) fn execute(args: Args) -> Result<u8, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let color = args.color;
    let code = match args.command {
        Command::Run(run) => {
            drop(out);
            return run::run(run, color);
        }
        Command::Judge(judge) => {
            drop(out);
            return run::judge(&judge, color);
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
        answered: false,
        branch: select.branch.clone(),
        case: select.case.clone(),
        tag: select.tag.clone(),
        partition: select.partition,
    }
}

fn check(select: &Select, out: &mut dyn Write) -> Result<u8, Error> {
    let (outline, _) = plan::outline(&selection(select))?;
    let targets: Vec<&str> = outline.targets.keys().map(String::as_str).collect();
    let cases = evalsuite::diagnostic::count(outline.count, "case");
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
