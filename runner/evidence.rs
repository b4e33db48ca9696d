//! What a run leaves: a folder with its manifest, the captures and the results, written as they come and readable
//! after a kill. Prompts may be private, so nobody but the owner may read it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use globset::Glob;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::capture::{Capture, WireCall};
use crate::error::Error;
use crate::event::{CaseReport, Event};
use crate::manifest::Manifest;
use crate::privacy::{self, Privacy};
use crate::text;

mod log;
mod record;

pub use log::Log;
use record::{Assembly, Record};
pub use record::{INTERRUPTED, Place};

/// Where runs lie, below the working directory.
pub const ROOT: &str = ".evalsuite/runs";
/// How many runs are kept.
const KEPT: usize = 20;

const MANIFEST: &str = "manifest.json";
const EVIDENCE: &str = "evidence.jsonl";
const RESULTS: &str = "results.jsonl";

/// The folder of the run that is going on.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    evidence: Arc<Log>,
    results: File,
    privacy: Privacy,
}

impl RunFolder {
    /// Makes the folder below `root`, writes the manifest, and removes the oldest runs beyond twenty.
    ///
    /// # Errors
    /// The file or folder that cannot be written.
    pub fn create(root: &Path, manifest: &Manifest, now: DateTime<Utc>) -> Result<Self, Error> {
        make_root(root).map_err(|source| io_error("create", root, source))?;
        let path = make_folder(root, manifest, now)?;
        let mut file = create(&path.join(MANIFEST))?;
        let text = serde_json::to_string_pretty(manifest).map_err(io::Error::from);
        text.and_then(|text| writeln!(file, "{text}"))
            .map_err(|source| io_error("write", &path.join(MANIFEST), source))?;
        let folder = RunFolder {
            evidence: Arc::new(Log::new(
                path.join(EVIDENCE),
                create(&path.join(EVIDENCE))?,
                manifest.privacy,
            )),
            results: create(&path.join(RESULTS))?,
            privacy: manifest.privacy,
            path,
        };
        prune(root, &folder.path)?;
        Ok(folder)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what is seen, exchange by exchange and case by case.
    pub fn log(&self) -> Arc<Log> {
        Arc::clone(&self.evidence)
    }

    /// Adds what was concluded.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn event(&mut self, event: &Event) -> Result<(), Error> {
        append(&mut self.results, privacy::event(self.privacy, event).as_ref())
            .map_err(|source| io_error("write", &self.path.join(RESULTS), source))
    }
}

/// A run that is over, or was killed.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Its folder.
    pub path: PathBuf,
    /// What it was made of.
    pub manifest: Manifest,
}

impl StoredRun {
    /// What was seen, case by case, in the order in which they ended; last come cases that a kill broke off, with
    /// the exchanges they had and [`INTERRUPTED`] for an error.
    ///
    /// # Errors
    /// A file that cannot be read, with the line at fault; a last line that was cut short is left out.
    pub fn captures(&self) -> Result<Vec<Capture>, Error> {
        let mut assembly = Assembly::default();
        for_each_line(&self.path.join(EVIDENCE), |record| assembly.take(record))?;
        Ok(assembly.finish())
    }

    /// The calls by which the targets were found out.
    ///
    /// # Errors
    /// As [`StoredRun::captures`].
    pub fn probes(&self) -> Result<Vec<WireCall>, Error> {
        let mut probes = Vec::new();
        for_each_line(&self.path.join(EVIDENCE), |record| {
            if let Record::Probes(probed) = record {
                probes.extend(probed.calls.into_owned());
            }
            Ok(())
        })?;
        Ok(probes)
    }

    /// What was concluded; nothing where only the evidence was kept.
    ///
    /// # Errors
    /// As [`StoredRun::captures`].
    pub fn results(&self) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        let file = self.path.join(RESULTS);
        if !file.exists() {
            return Ok(events);
        }
        for_each_line(&file, |event| {
            events.push(event);
            Ok(())
        })?;
        Ok(events)
    }
}

impl StoredRun {
    /// What was seen of the one case whose id, whole, behind the slash or behind the dot, is `wanted` or matches it as a glob, and
    /// what was concluded where the run got that far.
    ///
    /// # Errors
    /// No case matches, or several do; the message names them.
    pub fn case(&self, wanted: &str) -> Result<(Capture, Option<CaseReport>), Error> {
        // Only the star is a wildcard here: the brackets of a matrix stand for themselves.
        let glob = Glob::new(&globset::escape(wanted).replace("[*]", "*"))
            .map_err(|error| Error::Usage(error.to_string()))?
            .compile_matcher();
        let matches = |id: &str| {
            let short = id.split_once('/').map_or(id, |(_, short)| short);
            let case = short.split_once('.').map_or(short, |(_, case)| case);
            [id, short, case].iter().any(|name| *name == wanted || glob.is_match(name))
        };
        let mut found = self.captures()?;
        found.retain(|capture| matches(&capture.case));
        let ids: Vec<&str> = found.iter().map(|capture| capture.case.as_str()).collect();
        if found.len() != 1 {
            let run = self.path.display();
            return Err(Error::Usage(match ids.as_slice() {
                [] => format!("no case of {run} matches `{wanted}`"),
                _ => format!("`{wanted}` matches several cases of {run}: {}", ids.join(", ")),
            }));
        }
        let capture = found.remove(0);
        let report = self.results()?.into_iter().find_map(|event| match event {
            Event::Case(report) if report.id == capture.case => Some(*report),
            _ => None,
        });
        Ok((capture, report))
    }
}

/// Opens a run by the name of its folder below `root`, the beginning of that name, a path, or `latest`.
///
/// # Errors
/// No such run, or several; a manifest that cannot be read.
pub fn open_run(root: &Path, name: &str) -> Result<StoredRun, Error> {
    let runs = runs(root)?;
    let path = if name == "latest" {
        runs.last()
            .cloned()
            .ok_or_else(|| Error::Usage(format!("there is no run in {} yet", root.display())))?
    } else if Path::new(name).join(MANIFEST).is_file() {
        PathBuf::from(name)
    } else {
        one_of(&runs, name, root)?
    };
    let file = path.join(MANIFEST);
    let text = read_text(&file).map_err(|source| io_error("read", &file, source))?;
    let manifest = serde_json::from_str(&text).map_err(|error| {
        io_error("read", &file, io::Error::new(io::ErrorKind::InvalidData, error))
    })?;
    Ok(StoredRun { path, manifest })
}

fn one_of(runs: &[PathBuf], name: &str, root: &Path) -> Result<PathBuf, Error> {
    let name_of =
        |run: &PathBuf| run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let matching: Vec<&PathBuf> =
        runs.iter().filter(|run| !name.is_empty() && name_of(run).starts_with(name)).collect();
    match matching[..] {
        [run] => Ok(run.clone()),
        [] => {
            let names: Vec<String> = runs.iter().rev().take(5).map(name_of).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(Error::Usage(format!(
                "there is no run `{name}` in {}; `latest` works, and the newest are: {known}",
                root.display()
            )))
        }
        _ => Err(Error::Usage(format!("`{name}` begins the names of {} runs", matching.len()))),
    }
}

/// The runs below `root`, oldest first; only real folders with a name that [`make_folder`] gives.
fn runs(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io_error("read", root, source)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| io_error("read", root, source))?;
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if folder && is_run_name(&entry.file_name().to_string_lossy()) {
            runs.push(entry.path());
        }
    }
    runs.sort();
    Ok(runs)
}

/// `20261201T004826.123Z-9f86d0`.
fn is_run_name(name: &str) -> bool {
    let shape: String = name
        .chars()
        .map(|c| match c {
            '0'..='9' => '0',
            'a'..='f' => 'a',
            c => c,
        })
        .collect();
    shape
        .strip_prefix("00000000T000000.000Z-")
        .is_some_and(|id| id.len() == 6 && id.chars().all(|c| c == '0' || c == 'a'))
}

fn make_folder(root: &Path, manifest: &Manifest, now: DateTime<Utc>) -> Result<PathBuf, Error> {
    let digest = manifest.digest();
    // Two runs may start at once; the second one takes another id.
    for attempt in 0..100 {
        let id = text::hash(&format!("{digest} {attempt} {}", std::process::id()));
        let name = format!("{}-{}", now.format("%Y%m%dT%H%M%S%.3fZ"), &id[..6]);
        let path = root.join(name);
        match private_folder(&path, false) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(io_error("create", &path, source)),
        }
    }
    let taken = io::Error::from(io::ErrorKind::AlreadyExists);
    Err(io_error("create a run folder in", root, taken))
}

/// Makes `root`, and when that is ours alone, keeps it out of version control.
fn make_root(root: &Path) -> io::Result<()> {
    if root.is_dir() {
        return Ok(());
    }
    private_folder(root, true)?;
    match root.parent().filter(|parent| parent.ends_with(".evalsuite")) {
        Some(parent) => OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(parent.join(".gitignore"))?
            .write_all(b"*\n"),
        None => Ok(()),
    }
}

fn private_folder(path: &Path, recursive: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn create(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| io_error("create", path, source))
}

/// One line, handed to the system in one piece so that a kill cuts the last line at most.
fn append(file: &mut File, record: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    file.write_all(&line)
}

fn prune(root: &Path, current: &Path) -> Result<(), Error> {
    let mut runs = runs(root)?;
    runs.retain(|run| run != current);
    let excess = (runs.len() + 1).saturating_sub(KEPT);
    for run in runs.iter().take(excess) {
        // Another process may be removing the same run.
        match fs::remove_dir_all(run) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("remove", run, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Hands over the records of a file, one a line.
fn for_each_line<T: DeserializeOwned>(
    path: &Path,
    mut take: impl FnMut(T) -> Result<(), String>,
) -> Result<(), Error> {
    let file = File::open(path).map_err(|source| io_error("read", path, source))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read =
            reader.read_until(b'\n', &mut line).map_err(|source| io_error("read", path, source))?;
        // A line is complete with its line break; what follows the last one was cut by a kill.
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let record = serde_json::from_slice(&line).map_err(|error| error.to_string());
        record.and_then(&mut take).map_err(|error| {
            let message = format!("line {number}: {error}");
            io_error("read", path, io::Error::new(io::ErrorKind::InvalidData, message))
        })?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "evidence is read here and nowhere else")]
fn read_text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
