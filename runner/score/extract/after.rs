//! `after`: what follows a marker.

use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "after", summary: "what follows the last occurrence of this text, trimmed" };

pub(super) fn extract(text: &str, marker: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once(marker)?;
    Some(rest.trim().to_owned())
}

pub(super) fn problem(marker: &str) -> Option<String> {
    marker.is_empty().then(|| "`after: \"\"` marks nothing; use `whole`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{extract, problem};

    #[test]
    fn the_last_marker_counts() {
        assert_eq!(extract("#### 1\n#### 42 \n", "####").as_deref(), Some("42"));
        assert_eq!(extract("42", "####"), None);
        assert!(problem("").is_some() && problem("x").is_none());
    }
}
