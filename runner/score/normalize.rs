//! Normalising an extracted text and its reference before they are compared.

use schemars::JsonSchema;
use serde::Deserialize;

/// One step; steps apply in the order of this list, whatever the order in the spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Normalize {
    /// Lower case.
    Case,
    /// ASCII punctuation is taken out.
    Punctuation,
    /// The words a, an and the are taken out.
    Articles,
    /// Runs of white space become one space, none at the ends.
    Whitespace,
}

/// Applies the steps that are named.
pub fn normalize(text: &str, steps: &[Normalize]) -> String {
    let mut steps = steps.to_vec();
    steps.sort();
    steps.iter().fold(text.to_owned(), |text, step| step.apply(&text))
}

impl Normalize {
    fn apply(self, text: &str) -> String {
        match self {
            Normalize::Case => text.to_lowercase(),
            Normalize::Punctuation => text.chars().filter(|c| !c.is_ascii_punctuation()).collect(),
            Normalize::Articles => {
                let article =
                    |word: &&str| ["a", "an", "the"].contains(&word.to_lowercase().as_str());
                let words: Vec<_> = text.split_whitespace().filter(|word| !article(word)).collect();
                words.join(" ")
            }
            Normalize::Whitespace => text.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_does_its_own_part() {
        for (step, expected) in [
            (Normalize::Case, " the  cat, an owl."),
            (Normalize::Punctuation, " The  Cat an owl"),
            (Normalize::Articles, "Cat, owl."),
            (Normalize::Whitespace, "The Cat, an owl."),
        ] {
            assert_eq!(normalize(" The  Cat, an owl.", &[step]), expected);
        }
        assert_eq!(normalize("(The cat!) ", &[Normalize::Articles, Normalize::Punctuation]), "cat");
        assert_eq!(normalize(" X ", &[]), " X ");
    }
}
