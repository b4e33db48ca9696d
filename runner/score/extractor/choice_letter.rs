//! `choice_letter`: the letter of a multiple-choice answer.

use super::Info;

pub(super) const INFO: Info = Info {
    name: "choice_letter",
    summary: "the letter A to J of a multiple-choice answer",
    help: "\
A letter that stands alone, in any dress: `B`, `(B)`, `**B**`, `B.`, `\\boxed{B}`, `Answer: B`.
A boxed letter comes first, then the last one after the word `answer`, then one that begins
the reply, then the last one. A letter inside a word never counts, nor do the words `A` and
`I` of a sentence. A lower-case letter counts when it is boxed, in parentheses or alone.

    - task_score: { extractor: choice_letter, scorer: choice, reference: B }",
};

pub(super) fn extract(text: &str) -> Option<String> {
    letter(text).map(String::from)
}

/// A letter that stands alone.
#[derive(Debug, Clone, Copy)]
struct Found {
    letter: char,
    /// Its index in characters.
    at: usize,
    /// Whether decorations set it apart, so that it cannot be the word `A` or `I`.
    marked: bool,
}

/// The chosen letter, upper case.
pub(crate) fn letter(text: &str) -> Option<char> {
    let chars: Vec<char> = text.trim().chars().collect();
    let found: Vec<Found> = (0..chars.len()).filter_map(|at| stands_alone(&chars, at)).collect();
    let boxed = found
        .iter()
        .rev()
        .find(|one| ends_with(&chars, one.at, "boxed{") || ends_with(&chars, one.at, "text{"));
    let answered = || {
        let lower: Vec<char> = chars.iter().map(char::to_ascii_lowercase).collect();
        let after = (0..lower.len()).rev().find(|at| ends_with(&lower, *at, "answer"))?;
        found.iter().find(|one| one.at >= after && sound(one))
    };
    let first = || found.first().filter(|one| leads(&chars, one) && sound(one));
    let last = || found.iter().rev().find(|one| sound(one));
    let chosen = boxed.or_else(answered).or_else(first).or_else(last)?;
    Some(chosen.letter.to_ascii_uppercase())
}

/// The letter at this index, when neither neighbour makes it part of a word.
fn stands_alone(chars: &[char], at: usize) -> Option<Found> {
    let letter = chars[at];
    let before = at.checked_sub(1).map(|n| chars[n]);
    let after = chars.get(at + 1).copied();
    let next = chars.get(at + 2).copied();
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '&' | '/' | '\\');
    // `B.` ends a sentence, but the letters of `e.g.` and `U.S.A` belong to a word.
    let dotted = |dot: Option<char>, beyond: Option<char>| {
        dot == Some('.') && beyond.is_some_and(char::is_alphanumeric)
    };
    let far = at.checked_sub(2).map(|n| chars[n]);
    if !letter.is_ascii() || !('A'..='J').contains(&letter.to_ascii_uppercase()) {
        return None;
    }
    if before.is_some_and(joins)
        || after.is_some_and(joins)
        || dotted(after, next)
        || dotted(before, far)
    {
        return None;
    }
    let open = before.is_some_and(|c| matches!(c, '(' | '[' | '{' | '*' | '_' | '"' | '`' | '$'));
    let close = after.is_some_and(|c| {
        matches!(c, ')' | ']' | '}' | '*' | '_' | '"' | '`' | '$' | ':' | '.' | ',')
    });
    let marked = open || close || after.is_none_or(|c| c == '\n');
    let alone = before.is_none_or(|c| c == '\n') && after.is_none_or(|c| c == '\n');
    let enclosed = open && after.is_some_and(|c| matches!(c, ')' | ']' | '}' | '*'));
    (letter.is_ascii_uppercase() || alone || enclosed).then_some(Found { letter, at, marked })
}

/// Whether it is no word of a sentence: `A` and `I` need something that sets them apart.
fn sound(one: &Found) -> bool {
    one.marked || !matches!(one.letter, 'A' | 'I')
}

/// Whether nothing but decorations stands before it.
fn leads(chars: &[char], one: &Found) -> bool {
    !chars[..one.at].iter().any(|c| c.is_alphanumeric())
}

fn ends_with(chars: &[char], end: usize, word: &str) -> bool {
    let count = word.chars().count();
    end >= count && chars[end - count..end].iter().copied().eq(word.chars())
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_letter_is_found_in_every_dress() {
        for (text, letter) in [
            ("B", "B"),
            ("b", "B"),
            ("(B)", "B"),
            ("(b)", "B"),
            ("[B]", "B"),
            ("**B**", "B"),
            ("**B.** Oslo", "B"),
            ("B. Oslo", "B"),
            ("B) Oslo", "B"),
            ("A. Oslo", "A"),
            ("B: Oslo, not C", "B"),
            ("\\boxed{B}", "B"),
            ("$\\boxed{\\text{B}}$", "B"),
            ("Not (C), so \\boxed{B}", "B"),
            ("Answer: B.", "B"),
            ("answer is B", "B"),
            ("The answer is **(J)**.", "J"),
            ("The correct answer is B because C is wrong.", "B"),
            ("A is wrong. Answer: C", "C"),
            ("Answer: A", "A"),
            ("I think it is D", "D"),
            ("A capital city, so C.", "C"),
            ("Both look good.\n\nB", "B"),
        ] {
            assert_eq!(extract(text).as_deref(), Some(letter), "{text}");
        }
    }

    #[test]
    fn a_letter_of_a_word_is_no_choice() {
        for text in [
            "Because",
            "A dog",
            "I know",
            "e.g. this",
            "B-52",
            "don't",
            "K",
            "A's",
            "E.U.",
            "Äb",
            "",
        ] {
            assert_eq!(extract(text), None, "{text}");
        }
    }
}
