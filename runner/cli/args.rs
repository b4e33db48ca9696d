//! The command line as it is typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use evalsuite::evidence;

/// Regression tests for language-model deployments, written in YAML.
///
/// When a model, a template, a quantization or a server changes, evalsuite names the first boundary at which
/// the deployment differs: input ids, settings, generation, response or score.
#[derive(Debug, Parser)]
#[command(name = "evalsuite", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Colour the output.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run specs and judge the replies
    #[command(after_help = EXIT_CODES)]
    Run(Run),
    /// Judge the evidence of a run again, without asking anybody
    #[command(after_help = EXIT_CODES)]
    Judge(Judge),
    /// Read and resolve specs without touching a model
    Check(Select),
    /// List the cases that would run
    List(List),
    /// Explain a branch, an assertion, a rule, a scorer, a dialect, a boundary or an exit code
    Explain {
        /// The word; all of them when left out
        word: Option<String>,
    },
    /// Show what was seen of one case, boundary by boundary
    Inspect(Inspect),
    /// List, accept or reject pending snapshots
    Snapshots(Snapshots),
    /// Print the JSON Schema of spec files, for editors
    Schema {
        /// Which files the schema is for
        #[arg(value_enum, default_value_t = SchemaOf::Spec)]
        of: SchemaOf,
    },
    /// Write first specs for a model
    Init(Init),
}

const EXIT_CODES: &str = "\
Exit codes:
  0  everything held
  1  an assertion failed, a snapshot is new or changed, or a known failure was fixed
  2  the command line or a spec is wrong; nothing was judged
  3  a backend or a case broke; the judgement is incomplete
  4  nothing was selected";

/// Which cases.
#[derive(Debug, ClapArgs)]
pub(crate) struct Select {
    /// Spec files and folders
    #[arg(default_value = "specs")]
    pub(crate) paths: Vec<PathBuf>,
    /// Answer from this target instead of the default one; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub(crate) target: Vec<String>,
    /// Only cases of this branch; repeatable
    #[arg(long, value_name = "BRANCH", help_heading = "Selection")]
    pub(crate) branch: Vec<String>,
    /// Only cases whose id matches this glob, such as `weather.*`; repeatable
    #[arg(short = 'k', long = "case", value_name = "GLOB", help_heading = "Selection")]
    pub(crate) case: Vec<String>,
    /// Only cases with this tag; repeatable
    #[arg(long, value_name = "TAG", help_heading = "Selection")]
    pub(crate) tag: Vec<String>,
    /// Only the i-th of n equal parts of the selected cases
    #[arg(long, value_name = "i/n", value_parser = partition, help_heading = "Selection")]
    pub(crate) partition: Option<(usize, usize)>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) select: Select,
    /// One JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) select: Select,
    /// How many cases are in flight at once
    #[arg(short, long, default_value_t = 1, value_parser = at_least_one)]
    pub(crate) jobs: usize,
    /// The seconds that one exchange may take, where the spec does not say
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = seconds)]
    pub(crate) timeout: u64,
    /// How often a request is sent again after a transport failure; verdicts are never retried
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) retries: usize,
    /// Stop after the first case that does not hold
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// What becomes of snapshots that are new or differ
    ///
    /// `auto` leaves `.snap.new` files for review, and writes nothing when CI is set; `new` leaves them always;
    /// `always` replaces the accepted ones; `no` writes nothing.
    #[arg(long, env = "INSTA_UPDATE", value_name = "MODE", default_value = "auto")]
    pub(crate) update: String,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where run folders are kept
    #[arg(long, value_name = "DIR", default_value = evidence::ROOT)]
    pub(crate) evidence: PathBuf,
    /// Keep no evidence of this run
    #[arg(long)]
    pub(crate) no_evidence: bool,
    /// Which texts of prompts and replies the evidence holds, where `targets.yaml` is not stricter
    #[arg(long, value_enum, default_value_t = Texts::Full)]
    pub(crate) privacy: Texts,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Judge {
    /// A run folder, its name, or `latest`
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Stop after the first case that does not hold
    #[arg(long)]
    pub(crate) fail_fast: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where run folders are kept
    #[arg(long, value_name = "DIR", default_value = evidence::ROOT)]
    pub(crate) evidence: PathBuf,
}

/// What verdicts are made of, and how they are told.
#[derive(Debug, ClapArgs)]
pub(crate) struct Output {
    /// Whether a boundary that could not be seen fails its case
    #[arg(long, value_enum, default_value_t = Hidden::Skip)]
    pub(crate) hidden: Hidden,
    /// Write a report: human, junit, json, checklist or github; repeatable
    ///
    /// Without a path it goes to standard output. The human report is written there unless another one is.
    #[arg(long, value_name = "NAME[=PATH]")]
    pub(crate) report: Vec<String>,
    /// Only failures and the summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Every finding of every case
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Inspect {
    /// A run folder, its name, or `latest`
    pub(crate) run: String,
    /// The case's id, or a glob that matches one case
    pub(crate) case: String,
    /// Where run folders are kept
    #[arg(long, value_name = "DIR", default_value = evidence::ROOT)]
    pub(crate) evidence: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Snapshots {
    #[command(subcommand)]
    pub(crate) action: SnapshotAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotAction {
    /// Show pending snapshots with their differences
    List(SnapshotSelect),
    /// Make pending snapshots the accepted ones
    Accept(SnapshotSelect),
    /// Remove pending snapshots
    Reject(SnapshotSelect),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SnapshotSelect {
    /// Only snapshots whose path below the folder matches one of these globs
    pub(crate) globs: Vec<String>,
    /// The folder that holds them
    #[arg(long, value_name = "DIR", default_value = "snapshots")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Init {
    /// The model directory, in Hugging Face form
    #[arg(long, value_name = "DIR")]
    pub(crate) model: PathBuf,
    /// Where the specs are written
    #[arg(default_value = "specs")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Texts {
    /// All of them
    Full,
    /// Their hashes and lengths
    Hashed,
    /// None: ids, counts, settings and statuses
    #[value(name = "ids_only")]
    IdsOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hidden {
    /// Count it and go on
    Skip,
    /// Fail the case
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Spec files
    Spec,
    /// `targets.yaml`
    Targets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to this stream.
    #[expect(clippy::disallowed_methods, reason = "NO_COLOR is part of the command line")]
    pub(crate) fn enabled(self, stream: &impl std::io::IsTerminal) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                stream.is_terminal() && !refused
            }
        }
    }
}

fn partition(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((i, n)) if 1 <= i && i <= n => Ok((i, n)),
        _ => Err("write i/n with 1 <= i <= n, such as 2/4".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number of at least 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

fn seconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number of seconds, at least 1".to_owned()),
        Ok(n) => Ok(n),
    }
}
