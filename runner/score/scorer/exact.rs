//! `exact`: the answer is the reference.

use super::{Info, Pair};

pub(super) const INFO: Info = Info {
    name: "exact",
    summary: "the answer is the reference",
    help: "\
White space at the ends is left out. With `ignore_case: true`, case does not count. This is the
default.

    - task_score: { scorer: exact, reference: Oslo, ignore_case: true }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let (answer, reference) = pair.texts();
    answer == reference
}

pub(super) fn problem(_reference: &str) -> Option<String> {
    None
}
