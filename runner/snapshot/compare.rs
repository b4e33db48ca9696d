//! Comparing two snapshot texts: exact for everything but decimals, which may differ by a tolerance.

/// The first line at which two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineDifference {
    /// 0-based, counted in the body.
    pub(super) index: usize,
    /// The accepted line; `None` past the end.
    pub(super) expected: Option<String>,
    /// The present line; `None` past the end.
    pub(super) actual: Option<String>,
}

/// The first difference, if there is one; without a tolerance every word counts.
pub(super) fn first_difference(
    expected: &str,
    actual: &str,
    tolerance: Option<f64>,
) -> Option<LineDifference> {
    let (mut old, mut new) = (expected.trim_end().lines(), actual.trim_end().lines());
    let mut index = 0;
    loop {
        match (old.next(), new.next()) {
            (None, None) => return None,
            (Some(a), Some(b)) if same_line(a, b, tolerance) => index += 1,
            (a, b) => {
                let (expected, actual) = (a.map(str::to_owned), b.map(str::to_owned));
                return Some(LineDifference { index, expected, actual });
            }
        }
    }
}

fn same_line(a: &str, b: &str, tolerance: Option<f64>) -> bool {
    if a == b {
        return true;
    }
    let (old, new) = (words(a), words(b));
    let Some(tolerance) = tolerance else { return old == new };
    let (old_top, old): (Vec<_>, Vec<_>) =
        old.into_iter().partition(|word| alternative(word).is_some());
    let (new_top, new): (Vec<_>, Vec<_>) =
        new.into_iter().partition(|word| alternative(word).is_some());
    old.len() == new.len()
        && old.iter().zip(&new).all(|(a, b)| a == b || near(decimal(a), decimal(b), tolerance))
        && same_alternatives(&old_top, &new_top, tolerance)
}

/// Words between spaces; a quoted string is one word, so a decimal in a model's text is never a number here.
pub(super) fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let (mut inside, mut escaped) = (false, false);
    for (at, c) in line.char_indices() {
        if inside {
            inside = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if c.is_whitespace() {
            words.extend(start.take().map(|from: usize| &line[from..at]));
        } else {
            start.get_or_insert(at);
            inside = c == '"';
        }
    }
    words.extend(start.map(|from| &line[from..]));
    words
}

fn decimal(word: &str) -> Option<f64> {
    if word.contains('.') {
        word.parse().ok().filter(|value: &f64| value.is_finite())
    } else {
        None
    }
}

/// `id:logprob`.
fn alternative(word: &str) -> Option<(u32, f64)> {
    let (id, logprob) = word.split_once(':')?;
    Some((id.parse().ok()?, decimal(logprob)?))
}

fn near(a: Option<f64>, b: Option<f64>, tolerance: f64) -> bool {
    // Both sides were rounded to five decimals, so the bound itself must count as within it.
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= tolerance + 1e-9)
}

/// Two lists of the most likely tokens, each highest first. Neighbours within the tolerance may swap, and
/// the same holds at the cut: a token that fell off the list must have been as likely as the last one on it.
fn same_alternatives(old: &[&str], new: &[&str], tolerance: f64) -> bool {
    let old: Vec<_> = old.iter().filter_map(|word| alternative(word)).collect();
    let new: Vec<_> = new.iter().filter_map(|word| alternative(word)).collect();
    old.len() == new.len() && covered(&old, &new, tolerance) && covered(&new, &old, tolerance)
}

fn covered(some: &[(u32, f64)], by: &[(u32, f64)], tolerance: f64) -> bool {
    some.iter().all(|(id, logprob)| {
        let other = by.iter().find(|(other, _)| other == id).or(by.last());
        near(Some(*logprob), other.map(|(_, logprob)| *logprob), tolerance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        first_difference(a, b, Some(0.001)).is_none()
    }

    #[test]
    fn decimals_outside_strings_may_differ_by_the_tolerance() {
        assert!(same("  0  12  \"a\"  -0.10000", "  0  12  \"a\"  -0.10100"));
        assert!(!same("  0  12  \"a\"  -0.10000", "  0  12  \"a\"  -0.10102"));
        assert!(!same("  0  12  \"0.100\"", "  0  12  \"0.1001\""));
        assert!(!same("  \"it is 0.100 now\"", "  \"it is 0.1001 now\""));
        assert!(!same("  \"quote \\\" 0.100\"", "  \"quote \\\" 0.1001\""));
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert!(!same("usage: 12 prompt tokens", "usage: 13 prompt tokens"));
        assert!(!same("  0  12  \"a\"", "  0  13  \"a\""));
    }

    #[test]
    fn without_a_tolerance_every_word_counts() {
        assert!(first_difference("a 0.7", "a 0.7", None).is_none());
        assert!(first_difference("a   0.7", "a 0.7", None).is_none());
        assert!(first_difference("a 0.7", "a 0.70001", None).is_some());
    }

    #[test]
    fn near_alternatives_may_swap_and_distant_ones_may_not() {
        assert!(same(
            "0 1 \"a\" -0.5 1:-0.50000 2:-0.50050",
            "0 1 \"a\" -0.5 2:-0.50000 1:-0.50040"
        ));
        assert!(!same(
            "0 1 \"a\" -0.5 1:-0.50000 2:-0.60000",
            "0 1 \"a\" -0.5 2:-0.50000 1:-0.60000"
        ));
    }

    #[test]
    fn a_near_tie_at_the_cut_may_change_the_last_alternative() {
        assert!(same("0 1 \"a\" -0.5 1:-0.5 2:-3.00010", "0 1 \"a\" -0.5 1:-0.5 3:-3.00000"));
        assert!(!same("0 1 \"a\" -0.5 1:-0.5 2:-3.0", "0 1 \"a\" -0.5 1:-0.5 3:-2.9"));
        assert!(!same("0 1 \"a\" -0.5 1:-0.5 2:-3.0", "0 1 \"a\" -0.5 1:-0.5"));
    }

    #[test]
    fn not_a_number_only_equals_itself() {
        assert!(same("0 1 \"a\" NaN", "0 1 \"a\" NaN"));
        assert!(!same("0 1 \"a\" NaN", "0 1 \"a\" -0.1"));
        assert!(!same("0 1 \"a\" -inf", "0 1 \"a\" -0.1"));
    }

    #[test]
    fn the_first_differing_line_is_named() {
        let difference = first_difference("a\nb\nc", "a\nx\nc", None).unwrap();
        assert_eq!((difference.index, difference.expected.as_deref()), (1, Some("b")));
        let difference = first_difference("a", "a\nb", None).unwrap();
        assert_eq!((difference.index, difference.expected), (1, None));
        assert!(first_difference("a\r\nb", "a\nb\n", None).is_none());
    }
}
