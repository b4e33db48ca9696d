//! `whole`: the reply as it is.

use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "whole", summary: "the whole reply, white space included" };

pub(super) fn extract(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_trimmed() {
        assert_eq!(super::extract(" a\n").as_deref(), Some(" a\n"));
    }
}
