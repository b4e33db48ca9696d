//! `last_number`: the last number in the reply.

use super::number::numbers;
use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "last_number", summary: "the last number, without thousands separators" };

pub(super) fn extract(text: &str) -> Option<String> {
    numbers(text).into_iter().next_back()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_() {
        assert_eq!(super::extract("From 3 to -4.5 degrees.").as_deref(), Some("-4.5"));
        assert_eq!(super::extract("none"), None);
    }
}
