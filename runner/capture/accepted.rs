//! What was accepted earlier, as far as its snapshots tell.

use sha2::{Digest, Sha256};

use super::{OutputToken, Token};

/// What was accepted earlier for a case, read from its snapshots.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accepted {
    /// One per exchange, in order.
    pub exchanges: Vec<AcceptedExchange>,
}

/// The accepted record of one exchange; a boundary without a snapshot is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AcceptedExchange {
    /// The prompt, long stretches folded to a count and a hash.
    pub input: Option<Vec<AcceptedInput>>,
    /// Output tokens with the probabilities that were kept.
    pub output: Option<Vec<OutputToken>>,
}

/// A stretch of an accepted prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptedInput {
    /// One token, written out.
    Token(Token),
    /// `count` tokens of which only the hash was kept.
    Folded {
        /// How many tokens.
        count: usize,
        /// [`hash_ids`] of them.
        hash: String,
    },
}

/// The first 16 hex digits of the SHA-256 of the ids in decimal, joined by commas.
pub fn hash_ids(ids: &[u32]) -> String {
    let text = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
