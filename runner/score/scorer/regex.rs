//! `regex`: the reference is a regular expression that is found in it.

use crate::assertion::compile;
use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "regex", summary: "the reference is a regular expression that is found in it" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    compile(reference).is_ok_and(|pattern| pattern.is_match(extracted).unwrap_or(false))
}

pub(super) fn problem(reference: &str) -> Option<String> {
    compile(reference).err()
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right("code X12", r"X\d+"));
        assert!(!right("code Y12", r"X\d+") && !right("(", "("));
        assert!(problem("(").is_some() && problem("a|b").is_none());
    }
}
