//! Finding numbers in a text.

use fancy_regex::Regex;

/// A sign counts only where no word or number ends before it, so that `3-5` holds 3 and 5.
const NUMBER: &str = r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?";

/// The numbers of a text in order, thousands separators taken out.
pub(super) fn numbers(text: &str) -> Vec<String> {
    let Ok(pattern) = Regex::new(NUMBER) else { return Vec::new() };
    pattern
        .find_iter(text)
        .filter_map(Result::ok)
        .map(|found| found.as_str().replace(',', ""))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn signs_separators_and_fractions() {
        assert_eq!(numbers("$1,234.50, then 3-5, -7 and 2e3."), ["1234.50", "3", "5", "-7", "2e3"]);
        assert_eq!(numbers("x4 and 4C and 1,2"), ["4", "1", "2"]);
    }
}
