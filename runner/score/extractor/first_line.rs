//! `first_line`: the first line that is not blank.

use super::Info;

pub(super) const INFO: Info = Info {
    name: "first_line",
    summary: "the first line that is not blank",
    help: "\
White space at the line's ends is left out.

    - task_score: { extractor: first_line, reference: \"Oslo\" }",
};

pub(super) fn extract(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn blank_lines_are_passed_over() {
        assert_eq!(extract("\n  a \r\nb\nc\n\n").as_deref(), Some("a"));
        assert_eq!(extract("a").as_deref(), Some("a"));
        assert_eq!(extract("\n \n"), None);
    }
}
