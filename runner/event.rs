//! What a run tells its reporters. Reporters see nothing else, so they cannot disagree.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capture::Boundary;
use crate::finding::{Finding, Location};

/// The version of the stored form of these events.
pub const SCHEMA: u32 = 1;

/// Something that happened in a run, in the order of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// First.
    Run(RunStarted),
    /// Once per case, and once per spec that scores a whole data set.
    Case(Box<CaseReport>),
    /// Last.
    Summary(Summary),
}

/// What is about to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The program's version.
    pub version: String,
    /// SHA-256 over everything that could change a verdict: model, tokenizer, template, engine ….
    pub manifest: String,
    /// The targets that answer, with what identifies each.
    pub targets: Vec<TargetIdentity>,
    /// Every branch there is, exercised or not, in the order of the registry.
    #[serde(default)]
    pub branches: Vec<String>,
    /// The command-line selection, in words; empty when everything was selected.
    pub selection: String,
    /// How many cases were selected.
    pub cases: usize,
    /// RFC 3339, UTC; never compared.
    pub time: String,
}

/// What identifies a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetIdentity {
    /// Its name in `targets.yaml`.
    pub name: String,
    /// Named facts in a fixed order: `model`, `weights`, `tokenizer`, `template` ….
    pub facts: Vec<(String, String)>,
}

/// The state of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// Everything held.
    Passed,
    /// The model or the deployment is wrong.
    Failed,
    /// The harness, the backend or the request broke.
    Errored,
    /// Nothing failed, but something could not be seen.
    NotEvaluated,
    /// It failed, as the spec says it does.
    KnownFailure,
    /// It was said to fail and no longer does.
    Fixed,
}

impl CaseStatus {
    /// All, in the order in which a summary names them.
    pub const ALL: [CaseStatus; 6] = [
        CaseStatus::Passed,
        CaseStatus::Failed,
        CaseStatus::Errored,
        CaseStatus::NotEvaluated,
        CaseStatus::KnownFailure,
        CaseStatus::Fixed,
    ];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            CaseStatus::Passed => "passed",
            CaseStatus::Failed => "failed",
            CaseStatus::Errored => "errored",
            CaseStatus::NotEvaluated => "not_evaluated",
            CaseStatus::KnownFailure => "known_failure",
            CaseStatus::Fixed => "fixed",
        }
    }
}

/// The state of one boundary of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundaryStatus {
    /// Something was judged here and everything held.
    Held,
    /// Something here did not hold, and nothing above it did not.
    Changed,
    /// A boundary above changed, so a difference here would be a consequence.
    NotComparable,
    /// It was to be judged but could not be seen.
    Hidden,
    /// Nothing was asked about it.
    NotExercised,
}

impl BoundaryStatus {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            BoundaryStatus::Held => "held",
            BoundaryStatus::Changed => "changed",
            BoundaryStatus::NotComparable => "not_comparable",
            BoundaryStatus::Hidden => "hidden",
            BoundaryStatus::NotExercised => "not_exercised",
        }
    }
}

/// The verdict on one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The full id, such as `tool_call/weather.oslo`; unique in a run.
    pub id: String,
    /// The branch's name.
    pub branch: String,
    /// The target that answered.
    pub target: String,
    /// The verdict.
    pub status: CaseStatus,
    /// The first boundary that did not hold.
    pub boundary: Option<Boundary>,
    /// Why it is known to fail, what broke, or why it is not evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Every finding, in the order of the boundaries, then of the spec.
    pub findings: Vec<Finding>,
    /// The state of each boundary.
    pub boundaries: BTreeMap<Boundary, BoundaryStatus>,
    /// How often the request was sent; more than the turns only after transport retries.
    pub attempts: usize,
    /// What was seen, boundary by boundary, for a case that did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<LadderStep>,
    /// The command that runs this case again.
    pub reproduce: String,
    /// Where the case stands.
    pub spec: Location,
    /// Wall time in milliseconds; never compared.
    pub elapsed_ms: f64,
}

/// What was seen at one boundary, ready to print.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderStep {
    /// Which one.
    pub boundary: Boundary,
    /// Its state.
    pub status: BoundaryStatus,
    /// Short lines, each under 100 columns, without a trailing line break.
    pub lines: Vec<String>,
}

/// The sum over a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Cases by status, every status present.
    pub by_status: BTreeMap<String, usize>,
    /// Failed cases by the first boundary that did not hold.
    pub by_boundary: BTreeMap<Boundary, usize>,
    /// Snapshots that wait for review.
    pub pending_snapshots: usize,
    /// Settings that no spec pinned, with the number of cases.
    pub unpinned: BTreeMap<String, usize>,
    /// Settings that were pinned and never reached the backend, each with the reason and the number of cases.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_sent: BTreeMap<String, usize>,
    /// Requests that were answered.
    #[serde(default)]
    pub requests: usize,
    /// Those of them that needed more than one attempt, because a transport failed or a server was busy.
    #[serde(default)]
    pub retried: usize,
    /// What was left out and why, such as cases that the evidence does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the run stopped early, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The exit code.
    pub exit: u8,
    /// Wall time in milliseconds; never compared.
    pub elapsed_ms: f64,
}
