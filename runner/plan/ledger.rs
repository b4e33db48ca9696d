//! What planning has read so far, and every problem found on the way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::files::show;
use super::fixture::Fixtures;
use super::targets::TargetFile;
use crate::diagnostic::Diagnostic;
use crate::finding::Location;
use crate::spec::{NodeId, Spec, Tree};
use crate::text::hex;

/// Shared by all spec files of a command.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Every problem so far, in any order; the same one may be in it twice.
    pub(super) problems: Vec<Diagnostic>,
    /// Target files by path; `None` for one that cannot be read.
    pub(super) targets: BTreeMap<PathBuf, Option<Rc<TargetFile>>>,
    /// What was read for the present spec file.
    texts: BTreeMap<PathBuf, Option<Rc<str>>>,
    /// SHA-256 of every text that was ever read.
    known: BTreeMap<PathBuf, [u8; 32]>,
}

/// A spec file that could be read.
#[derive(Debug)]
pub(super) struct SpecFile {
    /// For places.
    pub(super) tree: Tree,
    /// What was typed.
    pub(super) spec: Spec,
    /// The file's stem.
    pub(super) topic: String,
    /// The target file that counts for it.
    pub(super) targets: Option<Rc<TargetFile>>,
    /// Where its fixtures are.
    pub(super) fixtures: Fixtures,
    /// The folder of its snapshots, relative to the working directory.
    pub(super) snapshots: PathBuf,
}

impl SpecFile {
    /// Where a node begins.
    pub(super) fn at(&self, node: NodeId) -> Location {
        self.tree.location(node)
    }
}

impl Ledger {
    /// Adds a problem at a place.
    pub(super) fn report(
        &mut self,
        at: Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Diagnostic::new(at, message).help(help));
    }

    /// The text of a file, read once for a spec file. A file that cannot be read, or that is not what it was when
    /// it was read before, is a problem at `at`, or of the file itself.
    pub(super) fn text(&mut self, path: &Path, at: Option<Location>) -> Option<Rc<str>> {
        if let Some(text) = self.texts.get(path) {
            return text.clone();
        }
        let text = self.read(path, at);
        self.texts.insert(path.to_path_buf(), text.clone());
        text
    }

    /// As [`Ledger::text`], for a file that nobody else asks for.
    pub(super) fn read(&mut self, path: &Path, at: Option<Location>) -> Option<Rc<str>> {
        let file = || show(path);
        let text = match read(path) {
            Ok(text) => text,
            Err(cause) => {
                self.problems.push(match at {
                    Some(at) => {
                        Diagnostic::new(at, format!("`{}` cannot be read: {cause}", file()))
                    }
                    None => Diagnostic::file(file(), format!("it cannot be read: {cause}")),
                });
                return None;
            }
        };
        let hash = Sha256::digest(text.as_bytes()).into();
        if *self.known.entry(path.to_path_buf()).or_insert(hash) != hash {
            let problem = Diagnostic::file(file(), "it changed after the suite was checked");
            let help =
                "nothing runs unchecked: run the suite again, and leave its files alone meanwhile";
            self.problems.push(problem.help(help));
            return None;
        }
        Some(text.into())
    }

    /// Lets go of the texts. They are read again where they are needed again, and must then be the same.
    pub(super) fn forget(&mut self) {
        self.texts.clear();
    }

    /// SHA-256 of a text that was read, in hexadecimal.
    pub(super) fn hash(&self, path: &Path) -> String {
        self.known.get(path).map(|hash| hex(hash)).unwrap_or_default()
    }

    /// SHA-256 of every text that was read, in hexadecimal, by file as it is shown.
    pub(super) fn hashes(&self) -> BTreeMap<String, String> {
        self.known.iter().map(|(path, hash)| (show(path), hex(hash))).collect()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "specs and their fixtures are read here, and only here"
)]
fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("line {line} is not UTF-8"))
        }
    }
}
