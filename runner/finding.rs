//! What judging says: one finding per assertion, check or snapshot, with its evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::{Boundary, Token, TopToken};

/// A position in a spec file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The file, relative to the working directory, with `/` between folders.
    pub file: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// The text of that line, for the caret.
    pub source: String,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The state of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It held.
    Pass,
    /// It did not hold.
    Fail,
    /// Worth saying, but not a failure.
    Warn,
    /// The boundary could not be seen.
    NotEvaluated,
    /// The ids differ at a position where both tokens were nearly as likely.
    NearTie,
    /// The difference is under the noise floor.
    Inconclusive,
}

impl Status {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Warn => "warn",
            Status::NotEvaluated => "not_evaluated",
            Status::NearTie => "near_tie",
            Status::Inconclusive => "inconclusive",
        }
    }
}

/// What made the finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An `expect` entry of the spec.
    Assertion,
    /// A snapshot of one boundary.
    Snapshot,
    /// A rule of the case's branch.
    Branch,
    /// A check that is always on.
    Seam,
}

impl Kind {
    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Assertion => "assertion",
            Kind::Snapshot => "snapshot",
            Kind::Branch => "branch",
            Kind::Seam => "seam",
        }
    }
}

/// What an assertion concluded from a capture, before it is placed in the spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it held.
    pub status: Status,
    /// What was wanted, in one line.
    pub expected: String,
    /// What was there, in one line.
    pub actual: String,
    /// Where in the evidence, such as `token 17` or `$.city`.
    pub at: Option<String>,
    /// One sentence that says what is wrong; empty for a pass.
    pub message: String,
    /// The tolerance that applied and why, for numeric comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<String>,
    /// The tokens around the first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Two token sequences at their first difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The index of the first differing token in the whole sequence.
    pub index: usize,
    /// The index of the first token of the two windows.
    pub start: usize,
    /// Expected tokens from `start` on, a few past `index`.
    pub expected: Vec<Token>,
    /// Actual tokens from `start` on, a few past `index`.
    pub actual: Vec<Token>,
    /// The distribution at `index`, where it was seen.
    pub top: Vec<TopToken>,
}

impl Outcome {
    /// It held.
    pub fn pass(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Outcome::new(Status::Pass, expected, actual, String::new())
    }

    /// It did not hold; `message` is one sentence.
    pub fn fail(
        expected: impl Into<String>,
        actual: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Outcome::new(Status::Fail, expected, actual, message)
    }

    /// The boundary was hidden, for this reason.
    pub fn hidden(expected: impl Into<String>, reason: &str) -> Self {
        Outcome::new(Status::NotEvaluated, expected, "not seen", reason)
    }

    /// An outcome without a place, tolerance or token difference.
    pub fn new(
        status: Status,
        expected: impl Into<String>,
        actual: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Outcome {
            status,
            expected: expected.into(),
            actual: actual.into(),
            at: None,
            message: message.into(),
            tolerance: None,
            difference: None,
        }
    }

    /// The same, with a place in the evidence.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.at = Some(place.into());
        self
    }

    /// The same, with the tolerance that applied.
    #[must_use]
    pub fn within(mut self, tolerance: impl Into<String>) -> Self {
        self.tolerance = Some(tolerance.into());
        self
    }

    /// The same, with the tokens around the first difference.
    #[must_use]
    pub fn differing(mut self, difference: Difference) -> Self {
        self.difference = Some(difference);
        self
    }
}

/// What was expected where nothing was accepted yet.
pub const NEW_SNAPSHOT: &str = "an accepted snapshot";

impl Finding {
    /// A finding that reads no single reply.
    pub fn new(
        name: impl Into<String>,
        kind: Kind,
        boundary: Boundary,
        outcome: Outcome,
        spec: &Location,
    ) -> Self {
        let (name, spec) = (name.into(), spec.clone());
        Finding { name, kind, boundary, turn: None, run: None, outcome, spec }
    }

    /// The same, about the reply of a 1-based turn; with the 1-based run of a case that repeats.
    #[must_use]
    pub fn in_reply(mut self, turn: usize, run: Option<usize>) -> Self {
        self.turn = Some(turn);
        self.run = run;
        self
    }

    /// Whether it says that a snapshot is new. Such a finding fails its case and blames no boundary: nothing is
    /// known to have changed.
    pub fn is_new_snapshot(&self) -> bool {
        self.kind == Kind::Snapshot && self.outcome.expected == NEW_SNAPSHOT
    }
}

/// An outcome in its place: what asked for it, which reply it read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the assertion, check or snapshot.
    pub name: String,
    /// What made it.
    pub kind: Kind,
    /// The boundary it read.
    pub boundary: Boundary,
    /// The 1-based turn of the case, where it read one reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// The 1-based run, in a case that repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// What it concluded.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Where in the spec it was asked for.
    pub spec: Location,
}
