//! A walk over a raw text that collects what it finds. Everything that several formats do alike is
//! here: finding markup, closing calls, and going on behind what is broken.

use serde_json::Value;

use super::defect::{Defect, DefectKind, Fault};
use super::schema::Schema;
use super::{RawCall, Reparsed};

/// Where and how a text stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Without a token that says so.
    Unknown,
    /// At a token that ends the turn.
    Turn,
    /// At a token that asks for a tool's result.
    Tool,
}

/// The delimiters that reading can go on from after a broken call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resync {
    /// What ends a call; reading goes on behind it. Empty: the call runs to the next `next`.
    pub(super) close: &'static str,
    /// What cannot stand in a call; reading goes on before it.
    pub(super) next: &'static [&'static str],
}

/// A place in the text, and what was found before it.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) end: End,
    pub(super) prompt_tail: &'a str,
    /// Whether the family goes on with text after its calls.
    pub(super) may_trail: bool,
    tools: &'a [Value],
    /// Whether a call or a defect of one was met.
    began: bool,
    pub(super) found: Reparsed,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        text: &'a str,
        end: End,
        prompt_tail: &'a str,
        tools: &'a [Value],
    ) -> Scan<'a> {
        Scan {
            text,
            at: 0,
            end,
            prompt_tail,
            may_trail: false,
            tools,
            began: false,
            found: Reparsed::default(),
        }
    }

    /// Whether the request offers tools.
    pub(super) fn offers_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub(super) fn finish(self) -> Reparsed {
        let mut found = self.found;
        if found.trailing.trim().is_empty() {
            found.trailing.clear();
        }
        found.reasoning = found.reasoning.filter(|text| !text.trim().is_empty());
        found.defects.sort_by_key(|defect| defect.at);
        found
    }

    /// The declared parameters of a function.
    pub(super) fn parameters(&self, function: &str) -> Schema<'a> {
        Schema::of(self.tools, function)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    pub(super) fn eat(&mut self, tag: &str) -> bool {
        let found = self.rest().starts_with(tag);
        if found {
            self.at += tag.len();
        }
        found
    }

    /// Takes `tag`, which must come next, after spaces.
    pub(super) fn expect(&mut self, tag: &str) -> Result<(), Fault> {
        self.spaces();
        if self.eat(tag) {
            return Ok(());
        }
        if self.may_become(tag) {
            return Err(Fault::cut(self.text.len()));
        }
        Err(Fault::malformed(self.at, format!("`{}` is missing", tag.trim())))
    }

    /// Whether the text ends here, or in the middle of `tag`.
    pub(super) fn may_become(&self, tag: &str) -> bool {
        tag.starts_with(self.rest())
    }

    /// Takes everything before the next `tag`, and the tag; none of `barriers` may stand before it.
    pub(super) fn before(&mut self, tag: &str, barriers: &[&str]) -> Result<&'a str, Fault> {
        let tags: Vec<&str> = barriers.iter().copied().chain([tag]).collect();
        let (length, found) = self.nearest(&tags).ok_or_else(|| Fault::cut(self.text.len()))?;
        if found != tag {
            return Err(Fault::malformed(self.at + length, format!("`{tag}` is missing")));
        }
        let start = self.at;
        self.at += length;
        let text = self.since(start);
        self.at += tag.len();
        Ok(text)
    }

    /// Where the first of some texts begins, counted from here, and which it is.
    pub(super) fn nearest<'t>(&self, tags: &[&'t str]) -> Option<(usize, &'t str)> {
        let found = tags.iter().filter_map(|tag| Some((self.rest().find(tag)?, *tag)));
        found.min_by_key(|(at, tag)| (*at, std::cmp::Reverse(tag.len())))
    }

    pub(super) fn defect(&mut self, kind: DefectKind, start: usize, message: impl Into<String>) {
        let text = self.since(start).to_owned();
        self.found.defects.push(Defect { kind, at: start, message: message.into(), text });
    }

    /// Reads a name up to the first of `ends`, which is not taken.
    pub(super) fn name(&mut self, ends: &[&str]) -> Result<String, Fault> {
        let start = self.at;
        let (length, _) = self.nearest(ends).ok_or_else(|| Fault::cut(self.text.len()))?;
        self.at += length;
        checked_name(self.since(start), start)
    }

    /// Reads everything: whole regions of calls, each from one of `opens`, and the text around them.
    pub(super) fn regions(&mut self, opens: &[&str], read: impl Fn(&mut Self, usize, &str)) {
        while let Some((length, open)) = self.nearest(opens) {
            let start = self.at;
            self.at += length;
            self.outside(start);
            let start = self.at;
            self.at += open.len();
            self.began = true;
            read(self, start, open);
        }
        self.rest_is_outside();
    }

    /// Everything from here is text around calls.
    pub(super) fn rest_is_outside(&mut self) {
        let start = self.at;
        self.at = self.text.len();
        if self.began {
            let text = self.since(start);
            self.found.trailing.push_str(text);
            if !self.may_trail && !text.trim().is_empty() {
                self.defect(DefectKind::TrailingText, start, "text after the last call");
            }
        } else {
            self.outside(start);
        }
    }

    /// Says that calls begin here, in formats whose calls have no opening text.
    pub(super) fn begin(&mut self) {
        self.began = true;
    }

    fn outside(&mut self, start: usize) {
        let text = self.since(start);
        if !self.began {
            self.found.content.push_str(text);
        } else if !text.trim().is_empty() {
            self.defect(DefectKind::TextBetweenCalls, start, "text between two calls");
        }
    }

    /// Reads the calls of a region: each begins with `open`, and one of `closes` ends the region.
    pub(super) fn calls(
        &mut self,
        start: usize,
        open: &str,
        closes: &[&str],
        read: impl Fn(&mut Self, usize),
    ) {
        let (calls, defects) = (self.found.calls.len(), self.found.defects.len());
        loop {
            self.spaces();
            if closes.iter().any(|close| self.eat(close)) {
                let is_empty = calls == self.found.calls.len();
                if is_empty && defects == self.found.defects.len() {
                    self.defect(DefectKind::MalformedCall, start, "the region holds no call");
                }
                return;
            }
            let call = self.at;
            if self.eat(open) {
                read(self, call);
            } else if self.may_become(open) || closes.iter().any(|close| self.may_become(close)) {
                self.at = self.text.len();
                return self.unclosed_region(start, calls, defects);
            } else {
                let ends: Vec<&str> = closes.iter().copied().chain([open]).collect();
                self.at = self.nearest(&ends).map_or(self.text.len(), |(to, _)| call + to);
                self.defect(DefectKind::TextBetweenCalls, call, "text where a call should begin");
            }
        }
    }

    /// The text ended inside a region.
    pub(super) fn unclosed_region(&mut self, start: usize, first_call: usize, first_defect: usize) {
        if self.end != End::Tool {
            self.found.calls.iter_mut().skip(first_call).for_each(|call| call.closed = false);
        }
        let told = self.found.defects.iter().skip(first_defect);
        if !told.into_iter().any(|defect| defect.kind == DefectKind::UnclosedCall) {
            self.defect(DefectKind::UnclosedRegion, start, "the calls' region is not closed");
        }
    }

    /// Reads one call that began at `start`; what breaks it is told, and reading goes on behind it.
    pub(super) fn call(
        &mut self,
        start: usize,
        resync: Resync,
        read: impl FnOnce(&mut Self) -> Result<RawCall, Fault>,
    ) {
        let defects = self.found.defects.len();
        let read = read(self).and_then(|call| Ok((self.closed(start, resync)?, call)));
        match read {
            Ok((closed, call)) => self.found.calls.push(RawCall { closed, ..call }),
            Err(fault) => {
                // What was told of its parts would only repeat that the call is broken.
                self.found.defects.truncate(defects);
                self.skip(&fault, resync);
                self.defect(fault.kind, start, fault.message);
            }
        }
    }

    /// Goes on behind what is broken.
    pub(super) fn skip(&mut self, fault: &Fault, resync: Resync) {
        self.at = if fault.is_cut() { self.text.len() } else { fault.at.max(self.at) };
        let mut ends: Vec<&str> = resync.next.to_vec();
        ends.extend(Some(resync.close).filter(|close| !close.is_empty()));
        self.at = match self.nearest(&ends) {
            Some((to, tag)) if tag == resync.close => self.at + to + tag.len(),
            Some((to, _)) => self.at + to,
            None => self.text.len(),
        };
    }

    /// Whether the end of the call that began at `start` comes next.
    fn closed(&mut self, start: usize, resync: Resync) -> Result<bool, Fault> {
        if resync.close.is_empty() {
            return Ok(true);
        }
        let end = self.at;
        self.spaces();
        if self.eat(resync.close) {
            return Ok(true);
        }
        let is_cut = self.may_become(resync.close);
        if is_cut {
            self.at = self.text.len();
            if self.end == End::Tool && self.since(end).trim().is_empty() {
                return Ok(true);
            }
        } else if !resync.next.iter().any(|next| self.rest().starts_with(next)) {
            let message = format!("text between the arguments and `{}`", resync.close);
            return Err(Fault::malformed(self.at, message));
        }
        let message = format!("`{}` is missing", resync.close);
        self.defect(DefectKind::UnclosedCall, start, message);
        Ok(false)
    }
}

/// A function's name, without the spaces around it.
pub(super) fn checked_name(text: &str, at: usize) -> Result<String, Fault> {
    let name = text.trim();
    let is_odd = |character: char| character.is_whitespace() || "<>{}()[]\"'`".contains(character);
    if name.is_empty() || name.contains(is_odd) {
        return Err(Fault::malformed(at, format!("`{name}` is no function name")));
    }
    Ok(name.to_owned())
}
