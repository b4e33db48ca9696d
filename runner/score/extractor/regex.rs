//! `regex`: what a capture group finds.

use super::Info;
use crate::assertion::compile;

pub(super) const INFO: Info = Info {
    name: "regex",
    summary: "what the one capture group of a regular expression finds",
    help: "\
The first match counts. The pattern has exactly one capture group; write `(?:…)` for a group
that only groups.

    - task_score: { extractor: { regex: 'code is (\\d+)' }, reference: \"4417\" }",
};

pub(super) fn extract(pattern: &str, text: &str) -> Option<String> {
    let captures = compile(pattern).ok()?.captures(text).ok().flatten()?;
    captures.get(1).map(|group| group.as_str().to_owned())
}

pub(super) fn problems(pattern: &str) -> Vec<String> {
    match compile(pattern) {
        Ok(regex) if regex.captures_len() == 2 => Vec::new(),
        Ok(regex) => {
            let groups = regex.captures_len().saturating_sub(1);
            vec![format!(
                "/{pattern}/ has {}, but an extractor needs exactly one; put ( ) around the answer, and (?: ) around the rest",
                crate::diagnostic::count(groups, "capture group")
            )]
        }
        Err(problem) => vec![problem],
    }
}

#[cfg(test)]
mod tests {
    use super::{extract, problems};

    #[test]
    fn the_group_of_the_first_match_is_taken() {
        let pattern = r"code is (\d+)";
        assert_eq!(extract(pattern, "The code is 44, the code is 5").as_deref(), Some("44"));
        assert_eq!(extract(pattern, "no"), None);
        assert_eq!(extract("a(b)?", "a"), None);
    }

    #[test]
    fn one_group_is_asked_for() {
        assert_eq!(problems(r"(?:a|b)(\d)"), Vec::<String>::new());
        assert!(problems(r"\d")[0].contains("0 capture groups"));
        assert!(problems(r"(a)(b)")[0].contains("2 capture groups"));
        assert!(problems("(")[0].contains("not a regular expression"));
    }
}
