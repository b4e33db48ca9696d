//! Walking two outputs to their first divergence.
//!
//! After two outputs differ, their positions answer different questions. Everything that applies a tolerance
//! takes a [`SharedPrefix`], which only [`walk`] can make, so a later position cannot be averaged in.

use crate::capture::OutputToken;

/// Two outputs up to and including the first position at which they differ.
#[derive(Debug, Clone, Copy)]
pub struct SharedPrefix<'a> {
    reference: &'a [OutputToken],
    candidate: &'a [OutputToken],
    len: usize,
}

/// One position of both outputs, with the same tokens before it.
#[derive(Debug, Clone, Copy)]
pub struct Position<'a> {
    /// The index of the token, from 0.
    pub index: usize,
    /// What the reference has there.
    pub reference: &'a OutputToken,
    /// What the candidate has there.
    pub candidate: &'a OutputToken,
}

/// Where two outputs part.
#[derive(Debug, Clone, Copy)]
pub struct Fork<'a> {
    /// The index of the first differing token.
    pub index: usize,
    /// What the reference has there; `None` when it ended.
    pub reference: Option<&'a OutputToken>,
    /// What the candidate has there; `None` when it ended.
    pub candidate: Option<&'a OutputToken>,
}

/// Walks both outputs to the first divergence. The caller has checked that the prompts are equal.
pub fn walk<'a>(
    reference: &'a [OutputToken],
    candidate: &'a [OutputToken],
) -> (SharedPrefix<'a>, Option<Fork<'a>>) {
    let len = reference.iter().zip(candidate).take_while(|(a, b)| a.id == b.id).count();
    let fork = Fork { index: len, reference: reference.get(len), candidate: candidate.get(len) };
    let parted = fork.reference.is_some() || fork.candidate.is_some();
    (SharedPrefix { reference, candidate, len }, parted.then_some(fork))
}

impl<'a> SharedPrefix<'a> {
    /// How many tokens are equal.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the very first token differs, or there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The positions at which the same token was chosen.
    pub fn chosen(&self) -> impl Iterator<Item = Position<'a>> + use<'a> {
        self.positions(self.len)
    }

    /// The positions whose distributions answer the same question: those of [`SharedPrefix::chosen`] and the
    /// fork itself, which has the same tokens before it on both sides.
    pub fn distributions(&self) -> impl Iterator<Item = Position<'a>> + use<'a> {
        self.positions(self.len + 1)
    }

    fn positions(&self, count: usize) -> impl Iterator<Item = Position<'a>> + use<'a> {
        let pairs = self.reference.iter().zip(self.candidate).take(count).enumerate();
        pairs.map(|(index, (reference, candidate))| Position { index, reference, candidate })
    }
}

/// The index of the first difference between two id sequences; `None` when they are equal.
pub fn first_difference(expected: &[u32], actual: &[u32]) -> Option<usize> {
    let shared = expected.iter().zip(actual).take_while(|(a, b)| a == b).count();
    (shared < expected.len() || shared < actual.len()).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::sample::output;

    #[test]
    fn distributions_reach_the_fork_and_not_beyond() {
        let (reference, candidate) = (output(&[1, 2, 3, 9]), output(&[1, 2, 4, 9]));
        let (shared, fork) = walk(&reference, &candidate);
        assert_eq!(shared.len(), 2);
        assert_eq!(shared.chosen().map(|position| position.index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(shared.distributions().map(|position| position.index).collect::<Vec<_>>(), [0, 1, 2]);
        let fork = fork.unwrap();
        assert_eq!((fork.index, fork.reference.unwrap().id, fork.candidate.unwrap().id), (2, 3, 4));
    }

    #[test]
    fn an_early_end_is_a_fork_without_a_token() {
        let (reference, candidate) = (output(&[1, 2]), output(&[1]));
        let (shared, fork) = walk(&reference, &candidate);
        assert_eq!(shared.distributions().count(), 1);
        assert!(fork.unwrap().candidate.is_none());
        assert!(walk(&reference, &reference).1.is_none());
    }

    #[test]
    fn ids_differ_where_one_ends() {
        assert_eq!(first_difference(&[1, 2], &[1, 2]), None);
        assert_eq!(first_difference(&[1, 2], &[1]), Some(1));
        assert_eq!(first_difference(&[], &[]), None);
    }
}
