//! A long text: sentences of a file with one hidden among them.

/// The first `count` of `sentences`, starting again when there are fewer, joined by spaces; `insert` stands at
/// `depth` (0 is the beginning, 1 the end).
pub(super) fn compose(sentences: &[&str], count: usize, insert: Option<&str>, depth: f64) -> String {
    let mut parts: Vec<&str> = sentences.iter().copied().cycle().take(count).collect();
    if let Some(insert) = insert {
        parts.insert(position(parts.len(), depth), insert);
    }
    parts.join(" ")
}

/// How many of `count` sentences stand before the depth, which is between 0 and 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the depth is clamped, so the product is between 0 and a count of sentences"
)]
fn position(count: usize, depth: f64) -> usize {
    ((count as f64 * depth.clamp(0.0, 1.0)).round() as usize).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_repeat_and_the_insert_stands_at_its_depth() {
        let text = |depth| compose(&["A.", "B.", "C."], 4, Some("X."), depth);
        assert_eq!(text(0.0), "X. A. B. C. A.");
        assert_eq!(text(0.5), "A. B. X. C. A.");
        assert_eq!(text(1.0), "A. B. C. A. X.");
        assert_eq!(compose(&["A.", "B."], 1, None, 0.5), "A.");
    }
}
