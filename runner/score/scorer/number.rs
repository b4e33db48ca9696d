//! `number`: the answer is a number of the same value.

use super::{Info, Pair};
use crate::score::extractor::parse_number;

pub(super) const INFO: Info = Info {
    name: "number",
    summary: "the answer is a number of the same value",
    help: "\
4, 4.0 and 4.00 are equal; thousands separators and currency signs are left out. An answer that
is no number scores 0.

    - task_score: { scorer: number, extractor: last_number, reference: \"1200\" }",
};

pub(super) fn right(pair: Pair<'_>) -> bool {
    let values = (parse_number(pair.answer), parse_number(pair.reference));
    matches!(values, (Some(answer), Some(reference)) if same(answer, reference))
}

pub(super) fn problem(reference: &str) -> Option<String> {
    let wrong = parse_number(reference).is_none();
    wrong.then(|| format!("the reference {reference:?} is no number"))
}

/// Equal up to the rounding of decimal notation.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}
