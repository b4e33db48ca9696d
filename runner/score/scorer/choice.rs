//! `choice`: the answer names the same letter.

use super::{Info, Pair};
use crate::score::extractor::letter;

pub(super) const INFO: Info = Info {
    name: "choice",
    summary: "the answer names the same letter",
    help: "\
Both are read as `choice_letter` reads a reply, so (b) and B are equal.

    - task_score: { scorer: choice, extractor: choice_letter, reference: B }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let answer = letter(pair.answer);
    answer.is_some() && answer == letter(pair.reference)
}

pub(super) fn problem(reference: &str) -> Option<String> {
    let wrong = letter(reference).is_none();
    wrong.then(|| format!("the reference {reference:?} is no letter A to J"))
}
