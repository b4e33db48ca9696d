//! Expectations on a text, shared by `prompt`, `content` and `reasoning`.

use fancy_regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Many, Never, Short};
use super::show::{excerpt, quoted};
use crate::finding::{Outcome, Status};

/// What a text must be like; everything that is written must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TextMatch {
    /// It is exactly this.
    pub equals: Option<String>,
    /// It is exactly one of these.
    pub one_of: Option<Vec<String>>,
    /// It contains this, or all of these.
    pub contains: Many<String>,
    /// It contains neither this nor any of these.
    pub not_contains: Many<String>,
    /// This regular expression, or each of these, is found in it.
    pub matches: Many<String>,
    /// Neither this regular expression nor any of these is found in it.
    pub not_matches: Many<String>,
    /// It begins with this.
    pub starts_with: Option<String>,
    /// It ends with this.
    pub ends_with: Option<String>,
    /// Whether it is absent or has no character.
    pub empty: Option<bool>,
}

impl Short for TextMatch {
    const FORMS: &'static str = "a text, or a mapping with `equals`, `one_of`, `contains`, `not_contains`, `matches`, \
         `not_matches`, `starts_with`, `ends_with` or `empty`";
    const TYPES: &'static [&'static str] = &["string"];
    type Item = Never;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(Ok(TextMatch { equals: Some(text.to_owned()), ..TextMatch::default() }))
    }
}

/// One condition of a [`TextMatch`].
#[derive(Debug, Clone, Copy)]
enum Rule<'a> {
    Equals(&'a str),
    OneOf(&'a [String]),
    Contains(&'a str),
    NotContains(&'a str),
    Matches(&'a str),
    NotMatches(&'a str),
    StartsWith(&'a str),
    EndsWith(&'a str),
    Empty(bool),
}

/// Why a condition does not hold, and at which character.
struct Miss {
    status: Status,
    message: String,
    at: Option<usize>,
}

impl TextMatch {
    fn rules(&self) -> Vec<Rule<'_>> {
        let mut rules = Vec::new();
        rules.extend(self.equals.as_deref().map(Rule::Equals));
        rules.extend(self.one_of.as_deref().map(Rule::OneOf));
        rules.extend(self.starts_with.as_deref().map(Rule::StartsWith));
        rules.extend(self.contains.iter().map(|text| Rule::Contains(text)));
        rules.extend(self.matches.iter().map(|text| Rule::Matches(text)));
        rules.extend(self.ends_with.as_deref().map(Rule::EndsWith));
        rules.extend(self.not_contains.iter().map(|text| Rule::NotContains(text)));
        rules.extend(self.not_matches.iter().map(|text| Rule::NotMatches(text)));
        rules.extend(self.empty.map(Rule::Empty));
        rules
    }

    /// The expectation in one line.
    fn describe(&self) -> String {
        self.rules().iter().map(Rule::describe).collect::<Vec<_>>().join(" and ")
    }

    /// Judges a text, the thing called `what`: `None` is one that the reply does not have, an error the reason why it
    /// was not seen.
    pub(super) fn judge(&self, what: &str, text: Result<Option<&str>, &str>) -> Outcome {
        let text = match text {
            Ok(text) => text,
            Err(reason) => return Outcome::hidden(self.describe(), reason),
        };
        let actual = match text {
            Some(text) => excerpt(text),
            None => "none".to_owned(),
        };
        for rule in self.rules() {
            let Some(miss) = rule.check(what, text) else { continue };
            let outcome = Outcome::new(miss.status, rule.describe(), actual, miss.message);
            return match miss.at {
                Some(at) => outcome.at(format!("character {at}")),
                None => outcome,
            };
        }
        Outcome::pass(self.describe(), actual)
    }

    /// What is wrong with the arguments.
    pub(super) fn problems(&self) -> Vec<String> {
        let rules = self.rules();
        let mut problems: Vec<String> = rules.iter().flat_map(Rule::problems).collect();
        if rules.is_empty() {
            problems.push(format!("nothing is expected here; give {}", TextMatch::FORMS));
        }
        problems
    }
}

impl Rule<'_> {
    fn describe(&self) -> String {
        match self {
            Rule::Equals(text) => quoted(text),
            Rule::OneOf(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("one of {}", texts.join(", "))
            }
            Rule::Contains(text) => format!("contains {}", quoted(text)),
            Rule::NotContains(text) => format!("does not contain {}", quoted(text)),
            Rule::Matches(pattern) => format!("matches /{pattern}/"),
            Rule::NotMatches(pattern) => format!("does not match /{pattern}/"),
            Rule::StartsWith(text) => format!("starts with {}", quoted(text)),
            Rule::EndsWith(text) => format!("ends with {}", quoted(text)),
            Rule::Empty(true) => "empty".to_owned(),
            Rule::Empty(false) => "not empty".to_owned(),
        }
    }

    fn check(&self, what: &str, text: Option<&str>) -> Option<Miss> {
        let miss =
            |message: String, at: Option<usize>| Some(Miss { status: Status::Fail, message, at });
        let Some(text) = text else {
            // What is absent holds nothing, so only the positive conditions fail.
            let holds =
                matches!(self, Rule::NotContains(_) | Rule::NotMatches(_) | Rule::Empty(true));
            return if holds { None } else { miss(format!("the reply has no {what}"), None) };
        };
        match *self {
            Rule::Equals(expected) if text != expected => {
                let at = first_difference(expected, text);
                miss(
                    format!("the {what} differs from the expected text at character {at}"),
                    Some(at),
                )
            }
            Rule::OneOf(texts) if !texts.iter().any(|one| one == text) => {
                miss(format!("the {what} is none of the {} expected texts", texts.len()), None)
            }
            Rule::Contains(part) if !text.contains(part) => {
                miss(format!("the {what} does not contain {}", quoted(part)), None)
            }
            Rule::NotContains(part) => {
                let at = character(text, text.find(part)?);
                miss(format!("the {what} contains {}", quoted(part)), Some(at))
            }
            Rule::StartsWith(part) if !text.starts_with(part) => {
                let at = first_difference(part, text);
                miss(format!("the {what} does not start with {}", quoted(part)), Some(at))
            }
            Rule::EndsWith(part) if !text.ends_with(part) => {
                miss(format!("the {what} does not end with {}", quoted(part)), None)
            }
            Rule::Empty(true) if !text.is_empty() => miss(format!("the {what} is not empty"), None),
            Rule::Empty(false) if text.is_empty() => miss(format!("the {what} is empty"), None),
            Rule::Matches(pattern) => match find(pattern, text) {
                Ok(Some(_)) => None,
                Ok(None) => miss(format!("/{pattern}/ is not found in the {what}"), None),
                Err(message) => Some(Miss { status: Status::NotEvaluated, message, at: None }),
            },
            Rule::NotMatches(pattern) => match find(pattern, text) {
                Ok(Some(at)) => {
                    miss(format!("/{pattern}/ is found in the {what}"), Some(character(text, at)))
                }
                Ok(None) => None,
                Err(message) => Some(Miss { status: Status::NotEvaluated, message, at: None }),
            },
            _ => None,
        }
    }

    fn problems(&self) -> Vec<String> {
        match *self {
            Rule::Equals(text) => literal_escape(text),
            Rule::OneOf([]) => vec!["`one_of` is an empty list, so nothing can hold".to_owned()],
            Rule::OneOf(texts) => texts.iter().flat_map(|text| literal_escape(text)).collect(),
            Rule::Contains("") => vec![always("contains")],
            Rule::NotContains("") => {
                vec!["every text contains \"\", so `not_contains` cannot hold".to_owned()]
            }
            Rule::StartsWith("") => vec![always("starts_with")],
            Rule::EndsWith("") => vec![always("ends_with")],
            Rule::Contains(text)
            | Rule::NotContains(text)
            | Rule::StartsWith(text)
            | Rule::EndsWith(text) => literal_escape(text),
            Rule::Matches(pattern) | Rule::NotMatches(pattern) => match compile(pattern) {
                Ok(_) if pattern.is_empty() => {
                    vec!["an empty regular expression matches everything".to_owned()]
                }
                Ok(_) => Vec::new(),
                Err(message) => vec![message],
            },
            Rule::Empty(_) => Vec::new(),
        }
    }
}

fn always(word: &str) -> String {
    format!("`{word}: \"\"` holds for every text; use `empty: false` to ask for some text")
}

/// Refuses a backslash and an `n` where a line break was likely meant.
pub(crate) fn literal_escape(text: &str) -> Vec<String> {
    let found = ["\\n", "\\t", "\\r"].into_iter().find(|escape| text.contains(escape));
    let Some(escape) = found else { return Vec::new() };
    vec![format!(
        "{text:?} holds a backslash and a letter, not the character; write \"{escape}\" in double quotes, \
         or use `matches` with \\\\ if the backslash is meant"
    )]
}

/// Compiles a regular expression, or says why not.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("/{pattern}/ is not a regular expression: {error}"))
}

fn find(pattern: &str, text: &str) -> Result<Option<usize>, String> {
    let found = compile(pattern)?.find(text);
    let found = found.map_err(|error| format!("/{pattern}/ could not be decided: {error}"))?;
    Ok(found.map(|found| found.start()))
}

/// The 1-based character at a byte offset.
fn character(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count() + 1
}

fn first_difference(expected: &str, actual: &str) -> usize {
    expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count() + 1
}
