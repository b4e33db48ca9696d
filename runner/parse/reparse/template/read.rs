//! A walk through the regions of a text.

use std::cell::Cell;
use std::ops::Range;

use fancy_regex::Regex;
use serde_json::Value;

use super::super::arguments::object;
use super::super::defect::{Defect, DefectKind};
use super::super::schema::Schema;
use super::super::{RawCall, Reparsed};
use super::data::{self, Data};
use super::{Captures, Field, ResponseTemplate};

/// What is read: the end of the prompt from the last message's start, then the reply.
struct Walk<'a> {
    template: &'a ResponseTemplate,
    text: String,
    /// Where the reply begins.
    reply: usize,
    tools: &'a [Value],
    seen: Vec<&'a str>,
    /// Whether a pattern needed too many steps, so that a region may be overlooked.
    gave_up: Cell<bool>,
    found: Reparsed,
}

/// A region of one field.
struct Region<'a> {
    field: &'a Field,
    captures: Captures,
    /// With its delimiters.
    whole: Range<usize>,
    inner: Range<usize>,
    /// Whether what closes it was seen, where something does.
    closed: bool,
}

pub(super) fn read(
    template: &ResponseTemplate,
    raw: &str,
    prompt_tail: &str,
    tools: &[Value],
) -> Reparsed {
    let anchors = template.anchor.find_iter(prompt_tail).filter_map(Result::ok);
    let prefix =
        prompt_tail.get(anchors.last().map_or(0, |anchor| anchor.end())..).unwrap_or_default();
    let (text, seen) = (format!("{prefix}{raw}"), Vec::new());
    let found = Reparsed::default();
    let gave_up = Cell::new(false);
    let mut walk = Walk { template, text, reply: prefix.len(), tools, seen, gave_up, found };
    walk.regions();
    walk.missing_fields();
    if walk.gave_up.get() {
        let whole = 0..walk.text.len();
        let message = "a pattern of the template gave up on this text";
        walk.defect(DefectKind::UnclosedRegion, &whole, message);
    }
    let mut found = walk.found;
    found.reasoning = found.reasoning.filter(|text| !text.trim().is_empty());
    found.defects.sort_by_key(|defect| defect.at);
    found
}

impl<'a> Walk<'a> {
    fn regions(&mut self) {
        let template = self.template;
        let implicit = template.fields.iter().find(|field| field.open.is_none());
        let mut at = 0;
        while at < self.text.len() {
            let end = implicit.and_then(|field| self.find(field.close.as_ref(), at));
            let opens = template.fields.iter().filter_map(|field| {
                let (span, captures) = self.find(field.open.as_ref(), at)?;
                Some((span.start, std::cmp::Reverse(span.end), field, span, captures))
            });
            let open = opens.min_by_key(|(start, end, field, ..)| (*start, *end, &field.name));
            match (open, end) {
                // Where both begin at once, the opening counts.
                (Some((start, .., field, span, captures)), end)
                    if end.as_ref().is_none_or(|(end, _)| start <= end.start) =>
                {
                    self.around(implicit, at..start, start);
                    at = self.region(field, span, captures);
                }
                (_, Some((span, _))) => {
                    self.around(implicit, at..span.start, span.end);
                    at = span.end;
                }
                _ => {
                    self.around(implicit, at..self.text.len(), self.text.len());
                    return;
                }
            }
        }
    }

    /// The next place that a pattern takes; what takes no text opens and closes nothing.
    fn find(&self, pattern: Option<&Regex>, at: usize) -> Option<(Range<usize>, Captures)> {
        self.find_any(pattern, at).filter(|(span, _)| !span.is_empty())
    }

    fn find_any(&self, pattern: Option<&Regex>, at: usize) -> Option<(Range<usize>, Captures)> {
        let pattern = pattern?;
        let found = pattern.captures_from_pos(&self.text, at);
        self.gave_up.set(self.gave_up.get() || found.is_err());
        let found = found.ok()??;
        let groups = pattern.capture_names().flatten();
        let captures = groups
            .filter_map(|name| Some((name.to_owned(), found.name(name)?.as_str().to_owned())));
        Some((found.get(0)?.range(), captures.collect()))
    }

    /// Reads the region whose opening is `open`, and gives where it ends.
    fn region(&mut self, field: &'a Field, open: Range<usize>, captures: Captures) -> usize {
        // The end of the text, as `$` takes it, closes a region.
        let close = self.find_any(field.close.as_ref(), open.end).map(|(span, _)| span);
        let end = close.clone().unwrap_or(self.text.len()..self.text.len());
        let region = Region {
            field,
            captures,
            whole: open.start..end.end,
            inner: open.end..end.start,
            closed: close.is_some() || field.close.is_none(),
        };
        self.take(&region);
        end.end
    }

    /// Takes text that no field opens.
    fn around(&mut self, field: Option<&'a Field>, inner: Range<usize>, end: usize) {
        let text = self.text.get(inner.start.max(self.reply)..inner.end).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        match field {
            Some(field) => {
                let whole = inner.start..end;
                let captures = Captures::new();
                self.take(&Region { field, captures, whole, inner, closed: true });
            }
            None if text.trim().is_empty() => {}
            None => {
                let message = "text that no field of the template takes";
                self.defect(DefectKind::TextBetweenCalls, &inner, message);
            }
        }
    }

    fn take(&mut self, region: &Region<'a>) {
        self.seen.push(&region.field.name);
        match region.field.name.as_str() {
            "tool_calls" => self.calls(region),
            "reasoning_content" | "reasoning" | "thinking" => {
                let text = self.plain(region);
                let reasoning = self.found.reasoning.get_or_insert_default();
                reasoning.push_str(&text);
                if !region.closed {
                    let message = "the reasoning is not closed";
                    self.defect(DefectKind::UnclosedRegion, &region.whole, message);
                }
            }
            "content" => {
                let text = self.plain(region);
                let is_blank = text.trim().is_empty();
                if self.found.calls.is_empty() {
                    self.found.content.push_str(&text);
                } else if !is_blank {
                    self.found.trailing.push_str(&text);
                    self.defect(DefectKind::TrailingText, &region.inner, "text after a call");
                }
            }
            // Other fields say nothing of what is compared.
            _ => {}
        }
    }

    /// The text of a region as far as it belongs to the reply.
    fn plain(&mut self, region: &Region<'_>) -> String {
        let start = region.inner.start.max(self.reply);
        let text = self.text.get(start..region.inner.end).unwrap_or_default();
        if region.field.parser.is_text() {
            return text.to_owned();
        }
        let read = region.field.parser.read(text, &mut Vec::new());
        read.ok().and_then(|data| data.text()).unwrap_or_else(|| text.to_owned())
    }

    fn calls(&mut self, region: &Region<'_>) {
        let mut twice = Vec::new();
        let read = self.value(region, &mut twice).and_then(|data| match data {
            Data::List(items, _) if items.is_empty() => Err("the list holds no call".to_owned()),
            Data::List(items, _) => items.iter().map(|item| self.call(item)).collect(),
            one => Ok(vec![self.call(&one)?]),
        });
        let calls: Vec<(RawCall, bool)> = match read {
            Ok(calls) => calls,
            Err(_) if !region.closed => {
                let message = "the text ends inside the call";
                return self.defect(DefectKind::UnclosedCall, &region.whole, message);
            }
            Err(message) => return self.defect(DefectKind::MalformedCall, &region.whole, message),
        };
        for (call, is_wrong) in calls {
            if is_wrong {
                let message = format!("an argument of `{}` is not of its declared type", call.name);
                self.defect(DefectKind::WrongType, &region.whole, message);
            }
            self.found.calls.push(RawCall { closed: region.closed, ..call });
        }
        for key in twice {
            let message = format!("`{key}` is given twice");
            self.defect(DefectKind::DuplicateKey, &region.whole, message);
        }
        if !region.closed {
            self.defect(DefectKind::UnclosedCall, &region.whole, "the call is not closed");
        }
    }

    fn value(&self, region: &Region<'_>, twice: &mut Vec<String>) -> Result<Data, String> {
        let field = region.field;
        let text = self.text.get(region.inner.clone()).unwrap_or_default();
        let content = field.parser.read(text, twice)?;
        let Some(transform) = &field.transform else { return Ok(content) };
        let captured = region.captures.iter();
        let mut scope: Vec<(String, Data)> =
            captured.map(|(name, text)| (name.clone(), Data::Text(text.clone()))).collect();
        if !field.transform_each {
            scope.push(("content".to_owned(), content));
            return data::transform(transform, &scope);
        }
        let Data::List(items, _) = content else { return Err("the content is no list".to_owned()) };
        let each = items.into_iter().map(|item| {
            let Data::Object(members, _) = item else {
                return Err("an item of the list is no object".to_owned());
            };
            let scope: Vec<(String, Data)> = scope.iter().cloned().chain(members).collect();
            data::transform(transform, &scope)
        });
        Ok(Data::List(each.collect::<Result<_, _>>()?, None))
    }

    /// A call, and whether an argument is not of its declared type.
    fn call(&self, data: &Data) -> Result<(RawCall, bool), String> {
        let function = data.get("function").unwrap_or(data);
        let name = function.get("name").and_then(Data::text).map(|name| name.trim().to_owned());
        let name = name.filter(|name| !name.is_empty()).ok_or("the call has no name")?;
        let id = data.get("id").and_then(Data::text);
        let (mut ambiguous, mut wrong) = (Vec::new(), false);
        let arguments = match function.get("arguments") {
            Some(Data::Object(members, None)) => {
                let schema = Schema::of(self.tools, &name);
                let typed = members.iter().map(|(key, data)| {
                    let Data::Text(text) = data else { return (key.clone(), data.json()) };
                    let typed = schema.property(key).read(text);
                    ambiguous.extend(typed.ambiguous.then(|| key.clone()));
                    wrong |= typed.wrong;
                    (key.clone(), typed.json)
                });
                object(&typed.collect::<Vec<_>>())
            }
            Some(object @ Data::Object(..)) => object.json(),
            Some(_) => return Err("the arguments are not an object".to_owned()),
            None => return Err("the call has no arguments".to_owned()),
        };
        Ok((RawCall { name, arguments, id, closed: false, ambiguous }, wrong))
    }

    fn missing_fields(&mut self) {
        let fields = self.template.fields.iter().filter(|field| !field.optional);
        for field in
            fields.filter(|field| !self.seen.contains(&field.name.as_str())).collect::<Vec<_>>()
        {
            let end = self.text.len();
            let message = format!("the field `{}` is missing", field.name);
            self.defect(DefectKind::BadHeader, &(end..end), message);
        }
    }

    fn defect(&mut self, kind: DefectKind, range: &Range<usize>, message: impl Into<String>) {
        let start = range.start.max(self.reply);
        let text = self.text.get(start..range.end).unwrap_or_default().to_owned();
        let at = start - self.reply;
        self.found.defects.push(Defect { kind, at, message: message.into(), text });
    }
}
