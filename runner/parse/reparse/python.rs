//! Calls as Python writes them, with keyword arguments that are literals.

use super::RawCall;
use super::arguments::{Arguments, object};
use super::defect::{DefectKind, Fault};
use super::json::{MAX_DEPTH, is_number, quoted};
use super::scan::{Scan, checked_name};
use super::schema::Typed;

impl Scan<'_> {
    /// Reads `name(key=value, …)`.
    pub(super) fn python_call(&mut self) -> Result<RawCall, Fault> {
        self.spaces();
        let start = self.at;
        let name = self.python_name()?;
        let name = checked_name(&name, start)?;
        self.expect("(")?;
        let mut arguments = Arguments::default();
        loop {
            self.spaces();
            if self.eat(")") {
                return Ok(arguments.call(name));
            }
            let start = self.at;
            let key = self.python_name()?;
            if key.is_empty() {
                return Err(Fault::malformed(start, "an argument has no name"));
            }
            self.expect("=")?;
            let json = self.python_value(0)?;
            let value = Typed { json, ambiguous: false, wrong: false, duplicate: false };
            arguments.add(self, start, &key, value);
            self.separator(")")?;
        }
    }

    /// Reads `[call, call, …]`: the calls before the first broken one, which is told.
    pub(super) fn python_list(&mut self) -> Result<(), (usize, Fault)> {
        self.expect("[").map_err(|fault| (self.at, fault))?;
        loop {
            self.spaces();
            if self.eat("]") {
                return Ok(());
            }
            let at = self.at;
            let call = self.python_call().map_err(|fault| (at, fault))?;
            self.found.calls.push(RawCall { closed: true, ..call });
            self.separator("]").map_err(|fault| (self.at, fault))?;
        }
    }

    /// Takes a comma unless the container ends here.
    fn separator(&mut self, close: &str) -> Result<(), Fault> {
        self.spaces();
        if self.rest().starts_with(close) { Ok(()) } else { self.expect(",") }
    }

    /// Reads a name with dots; it may still go on where the text ends.
    fn python_name(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let is_part = |character: char| character.is_alphanumeric() || "_.".contains(character);
        let length = self.rest().find(|character| !is_part(character));
        self.at += length.ok_or_else(|| Fault::cut(self.text.len()))?;
        Ok(self.since(start).to_owned())
    }

    /// Reads a literal and gives it as JSON.
    fn python_value(&mut self, depth: usize) -> Result<String, Fault> {
        self.spaces();
        match self.rest().chars().next() {
            None => Err(Fault::cut(self.text.len())),
            Some('"' | '\'') => Ok(quoted(&self.python_texts()?)),
            Some('[' | '(' | '{') if depth >= MAX_DEPTH => Err(Fault::too_deep(self.at)),
            Some('[') => self.python_items("]", depth),
            Some('(') => self.python_items(")", depth),
            Some('{') => self.python_dict(depth),
            Some('-' | '+' | '.' | '0'..='9') => self.python_number(),
            Some(_) => self.python_constant(),
        }
    }

    fn python_items(&mut self, close: &str, depth: usize) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        let (mut items, mut commas) = (Vec::new(), 0);
        loop {
            self.spaces();
            if self.eat(close) {
                break;
            }
            items.push(self.python_value(depth + 1)?);
            self.separator(close)?;
            commas += usize::from(self.since(start).ends_with(','));
        }
        // Brackets around one value without a comma only group it.
        match items.as_slice() {
            [item] if close == ")" && commas == 0 => Ok(item.clone()),
            _ => Ok(format!("[{}]", items.join(", "))),
        }
    }

    fn python_dict(&mut self, depth: usize) -> Result<String, Fault> {
        self.at += 1;
        let mut members: Vec<(String, String)> = Vec::new();
        loop {
            self.spaces();
            if self.eat("}") {
                return Ok(object(&members));
            }
            let start = self.at;
            if !self.rest().starts_with(['"', '\'']) && !self.rest().is_empty() {
                return Err(Fault::malformed(start, "a key that is no string"));
            }
            let key = self.python_texts()?;
            self.expect(":")?;
            let value = self.python_value(depth + 1)?;
            if members.iter().any(|(other, _)| *other == key) {
                self.defect(DefectKind::DuplicateKey, start, format!("`{key}` is given twice"));
            }
            members.push((key, value));
            self.separator("}")?;
        }
    }

    fn python_number(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut before = ' ';
        for character in self.rest().chars() {
            let is_sign = "+-".contains(character) && (before == ' ' || "eE".contains(before));
            if !is_sign && !character.is_ascii_alphanumeric() && !"._".contains(character) {
                break;
            }
            before = character;
            self.at += character.len_utf8();
        }
        if self.rest().is_empty() {
            return Err(Fault::cut(self.text.len()));
        }
        let source = self.since(start);
        let missing = || Fault::malformed(start, format!("`{source}` is not a number"));
        json_number(source).ok_or_else(missing)
    }

    fn python_constant(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let word = self.python_name()?;
        let json = match word.as_str() {
            "True" | "true" => "true",
            "False" | "false" => "false",
            "None" | "null" => "null",
            _ => return Err(Fault::malformed(start, "an argument that is no literal")),
        };
        Ok(json.to_owned())
    }

    /// Reads string literals; those that follow each other are one.
    fn python_texts(&mut self) -> Result<String, Fault> {
        let mut text = self.python_text()?;
        loop {
            let at = self.at;
            self.spaces();
            if !self.rest().starts_with(['"', '\'']) {
                self.at = at;
                return Ok(text);
            }
            text.push_str(&self.python_text()?);
        }
    }

    fn python_text(&mut self) -> Result<String, Fault> {
        let cut = || Fault::cut(self.text.len());
        let quote = if self.rest().starts_with('"') { "\"" } else { "'" };
        let triple = quote.repeat(3);
        let close = if self.rest().starts_with(&triple) { triple.as_str() } else { quote };
        let start = self.at;
        let mut rest = self.rest().get(close.len()..).ok_or_else(cut)?;
        let mut text = String::new();
        loop {
            if let Some(after) = rest.strip_prefix(close) {
                self.at = self.text.len() - after.len();
                return Ok(text);
            }
            let character = rest.chars().next().ok_or_else(cut)?;
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '\\' => match escape(rest) {
                    Some((meant, after)) => {
                        text.push_str(&meant);
                        rest = after;
                    }
                    // Few characters at the end of the text may be the beginning of an escape.
                    None if rest.len() < 10 && !rest.contains(quote) => return Err(cut()),
                    None => return Err(Fault::malformed(start, "a string with a bad escape")),
                },
                '\n' if close == quote => {
                    return Err(Fault::malformed(start, "a line break in a string"));
                }
                _ => text.push(character),
            }
        }
    }
}

/// What an escape means, read from behind its backslash, and what follows it.
fn escape(rest: &str) -> Option<(String, &str)> {
    let letter = rest.chars().next()?;
    let after = rest.get(letter.len_utf8()..)?;
    let one = |meant: char| Some((meant.to_string(), after));
    match letter {
        '\n' => Some((String::new(), after)),
        '\\' | '\'' | '"' => one(letter),
        'n' => one('\n'),
        't' => one('\t'),
        'r' => one('\r'),
        'a' => one('\u{7}'),
        'b' => one('\u{8}'),
        'f' => one('\u{c}'),
        'v' => one('\u{b}'),
        'x' => code(after, 2),
        'u' => code(after, 4),
        'U' => code(after, 8),
        'N' => None,
        '0'..='7' => {
            let length =
                rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let value = u32::from_str_radix(rest.get(..length)?, 8).ok()?;
            Some((char::from_u32(value)?.to_string(), rest.get(length..)?))
        }
        // Python keeps the backslash of an escape that it does not know.
        _ => Some((format!("\\{letter}"), after)),
    }
}

fn code(rest: &str, length: usize) -> Option<(String, &str)> {
    let digits = rest.get(..length)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((character.to_string(), rest.get(length..)?))
}

/// A number of Python as JSON, in the same digits where JSON has them.
fn json_number(source: &str) -> Option<String> {
    let plain = source.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.to_ascii_lowercase().strip_prefix(prefix) {
            return Some(format!("{sign}{}", u128::from_str_radix(digits, radix).ok()?));
        }
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let before = if mantissa.starts_with('.') { "0" } else { "" };
    let behind = if mantissa.ends_with('.') { "0" } else { "" };
    let number = format!("{sign}{before}{mantissa}{behind}{exponent}");
    (mantissa != "." && is_number(&number)).then_some(number)
}
