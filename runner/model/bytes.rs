//! What bytes an entry of the vocabulary stands for.

use serde_json::Value;

/// How a vocabulary spells bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// GPT-2's: every byte is a printable character of its own.
    ByteLevel,
    /// SentencePiece's: `▁` is a space; `<0xNN>` is a byte when the model falls back to bytes.
    SentencePiece {
        /// Whether `<0xNN>` is a byte.
        byte_fallback: bool,
    },
    /// Text as it is.
    Plain,
}

impl Alphabet {
    /// The alphabet that a `tokenizer.json` uses, by its decoder and pre-tokenizer.
    pub(super) fn of(document: &Value) -> Alphabet {
        let stages = [&document["decoder"], &document["pre_tokenizer"]];
        if stages.iter().any(|stage| holds_type(stage, "ByteLevel")) {
            return Alphabet::ByteLevel;
        }
        let byte_fallback = document["model"]["byte_fallback"] == Value::Bool(true)
            || holds_type(&document["decoder"], "ByteFallback");
        let spaces = stages.iter().any(|stage| holds_type(stage, "Metaspace"))
            || document["decoder"].to_string().contains('▁');
        if byte_fallback || spaces {
            Alphabet::SentencePiece { byte_fallback }
        } else {
            Alphabet::Plain
        }
    }
}

fn holds_type(stage: &Value, name: &str) -> bool {
    match stage {
        Value::Object(fields) => {
            fields.get("type").is_some_and(|kind| kind == name)
                || fields.values().any(|field| holds_type(field, name))
        }
        Value::Array(items) => items.iter().any(|item| holds_type(item, name)),
        _ => false,
    }
}

/// The bytes of one vocabulary entry.
pub(super) fn of_token(alphabet: &Alphabet, token: &str) -> Vec<u8> {
    match alphabet {
        Alphabet::ByteLevel => {
            // An entry with a character outside the alphabet was never made of bytes.
            let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
            bytes.unwrap_or_else(|| token.as_bytes().to_vec())
        }
        Alphabet::SentencePiece { byte_fallback } => match fallback_byte(token) {
            Some(byte) if *byte_fallback => vec![byte],
            _ => token.replace('▁', " ").into_bytes(),
        },
        Alphabet::Plain => token.as_bytes().to_vec(),
    }
}

fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// The byte that a character of GPT-2's alphabet stands for: printable Latin-1 is itself, and the
/// 68 bytes that are not printable follow from U+0100 on in their order.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match code {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => u8::try_from(code).ok(),
        0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        0x121..=0x142 => u8::try_from(code - 0x121 + 0x7F).ok(),
        0x143 => Some(0xAD),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let mut seen: Vec<u8> = (0..0x200).filter_map(char::from_u32).filter_map(byte_of).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..=255).collect::<Vec<u8>>());
        assert_eq!(
            [byte_of('Ġ'), byte_of('Ċ'), byte_of('Ń')],
            [Some(b' '), Some(b'\n'), Some(0xAD)]
        );
        assert_eq!([byte_of('ł'), byte_of('ġ')], [Some(0xA0), Some(0x7F)]);
    }

    #[test]
    fn only_two_digits_make_a_byte() {
        let fallback = Alphabet::SentencePiece { byte_fallback: true };
        assert_eq!(of_token(&fallback, "<0x0A>"), b"\n");
        assert_eq!(of_token(&fallback, "<0x0>"), b"<0x0>");
        assert_eq!(
            of_token(&Alphabet::SentencePiece { byte_fallback: false }, "<0x0A>"),
            b"<0x0A>"
        );
    }
}
