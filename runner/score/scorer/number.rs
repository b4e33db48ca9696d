//! `number`: the same number.

use crate::score::Info;

pub(super) const INFO: Info = Info { name: "number", summary: "the same number" };

pub(super) fn right(extracted: &str, reference: &str) -> bool {
    match (parse(extracted), parse(reference)) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        _ => false,
    }
}

pub(super) fn problem(reference: &str) -> Option<String> {
    parse(reference).is_none().then(|| format!("the reference {reference:?} is not a number"))
}

/// A finite number, thousands separators and white space left out.
fn parse(text: &str) -> Option<f64> {
    let number: f64 = text.trim().replace(',', "").parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{problem, right};

    #[test]
    fn right_and_wrong() {
        assert!(right("1,000.0", "1000") && right(" 4 ", "4.0"));
        assert!(!right("5", "4") && !right("four", "4") && !right("nan", "4"));
        assert!(problem("four").is_some() && problem("-4.5").is_none());
    }
}
