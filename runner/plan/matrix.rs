//! The combinations of a matrix, in a stable order: streaming, settings, sentences, target; the last moves fastest.

use super::ledger::{Ledger, SpecFile};
use crate::request::Settings;
use crate::spec::{Matrix, NodeId, Spanned};

/// One combination; what the matrix does not vary is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) stream: Option<bool>,
    pub(super) settings: Option<Settings>,
    pub(super) sentences: Option<usize>,
    pub(super) target: Option<String>,
    /// `stream=true`, `settings=0` …, in order.
    pub(super) labels: Vec<String>,
}

impl Cell {
    /// `[stream=true,settings=0]`, or nothing.
    pub(super) fn suffix(&self) -> String {
        if self.labels.is_empty() { String::new() } else { format!("[{}]", self.labels.join(",")) }
    }

    /// The suffix in characters that every file system and shell takes; `+` is in no id.
    pub(super) fn file_suffix(&self) -> String {
        self.labels.iter().map(|label| format!("+{}", label.replace('=', "-"))).collect()
    }

    fn labelled(&self, label: String) -> Cell {
        let mut cell = self.clone();
        cell.labels.push(label);
        cell
    }
}

/// The combinations of `matrix` with `targets`, which the command line or the spec names.
pub(super) fn expand(matrix: Option<&Matrix>, targets: &[String], name_targets: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::default()];
    if let Some(values) = matrix.and_then(|m| m.stream.as_ref()) {
        cells = multiply(&cells, &values.value, |cell, _, value| Cell {
            stream: Some(*value),
            ..cell.labelled(format!("stream={value}"))
        });
    }
    if let Some(values) = matrix.and_then(|m| m.settings.as_ref()) {
        cells = multiply(&cells, &values.value, |cell, index, value| Cell {
            settings: Some(value.value.clone()),
            ..cell.labelled(format!("settings={index}"))
        });
    }
    if let Some(values) = matrix.and_then(|m| m.sentences.as_ref()) {
        cells = multiply(&cells, &values.value, |cell, _, value| Cell {
            sentences: Some(value.value),
            ..cell.labelled(format!("sentences={}", value.value))
        });
    }
    multiply(&cells, targets, |cell, _, name| {
        let target = Some(name.clone());
        match name_targets {
            true => Cell { target, ..cell.labelled(format!("target={name}")) },
            false => Cell { target, ..cell.clone() },
        }
    })
}

fn multiply<T>(cells: &[Cell], values: &[T], with: impl Fn(&Cell, usize, &T) -> Cell) -> Vec<Cell> {
    let row = |cell| {
        values.iter().enumerate().map(|(index, value)| with(cell, index, value)).collect::<Vec<_>>()
    };
    cells.iter().flat_map(row).collect()
}

/// Reports keys without values, with the same value twice, or without effect.
pub(super) fn check(
    file: &SpecFile,
    typed: &Spanned<Matrix>,
    has_document: bool,
    ledger: &mut Ledger,
) {
    let matrix = &typed.value;
    let mut report = |node: NodeId, message: &str, help: &str| {
        ledger.report(file.at(node), message, help);
    };
    let shown = |values: Vec<String>| values;
    let lists = [
        matrix
            .stream
            .as_ref()
            .map(|v| (v.node, shown(v.value.iter().map(bool::to_string).collect()))),
        matrix
            .settings
            .as_ref()
            .map(|v| (v.node, v.value.iter().map(|s| format!("{:?}", s.value)).collect())),
        matrix
            .sentences
            .as_ref()
            .map(|v| (v.node, v.value.iter().map(|n| n.value.to_string()).collect())),
        matrix.target.as_ref().map(|v| (v.node, v.value.iter().map(|t| t.value.clone()).collect())),
    ];
    if lists.iter().all(Option::is_none) {
        report(
            typed.node,
            "an empty matrix",
            "give it `stream`, `settings`, `sentences` or `target`",
        );
    }
    for (node, mut values) in lists.into_iter().flatten() {
        let count = values.len();
        values.sort();
        values.dedup();
        if count == 0 {
            report(node, "a matrix key without values", "give it at least one value, or remove it");
        } else if values.len() < count {
            report(node, "a matrix key with the same value twice", "remove one of the two");
        }
    }
    if let (Some(sentences), false) = (&matrix.sentences, has_document) {
        let message = "`sentences` has no effect: no turn has a `document`";
        report(sentences.node, message, "remove it, or write `user: { document: …, ask: … }`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{read, yaml};

    #[test]
    fn combinations_come_in_a_stable_order() {
        let tree = yaml::parse("m", "stream: [true, false]\nsettings: [{ seed: 1 }, { seed: 2 }]")
            .unwrap();
        let matrix: Matrix = read(&tree, &mut Vec::new()).unwrap();
        let cells = expand(Some(&matrix), &["a".into()], false);
        let suffixes: Vec<String> = cells.iter().map(Cell::suffix).collect();
        assert_eq!(
            suffixes[..3],
            ["[stream=true,settings=0]", "[stream=true,settings=1]", "[stream=false,settings=0]"]
        );
        assert_eq!(cells[1].file_suffix(), "+stream-true+settings-1");
        assert_eq!(cells[3].settings.as_ref().unwrap().seed, Some(2));
        assert!(cells.iter().all(|cell| cell.target.as_deref() == Some("a")));
    }

    #[test]
    fn several_targets_are_named() {
        let cells = expand(None, &["a".into(), "b".into()], true);
        assert_eq!(
            cells.iter().map(Cell::suffix).collect::<Vec<_>>(),
            ["[target=a]", "[target=b]"]
        );
    }
}
