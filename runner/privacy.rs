//! What a run folder may hold: everything, hashes in place of texts, or ids and numbers alone.
//!
//! Texts are withheld before they are written. What remains is judged; what needs the text is not evaluated.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capture::{Exchange, Failure, Score};
use crate::event::Event;
use crate::text;

mod event;
mod exchange;
mod wire;

/// Which texts of prompts and replies the evidence holds; the stricter is the greater.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Privacy {
    /// All of them.
    #[default]
    Full,
    /// None, but the SHA-256 and the length of each, so that equal texts can be told from others.
    Hashed,
    /// None.
    IdsOnly,
}

impl Privacy {
    /// All, the laxest first.
    pub const ALL: [Privacy; 3] = [Privacy::Full, Privacy::Hashed, Privacy::IdsOnly];

    /// The word in `targets.yaml`.
    pub fn name(self) -> &'static str {
        match self {
            Privacy::Full => "full",
            Privacy::Hashed => "hashed",
            Privacy::IdsOnly => "ids_only",
        }
    }

    /// What stands in place of `text`.
    fn mask(self, text: &str) -> String {
        match self {
            Privacy::Full => text.to_owned(),
            Privacy::Hashed => {
                format!("[sha256:{}, {} characters]", text::hash(text), text.chars().count())
            }
            Privacy::IdsOnly => WITHHELD.to_owned(),
        }
    }

    /// Why a text cannot be seen.
    fn reason(self, text: &str) -> String {
        let why = format!("withheld by `privacy: {}`", self.name());
        match self {
            Privacy::Hashed => format!("{why} {}", self.mask(text)),
            _ => why,
        }
    }

    /// A JSON value as one withheld text; objects keep nothing of their form.
    fn mask_json(self, value: &Value) -> Value {
        Value::String(self.mask(&value.to_string()))
    }
}

/// What stands in place of a text of which nothing is kept. Pieces of tokens are never hashed: their ids already
/// say what is equal.
const WITHHELD: &str = "[withheld]";

/// An exchange as the evidence may hold it.
pub fn exchange(privacy: Privacy, exchange: &Exchange) -> Cow<'_, Exchange> {
    match privacy {
        Privacy::Full => Cow::Borrowed(exchange),
        _ => Cow::Owned(exchange::mask(privacy, exchange)),
    }
}

/// A failure as the evidence may hold it: its kind and the calls without their bodies.
pub fn failure(privacy: Privacy, failure: &Failure) -> Cow<'_, Failure> {
    match privacy {
        Privacy::Full => Cow::Borrowed(failure),
        _ => Cow::Owned(Failure {
            kind: failure.kind.clone(),
            turn: failure.turn,
            message: privacy.mask(&failure.message),
            wire: failure.wire.iter().map(|call| wire::mask(privacy, call)).collect(),
        }),
    }
}

/// Scores as the evidence may hold them: their values.
pub fn scores(privacy: Privacy, scores: &[Score]) -> Cow<'_, [Score]> {
    let mask = |score: &Score| Score {
        extracted: score.extracted.as_ref().map(|text| privacy.mask(text)),
        reference: privacy.mask(&score.reference),
        ..score.clone()
    };
    match privacy {
        Privacy::Full => Cow::Borrowed(scores),
        _ => Cow::Owned(scores.iter().map(mask).collect()),
    }
}

/// An event as the results may hold it: names, places, statuses and ids.
pub fn event(privacy: Privacy, event: &Event) -> Cow<'_, Event> {
    match (privacy, event) {
        (Privacy::Full, _) | (_, Event::Run(_) | Event::Summary(_)) => Cow::Borrowed(event),
        (_, Event::Case(case)) => Cow::Owned(Event::Case(Box::new(event::mask(privacy, case)))),
    }
}

/// Why the texts of an exchange cannot be judged, when they were withheld from the evidence.
pub fn withheld(exchange: &Exchange) -> Option<&'static str> {
    let mut texts =
        exchange.request.messages.iter().filter_map(|message| message.content.as_deref());
    let first = texts.next()?;
    if texts.all(is_mask) && is_mask(first) {
        return Some("the text was withheld from the evidence by `privacy`");
    }
    None
}

fn is_mask(text: &str) -> bool {
    let hashed = |rest: &str| rest.ends_with(" characters]") && !rest.contains('\n');
    text == WITHHELD || text.strip_prefix("[sha256:").is_some_and(hashed)
}

#[cfg(test)]
mod tests;
