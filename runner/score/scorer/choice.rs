//! `choice`: the same letter, whatever its case and brackets.

use crate::score::Info;

pub(super) const INFO: Info =
    Info { name: "choice", summary: "the same letter, whatever its case and brackets" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    letter(extracted).is_some_and(|found| Some(found) == letter(reference))
}

pub(super) fn problem(reference: &str) -> Option<String> {
    letter(reference).is_none().then(|| format!("the reference {reference:?} is not one letter"))
}

/// The only letter of a text, as a capital.
fn letter(text: &str) -> Option<char> {
    let mut letters = text.chars().filter(|c| c.is_alphanumeric());
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then_some(letter.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right("(b)", "B") && right("B.", "B"));
        assert!(!right("A", "B") && !right("Blue", "B") && !right("", ""));
        assert!(problem("Blue").is_some() && problem("(C)").is_none());
    }
}
