//! `choice_letter`: the letter of a multiple-choice answer.

use fancy_regex::Regex;

use crate::score::Info;

pub(super) const INFO: Info = Info {
    name: "choice_letter",
    summary: "the letter of the chosen answer, A to J, as a capital",
};

/// From the surest form to the weakest; within one form the last match counts, since answers come last.
const FORMS: [&str; 4] = [
    r"(?i:\b(?:answer|choice|option)\b(?:\s+is)?)\s*:?\s*[*(]*([A-J])\b",
    r"^\s*[*(]*([A-Ja-j])[*).:]*\s*$",
    r"^\s*[*(]*([A-J])[*).:]+(?=\s|$)",
    r"\(([A-J])\)",
];

pub(super) fn extract(text: &str) -> Option<String> {
    FORMS.iter().find_map(|form| {
        let pattern = Regex::new(form).ok()?;
        let last = pattern.captures_iter(text).filter_map(Result::ok).last()?;
        Some(last.get(1)?.as_str().to_uppercase())
    })
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_surest_form_wins() {
        for (text, letter) in [
            ("B", "B"),
            ("(c)", "C"),
            ("**D**", "D"),
            ("B) Oslo", "B"),
            ("(A) is wrong, so the answer is (C).", "C"),
            ("Answer: B", "B"),
            ("It must be (D) then", "D"),
        ] {
            assert_eq!(extract(text).as_deref(), Some(letter), "{text}");
        }
    }

    #[test]
    fn an_article_is_no_choice() {
        assert_eq!(extract("A dog barks."), None);
        assert_eq!(extract("The answer is a dog."), None);
    }
}
