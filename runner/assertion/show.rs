//! Texts, ids and token windows as findings print them.

use crate::capture::{OutputToken, Token, TopToken};
use crate::finding::Difference;

/// How many tokens of context a window has on each side of a difference.
const CONTEXT: usize = 4;
/// How many characters of a text are printed.
const WIDTH: usize = 160;

/// A text in quotes, everything that is not plain printed as an escape.
pub(crate) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// A text in quotes, the middle of a long one left out.
pub(crate) fn excerpt(text: &str) -> String {
    let count = text.chars().count();
    if count <= WIDTH {
        return quoted(text);
    }
    let half = WIDTH / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head:?} … {} characters … {tail:?}", count - 2 * half)
}

/// Ids in brackets, the middle of a long list left out.
pub(crate) fn ids(ids: &[u32]) -> String {
    const MOST: usize = 16;
    let join = |ids: &[u32]| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    if ids.len() <= MOST {
        return format!("[{}]", join(ids));
    }
    let (head, tail) = (&ids[..MOST / 2], &ids[ids.len() - MOST / 2..]);
    format!("[{}, … {} more …, {}]", join(head), ids.len() - MOST, join(tail))
}

/// `3 tokens`, `1 token`.
pub(crate) fn tokens(count: usize) -> String {
    crate::diagnostic::count(count, "token")
}

/// A token as `id "piece"`.
pub(crate) fn token(token: &Token) -> String {
    format!("{} {:?}", token.id, token.piece)
}

/// The output tokens without their probabilities.
pub(crate) fn plain(tokens: &[OutputToken]) -> Vec<Token> {
    tokens.iter().map(|token| Token { id: token.id, piece: token.piece.clone() }).collect()
}

/// Ids whose pieces are looked up among `known` tokens; an id that is not among them has an empty piece.
pub(crate) fn named(ids: &[u32], known: &[Token]) -> Vec<Token> {
    let piece = |id: u32| known.iter().find(|token| token.id == id).map(|token| token.piece.clone());
    ids.iter().map(|&id| Token { id, piece: piece(id).unwrap_or_default() }).collect()
}

/// The windows around `index` of two sequences.
pub(crate) fn difference(
    expected: &[Token],
    actual: &[Token],
    index: usize,
    top: &[TopToken],
) -> Difference {
    let start = index.saturating_sub(CONTEXT);
    let window = |tokens: &[Token]| -> Vec<Token> {
        tokens.iter().skip(start).take(index - start + CONTEXT + 1).cloned().collect()
    };
    Difference {
        index,
        start,
        expected: window(expected),
        actual: window(actual),
        top: top.to_vec(),
    }
}
