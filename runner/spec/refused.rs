//! Why a node cannot be read, in words for the author of a spec.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::tree::NodeId;
use crate::diagnostic::choices;
use crate::text::clip;

/// Words of the design that this version does not speak yet.
const NOT_BUILT: &[&str] = &["drafter"];

/// How a message about an unknown word begins until the kind of word is known.
const UNKNOWN: &str = "unknown word";

/// Why a node is not what is wanted there.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) node: Option<NodeId>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Refused {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Refused { node: None, message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what kind of word is unknown, by the Rust name of its enum.
    pub(super) fn of(mut self, name: &str) -> Self {
        let kind = match name {
            "Assertion" => "assertion",
            "Branch" => "branch",
            "Boundary" => "boundary",
            "Target" => "kind of target",
            _ => "word",
        };
        if let Some(rest) = self.message.strip_prefix(UNKNOWN) {
            self.message = format!("unknown {kind}{rest}");
        }
        self
    }

    pub(super) fn at(mut self, node: NodeId) -> Self {
        self.node.get_or_insert(node);
        self
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl de::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Refused::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let wanted = wanted(expected);
        let help = match (wanted.as_str(), &found) {
            ("a list", Unexpected::Str(text)) => Some(format!("write a list: [{text}]")),
            ("a list", _) => Some("write a list: one `- ` for each item, or `[…, …]`".to_owned()),
            (number, Unexpected::Str(text))
                if number.contains("number") && text.parse::<f64>().is_ok() =>
            {
                Some(format!("remove the quotes: {text}"))
            }
            _ => None,
        };
        let message = format!("expected {wanted}, found {}", given(&found));
        Refused { help, ..Refused::new(message) }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Refused::new(format!("{} is not {}", given(&found), wanted(expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Refused::new(format!("unknown field `{field}`")).help(choices(field, expected))
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        if NOT_BUILT.contains(&word) {
            return Refused::new(format!("`{word}` is a known word, but it is not built yet"))
                .help(format!("legal here: {}", expected.join(", ")));
        }
        Refused::new(format!("{UNKNOWN} `{word}`")).help(choices(word, expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Refused::new(format!("the field `{field}` is missing")).help(format!("add `{field}: …`"))
    }
}

fn wanted(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more".into(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "`true` or `false`".into(),
        "a string" => "a text".into(),
        "a sequence" => "a list".into(),
        other if other.starts_with("struct ") || other == "a map" => "a map of fields".into(),
        other if other.starts_with("enum ") || other == "map with a single key" => {
            "one of its words".into()
        }
        other => other.to_owned(),
    }
}

fn given(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(value) => format!("the text {}", clip(&format!("{value:?}"), 80)),
        Unexpected::Unit | Unexpected::Option => "nothing".into(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a map".into(),
        other => other.to_string(),
    }
}
