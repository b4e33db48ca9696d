//! Comparing two generations: pure functions over tokens and probabilities.

pub mod kl;
pub mod near_tie;
pub mod stats;
pub mod walk;
