//! `regex`: what the one group of a regular expression catches.

use crate::assertion::compile;
use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "regex", summary: "what the only group of this regular expression catches first" };

pub(super) fn extract(text: &str, pattern: &str) -> Option<String> {
    let captures = compile(pattern).ok()?.captures(text).ok()??;
    Some(captures.get(1)?.as_str().to_owned())
}

pub(super) fn problem(pattern: &str) -> Option<String> {
    let groups = match compile(pattern) {
        Ok(regex) => regex.captures_len() - 1,
        Err(message) => return Some(message),
    };
    (groups != 1).then(|| {
        format!("/{pattern}/ has {groups} groups; put exactly one around what is scored, others as (?:…)")
    })
}

#[cfg(test)]
mod tests {
    use super::{extract, problem};

    #[test]
    fn the_group_is_taken() {
        assert_eq!(extract("code: X12.", r"code: (\w+)").as_deref(), Some("X12"));
        assert_eq!(extract("none", r"code: (\w+)"), None);
    }

    #[test]
    fn exactly_one_group() {
        assert_eq!(problem(r"(?:a|b)(c)"), None);
        assert!(problem("abc").unwrap().contains("0 groups"));
        assert!(problem("(a)(b)").unwrap().contains("2 groups"));
        assert!(problem("(").unwrap().contains("not a regular expression"));
    }
}
