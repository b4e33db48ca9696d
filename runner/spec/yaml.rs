//! The only place that calls the YAML crate: its defaults take `no` for false and `017` for 17.

use super::raw::Raw;
use super::tree::{Tree, place};
use crate::diagnostic::Diagnostic;

/// Reads a YAML file into a tree with positions.
///
/// # Errors
/// The first place at which the text is not YAML, in our words.
pub fn parse(file: &str, text: &str) -> Result<Tree, Diagnostic> {
    let options = serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 50_000 },
    };
    let root = serde_yaml::from_str_with_options::<Raw>(text, options);
    root.map(|root| Tree::new(file, text, root)).map_err(|error| explain(file, text, &error))
}

fn explain(file: &str, text: &str, error: &serde_yaml::Error) -> Diagnostic {
    let (line, column) = error.location().map_or((1, 1), |at| {
        (usize::try_from(at.line()).unwrap_or(1), usize::try_from(at.column()).unwrap_or(1))
    });
    if let Some((line, column)) = tab_before(text, line) {
        let message = "YAML does not allow tabs for indentation; use spaces";
        return Diagnostic::new(place(file, text, line, column), message).help(
            "replace the tab by spaces; most editors do so when asked to `indent with spaces`",
        );
    }
    let (message, help) = describe(error.without_snippet());
    let diagnostic = Diagnostic::new(place(file, text, line, column), message);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn describe(error: &serde_yaml::Error) -> (String, Option<&'static str>) {
    use serde_yaml::Error as E;
    match error {
        E::AliasError { error, .. } => describe(error),
        E::DuplicateMappingKey { key: Some(key), .. } => {
            (format!("`{key}` is given twice"), Some("keep one of the two"))
        }
        E::DuplicateMappingKey { key: None, .. } => {
            ("a key is given twice".into(), Some("keep one of the two"))
        }
        E::MultipleDocuments { .. } => (
            "a second YAML document begins here".into(),
            Some("one file holds one spec: remove the `---`"),
        ),
        E::NonFiniteFloat { value, .. } => {
            (format!("`{value}` is no finite number"), Some("quote it if a text is meant"))
        }
        E::UnknownAnchor { .. } => (
            "this alias has no anchor of that name before it".into(),
            Some("a text that begins with `*` must be quoted"),
        ),
        E::Eof { .. } => {
            ("the file is empty".into(), Some("begin with `branch:`, or remove the file"))
        }
        E::Budget { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. } => {
            ("the file repeats itself through aliases, or grows, beyond all measure".into(), None)
        }
        E::ExternalMessage { msg, .. } if msg.contains("recursion") => {
            ("the file is nested beyond all measure".into(), None)
        }
        E::ExternalMessage { msg, .. }
            if msg.contains("unclosed") || msg.contains("expected ','") =>
        {
            (
                format!("this is not YAML: {msg}"),
                Some("close what was opened before this place, or put a comma between two entries"),
            )
        }
        E::ExternalMessage { msg, .. } => (
            format!("this is not YAML: {msg}"),
            Some(
                "a text with `: `, ` #` or a leading `[`, `{`, `@`, `%` or quote must be quoted as a whole",
            ),
        ),
        _ => (
            "this is not YAML".into(),
            Some("check the indentation and the quotes around this place"),
        ),
    }
}

/// The nearest line at or up to two lines before `line` that is indented with a tab, with the tab's column.
fn tab_before(text: &str, line: usize) -> Option<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    (line.saturating_sub(2).max(1)..=line.saturating_add(1)).rev().find_map(|number| {
        let source = lines.get(number - 1)?;
        let indent = source.len() - source.trim_start().len();
        source[..indent].chars().position(|c| c == '\t').map(|column| (number, column + 1))
    })
}
