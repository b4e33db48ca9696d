//! Scalars without quotes that are not what they look like.

use super::tree::Data;

/// What YAML takes a bare scalar for, where that is not simply a text.
pub(super) fn mistaken(data: Data<'_>, bare: &str) -> Option<&'static str> {
    match data {
        Data::Null => Some("nothing"),
        Data::Bool(_) => Some("a truth value"),
        Data::Int(_) | Data::Uint(_) | Data::Float(_) => Some("a number"),
        Data::List(_) | Data::Map(_) => None,
        Data::Text(_) => mistaken_elsewhere(bare),
    }
}

/// Texts for us that are truth values or numbers for many other YAML readers.
pub(super) fn mistaken_elsewhere(bare: &str) -> Option<&'static str> {
    let lower = bare.to_lowercase();
    if matches!(lower.as_str(), "no" | "yes" | "on" | "off") {
        return Some("a truth value for many YAML readers");
    }
    let digits = lower.trim_start_matches(['+', '-']);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_' || c == '.')
        && digits.matches('.').count() <= 1;
    numeric.then_some("a number for many YAML readers")
}

/// A number without leading zeros and underscores.
pub(super) fn number(bare: &str) -> String {
    let digits = bare.replace('_', "");
    let short = digits.trim_start_matches('0');
    if short.starts_with(|c: char| c.is_ascii_digit()) {
        short.to_owned()
    } else {
        format!("0{short}")
    }
}
