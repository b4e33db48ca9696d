//! Snapshot files: insta's front matter, written whole or not at all, read back by insta itself.

use std::io::{self, Write};
use std::path::Path;

use super::Meta;
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::finding::Location;
use crate::text::{printable, quote};

/// A snapshot as it lies on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    /// Everything below the front matter, without line breaks at its end.
    pub(super) body: String,
    /// The 1-based line of the file at which the body starts.
    pub(super) first_line: usize,
    /// The spec it came from, as the front matter says.
    pub(super) source: Option<String>,
    /// The case it belongs to, as the front matter says.
    pub(super) description: Option<String>,
    /// The target that it was taken from, as the front matter says.
    pub(super) target: Option<String>,
}

/// Reads a snapshot; `None` when there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Stored>, Error> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let mut lines = text.lines();
    // insta would print a note about its oldest format; such a file is not ours.
    if lines.next() != Some("---") {
        return Err(corrupt(path, 1, text.lines().next(), "a snapshot starts with `---`"));
    }
    let Some(end) = lines.position(|line| line.trim_end() == "---") else {
        return Err(corrupt(path, 1, Some("---"), "the front matter has no closing `---`"));
    };
    let snapshot = insta::Snapshot::from_file(path).map_err(|error| {
        corrupt(path, 1, Some("---"), &format!("the front matter is broken: {error}"))
    })?;
    let Some(body) = snapshot.as_text() else {
        return Err(corrupt(
            path,
            1,
            Some("---"),
            "this is a binary snapshot, not one of evalsuite",
        ));
    };
    let target = text.lines().take(end + 1).find_map(|line| line.strip_prefix("  target: "));
    let target = target.map(|name| name.trim().trim_matches('"').to_owned());
    Ok(Some(Stored {
        target,
        body: body.to_string(),
        first_line: end + 3,
        source: snapshot.metadata().source().map(str::to_owned),
        description: snapshot.metadata().description().map(str::to_owned),
    }))
}

/// Writes a snapshot; a pending one also names the line of the spec.
pub(super) fn write(path: &Path, meta: &Meta, body: &str, pending: bool) -> Result<(), Error> {
    let mut text = String::from("---\n");
    text.push_str(&format!("source: {}\n", scalar(&meta.source)));
    if pending {
        text.push_str(&format!("assertion_line: {}\n", meta.line));
    }
    text.push_str(&format!("description: {}\n", scalar(&meta.description)));
    if !meta.info.is_empty() {
        text.push_str("info:\n");
        for (name, value) in &meta.info {
            text.push_str(&format!("  {}: {}\n", scalar(name), scalar(value)));
        }
    }
    text.push_str("---\n");
    text.push_str(body);
    text.push('\n');
    write_text(path, &text)
}

/// Turns a pending file into the accepted one, without the line that only review needs.
pub(super) fn promote(pending: &Path, accepted: &Path) -> Result<(), Error> {
    let Some(text) = read_text(pending)? else {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        return Err(Error::Io { action: "accept", path: pending.to_owned(), source: missing });
    };
    let mut fences = 0;
    let kept: Vec<&str> = text
        .split_inclusive('\n')
        .filter(|line| {
            fences += usize::from(line.trim_end() == "---" && fences < 2);
            fences >= 2 || !line.starts_with("assertion_line:")
        })
        .collect();
    write_text(accepted, &kept.concat())?;
    remove(pending)
}

/// Removes a file; one that is already gone is fine.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Io { action: "remove", path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

/// A broken snapshot is a problem of the suite, at a line of a file.
pub(super) fn corrupt(path: &Path, line: usize, source: Option<&str>, message: &str) -> Error {
    Error::Specs(vec![Diagnostic {
        location: Location {
            file: path.to_string_lossy().replace('\\', "/"),
            line,
            column: 1,
            source: source.unwrap_or_default().to_owned(),
        },
        message: format!("the snapshot cannot be read: {message}"),
        help: Some(
            "restore the file from version control, or delete it, run again and review what is pending"
                .to_owned(),
        ),
    }])
}

#[expect(clippy::disallowed_methods, reason = "snapshots are read here and nowhere else")]
fn read_text(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(corrupt(path, 1, None, "it is not UTF-8"))
        }
        Err(source) => Err(Error::Io { action: "read", path: path.to_owned(), source }),
    }
}

/// A reader never sees half a file: a temporary one beside it takes its place.
fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".snap");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| Error::Io { action: "write", path: path.to_owned(), source })
}

/// A YAML scalar that reads back as this very string, plain where insta itself would write it plain.
fn scalar(text: &str) -> String {
    // insta's YAML reader does not join surrogate pairs, so what hides is shown instead of escaped.
    let text = printable(text);
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    if plain { text } else { quote(&text) }
}
