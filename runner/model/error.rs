//! Why a model directory cannot be used: always with the file, the place in it and what to do.

use std::path::PathBuf;

use thiserror::Error;

/// Why a model directory, its tokenizer or its chat template cannot be used.
#[derive(Debug, Error)]
pub enum ModelError {
    /// A file that is needed is not there.
    #[error("{} is missing: {help}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Why it is needed and where to get it.
        help: String,
    },
    /// A file could not be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is not JSON, or not of the shape that is read.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser met and what to do.
        message: String,
    },
    /// A file was read, but what it says cannot be used.
    #[error("{}: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// A chat template does not compile, or failed or raised while it was rendered.
    #[error("{}:{line}: chat template: {message}", path.display())]
    Template {
        /// The file that holds the template.
        path: PathBuf,
        /// The line of the template, counted from 1; in a template inside JSON, of the unescaped text.
        line: usize,
        /// What the template engine met, or the text that the template raised.
        message: String,
    },
    /// The request cannot be rendered, whatever the template says.
    #[error("{0}")]
    Request(String),
    /// A text cannot be encoded.
    #[error("the tokenizer cannot encode the text: {0}")]
    Encode(String),
}
