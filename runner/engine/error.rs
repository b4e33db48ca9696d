//! Why a model cannot be loaded or run: always with the file, the tensor or the field, and what to do.

use std::path::PathBuf;

use thiserror::Error;

/// Why the engine cannot load or run a model.
#[derive(Debug, Error)]
pub enum EngineError {
    /// `config.json` lacks a field, or says something that this engine does not speak.
    #[error("config.json: {0}")]
    Config(String),
    /// A weight file that is needed is not there.
    #[error("{} is missing: {help}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Why it is needed and where to get it.
        help: String,
    },
    /// A weight file could not be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A weight file was read, but it is damaged.
    #[error("{}: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// A tensor is missing or does not fit `config.json`.
    #[error("{}: tensor `{tensor}` {message}", path.display())]
    Tensor {
        /// The file it is, or should be, in.
        path: PathBuf,
        /// Its name.
        tensor: String,
        /// What is wrong with it.
        message: String,
    },
    /// A device or a number type that this build or this machine does not have.
    #[error("{0}")]
    Unavailable(String),
    /// The sequence does not fit: a prompt longer than the context, an id outside the vocabulary, a bad setting.
    #[error("{0}")]
    Refused(String),
    /// Cancelled or out of time.
    #[error("{0}")]
    Aborted(super::Abort),
    /// A kernel failed.
    #[error("the engine failed: {0}")]
    Kernel(#[from] candle_core::Error),
}
