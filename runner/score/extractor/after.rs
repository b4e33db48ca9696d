//! `after`: what follows a text.

use super::Info;

pub(super) const INFO: Info = Info {
    name: "after",
    summary: "what follows the last occurrence of a text, up to the end of its line",
    help: "\
White space at both ends is left out. The text is compared as it is, upper and lower case
included.

    - task_score: { extractor: { after: \"####\" }, scorer: number, reference: \"18\" }",
};

pub(super) fn extract(marker: &str, text: &str) -> Option<String> {
    let at = text.rfind(marker)? + marker.len();
    let answer = text[at..].lines().next()?.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}

pub(super) fn problems(marker: &str) -> Vec<String> {
    if marker.is_empty() {
        return vec!["`after: \"\"` names no text; write what stands before the answer".to_owned()];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{extract, problems};

    #[test]
    fn the_last_occurrence_counts_up_to_the_line_end() {
        assert_eq!(extract("####", "#### 1\n#### 18 \nmore").as_deref(), Some("18"));
        assert_eq!(extract("####", "####\n18"), None);
        assert_eq!(extract("####", "18"), None);
        assert_eq!(extract("is", "it is é").as_deref(), Some("é"));
        assert_eq!(problems("").len(), 1);
    }
}
