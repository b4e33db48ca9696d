//! Scoring: what is taken out of a reply, and how it is compared with the reference answer.
//!
//! Every extractor and scorer is one file and one line in the registry of its folder.

pub mod extract;
pub mod normalize;
pub mod scorer;

/// Documentation of an extractor or a scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The word in the spec.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
}
