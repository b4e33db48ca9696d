//! A JSON object read one character at a time, which says at once when it is none.

use std::ops::Range;

/// What a character made of the object.
pub(super) enum Progress {
    /// It is not complete.
    More,
    /// It can be no JSON object.
    Malformed,
    /// It closed the object.
    Done,
}

/// Reads one object; numbers and the depth are judged only roughly, so the text is parsed at its end.
#[derive(Default)]
pub(super) struct ObjectScanner {
    /// Everything taken so far.
    pub(super) text: String,
    /// The members of the object itself: the text of the key with quotes, and where its value stands.
    pub(super) members: Vec<(String, Range<usize>)>,
    open: Vec<char>,
    expected: Expected,
    token: Token,
    token_start: usize,
    member_start: usize,
    key: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Expected {
    #[default]
    Object,
    KeyOrEnd,
    Key,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// The token that the last character belongs to, if it is longer than one.
#[derive(Clone, Copy, Default, PartialEq)]
enum Token {
    #[default]
    None,
    Text,
    Escape,
    Hex(u8),
    Bare,
}

impl ObjectScanner {
    /// Takes the next character.
    pub(super) fn push(&mut self, character: char) -> Progress {
        let at = self.text.len();
        self.text.push(character);
        if self.step(character, at).is_none() {
            return Progress::Malformed;
        }
        let closed = self.open.is_empty() && self.expected == Expected::CommaOrEnd;
        if closed { Progress::Done } else { Progress::More }
    }

    fn step(&mut self, character: char, at: usize) -> Option<()> {
        match self.token {
            Token::Text => self.in_text(character, at),
            Token::Escape if character == 'u' => self.set(Token::Hex(0)),
            Token::Escape if "\"\\/bfnrt".contains(character) => self.set(Token::Text),
            Token::Hex(3) if character.is_ascii_hexdigit() => self.set(Token::Text),
            Token::Hex(count) if character.is_ascii_hexdigit() => self.set(Token::Hex(count + 1)),
            Token::Escape | Token::Hex(_) => None,
            Token::Bare if character.is_ascii_alphanumeric() || "+-.".contains(character) => {
                may_be_bare(&self.text[self.token_start..]).then_some(())
            }
            Token::Bare => {
                self.end_value(at);
                self.between(character, at)
            }
            Token::None => self.between(character, at),
        }
    }

    fn set(&mut self, token: Token) -> Option<()> {
        self.token = token;
        Some(())
    }

    fn in_text(&mut self, character: char, at: usize) -> Option<()> {
        match character {
            '\\' => self.set(Token::Escape),
            '"' if self.expected == Expected::Colon => {
                if self.open.len() == 1 {
                    self.text[self.token_start..].clone_into(&mut self.key);
                }
                self.set(Token::None)
            }
            '"' => {
                self.end_value(at + 1);
                Some(())
            }
            _ => (character >= ' ').then_some(()),
        }
    }

    fn between(&mut self, character: char, at: usize) -> Option<()> {
        use Expected::{Colon, CommaOrEnd, Key, KeyOrEnd, Object, Value, ValueOrEnd};
        match (self.expected, character) {
            (_, ' ' | '\t' | '\n' | '\r') => Some(()),
            (Object | Value | ValueOrEnd, '{') => self.nest('}', KeyOrEnd, at),
            (Value | ValueOrEnd, '[') => self.nest(']', ValueOrEnd, at),
            (KeyOrEnd | Key, '"') => self.begin(Token::Text, Colon, at),
            (Value | ValueOrEnd, '"') => self.begin(Token::Text, CommaOrEnd, at),
            (Value | ValueOrEnd, '-' | '0'..='9' | 't' | 'f' | 'n') => {
                self.begin(Token::Bare, CommaOrEnd, at)
            }
            (Colon, ':') => self.expect(Value),
            (CommaOrEnd, ',') => {
                self.expect(if self.open.last() == Some(&'}') { Key } else { Value })
            }
            (KeyOrEnd | ValueOrEnd | CommaOrEnd, '}' | ']')
                if self.open.last() == Some(&character) =>
            {
                self.open.pop();
                self.end_value(at + 1);
                self.expect(CommaOrEnd)
            }
            _ => None,
        }
    }

    fn expect(&mut self, expected: Expected) -> Option<()> {
        self.expected = expected;
        Some(())
    }

    fn begin(&mut self, token: Token, then: Expected, at: usize) -> Option<()> {
        self.note_member(at);
        self.token = token;
        self.token_start = at;
        self.expect(then)
    }

    fn nest(&mut self, close: char, expected: Expected, at: usize) -> Option<()> {
        self.note_member(at);
        self.open.push(close);
        self.expect(expected)
    }

    /// What begins directly inside the object may be a member's value.
    fn note_member(&mut self, at: usize) {
        if self.open.len() == 1 {
            self.member_start = at;
        }
    }

    fn end_value(&mut self, end: usize) {
        self.token = Token::None;
        if self.open.len() == 1 {
            self.members.push((std::mem::take(&mut self.key), self.member_start..end));
        }
    }
}

/// Whether a literal or a number may begin like this.
fn may_be_bare(text: &str) -> bool {
    let number = text.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        && text.chars().all(|character| character.is_ascii_digit() || "+-.eE".contains(character));
    number || ["true", "false", "null"].iter().any(|literal| literal.starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of characters taken, and the members when the object closed.
    fn scan(text: &str) -> (usize, Option<Vec<(String, String)>>) {
        let mut scanner = ObjectScanner::default();
        for (index, character) in text.chars().enumerate() {
            match scanner.push(character) {
                Progress::More => {}
                Progress::Malformed => return (index + 1, None),
                Progress::Done => {
                    let members = scanner.members.iter();
                    let found =
                        members.map(|(key, at)| (key.clone(), scanner.text[at.clone()].to_owned()));
                    return (index + 1, Some(found.collect()));
                }
            }
        }
        (text.chars().count(), None)
    }

    #[test]
    fn members_are_found_as_they_were_written() {
        let text =
            r#"{"a" : 1.50 , "b":{"a":[1,{}],"c":"}\""} ,"\u0063":[ true,null ],"d":"x\ny"} rest"#;
        let expected = [
            ("\"a\"", "1.50"),
            ("\"b\"", r#"{"a":[1,{}],"c":"}\""}"#),
            ("\"\\u0063\"", "[ true,null ]"),
            ("\"d\"", r#""x\ny""#),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        assert_eq!(scan(text), (text.len() - 5, Some(expected)));
        assert_eq!(scan("{}"), (2, Some(Vec::new())));
    }

    #[test]
    fn it_says_at_once_when_a_text_is_no_object() {
        for (text, taken) in [
            ("x", 1),
            ("[", 1),
            ("{]", 2),
            ("{a", 2),
            ("{\"a\"}", 5),
            ("{\"a\":}", 6),
            ("{\"a\":1,}", 8),
            ("{\"a\":[,", 7),
            ("{\"a\":nul!", 9),
            ("{\"a\":trux", 9),
            ("{\"a\":1x", 7),
            ("{\"a\":\"\n", 7),
            ("{\"a\":\"\\x", 8),
            ("{\"a\":\"\\u12g", 11),
            ("{\"a\":[}", 7),
            ("{\"a\":1 2", 8),
        ] {
            assert_eq!(scan(text), (taken, None), "{text:?}");
        }
    }
}
