//! Scores: what is taken out of a reply, and what it is worth against a reference.
//!
//! An extractor finds the answer in a reply; a scorer compares it with the reference. Each is one file with
//! its help. To add one: a new file, a `mod` line and a line in the registry of its folder.

mod extractor;
mod scorer;

pub use extractor::{EXTRACTORS, Extractor};
pub use scorer::{Pair, SCORERS, Scorer};

/// Documentation of an extractor or a scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The word in the spec.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Plain text of a few lines, with an example in YAML.
    pub help: &'static str,
}
