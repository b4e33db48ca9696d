//! Calls that are JSON objects, alone or in an array.

use super::RawCall;
use super::defect::{DefectKind, Fault};
use super::json::{self, Duplicate, Kind, Node};
use super::scan::{Resync, Scan};

/// The members of a call's object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    /// What the arguments may be called.
    pub(super) arguments: &'static [&'static str],
    /// Whether the model writes an `id`.
    pub(super) id: bool,
}

/// `{"name": …, "arguments": …}`
pub(super) const ARGUMENTS: Keys = Keys { arguments: &["arguments"], id: false };
/// The same, or with `parameters`.
pub(super) const PARAMETERS: Keys = Keys { arguments: &["parameters", "arguments"], id: false };

impl Scan<'_> {
    /// Reads an object that is a call.
    pub(super) fn object_call(&mut self, keys: Keys) -> Result<RawCall, Fault> {
        self.spaces();
        let (node, duplicates) = json::read(self.text, self.at)?;
        self.at = node.span.end;
        let Kind::Object(members) = &node.kind else {
            return Err(Fault::malformed(node.span.start, "the call is not a JSON object"));
        };
        let at = node.span.start;
        let name = match member(members, "name", at)?.map(|node| &node.kind) {
            Some(Kind::Text(name)) if !name.is_empty() => name.clone(),
            Some(_) => return Err(Fault::malformed(at, "the call's `name` is not a text")),
            None => return Err(Fault::malformed(at, "the call has no `name`")),
        };
        let mut found = Vec::new();
        for key in keys.arguments {
            found.extend(member(members, key, at)?);
        }
        let arguments = match found.as_slice() {
            [arguments] => self.object(arguments)?,
            [] => {
                let names = keys.arguments.join("` or `");
                return Err(Fault::malformed(at, format!("the call has no `{names}`")));
            }
            _ => return Err(Fault::malformed(at, "the call has its arguments twice")),
        };
        let id = match member(members, "id", at)?.map(|node| &node.kind) {
            Some(Kind::Text(id)) if keys.id => Some(id.clone()),
            _ => None,
        };
        self.duplicates(duplicates);
        Ok(RawCall { name, arguments, id, closed: false, ambiguous: Vec::new() })
    }

    /// Reads an object of arguments and gives its source text.
    pub(super) fn json_arguments(&mut self) -> Result<String, Fault> {
        self.spaces();
        let (node, duplicates) = json::read(self.text, self.at)?;
        self.at = node.span.end;
        let arguments = self.object(&node)?;
        self.duplicates(duplicates);
        Ok(arguments)
    }

    fn object(&self, node: &Node) -> Result<String, Fault> {
        match node.kind {
            Kind::Object(_) => Ok(self.text.get(node.span.clone()).unwrap_or_default().to_owned()),
            _ => Err(Fault::not_an_object(node.span.start)),
        }
    }

    pub(super) fn duplicates(&mut self, duplicates: Vec<Duplicate>) {
        let here = self.at;
        for Duplicate { key, at } in duplicates {
            // The defect's text is the key and what follows it in the call.
            self.at = here.max(at);
            self.defect(DefectKind::DuplicateKey, at, format!("`{key}` is given twice"));
        }
        self.at = here;
    }

    /// Reads an array of calls. Behind a broken element nothing can be trusted to be one, so the
    /// rest of the region up to `close` is told as it stands.
    pub(super) fn array_of_calls(&mut self, start: usize, keys: Keys, close: &'static str) {
        let (calls, defects) = (self.found.calls.len(), self.found.defects.len());
        let at = self.at;
        let resync = Resync { close, next: &[] };
        let broken = match self.expect("[") {
            Ok(()) => self.elements(keys),
            Err(fault) => Err((at, fault)),
        };
        let is_whole = match broken {
            Ok(()) if close.is_empty() => true,
            Ok(()) => {
                self.spaces();
                self.eat(close)
            }
            Err((at, fault)) => {
                self.skip(&fault, resync);
                self.found.calls.iter_mut().skip(calls).for_each(|call| call.closed = false);
                self.defect(fault.kind, at, fault.message);
                return;
            }
        };
        if !is_whole {
            if self.may_become(close) {
                self.at = self.text.len();
            }
            self.unclosed_region(start, calls, defects);
        } else if calls == self.found.calls.len() && defects == self.found.defects.len() {
            self.defect(DefectKind::MalformedCall, start, "the array holds no call");
        }
    }

    /// Reads the elements behind the opening bracket, and the closing one.
    fn elements(&mut self, keys: Keys) -> Result<(), (usize, Fault)> {
        self.spaces();
        if self.eat("]") {
            return Ok(());
        }
        loop {
            self.spaces();
            let at = self.at;
            let call = self.object_call(keys).map_err(|fault| (at, fault))?;
            self.found.calls.push(RawCall { closed: true, ..call });
            self.spaces();
            if self.eat("]") {
                return Ok(());
            }
            let at = self.at;
            self.expect(",").map_err(|fault| (at, fault))?;
        }
    }
}

/// The member of this key, which may stand only once.
fn member<'n>(
    members: &'n [(String, Node)],
    key: &str,
    at: usize,
) -> Result<Option<&'n Node>, Fault> {
    let mut found = members.iter().filter(|(name, _)| name == key).map(|(_, node)| node);
    let first = found.next();
    match found.next() {
        Some(_) => Err(Fault::malformed(at, format!("the call has `{key}` twice"))),
        None => Ok(first),
    }
}
