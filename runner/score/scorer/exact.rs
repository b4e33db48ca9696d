//! `exact`: the same text.

use crate::score::Info;

pub(super) const INFO: Info = Info { name: "exact", summary: "the same text" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    extracted == reference
}

pub(super) fn problem(_reference: &str) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right("Oslo", "Oslo"));
        assert!(!right("Oslo ", "Oslo"));
        assert_eq!(problem(""), None);
    }
}
