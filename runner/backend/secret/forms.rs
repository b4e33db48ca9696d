//! The forms in which a secret can come back.

use std::fmt::Write as _;

/// A secret as it is, percent-encoded, and as it stands inside a JSON string.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let upper = percent_encode(secret);
    let lower = lower_escapes(&upper);
    let json = serde_json::Value::from(secret).to_string();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default();
    // Some encoders escape the slash, which JSON allows.
    let slashed = json.replace('/', "\\/");
    vec![secret.to_owned(), upper, lower, json.to_owned(), slashed]
}

/// Everything but the unreserved characters of RFC 3986 as `%XX`.
fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn lower_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut lower = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escape, rest) = part.split_at(2);
        lower.push('%');
        lower.push_str(&escape.to_ascii_lowercase());
        lower.push_str(rest);
    }
    lower
}

/// The text behind `%XX`; what is no escape stays, and bytes that are no UTF-8 are replaced.
pub(in crate::backend) fn percent_decode(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = after
            .get(..2)
            .filter(|_| byte == b'%')
            .and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(escape.unwrap_or(byte));
        rest = if escape.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
