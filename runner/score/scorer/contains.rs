//! `contains`: the reference is in it.

use crate::score::Info;

pub(super) const INFO: Info = Info { name: "contains", summary: "the reference is in it" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    extracted.contains(reference)
}

pub(super) fn problem(reference: &str) -> Option<String> {
    reference.is_empty().then(|| "every text contains an empty reference".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right("It is Oslo.", "Oslo"));
        assert!(!right("It is Rome.", "Oslo"));
        assert!(problem("").is_some());
    }
}
