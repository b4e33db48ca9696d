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
    texts: BTreeMap<PathBuf, Option<Rc<str>>>,
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

    /// The text of a file, read once. A file that cannot be read is a problem at `at`, or of the file itself.
    pub(super) fn text(&mut self, path: &Path, at: Option<Location>) -> Option<Rc<str>> {
        if let Some(text) = self.texts.get(path) {
            return text.clone();
        }
        let text = match read(path) {
            Ok(text) => Some(text.into()),
            Err(cause) => {
                let file = show(path);
                self.problems.push(match at {
                    Some(at) => Diagnostic::new(at, format!("`{file}` cannot be read: {cause}")),
                    None => Diagnostic::file(file, format!("it cannot be read: {cause}")),
                });
                None
            }
        };
        self.texts.insert(path.to_path_buf(), text.clone());
        text
    }
}

impl Ledger {
    /// SHA-256 of every text that was read, in hexadecimal, by file as it is shown.
    pub(super) fn hashes(&self) -> BTreeMap<String, String> {
        let read = self.texts.iter().filter_map(|(path, text)| Some((path, text.as_ref()?)));
        read.map(|(path, text)| (show(path), hex(&Sha256::digest(text.as_bytes())))).collect()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "specs and their fixtures are read here, and only here"
)]
fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)),
        Err(error) => {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(format!("line {line} is not UTF-8"))
        }
    }
}
