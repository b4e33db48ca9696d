//! Reviewing pending snapshots without cargo.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use similar::{ChangeTag, TextDiff};
use walkdir::WalkDir;

use super::file;
use crate::error::Error;

/// A snapshot that waits for review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The `.snap.new` file.
    pub path: PathBuf,
    /// The `.snap` file it would become.
    pub accepted: PathBuf,
    /// Whether there is no accepted one yet.
    pub new: bool,
    /// The case it belongs to, where the file says so.
    pub case: Option<String>,
}

/// The pending snapshots below `root` in the order of their paths. Patterns match the path below `root`, the
/// file name or the case; without patterns all are listed. A folder that does not exist holds none.
///
/// # Errors
/// A pattern that is none, or a folder or file that cannot be read.
pub fn list(root: &Path, patterns: &[String]) -> Result<Vec<Pending>, Error> {
    let globs = globs(patterns)?;
    let mut pending = Vec::new();
    for path in files(root, ".snap.new")? {
        let accepted = path.with_extension("");
        let case = file::read(&path).ok().flatten().and_then(|stored| stored.description);
        let below = path.strip_prefix(root).unwrap_or(&path);
        let name = path.file_name().unwrap_or_default();
        if patterns.is_empty()
            || globs.is_match(below)
            || globs.is_match(name)
            || case.as_ref().is_some_and(|case| globs.is_match(case))
        {
            pending.push(Pending { new: !accepted.exists(), path, accepted, case });
        }
    }
    Ok(pending)
}

impl Pending {
    /// The difference from the accepted one as a unified diff; the whole text of a new one.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn diff(&self, color: bool) -> Result<String, Error> {
        let body = |path: &Path| Ok(file::read(path)?.map_or_else(String::new, |file| file.body));
        let (before, after) = (body(&self.accepted)?, body(&self.path)?);
        let (before, after) = (format!("{before}\n"), format!("{after}\n"));
        let diff = TextDiff::from_lines(&before, &after);
        let mut text = format!("{}\n", self.path.display());
        for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
            text.push_str(&format!("{}\n", hunk.header()));
            for change in hunk.iter_changes() {
                let (sign, paint) = match change.tag() {
                    ChangeTag::Delete => ('-', "\x1b[31m"),
                    ChangeTag::Insert => ('+', "\x1b[32m"),
                    ChangeTag::Equal => (' ', ""),
                };
                let line = change.value().trim_end_matches('\n');
                text.push_str(&match color && !paint.is_empty() {
                    true => format!("{paint}{sign}{line}\x1b[0m\n"),
                    false => format!("{sign}{line}\n"),
                });
            }
        }
        Ok(text)
    }
}

/// Makes pending snapshots the accepted ones.
///
/// # Errors
/// The first file that cannot be moved; those before it are accepted.
pub fn accept(pending: &[Pending]) -> Result<(), Error> {
    pending.iter().try_for_each(|one| file::promote(&one.path, &one.accepted))
}

/// Discards pending snapshots.
///
/// # Errors
/// The first file that cannot be removed.
pub fn reject(pending: &[Pending]) -> Result<(), Error> {
    pending.iter().try_for_each(|one| file::remove(&one.path))
}

/// Accepted snapshots below `root` that no case reads; `live` holds the paths of those that are read, made
/// with [`super::path`].
///
/// # Errors
/// A folder that cannot be read.
pub fn unreferenced(root: &Path, live: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Error> {
    let mut paths = files(root, ".snap")?;
    paths.retain(|path| !live.contains(path));
    Ok(paths)
}

fn globs(patterns: &[String]) -> Result<GlobSet, Error> {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(Glob::new(pattern).map_err(|error| Error::Usage(error.to_string()))?);
    }
    builder.build().map_err(|error| Error::Usage(error.to_string()))
}

fn files(root: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    if !root.exists() {
        return Ok(paths);
    }
    for entry in WalkDir::new(root).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            Error::Io { action: "read", path, source: error.into() }
        })?;
        let named = entry.file_name().to_string_lossy().ends_with(ending);
        if named && entry.file_type().is_file() {
            paths.push(entry.into_path());
        }
    }
    Ok(paths)
}
