//! Why a command ends early, and the exit code of each cause.

use std::path::PathBuf;

use thiserror::Error;

use crate::diagnostic::Diagnostic;

/// The exit codes, as documented in the README.
pub mod exit {
    /// Everything held.
    pub const OK: u8 = 0;
    /// An assertion failed, a snapshot is new or changed, or a known failure was fixed.
    pub const FAILED: u8 = 1;
    /// The command line or a spec is wrong; nothing was judged.
    pub const USAGE: u8 = 2;
    /// A backend could not be opened or broke; the judgement is incomplete.
    pub const BACKEND: u8 = 3;
    /// Nothing was selected.
    pub const NOTHING: u8 = 4;
}

/// Why a command ends early.
#[derive(Debug, Error)]
pub enum Error {
    /// Problems in specs, target files or fixtures; all that were found.
    #[error("{} in the specs", crate::diagnostic::count(.0.len(), "problem"))]
    Specs(Vec<Diagnostic>),
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Nothing matches the selection.
    #[error("{0}")]
    NothingSelected(String),
    /// A target could not be opened, or broke.
    #[error("target `{target}`: {message}")]
    Backend {
        /// The target's name.
        target: String,
        /// What happened and what to do.
        message: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    /// The exit code for this cause.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Specs(_) | Error::Usage(_) => exit::USAGE,
            Error::NothingSelected(_) => exit::NOTHING,
            Error::Backend { .. } | Error::Io { .. } => exit::BACKEND,
        }
    }
}
