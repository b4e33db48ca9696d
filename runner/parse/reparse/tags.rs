//! Calls whose arguments stand one by one between XML-like tags.

use super::RawCall;
use super::arguments::Arguments;
use super::defect::Fault;
use super::scan::{Scan, checked_name};
use super::schema::Typed;

/// The tags of a family.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tags {
    /// Where the name of an argument stands.
    pub(super) names: Names,
    pub(super) parameter: &'static str,
    pub(super) close_parameter: &'static str,
    pub(super) close_call: &'static str,
    /// What cannot stand in a value: it would be another argument's or the call's end.
    pub(super) barriers: &'static [&'static str],
    /// Whether one line break at each end of a value belongs to the tags.
    pub(super) breaks: bool,
    /// Whether the arguments may be one JSON object instead.
    pub(super) json: bool,
}

/// Where a tag has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// `<parameter=KEY>`
    Plain,
    /// `<parameter name="KEY">`, with double, single or no quotes; others may stand beside it.
    Attribute,
}

impl<'a> Scan<'a> {
    /// Reads a call from behind the text that opens it up to its closing tag, which is left.
    pub(super) fn tag_call(&mut self, tags: &Tags) -> Result<RawCall, Fault> {
        let start = self.at;
        let (name, _) = self.tag_name(tags.names)?;
        let name = checked_name(&name, start)?;
        let schema = self.parameters(&name);
        let mut arguments = Arguments::default();
        self.spaces();
        if tags.json && self.rest().starts_with('{') {
            let call = arguments.call(name);
            return Ok(RawCall { arguments: self.json_arguments()?, ..call });
        }
        loop {
            self.spaces();
            if self.rest().starts_with(tags.close_call) {
                return Ok(arguments.call(name));
            }
            let start = self.at;
            if !self.eat(tags.parameter) {
                let is_cut = self.may_become(tags.parameter) || self.may_become(tags.close_call);
                let here = Fault::malformed(start, format!("`{}` is missing", tags.close_call));
                return Err(if is_cut { Fault::cut(self.text.len()) } else { here });
            }
            let (key, is_text) = self.tag_name(tags.names)?;
            let text = self.before(tags.close_parameter, tags.barriers)?;
            let text = if tags.breaks { without_breaks(text) } else { text };
            let value = match is_text {
                Some(true) => Typed::string(text),
                Some(false) => Typed::json(text),
                None => schema.property(&key).read(text),
            };
            arguments.add(self, start, &key, value);
        }
    }

    /// Reads a tag from behind its word to its end: its name, and what a `string` attribute says.
    fn tag_name(&mut self, names: Names) -> Result<(String, Option<bool>), Fault> {
        if names == Names::Plain {
            let start = self.at;
            let name = self.before(">", &["\n", "<"])?.trim();
            let missing = || Fault::malformed(start, "the tag has no name");
            return (!name.is_empty()).then(|| (name.to_owned(), None)).ok_or_else(missing);
        }
        let start = self.at;
        let (mut name, mut is_text) = (None, None);
        loop {
            self.spaces();
            if self.eat(">") {
                break;
            }
            let key = self.before("=", &[">", "<"])?.trim();
            let value = self.attribute_value()?;
            match (key, value) {
                ("name", value) if !value.is_empty() && name.is_none() => {
                    name = Some(value.to_owned());
                }
                ("string", "true") => is_text = Some(true),
                ("string", "false") => is_text = Some(false),
                _ => {
                    let message = format!("the attribute `{key}` is unknown or has a bad value");
                    return Err(Fault::malformed(start, message));
                }
            }
        }
        let missing = || Fault::malformed(start, "the tag has no name");
        Ok((name.ok_or_else(missing)?, is_text))
    }

    fn attribute_value(&mut self) -> Result<&'a str, Fault> {
        for quote in ["\"", "'"] {
            if self.eat(quote) {
                return self.before(quote, &["\n"]);
            }
        }
        let is_end = |character: char| character.is_whitespace() || character == '>';
        let length = self.rest().find(is_end).ok_or_else(|| Fault::cut(self.text.len()))?;
        let start = self.at;
        self.at += length;
        Ok(self.since(start))
    }
}

/// A value without one line break at each end.
fn without_breaks(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}
