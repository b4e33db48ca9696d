//! `first_line`: the first line with text in it.

use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "first_line", summary: "the first line that is not blank, trimmed" };

pub(super) fn extract(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #[test]
    fn blank_lines_are_passed_over() {
        assert_eq!(super::extract("\n a \n\nb\n \n").as_deref(), Some("a"));
        assert_eq!(super::extract(" \n"), None);
    }
}
