//! `regex`: the reference is a regular expression that is found in the answer.

use super::{Info, Pair};
use crate::assertion::compile;

pub(super) const INFO: Info = Info {
    name: "regex",
    summary: "the reference is a regular expression that is found in the answer",
    help: "\
Write ^ and $ to ask for the whole answer. With `ignore_case: true`, case does not count.

    - task_score: { scorer: regex, reference: '^(four|4)$' }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let flag = if pair.ignore_case { "(?i)" } else { "" };
    let found =
        compile(&format!("{flag}{}", pair.reference)).map(|regex| regex.is_match(pair.answer));
    matches!(found, Ok(Ok(true)))
}

pub(super) fn problem(reference: &str) -> Option<String> {
    compile(reference).err()
}
