//! Stop strings in text that comes in pieces.

/// Finds the first stop string and holds back text that may become one.
#[derive(Debug)]
pub struct StopStrings<'a> {
    strings: &'a [String],
    held: String,
}

/// What is certain after a piece.
#[derive(Debug, PartialEq, Eq)]
pub struct Released {
    /// Text that is no part of a stop string.
    pub text: String,
    /// The stop string that was found; nothing is released after it.
    pub stop: Option<String>,
}

impl<'a> StopStrings<'a> {
    /// A search for `strings`; empty ones are never found.
    pub fn new(strings: &'a [String]) -> Self {
        StopStrings { strings, held: String::new() }
    }

    /// Takes a piece of text. While not `armed`, nothing is found and nothing is held back.
    ///
    /// Of several strings the one that begins first is found, and of those the longest.
    pub fn push(&mut self, piece: &str, armed: bool) -> Released {
        self.held.push_str(piece);
        if !armed {
            return Released { text: std::mem::take(&mut self.held), stop: None };
        }
        let found = self.strings.iter().filter(|stop| !stop.is_empty());
        let found = found.filter_map(|stop| Some((self.held.find(stop.as_str())?, stop)));
        let found = found.min_by(|a, b| a.0.cmp(&b.0).then(b.1.len().cmp(&a.1.len())));
        if let Some((at, stop)) = found {
            let text = self.held[..at].to_owned();
            self.held.clear();
            return Released { text, stop: Some(stop.clone()) };
        }
        let keep = self.strings.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let kept = self.held.split_off(self.held.len() - keep);
        Released { text: std::mem::replace(&mut self.held, kept), stop: None }
    }

    /// Gives what was held back: it did not become a stop string.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// The length in bytes of the longest end of `text` that begins `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    let starts = stop.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    starts.filter(|length| text.ends_with(&stop[..*length])).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strings: &[&str], pieces: &[&str]) -> (Vec<String>, Option<String>, String) {
        let strings: Vec<String> = strings.iter().map(|text| (*text).to_owned()).collect();
        let mut stops = StopStrings::new(&strings);
        let mut released = Vec::new();
        for piece in pieces {
            let now = stops.push(piece, true);
            released.push(now.text);
            if now.stop.is_some() {
                return (released, now.stop, stops.finish());
            }
        }
        (released, None, stops.finish())
    }

    #[test]
    fn a_stop_string_over_several_pieces_is_cut_off() {
        let (released, stop, rest) = run(&["END"], &["one E", "N", "Dtwo"]);
        assert_eq!(released, ["one ", "", ""]);
        assert_eq!(stop.as_deref(), Some("END"));
        assert_eq!(rest, "");
    }

    #[test]
    fn text_that_only_began_like_one_is_released() {
        let (released, stop, rest) = run(&["END"], &["EN", "GINE", " E"]);
        assert_eq!(released, ["", "ENGIN", "E "]);
        assert_eq!((stop, rest.as_str()), (None, "E"));
        let (released, _, rest) = run(&["aab"], &["aa", "a", "c"]);
        assert_eq!(released, ["", "a", "aac"]);
        assert_eq!(rest, "");
    }

    #[test]
    fn the_first_and_then_the_longest_is_found() {
        let (released, stop, _) = run(&["b", "ab", "abc"], &["xabc"]);
        assert_eq!((released[0].as_str(), stop.as_deref()), ("x", Some("abc")));
    }

    #[test]
    fn characters_are_never_split_and_empty_strings_never_found() {
        let (released, stop, rest) = run(&["é!", ""], &["aé", "?", "é"]);
        assert_eq!(released, ["a", "é?", ""]);
        assert_eq!((stop, rest.as_str()), (None, "é"));
    }

    #[test]
    fn before_it_is_armed_nothing_is_held_or_found() {
        let strings = ["END".to_owned()];
        let mut stops = StopStrings::new(&strings);
        assert_eq!(stops.push("ENDEN", false), Released { text: "ENDEN".into(), stop: None });
        assert_eq!(stops.push("D", true), Released { text: "D".into(), stop: None });
    }
}
