//! Which recorded answer answers a call.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::entry::{Entry, method};
use crate::backend::remote::transport::Call;
use crate::capture::CHAT;
use crate::text::{clip, quote};

/// The answers of a recording, in order, and how often each was given.
#[derive(Debug)]
pub(super) struct Book {
    entries: Vec<Entry>,
    used: Mutex<Vec<bool>>,
}

impl Book {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let used = Mutex::new(vec![false; entries.len()]);
        Book { entries, used }
    }

    /// The answer to a call: among those of its case, else those that say what is asked, else those that say
    /// nothing; of these the first that was not given yet, and when all were, the last.
    ///
    /// # Errors
    /// What was looked for, and what there is.
    pub(super) fn find(&self, call: &Call<'_>) -> Result<&Entry, String> {
        let chat = call.purpose == CHAT && call.origin.is_some();
        for rank in [Rank::Case, Rank::Request, Rank::Order] {
            let mut fit: Vec<usize> = (0..self.entries.len())
                .filter(|n| self.entries.get(*n).is_some_and(|e| fits(e, call, rank, chat)))
                .collect();
            self.prefer_form(&mut fit, call);
            if let Some(entry) = self.next(&fit) {
                return Ok(entry);
            }
        }
        Err(self.missing(call))
    }

    /// Whether a call to this path is recorded at all.
    pub(super) fn knows(&self, path: &str) -> bool {
        let same = |known: &String| same_path(known, path);
        self.entries.iter().any(|entry| entry.request.path.as_ref().is_some_and(same))
    }

    /// A stream for a call that asks for one, as far as there is the choice.
    fn prefer_form(&self, fit: &mut Vec<usize>, call: &Call<'_>) {
        let asked = call.body.as_ref().and_then(|body| body.get("stream")).and_then(Value::as_bool);
        let right = |n: &usize| {
            self.entries.get(*n).is_some_and(|e| e.is_stream() == asked.unwrap_or_default())
        };
        if fit.iter().any(right) {
            fit.retain(right);
        }
    }

    fn next(&self, fit: &[usize]) -> Option<&Entry> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = fit.iter().find(|n| used.get(**n) == Some(&false));
        let chosen = *fresh.or(fit.last())?;
        if let Some(used) = used.get_mut(chosen) {
            *used = true;
        }
        self.entries.get(chosen)
    }

    fn missing(&self, call: &Call<'_>) -> String {
        let (case, turn) = call.origin.unwrap_or(("none", 0));
        let asked =
            format!("case `{case}`, turn {turn} (counted from 0), {} {}", method(call), call.path);
        let near = self.entries.iter().filter(|entry| of_case(entry, call));
        for entry in near {
            let Some(body) = &entry.request.body else { continue };
            let asked_body = call.body.as_ref().unwrap_or(&Value::Null);
            if let Some(difference) = differs(body, asked_body, "body") {
                return format!(
                    "the answer to {asked} ({}) is to another request: {difference}",
                    entry.place
                );
            }
        }
        let held: Vec<String> = self.entries.iter().take(5).map(describe).collect();
        let more = match self.entries.len() {
            n @ 6.. => format!("; and {} more", n - 5),
            _ => String::new(),
        };
        format!("no answer to {asked}; there is {}{more}", held.join("; "))
    }
}

/// By what an answer is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Case,
    Request,
    Order,
}

fn rank(entry: &Entry) -> Rank {
    let wanted = &entry.request;
    if entry.case.is_some() {
        Rank::Case
    } else if wanted.path.is_some() || wanted.body.is_some() || wanted.method.is_some() {
        Rank::Request
    } else {
        Rank::Order
    }
}

fn fits(entry: &Entry, call: &Call<'_>, wanted: Rank, chat: bool) -> bool {
    if rank(entry) != wanted {
        return false;
    }
    // What says nothing of a path is an answer to a chat, never to a question of ours beside it.
    if !chat && entry.request.path.is_none() {
        return false;
    }
    let path = entry.request.path.as_ref().is_none_or(|path| same_path(path, &call.path));
    let verb =
        entry.request.method.as_ref().is_none_or(|verb| verb.eq_ignore_ascii_case(method(call)));
    let body = entry.request.body.as_ref().is_none_or(|body| {
        call.body.as_ref().is_some_and(|asked| differs(body, asked, "body").is_none())
    });
    // A probe has no case; whoever recorded it did so in one.
    let case = call.origin.is_none() || entry.case.is_none() || of_case(entry, call);
    path && verb && body && case
}

/// Whether it belongs to the case and turn of a call.
fn of_case(entry: &Entry, call: &Call<'_>) -> bool {
    let (Some(named), Some((id, turn))) = (&entry.case, call.origin) else { return false };
    let short = id.split_once('/').map_or(id, |(_, short)| short);
    let case = short.split_once('.').map_or(short, |(_, case)| case);
    [id, short, case].contains(&named.as_str()) && entry.turn.is_none_or(|wanted| wanted == turn)
}

fn same_path(a: &str, b: &str) -> bool {
    a.trim_matches('/') == b.trim_matches('/')
}

/// The first field that is not as `wanted` says; fields that it does not name may be anything.
pub(super) fn differs(wanted: &Value, actual: &Value, at: &str) -> Option<String> {
    match (wanted, actual) {
        (Value::Object(wanted), Value::Object(actual)) => {
            wanted.iter().find_map(|(name, value)| {
                differs(value, actual.get(name).unwrap_or(&Value::Null), &format!("{at}.{name}"))
            })
        }
        (Value::Array(wanted), Value::Array(actual)) if wanted.len() != actual.len() => {
            Some(format!("`{at}` has {} entries, and {} are recorded", actual.len(), wanted.len()))
        }
        (Value::Array(wanted), Value::Array(actual)) => (0..)
            .zip(wanted.iter().zip(actual))
            .find_map(|(n, (wanted, actual))| differs(wanted, actual, &format!("{at}[{n}]"))),
        _ if equal(wanted, actual) => None,
        _ => Some(format!("`{at}` is {}, and {} is recorded", show(actual), show(wanted))),
    }
}

/// 1 and 1.0 are one number.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}

fn show(value: &Value) -> String {
    match value {
        Value::String(text) => quote(&clip(text, 60)),
        Value::Null => "missing".to_owned(),
        other => clip(&other.to_string(), 60),
    }
}

fn describe(entry: &Entry) -> String {
    let case = match (&entry.case, entry.turn) {
        (Some(case), Some(turn)) => format!("case `{case}`, turn {turn}"),
        (Some(case), None) => format!("case `{case}`"),
        (None, _) => "any case".to_owned(),
    };
    let path = entry.request.path.as_ref().map_or_else(String::new, |path| format!(", {path}"));
    format!("{} ({case}{path})", entry.place)
}
