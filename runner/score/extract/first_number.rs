//! `first_number`: the first number in the reply.

use super::number::numbers;
use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "first_number", summary: "the first number, without thousands separators" };

pub(super) fn extract(text: &str) -> Option<String> {
    numbers(text).into_iter().next()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_() {
        assert_eq!(super::extract("From 3 to -4.5 degrees.").as_deref(), Some("3"));
        assert_eq!(super::extract("none"), None);
    }
}
