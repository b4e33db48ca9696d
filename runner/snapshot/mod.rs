//! Snapshots: what was accepted for a case, one file per boundary, in insta's format.
//!
//! A pending one lies beside the accepted one as `.snap.new`; `cargo insta review` works on both. The front
//! matter says where a snapshot comes from and is never compared.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::capture::{Boundary, Capture};
use crate::error::Error;
use crate::finding::{Difference, NEW_SNAPSHOT, Outcome};

mod accepted;
mod body;
mod compare;
mod difference;
mod elsewhere;
#[cfg(test)]
mod elsewhere_tests;
mod file;
mod review;
#[cfg(test)]
mod tests;

pub use accepted::accepted;
pub(crate) use body::{Detail, exchange_lines};
pub use review::{Pending, accept, list, reject, unreferenced};

/// How far two decimals of a snapshot may lie apart, unless the case says otherwise.
pub const TOLERANCE: f64 = 0.001;

/// What a run does with snapshots that are new or changed; the words have insta's meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Update {
    /// `new`, but `no` in continuous integration.
    #[default]
    Auto,
    /// Nothing is written.
    No,
    /// They are left for review as `.snap.new`.
    New,
    /// The accepted ones are overwritten.
    Always,
}

impl Update {
    /// `auto` decided by whether the run is one of continuous integration.
    #[must_use]
    pub fn resolved(self, ci: bool) -> Update {
        match (self, ci) {
            (Update::Auto, true) => Update::No,
            (Update::Auto, false) => Update::New,
            (other, _) => other,
        }
    }
}

impl FromStr for Update {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" | "" => Ok(Update::Auto),
            "no" => Ok(Update::No),
            // insta's `unseen` also accepts what is new; here that waits for review like the rest.
            "new" | "unseen" => Ok(Update::New),
            "always" | "force" | "1" => Ok(Update::Always),
            other => Err(format!("`{other}` is none of auto, no, new, always")),
        }
    }
}

/// Where a snapshot comes from; shown in review, never compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meta {
    /// The spec file, relative to the working directory.
    pub source: String,
    /// The 1-based line of the case in it.
    pub line: usize,
    /// The full id of the case.
    pub description: String,
    /// The target and what identifies it.
    pub info: Vec<(String, String)>,
}

/// How a boundary compares with its accepted snapshot.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// It is what was accepted, decimals within the tolerance.
    Same,
    /// It was new or changed, and the accepted snapshot was written anew.
    Updated,
    /// Nothing was accepted yet.
    New {
        /// The file that waits for review, if one was written.
        pending: Option<PathBuf>,
    },
    /// It differs from what was accepted.
    Changed(Box<Change>),
    /// The boundary could not be seen, for this reason.
    Hidden(String),
}

/// The first difference between a boundary and its accepted snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The accepted file.
    pub path: PathBuf,
    /// The 1-based line in it.
    pub line: usize,
    /// That line; `None` past its end.
    pub expected: Option<String>,
    /// What stands there now; `None` past its end.
    pub actual: Option<String>,
    /// The 0-based exchange and the tokens around the first differing id.
    pub tokens: Option<(usize, Difference)>,
    /// The file that waits for review, if one was written.
    pub pending: Option<PathBuf>,
    /// The tolerance for decimals that applied, at boundaries that have one.
    pub tolerance: Option<f64>,
}

/// `<stem>@<boundary>.snap`.
pub fn path(stem: &Path, boundary: Boundary) -> PathBuf {
    // A stem has dots of its own, so nothing here may be taken for an extension.
    let mut path = stem.as_os_str().to_owned();
    path.push(format!("@{boundary}.snap"));
    PathBuf::from(path)
}

fn pending_path(accepted: &Path) -> PathBuf {
    let mut path = accepted.as_os_str().to_owned();
    path.push(".new");
    PathBuf::from(path)
}

/// Compares one boundary of the case's first run with what was accepted, and writes what `update` asks for.
/// Decimals of probabilities and scores may differ by `tolerance`; [`Update::Auto`] counts as `new`. What another
/// target answered is compared by what it says, and is replaced by [`Update::Always`] alone.
///
/// # Errors
/// A snapshot that cannot be read, with its file and line, or a file that cannot be written.
pub fn check(
    stem: &Path,
    boundary: Boundary,
    capture: &Capture,
    meta: &Meta,
    update: Update,
    tolerance: f64,
) -> Result<Comparison, Error> {
    let now = match body::body(boundary, capture) {
        Ok(text) => text,
        Err(reason) => return Ok(Comparison::Hidden(reason)),
    };
    let path = path(stem, boundary);
    let stored = file::read(&path)?;
    // Settings and responses hold numbers too, but each of them is an identity.
    let tolerance = matches!(boundary, Boundary::Generation | Boundary::Score).then_some(tolerance);
    let target = meta.info.iter().find(|(name, _)| name == "target").map(|(_, target)| target);
    let foreign = stored.as_ref().is_some_and(
        |stored| matches!((&stored.target, target), (Some(theirs), Some(ours)) if theirs != ours),
    );
    // Of another target's tokens nothing can be said without tokens.
    if foreign && let Some(reason) = unseen_tokens(boundary, capture) {
        return Ok(Comparison::Hidden(reason));
    }
    let told = stored.as_ref().filter(|_| foreign && boundary == Boundary::Settings);
    let silent = |stored: &file::Stored| {
        let body = &stored.body;
        elsewhere::tells_nothing(body, &now)
            && elsewhere::first_difference(boundary, body, &now, None).is_none()
    };
    if told.is_some_and(silent) {
        return Ok(Comparison::Hidden("the server tells no setting".to_owned()));
    }
    // What was accepted from one target is not put up for replacement by a run on another.
    let update = if foreign && update != Update::Always { Update::No } else { update };
    let change = stored.as_ref().map(|stored| {
        let change = match foreign {
            true => elsewhere::first_difference(boundary, &stored.body, &now, tolerance),
            false => compare::first_difference(&stored.body, &now, tolerance),
        };
        change.map(|change| (stored.first_line + change.index, change))
    });
    let pending = match (&change, update) {
        (Some(None), Update::No) => return Ok(Comparison::Same),
        (Some(None), _) => {
            file::remove(&pending_path(&path))?;
            return Ok(Comparison::Same);
        }
        (_, Update::No) => None,
        (_, Update::Always) => {
            file::write(&path, meta, &now, false)?;
            file::remove(&pending_path(&path))?;
            return Ok(Comparison::Updated);
        }
        (_, Update::New | Update::Auto) => {
            let pending = pending_path(&path);
            file::write(&pending, meta, &now, true)?;
            Some(pending)
        }
    };
    let Some(Some((line, change))) = change else { return Ok(Comparison::New { pending }) };
    let tokens = difference::difference(boundary, &accepted(stem)?, capture);
    let (expected, actual) = (change.expected, change.actual);
    let change = Change { path, line, expected, actual, tokens, pending, tolerance };
    Ok(Comparison::Changed(Box::new(change)))
}

/// Why some exchange shows no tokens at a boundary that is made of them.
fn unseen_tokens(boundary: Boundary, capture: &Capture) -> Option<String> {
    let mut exchanges = capture.runs.first()?.exchanges.iter();
    let reason = match boundary {
        Boundary::Input => exchanges.find_map(|exchange| exchange.prompt_tokens().err()),
        Boundary::Generation => exchanges.find_map(|exchange| exchange.output_tokens().err()),
        _ => None,
    };
    reason.map(str::to_owned)
}

impl Comparison {
    /// The file that waits for review, if one was written.
    pub fn pending(&self) -> Option<&Path> {
        match self {
            Comparison::New { pending } => pending.as_deref(),
            Comparison::Changed(change) => change.pending.as_deref(),
            _ => None,
        }
    }

    /// What it means for the case.
    pub fn outcome(&self) -> Outcome {
        match self {
            Comparison::Same => Outcome::pass("as accepted", "as accepted"),
            Comparison::Updated => Outcome::pass("as accepted", "written anew, as asked"),
            Comparison::Hidden(reason) => Outcome::hidden("as accepted", reason),
            Comparison::New { .. } => Outcome::fail(
                NEW_SNAPSHOT,
                "none",
                "nothing was accepted yet; review the snapshot and accept it",
            ),
            Comparison::Changed(change) => change.outcome(),
        }
    }
}

impl Change {
    fn outcome(&self) -> Outcome {
        let show = |line: &Option<String>| match line {
            Some(line) => compare::words(line).join(" "),
            None => "the end of the snapshot".to_owned(),
        };
        let place = format!("{}:{}", self.path.to_string_lossy().replace('\\', "/"), self.line);
        let message = match &self.tokens {
            Some((exchange, difference)) => format!(
                "the ids leave the accepted ones at token {} of exchange {}",
                difference.index,
                exchange + 1
            ),
            None => "it differs from the accepted snapshot".to_owned(),
        };
        let mut outcome =
            Outcome::fail(show(&self.expected), show(&self.actual), message).at(place);
        if let Some(tolerance) = self.tolerance {
            outcome = outcome.within(format!("{tolerance} on decimals"));
        }
        outcome.difference = self.tokens.as_ref().map(|(_, difference)| difference.clone());
        outcome
    }
}
