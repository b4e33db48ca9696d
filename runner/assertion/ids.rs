//! Expectations on token ids, shared by `input_ids` and `output_ids`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Bounds, Short, Shorthand};
use super::show;
use crate::capture::{AcceptedInput, OutputToken, Token, TopToken, hash_ids};
use crate::compare::walk::first_difference;
use crate::finding::Outcome;

/// What a sequence of ids must be like; everything that is written must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct IdMatch {
    /// The ids are exactly these.
    pub(super) equals: Option<Vec<u32>>,
    /// The ids are exactly those of the accepted snapshot.
    pub(super) accepted: bool,
    /// They begin with these.
    pub(super) prefix: Option<Vec<u32>>,
    /// They end with these.
    pub(super) suffix: Option<Vec<u32>>,
    /// These ids occur in one run.
    pub(super) contains: Option<Vec<u32>>,
    /// How many there are: a number, or `min` and `max`.
    pub(super) count: Option<Shorthand<Bounds>>,
}

impl Short for IdMatch {
    const FORMS: &'static str = "a list of ids, the word `accepted`, or a mapping with `equals`, `accepted`, `prefix`, `suffix`, \
         `contains` or `count`";
    const TYPES: &'static [&'static str] = &["string", "array"];
    type Item = u32;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(word(text).map(|()| IdMatch { accepted: true, ..IdMatch::default() }))
    }

    fn from_list(items: Vec<u32>) -> Option<Self> {
        Some(IdMatch { equals: Some(items), ..IdMatch::default() })
    }
}

/// Takes the one word that may stand for ids.
pub(super) fn word(text: &str) -> Result<(), String> {
    if text == "accepted" {
        return Ok(());
    }
    Err(format!("unknown word `{text}`; the only word here is `accepted`, anything else is a list of ids"))
}

/// The sequence under test.
pub(super) struct Seen<'a> {
    /// Its name in messages, such as `prompt`.
    pub(super) what: &'static str,
    /// The tokens.
    pub(super) tokens: &'a [Token],
    /// The distributions, for output tokens.
    pub(super) output: &'a [OutputToken],
}

impl Seen<'_> {
    fn ids(&self) -> Vec<u32> {
        self.tokens.iter().map(|token| token.id).collect()
    }

    fn top(&self, index: usize) -> &[TopToken] {
        self.output.get(index).map_or(&[], |token| &token.top)
    }

    /// A failure at `index`; `expected` counts from the first token of the sequence.
    fn differs(&self, wanted: String, expected: &[Token], index: usize) -> Outcome {
        let name = |token: Option<&Token>| token.map_or("the end".to_owned(), show::token);
        let message = format!(
            "the {} ids differ at token {index}: expected {}, found {}",
            self.what,
            name(expected.get(index)),
            name(self.tokens.get(index)),
        );
        Outcome::fail(wanted, show::ids(&self.ids()), message)
            .at(format!("token {index}"))
            .differing(show::difference(expected, self.tokens, index, self.top(index)))
    }
}

impl IdMatch {
    /// The expectation in one line.
    pub(super) fn describe(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.equals.as_deref().map(show::ids));
        parts.extend(self.accepted.then(|| "the accepted ids".to_owned()));
        parts.extend(self.prefix.as_deref().map(|ids| format!("starts with {}", show::ids(ids))));
        parts.extend(self.suffix.as_deref().map(|ids| format!("ends with {}", show::ids(ids))));
        parts.extend(self.contains.as_deref().map(|ids| format!("contains {}", show::ids(ids))));
        parts.extend(self.count.as_ref().map(|count| format!("{} tokens", count.0)));
        parts.join(" and ")
    }

    /// Judges a sequence; `accepted` is what the snapshot holds, where there is one.
    pub(super) fn judge(&self, seen: &Seen<'_>, accepted: Option<&[AcceptedInput]>) -> Outcome {
        let ids = seen.ids();
        if self.accepted && accepted.is_none() {
            return Outcome::hidden(self.describe(), NO_SNAPSHOT);
        }
        let failed = self
            .equals(seen, &ids)
            .or_else(|| if self.accepted { against(seen, accepted?) } else { None })
            .or_else(|| self.prefix(seen, &ids))
            .or_else(|| self.suffix(seen, &ids))
            .or_else(|| self.run(seen, &ids))
            .or_else(|| self.count(seen));
        failed.unwrap_or_else(|| Outcome::pass(self.describe(), show::tokens(ids.len())))
    }

    fn equals(&self, seen: &Seen<'_>, ids: &[u32]) -> Option<Outcome> {
        let expected = self.equals.as_deref()?;
        let index = first_difference(expected, ids)?;
        Some(seen.differs(show::ids(expected), &show::named(expected, seen.tokens), index))
    }

    fn prefix(&self, seen: &Seen<'_>, ids: &[u32]) -> Option<Outcome> {
        let expected = self.prefix.as_deref()?;
        let index = first_difference(expected, &ids[..ids.len().min(expected.len())])?;
        let wanted = format!("starts with {}", show::ids(expected));
        Some(seen.differs(wanted, &show::named(expected, seen.tokens), index))
    }

    fn suffix(&self, seen: &Seen<'_>, ids: &[u32]) -> Option<Outcome> {
        let expected = self.suffix.as_deref()?;
        let wanted = format!("ends with {}", show::ids(expected));
        let Some(start) = ids.len().checked_sub(expected.len()) else {
            let message = format!("the {} has {}, fewer than expected", seen.what, show::tokens(ids.len()));
            return Some(Outcome::fail(wanted, show::ids(ids), message));
        };
        let index = start + first_difference(expected, &ids[start..])?;
        Some(seen.differs(wanted, &placed(seen, expected, start), index))
    }

    fn run(&self, seen: &Seen<'_>, ids: &[u32]) -> Option<Outcome> {
        let expected = self.contains.as_deref()?;
        if ids.windows(expected.len().max(1)).any(|window| window == expected) {
            return None;
        }
        // The place where most of the run matches is the one worth showing.
        let matched = |start: usize| ids[start..].iter().zip(expected).take_while(|(a, b)| a == b).count();
        let best = (0..ids.len()).rev().max_by_key(|start| matched(*start)).unwrap_or(0);
        let length = if ids.is_empty() { 0 } else { matched(best) };
        let wanted = format!("contains {}", show::ids(expected));
        let message = format!("the {} ids do not hold this run; the longest match has {length}", seen.what);
        let outcome = Outcome::fail(wanted, show::ids(ids), message);
        if length == 0 {
            return Some(outcome);
        }
        let index = best + length;
        let window = show::difference(&placed(seen, expected, best), seen.tokens, index, seen.top(index));
        Some(outcome.at(format!("token {index}")).differing(window))
    }

    fn count(&self, seen: &Seen<'_>) -> Option<Outcome> {
        let bounds = self.count.as_ref()?.0;
        let count = seen.tokens.len();
        let message = format!("the {} has {}, not {bounds}", seen.what, show::tokens(count));
        (!bounds.contains(count))
            .then(|| Outcome::fail(format!("{bounds} tokens"), show::tokens(count), message))
    }

    /// What is wrong with the arguments.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, ids) in [("prefix", &self.prefix), ("suffix", &self.suffix), ("contains", &self.contains)] {
            if ids.as_ref().is_some_and(Vec::is_empty) {
                problems.push(format!("`{name}: []` holds for every sequence; list at least one id"));
            }
        }
        if let Some(count) = &self.count {
            problems.extend(count.problems("count"));
        }
        if self.accepted && self.equals.is_some() {
            problems.push("`equals` and `accepted` both name the whole sequence; keep one".to_owned());
        }
        if self.describe().is_empty() {
            problems.push(format!("nothing is expected here; give {}", IdMatch::FORMS));
        }
        problems
    }
}

/// Why `accepted` cannot be judged.
pub(super) const NO_SNAPSHOT: &str =
    "no snapshot of this reply was accepted yet; run once and accept it with `evalsuite snapshots accept`";

/// `expected` at its place in the sequence, with the actual tokens before it.
fn placed(seen: &Seen<'_>, expected: &[u32], start: usize) -> Vec<Token> {
    let mut tokens = seen.tokens[..start].to_vec();
    tokens.extend(show::named(expected, seen.tokens));
    tokens
}

/// The first difference from an accepted sequence, whose long stretches are known by count and hash only.
pub(super) fn against(seen: &Seen<'_>, accepted: &[AcceptedInput]) -> Option<Outcome> {
    const WANTED: &str = "the accepted ids";
    let mut expected: Vec<Token> = Vec::new();
    let mut broken = None;
    for part in accepted {
        let index = expected.len();
        match part {
            AcceptedInput::Token(token) => {
                let same = seen.tokens.get(index).is_some_and(|actual| actual.id == token.id);
                if !same && broken.is_none() {
                    broken = Some(index);
                }
                expected.push(token.clone());
            }
            // Behind a difference a fold has no known place.
            AcceptedInput::Folded { .. } if broken.is_some() => break,
            AcceptedInput::Folded { count, hash } => {
                let stretch = seen.tokens.get(index..index + count).unwrap_or_default();
                let ids: Vec<u32> = stretch.iter().map(|token| token.id).collect();
                if ids.len() != *count || hash_ids(&ids) != *hash {
                    return Some(folded(seen, &expected, *count));
                }
                expected.extend(stretch.iter().cloned());
            }
        }
    }
    if broken.is_none() && seen.tokens.len() > expected.len() {
        broken = Some(expected.len());
    }
    Some(seen.differs(WANTED.to_owned(), &expected, broken?))
}

fn folded(seen: &Seen<'_>, before: &[Token], count: usize) -> Outcome {
    let (first, last) = (before.len(), before.len() + count - 1);
    let message = format!(
        "the {} ids differ somewhere in tokens {first} to {last}, of which the snapshot keeps only the hash",
        seen.what
    );
    Outcome::fail("the accepted ids", show::ids(&seen.ids()), message)
        .at(format!("token {first} to {last}"))
        .differing(show::difference(before, seen.tokens, first, seen.top(first)))
}
