//! `first_number`: the first number in the reply.

use super::{Info, number};

pub(super) const INFO: Info = Info {
    name: "first_number",
    summary: "the first number in the reply",
    help: "\
Signs, decimals and thousands separators are read; currency signs, units and the period
that ends a sentence are not part of it. Digits inside a word, as in `x2`, are no number.

    - task_score: { extractor: first_number, scorer: number, reference: \"1200\" }",
};

pub(super) fn extract(text: &str) -> Option<String> {
    number::all(text).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_first_of_several_is_taken() {
        assert_eq!(extract("3 + 4 = 7.").as_deref(), Some("3"));
        assert_eq!(extract("none"), None);
    }
}
