//! Which spec files a command line means.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use crate::diagnostic::{Diagnostic, suggest};
use crate::error::Error;

/// The file that lists the targets.
pub(super) const TARGETS: &str = "targets.yaml";

/// The spec files at and below `paths`, in the order given, then by name; each file once.
///
/// # Errors
/// [`Error::Usage`] for a path that does not exist.
pub(super) fn discover(
    paths: &[PathBuf],
    problems: &mut Vec<Diagnostic>,
) -> Result<Vec<PathBuf>, Error> {
    let yaml = yaml_files()?;
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths {
        let path = &tidy(path);
        if path.is_dir() {
            walk(path, &yaml, &mut files, problems);
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(Error::Usage(missing(path)));
        }
    }
    files.retain(|file| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone())));
    Ok(files)
}

fn yaml_files() -> Result<GlobSet, Error> {
    let broken = |error: globset::Error| Error::Usage(error.to_string());
    let mut builder = GlobSetBuilder::new();
    for pattern in ["*.yaml", "*.yml"] {
        builder.add(Glob::new(pattern).map_err(broken)?);
    }
    builder.build().map_err(broken)
}

fn walk(root: &Path, yaml: &GlobSet, files: &mut Vec<PathBuf>, problems: &mut Vec<Diagnostic>) {
    let hidden = |entry: &walkdir::DirEntry| {
        entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.')
    };
    let walker = WalkDir::new(root).follow_links(true).sort_by_file_name();
    for entry in walker.into_iter().filter_entry(|entry| !hidden(entry)) {
        match entry {
            Ok(entry) => {
                let name = Path::new(entry.file_name());
                if entry.file_type().is_file() && yaml.is_match(name) && name != Path::new(TARGETS)
                {
                    files.push(entry.into_path());
                }
            }
            Err(error) => problems.push(unreadable(root, &error)),
        }
    }
}

fn unreadable(root: &Path, error: &walkdir::Error) -> Diagnostic {
    let file = show(error.path().unwrap_or(root));
    if let Some(ancestor) = error.loop_ancestor() {
        let message = format!("a symbolic link that leads back to `{}`", show(ancestor));
        return Diagnostic::file(file, message)
            .help("remove the link, or name the spec files one by one");
    }
    let is_link = error.path().is_some_and(Path::is_symlink);
    if is_link {
        return Diagnostic::file(file, "a symbolic link that leads nowhere")
            .help("remove the link");
    }
    let cause = error.io_error().map(ToString::to_string).unwrap_or_default();
    Diagnostic::file(file, format!("it cannot be read: {cause}"))
}

fn missing(path: &Path) -> String {
    let hint = match sibling(path) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => {
            "; name spec files or folders, or begin with `evalsuite init --model DIR`".to_owned()
        }
    };
    format!("there is no `{}`{hint}", show(path))
}

/// The path beside `path` that was probably meant, as `path` is written.
pub(super) fn sibling(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().ok()?;
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let wanted = path.file_name()?.to_string_lossy();
    let name = suggest(&wanted, names.iter().map(String::as_str))?;
    Some(show(&path.with_file_name(name)))
}

/// The path without `.` and with `..` applied to the folder before it, which does not follow links.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            part => out.push(part),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

/// The path relative to the working directory where it lies below it, with `/` between folders.
pub(super) fn show(path: &Path) -> String {
    relative(path).to_string_lossy().replace('\\', "/")
}

/// The path relative to the working directory where it lies below it.
pub(super) fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let path = tidy(path);
    match path.strip_prefix(&here) {
        Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
        Ok(rest) => rest.to_path_buf(),
        Err(_) => path,
    }
}

/// The path from the root of the file system, links not followed.
pub(super) fn absolute(path: &Path) -> PathBuf {
    tidy(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
}
