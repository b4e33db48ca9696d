//! Text from ids as they come, never half a character.

/// A character has at most four bytes, and a token with text at least one.
const CHARACTER: usize = 4;

/// Turns ids into text piece by piece; the pieces joined are the decoding of all ids.
///
/// Decoders may treat the first id in a special way and may need several ids for one character, so a piece is
/// the difference between two decodings that share a first id, taken only when it ends in a whole character.
pub struct Detokenizer<'a> {
    decode: &'a dyn Fn(&[u32]) -> String,
    ids: Vec<u32>,
    /// Where the decoding that both sides share begins.
    from: usize,
    /// The ids before this one have been given out.
    given: usize,
}

impl<'a> Detokenizer<'a> {
    /// A detokenizer over a decoding of whole sequences.
    pub fn new(decode: &'a dyn Fn(&[u32]) -> String) -> Self {
        Detokenizer { decode, ids: Vec::new(), from: 0, given: 0 }
    }

    /// Takes an id and gives the text that is now certain, often none.
    pub fn push(&mut self, id: u32) -> String {
        self.ids.push(id);
        let all = (self.decode)(&self.ids[self.from..]);
        // A replacement character at the end may be the first bytes of a character yet to come.
        if all.ends_with('\u{fffd}') {
            return self.take_settled(&all);
        }
        self.take(&all, self.ids.len())
    }

    /// In a long run of broken bytes, gives what further ids cannot change, or each id would cost a decoding
    /// of the whole run.
    fn take_settled(&mut self, all: &str) -> String {
        let cut = self.ids.len().saturating_sub(CHARACTER);
        if cut < self.given + CHARACTER {
            return String::new();
        }
        let settled = (self.decode)(&self.ids[self.from..cut]);
        let rest = (self.decode)(&self.ids[cut..]);
        // Both halves decoded alone give the whole only if no character lies across the cut.
        if all.strip_prefix(settled.as_str()) != Some(rest.as_str()) {
            return String::new();
        }
        self.take(&settled, cut)
    }

    /// Gives what was held back, with replacement characters for bytes that never became a character.
    pub fn finish(&mut self) -> String {
        let all = (self.decode)(&self.ids[self.from..]);
        self.take(&all, self.ids.len())
    }

    /// Gives what `all`, the decoding up to `end`, has beyond what was given.
    fn take(&mut self, all: &str, end: usize) -> String {
        let before = (self.decode)(&self.ids[self.from..self.given]);
        let new = match all.strip_prefix(before.as_str()) {
            Some(new) => new.to_owned(),
            // Byte-fallback decoders take back a character when broken bytes follow it.
            None => (self.decode)(&self.ids[self.given..end]),
        };
        if !new.is_empty() {
            self.from = self.given;
            self.given = end;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn bytes(ids: &[u32]) -> String {
        let bytes: Vec<u8> = ids.iter().map(|id| *id as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn pieces(decode: &dyn Fn(&[u32]) -> String, ids: &[u32]) -> (Vec<String>, String) {
        let mut detokenizer = Detokenizer::new(decode);
        let pieces = ids.iter().map(|id| detokenizer.push(*id)).collect();
        (pieces, detokenizer.finish())
    }

    #[test]
    fn a_character_is_given_when_its_last_byte_came() {
        let ids: Vec<u32> = "aé😀b".bytes().map(u32::from).collect();
        let (pieces, rest) = pieces(&bytes, &ids);
        assert_eq!(pieces, ["a", "", "é", "", "", "", "😀", "b"]);
        assert_eq!(rest, "");
    }

    #[test]
    fn broken_bytes_come_out_as_replacement_characters() {
        let (given, rest) = pieces(&bytes, &[0xE2, 0x82, 0x41, 0xF0]);
        assert_eq!(given.concat(), "\u{fffd}A");
        assert_eq!(rest, "\u{fffd}");
    }

    #[test]
    fn a_long_run_of_broken_bytes_is_given_in_time_and_no_character_is_lost() {
        let mut ids: Vec<u32> = vec![0xFF; 50];
        ids.extend("€😀".bytes().map(u32::from));
        ids.extend([0x80; 30]);
        for end in 1..ids.len() {
            let longest = Cell::new(0);
            let decode = |ids: &[u32]| {
                longest.set(longest.get().max(ids.len()));
                bytes(ids)
            };
            let (given, rest) = pieces(&decode, &ids[..end]);
            assert_eq!(given.concat() + &rest, bytes(&ids[..end]));
            assert!(longest.get() <= 20, "{}", longest.get());
        }
    }

    #[test]
    fn a_decoder_that_takes_a_character_back_loses_no_text() {
        // As byte-fallback does: a run of bytes is a text as a whole or not at all.
        let decode = |ids: &[u32]| {
            let bytes: Vec<u8> = ids.iter().map(|id| *id as u8).collect();
            let runs = bytes.chunk_by(|a, b| a.is_ascii() == b.is_ascii());
            runs.map(|run| match str::from_utf8(run) {
                Ok(text) => text.to_owned(),
                Err(_) => "\u{fffd}".repeat(run.len()),
            })
            .collect()
        };
        let ids: Vec<u32> = b"a\xC3\xA9\xFFbc".iter().map(|byte| u32::from(*byte)).collect();
        let (given, rest) = pieces(&decode, &ids);
        assert_eq!(
            (given, rest),
            (["a", "", "é", "", "\u{fffd}b", "c"].map(str::to_owned).to_vec(), String::new())
        );
    }

    #[test]
    fn a_decoder_that_strips_the_first_space_is_not_fooled() {
        let words = [" the", " cat", " sat"];
        let decode = move |ids: &[u32]| {
            let text: String = ids.iter().map(|id| words[*id as usize]).collect();
            text.strip_prefix(' ').unwrap_or(&text).to_owned()
        };
        let (given, _) = pieces(&decode, &[0, 1, 2]);
        assert_eq!(given, ["the", " cat", " sat"]);
    }

    #[test]
    fn ids_without_text_give_none() {
        let decode = |ids: &[u32]| ids.iter().filter(|id| **id != 0).map(u32::to_string).collect();
        let (given, rest) = pieces(&decode, &[1, 0, 0, 2]);
        assert_eq!(given, ["1", "", "", "2"]);
        assert_eq!(rest, "");
    }
}
