//! Settings that no sampler accepts, and stop strings that hold two characters where one is meant.

use super::ledger::{Ledger, SpecFile};
use crate::request::Settings;
use crate::spec::{Data, NodeId, Spanned};

/// Checks the range of each field.
pub(super) fn check(file: &SpecFile, typed: &Spanned<Settings>, ledger: &mut Ledger) {
    let settings = &typed.value;
    let mut demand = |field: &str, value: Option<f64>, legal: fn(f64) -> bool, range: &str| {
        if value.is_some_and(|value| !legal(value)) {
            let node = file.tree.child(typed.node, field).unwrap_or(typed.node);
            let written = file.tree.bare(node).unwrap_or_default();
            ledger.report(file.at(node), format!("`{field}` cannot be {written}"), range);
        }
    };
    let penalty = |value: f64| (-2.0..=2.0).contains(&value);
    let tokens = settings.max_tokens.map(f64::from);
    demand("temperature", settings.temperature, |v| v >= 0.0, "it is 0 (greedy) or more");
    demand("top_p", settings.top_p, |v| v > 0.0 && v <= 1.0, "it is more than 0 and at most 1");
    demand("min_p", settings.min_p, |v| (0.0..=1.0).contains(&v), "it is between 0 and 1");
    demand("max_tokens", tokens, |v| v >= 1.0, "it is 1 or more");
    demand(
        "repetition_penalty",
        settings.repetition_penalty,
        |v| v > 0.0,
        "it is more than 0; 1 is neutral",
    );
    demand("presence_penalty", settings.presence_penalty, penalty, "it is between -2 and 2");
    demand("frequency_penalty", settings.frequency_penalty, penalty, "it is between -2 and 2");
    for (index, stop) in settings.stop.iter().flatten().enumerate() {
        if stop.is_empty() {
            let list = file.tree.child(typed.node, "stop").unwrap_or(typed.node);
            let node = file.tree.children(list).get(index).copied().unwrap_or(list);
            ledger.report(
                file.at(node),
                "an empty stop string ends every reply at once",
                "remove it",
            );
        }
    }
}

/// Checks what only the combination of spec, case and matrix shows.
pub(super) fn check_together(
    file: &SpecFile,
    settings: &Settings,
    at: NodeId,
    ledger: &mut Ledger,
) {
    if let (Some(min), Some(max)) = (settings.min_tokens, settings.max_tokens)
        && min > max
    {
        let message = format!("`min_tokens` is {min}, but `max_tokens` is {max}");
        ledger.report(
            file.at(at),
            message,
            "no reply can have both: lower the one or raise the other",
        );
    }
}

/// What a node of a spec belongs to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Zone {
    /// Texts that are nobody's stop string, such as tool results.
    Elsewhere,
    /// Settings or an expectation.
    Pinned,
    /// The stop strings of one of them.
    Stop,
}

impl Zone {
    fn below(self, key: &str) -> Zone {
        match (self, key) {
            (Zone::Elsewhere, "settings" | "expect") => Zone::Pinned,
            (Zone::Pinned, "stop" | "stop_string" | "stop_strings") => Zone::Stop,
            (zone, _) => zone,
        }
    }
}

/// Reports stop strings with a backslash before a letter, which YAML keeps as two characters unless the text is
/// in double quotes.
pub(super) fn check_stop_strings(file: &SpecFile, node: NodeId, zone: Zone, ledger: &mut Ledger) {
    match file.tree.data(node) {
        Data::Map(entries) => {
            for [key, value] in entries {
                let below = zone.below(file.tree.text(*key).unwrap_or_default());
                check_stop_strings(file, *value, below, ledger);
            }
        }
        Data::List(items) => {
            for item in items {
                check_stop_strings(file, *item, zone, ledger);
            }
        }
        Data::Text(text) if zone == Zone::Stop && !file.tree.is_double_quoted(node) => {
            let Some(escape) = ["\\n", "\\t", "\\r"].into_iter().find(|e| text.contains(e)) else {
                return;
            };
            let message = format!(
                "this stop string holds a backslash and a letter, `{escape}`, not a control character"
            );
            let double = text.replace('"', "\\\"");
            let help = format!("use double quotes: \"{double}\" (a real backslash is \"\\\\\")");
            ledger.report(file.at(node), message, help);
        }
        _ => {}
    }
}
