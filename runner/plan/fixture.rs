//! Files that a spec names: tools, documents, data sets. They lie in the project, whatever links say.

use std::path::{Path, PathBuf};

use super::files::{absolute, show, sibling, tidy};
use crate::diagnostic::Diagnostic;
use crate::finding::Location;

/// Where the paths of a spec begin, and the folder they must not leave.
#[derive(Debug, Clone)]
pub(super) struct Fixtures {
    /// The folder of the spec file, absolute.
    folder: PathBuf,
    /// The project, absolute.
    root: PathBuf,
}

impl Fixtures {
    /// For a spec file; the project is the nearest folder with `.git` or `Cargo.toml`, else the one above
    /// `targets.yaml`, else the spec's own.
    pub(super) fn of(spec: &Path, targets: Option<&Path>) -> Self {
        let folder = absolute(spec).parent().map(Path::to_path_buf).unwrap_or_default();
        let above_targets = || Some(absolute(targets?).parent()?.parent()?.to_path_buf());
        let root = project(&folder).or_else(above_targets).unwrap_or_else(|| folder.clone());
        Fixtures { folder, root }
    }

    /// The file that `written` names.
    ///
    /// # Errors
    /// It is missing, a link that leads to itself, or outside the project.
    pub(super) fn resolve(&self, written: &str, at: Location) -> Result<PathBuf, Diagnostic> {
        let path = tidy(&self.folder.join(written));
        if !path.starts_with(&self.root) {
            return Err(self.outside(written, at, "leaves the project"));
        }
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => return Err(unreachable_path(written, at, &path, &error)),
        };
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        if !real.starts_with(&root) {
            return Err(self.outside(
                written,
                at,
                "leads out of the project through a symbolic link",
            ));
        }
        Ok(path)
    }

    fn outside(&self, written: &str, at: Location, what: &str) -> Diagnostic {
        let help =
            format!("keep the file below `{}`, so that a fresh clone has it", show(&self.root));
        Diagnostic::new(at, format!("`{written}` {what}")).help(help)
    }
}

/// The nearest folder at or above `folder` that is the top of a repository or of a package.
pub(super) fn project(folder: &Path) -> Option<PathBuf> {
    let top = |folder: &&Path| folder.join(".git").exists() || folder.join("Cargo.toml").exists();
    folder.ancestors().find(top).map(Path::to_path_buf)
}

fn unreachable_path(
    written: &str,
    at: Location,
    path: &Path,
    error: &std::io::Error,
) -> Diagnostic {
    let link = path.ancestors().find(|part| part.is_symlink());
    if let Some(link) = link {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "leads nowhere",
            _ => "leads back to itself",
        };
        return Diagnostic::new(at, format!("`{}` is a symbolic link that {what}", show(link)))
            .help("replace the link by the file");
    }
    if error.kind() != std::io::ErrorKind::NotFound {
        return Diagnostic::new(at, format!("`{written}` cannot be read: {error}"));
    }
    let missing = Diagnostic::new(at, format!("there is no file `{}`", show(path)));
    match sibling(path) {
        Some(similar) => missing.help(format!("did you mean `{similar}`?")),
        None => missing.help("paths are relative to the folder of the spec file"),
    }
}
