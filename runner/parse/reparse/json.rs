//! JSON with positions: every value keeps its place in the source, and every duplicate key is told.

use std::ops::Range;

use super::defect::Fault;

/// The deepest nesting of containers that is read.
pub(super) const MAX_DEPTH: usize = 64;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    Number,
    Bool,
    Null,
}

/// A key that its object has twice, and where the second one stands.
#[derive(Debug)]
pub(super) struct Duplicate {
    pub(super) key: String,
    pub(super) at: usize,
}

/// Reads the value that begins at `at`, after spaces.
pub(super) fn read(text: &str, at: usize) -> Result<(Node, Vec<Duplicate>), Fault> {
    let mut parser = Parser { text, at, depth: 0, duplicates: Vec::new() };
    parser.spaces();
    let node = parser.value()?;
    Ok((node, parser.duplicates))
}

/// Reads a text that is one value and nothing else, up to spaces.
pub(super) fn whole(text: &str) -> Option<(Node, Vec<Duplicate>)> {
    let (node, duplicates) = read(text, 0).ok()?;
    text.get(node.span.end..)?.trim().is_empty().then_some((node, duplicates))
}

/// Whether a text is a number as JSON writes it.
pub(super) fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

/// A string as JSON writes it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    duplicates: Vec<Duplicate>,
}

impl Parser<'_> {
    fn peek(&self) -> Result<u8, Fault> {
        self.text.as_bytes().get(self.at).copied().ok_or_else(|| Fault::cut(self.at))
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Ok(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Result<u8, Fault> {
        self.spaces();
        self.peek()
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => self.nested(Parser::object)?,
            b'[' => self.nested(Parser::array)?,
            b'"' => Kind::Text(self.string()?),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal("true", Kind::Bool)?,
            b'f' => self.literal("false", Kind::Bool)?,
            b'n' => self.literal("null", Kind::Null)?,
            _ => return Err(Fault::malformed(start, "no JSON value begins like this")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind, Fault>) -> Result<Kind, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::too_deep(self.at));
        }
        self.at += 1;
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> Result<Kind, Fault> {
        let mut members: Vec<(String, Node)> = Vec::new();
        if self.next()? == b'}' {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            if self.next()? != b'"' {
                return Err(Fault::malformed(self.at, "a key in quotes is missing"));
            }
            let at = self.at;
            let key = self.string()?;
            if self.next()? != b':' {
                return Err(Fault::malformed(self.at, "a colon is missing after a key"));
            }
            self.at += 1;
            self.next()?;
            let node = self.value()?;
            if members.iter().any(|(other, _)| *other == key) {
                self.duplicates.push(Duplicate { key: key.clone(), at });
            }
            members.push((key, node));
            if self.ends(b'}')? {
                return Ok(Kind::Object(members));
            }
        }
    }

    fn array(&mut self) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        if self.next()? == b']' {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            self.next()?;
            items.push(self.value()?);
            if self.ends(b']')? {
                return Ok(Kind::Array(items));
            }
        }
    }

    /// Takes a comma, or the end of the container.
    fn ends(&mut self, close: u8) -> Result<bool, Fault> {
        let byte = self.next()?;
        if byte != b',' && byte != close {
            return Err(Fault::malformed(self.at, "a comma or the container's end is missing"));
        }
        self.at += 1;
        if byte == b',' {
            self.spaces();
        }
        Ok(byte == close)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    self.peek()?;
                }
                0..b' ' => {
                    return Err(Fault::malformed(self.at, "a control character in a string"));
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
        let source = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(source)
            .map_err(|_| Fault::malformed(start, "a string with a bad escape"))
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        while matches!(self.peek(), Ok(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let source = self.text.get(start..self.at).unwrap_or_default();
        if is_number(source) {
            return Ok(Kind::Number);
        }
        self.peek()?;
        Err(Fault::malformed(start, format!("`{source}` is not a JSON number")))
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Result<Kind, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(kind);
        }
        if word.starts_with(rest) {
            return Err(Fault::cut(self.text.len()));
        }
        Err(Fault::malformed(self.at, "no JSON value begins like this"))
    }
}
