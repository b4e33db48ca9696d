//! `whole`: the reply as it is.

use super::Info;

pub(super) const INFO: Info = Info {
    name: "whole",
    summary: "the whole reply",
    help: "\
The reply's text without white space at its ends. This is the default.

    - task_score: { extractor: whole, reference: \"Oslo\" }",
};

pub(super) fn extract(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_ends_are_trimmed() {
        assert_eq!(extract(" a\n b \n").as_deref(), Some("a\n b"));
        assert_eq!(extract(" \n"), None);
    }
}
