//! `contains`: the answer contains the reference.

use super::{Info, Pair};

pub(super) const INFO: Info = Info {
    name: "contains",
    summary: "the answer contains the reference",
    help: "\
With `ignore_case: true`, case does not count.

    - task_score: { scorer: contains, reference: Oslo }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let (answer, reference) = pair.texts();
    answer.contains(&reference)
}

pub(super) fn problem(reference: &str) -> Option<String> {
    let blank = reference.trim().is_empty();
    blank.then(|| "every answer contains an empty reference".to_owned())
}
