//! Text of unknown origin, made safe to print and to compare by eye.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// `text` as a JSON string in which everything that cannot be seen is escaped.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_invisible(c) => push_json_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `text` on one line without quotes: whatever could move the cursor or hide is escaped.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_invisible(c) => push_json_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

/// At most `max` characters of `text`, saying how many were left out.
pub fn clip(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    // Room for as many digits as the note can need.
    let note = format!("… {count} more");
    let keep = max.saturating_sub(note.chars().count());
    let note = format!("… {} more", count - keep);
    text.chars().take(keep).chain(note.chars()).collect()
}

/// The first 16 hex digits of the SHA-256 of `text`.
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..8])
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Whether a reader could not tell that the character is there.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{3000}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

fn push_json_escape(out: &mut String, c: char) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_json_and_shows_what_hides() {
        let text = "a\"\\\n\t\r\u{1b}[31m\u{200b}\u{e0041}\u{ffff}é😀";
        let quoted = quote(text);
        assert_eq!(quoted, r#""a\"\\\n\t\r\u001b[31m\u200b\udb40\udc41\uffffé😀""#);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }

    #[test]
    fn a_printed_text_cannot_reach_the_terminal() {
        assert_eq!(printable("red \u{1b}[31m\nnext"), "red \\u001b[31m\\nnext");
    }

    #[test]
    fn a_clipped_text_says_how_much_is_missing() {
        assert_eq!(clip("0123456789", 10), "0123456789");
        assert_eq!(clip(&"x".repeat(100), 20), format!("{}… 90 more", "x".repeat(10)));
        assert!(clip(&"é".repeat(1000), 30).chars().count() <= 30);
    }
}
