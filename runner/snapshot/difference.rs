//! The tokens at which a capture leaves what was accepted.

use crate::capture::{
    Accepted, AcceptedInput, Boundary, Capture, OutputToken, Token, TopToken, hash_ids,
};
use crate::finding::Difference;

/// Tokens shown before and after the first differing one.
const CONTEXT: usize = 4;

/// The 0-based exchange and the tokens around the first difference, where ids can be compared.
pub(super) fn difference(
    boundary: Boundary,
    accepted: &Accepted,
    capture: &Capture,
) -> Option<(usize, Difference)> {
    let run = capture.runs.first()?;
    let pairs = accepted.exchanges.iter().zip(&run.exchanges).enumerate();
    let mut found = pairs.filter_map(|(index, (old, new))| {
        let difference = match boundary {
            Boundary::Input => input(old.input.as_deref()?, new.prompt_tokens().ok()?),
            Boundary::Generation => output(old.output.as_deref()?, new.output_tokens().ok()?),
            _ => None,
        };
        Some((index, difference?))
    });
    found.next()
}

fn input(old: &[AcceptedInput], new: &[Token]) -> Option<Difference> {
    let mut expected: Vec<Token> = Vec::new();
    let mut complete = true;
    for stretch in old {
        match stretch {
            AcceptedInput::Token(token) => expected.push(token.clone()),
            AcceptedInput::Folded { count, hash } => {
                let range = new.get(expected.len()..expected.len() + count).unwrap_or_default();
                let ids: Vec<u32> = range.iter().map(|token| token.id).collect();
                if hash_ids(&ids) != *hash {
                    complete = false;
                    break;
                }
                // The hash says that these very tokens were accepted.
                expected.extend_from_slice(range);
            }
        }
    }
    let at = first_mismatch(&expected, new)?;
    // Inside a folded stretch the accepted tokens are not known.
    (complete || at < expected.len()).then(|| window(at, &expected, new, Vec::new()))
}

fn output(old: &[OutputToken], new: &[OutputToken]) -> Option<Difference> {
    let plain = |tokens: &[OutputToken]| -> Vec<Token> {
        tokens.iter().map(|t| Token { id: t.id, piece: t.piece.clone() }).collect()
    };
    let (expected, actual) = (plain(old), plain(new));
    let at = first_mismatch(&expected, &actual)?;
    let top = new.get(at).map(|token| token.top.clone()).unwrap_or_default();
    Some(window(at, &expected, &actual, top))
}

fn first_mismatch(expected: &[Token], actual: &[Token]) -> Option<usize> {
    let shared = expected.iter().zip(actual).take_while(|(a, b)| a.id == b.id).count();
    (shared < expected.len() || shared < actual.len()).then_some(shared)
}

fn window(at: usize, expected: &[Token], actual: &[Token], top: Vec<TopToken>) -> Difference {
    let start = at.saturating_sub(CONTEXT);
    let cut = |tokens: &[Token]| {
        tokens.iter().skip(start).take(at - start + 1 + CONTEXT).cloned().collect()
    };
    Difference { index: at, start, expected: cut(expected), actual: cut(actual), top }
}
