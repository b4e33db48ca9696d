//! Answers from evidence or from a recording: the same judging, offline.

mod book;
mod entry;
mod folder;
mod lines;
mod recorded;
mod recording;
mod stored;

use std::path::Path;
use std::sync::Arc;

use super::{Backend, BackendError, Failed, remote};
use crate::evidence::{self, StoredRun};
use crate::plan::ReplayTarget;
use entry::Entry;
pub use recorded::Recorded;
use recording::{Head, Recording};
pub use stored::Stored;

/// Opens a recording, or the folder of a run.
///
/// # Errors
/// It cannot be read; of a recording, the line at fault and the fix.
pub async fn open(target: &ReplayTarget) -> Result<Arc<dyn Backend>, Failed> {
    let path = &target.recording;
    let recording = if path.is_dir() {
        match run(path)? {
            Kind::Calls(recording) => recording,
            Kind::Exchanges(stored) => return Ok(Arc::new(stored)),
        }
    } else {
        let text = read(path)
            .map_err(|error| broken(format!("cannot read {}: {error}", path.display())))?;
        recording::read(path, &text).map_err(broken)?
    };
    let Recording { head, entries } = recording;
    Ok(remote(target, head, entries).await?)
}

/// A server at the other end of a recording.
async fn remote(
    target: &ReplayTarget,
    head: Head,
    entries: Vec<Entry>,
) -> Result<Arc<dyn Backend>, BackendError> {
    let (model, dialect) = named(target, &head);
    let transport = Box::new(Recorded::new(&target.recording, head.url, entries));
    let remote = remote::over(transport, &model, &dialect, target.tokenizer.as_deref()).await?;
    Ok(Arc::new(remote))
}

/// The model's name and the dialect: what the target says, else the recording.
fn named(target: &ReplayTarget, head: &Head) -> (String, String) {
    let model = head.model.clone().unwrap_or_else(|| "recorded".to_owned());
    let dialect = match (target.dialect.as_str(), &head.dialect) {
        ("auto", Some(dialect)) => dialect.clone(),
        (named, _) => named.to_owned(),
    };
    (model, dialect)
}

/// What a run folder can answer with.
enum Kind {
    Calls(Recording),
    Exchanges(Stored),
}

fn run(path: &Path) -> Result<Kind, BackendError> {
    let told = |error: crate::error::Error| broken(error.to_string());
    let run: StoredRun = evidence::open_run(path, &path.to_string_lossy()).map_err(told)?;
    let captures = run.captures().map_err(told)?;
    let mut entries: Vec<Entry> = captures.iter().flat_map(folder::entries).collect();
    if entries.is_empty() {
        return Ok(Kind::Exchanges(Stored::new(&run, captures)?));
    }
    let exchanges =
        || captures.iter().flat_map(|c| c.runs.iter().chain(&c.twin)).flat_map(|r| &r.exchanges);
    if exchanges().any(|exchange| exchange.wire.is_empty()) {
        return Err(broken(format!(
            "{} holds answers of a server and of a model in process; `evalsuite judge` takes both",
            path.display()
        )));
    }
    if let Some(why) = exchanges().find_map(crate::privacy::withheld) {
        return Err(broken(format!("{} cannot answer: {why}", path.display())));
    }
    entries.extend(run.probes().map_err(told)?.iter().map(folder::probe));
    Ok(Kind::Calls(Recording { head: folder::head(&run), entries }))
}

fn broken(message: String) -> BackendError {
    BackendError::Broken(message)
}

#[expect(clippy::disallowed_methods, reason = "a recording is what this backend is made of")]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests;
