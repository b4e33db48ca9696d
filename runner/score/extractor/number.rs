//! Numbers in running text.

/// Every number in the text, in order, without separators: `-1200.5`.
pub(super) fn all(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !starts(&chars, at) {
            at += 1;
            continue;
        }
        let (digits, end) = magnitude(&chars, at);
        // Digits that run on into a word, such as `3rd`, still name the number; `x2` was refused by `starts`.
        let sign = if negative(&chars, at) { "-" } else { "" };
        numbers.push(format!("{sign}{digits}"));
        at = end;
    }
    numbers
}

/// The value of a text that is one number and nothing else but currency signs, percent or a final period.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.chars().any(|c| c.is_alphabetic() && !matches!(c, 'e' | 'E')) {
        return None;
    }
    if let Ok(value) = text.trim_start_matches('+').parse::<f64>() {
        return value.is_finite().then_some(value);
    }
    match all(text).as_slice() {
        [one] => one.parse().ok().filter(|value: &f64| value.is_finite()),
        _ => None,
    }
}

/// Whether a number begins here: a digit, or a point before one, outside a word or another number.
fn starts(chars: &[char], at: usize) -> bool {
    let digit = |n: usize| chars.get(n).is_some_and(char::is_ascii_digit);
    let before = at.checked_sub(1).and_then(|n| chars.get(n));
    let free = before.is_none_or(|c| !c.is_alphanumeric() && *c != '_');
    free && (digit(at) || (chars[at] == '.' && digit(at + 1)))
}

/// The digits with their decimals from here, and where they end.
fn magnitude(chars: &[char], start: usize) -> (String, usize) {
    let digits_from = |from: usize| chars[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let mut at = start + digits_from(start);
    let mut digits: String = chars[start..at].iter().collect();
    let short = (1..=3).contains(&digits.len());
    // A separator stands between groups of exactly three digits, the same one throughout.
    if let Some(separator) = chars.get(at).filter(|c| short && is_separator(**c)) {
        while chars.get(at) == Some(separator) && digits_from(at + 1) == 3 {
            digits.extend(&chars[at + 1..at + 4]);
            at += 4;
        }
    }
    if chars.get(at) == Some(&'.') && at + 1 < chars.len() && digits_from(at + 1) > 0 {
        let end = at + 1 + digits_from(at + 1);
        if digits.is_empty() {
            digits.push('0');
        }
        digits.extend(&chars[at..end]);
        at = end;
    }
    (digits, at.max(start + 1))
}

fn is_separator(c: char) -> bool {
    matches!(c, ',' | '\'' | '’' | '_' | '\u{a0}' | '\u{202f}')
}

/// Whether a minus sign stands before, possibly with a currency sign between; `5-3` holds no negative number.
fn negative(chars: &[char], start: usize) -> bool {
    let mut before = chars[..start].iter().rev().peekable();
    while before.next_if(|c| matches!(**c, '$' | '€' | '£' | '¥' | '₹' | '\\')).is_some() {}
    if before.next_if(|c| matches!(**c, '-' | '−')).is_none() {
        return false;
    }
    before.next().is_none_or(|c| !c.is_alphanumeric() && !matches!(c, ')' | ']'))
}

#[cfg(test)]
mod tests {
    use super::{all, parse};

    #[test]
    fn numbers_are_read_in_every_dress() {
        for (text, numbers) in [
            ("42", &["42"][..]),
            ("It is 42.", &["42"]),
            ("$1,234.50.", &["1234.50"]),
            ("-5 and +6 and −7", &["-5", "6", "-7"]),
            ("-$5", &["-5"]),
            ("$-5", &["-5"]),
            ("5-3", &["5", "3"]),
            ("**1,234,567**", &["1234567"]),
            ("1, 2, 3", &["1", "2", "3"]),
            ("1,2", &["1", "2"]),
            ("12,3456", &["12", "3456"]),
            ("1\u{202f}000 €", &["1000"]),
            ("€3.00", &["3.00"]),
            ("\\boxed{17}", &["17"]),
            ("\\$20", &["20"]),
            (".5", &["0.5"]),
            ("80%", &["80"]),
            ("5km", &["5"]),
            ("x2 has none, nor v_3", &[]),
            ("", &[]),
        ] {
            assert_eq!(all(text), numbers, "{text}");
        }
    }

    #[test]
    fn a_value_is_one_number_alone() {
        for (text, value) in [
            ("4", Some(4.0)),
            (" 4.00 ", Some(4.0)),
            ("+4", Some(4.0)),
            ("$1,000.", Some(1000.0)),
            ("1e3", Some(1000.0)),
            ("-0.5", Some(-0.5)),
            ("80%", Some(80.0)),
            ("4 or 5", None),
            ("four", None),
            ("4 apples", None),
            ("inf", None),
            ("NaN", None),
            ("", None),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
    }
}
