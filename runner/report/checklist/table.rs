//! Markdown tables, and the one of branches and boundaries.

use std::collections::BTreeMap;

use crate::capture::Boundary;
use crate::event::{BoundaryStatus, CaseReport, CaseStatus};
use crate::text::{clip, printable};

/// Branches against boundaries with the number of cases in each state, then the counts per branch; a branch
/// without a case is shown, because that is what a reader must not overlook.
pub(super) fn branches(known: &[String], cases: &[CaseReport]) -> Vec<String> {
    let mut by_branch: BTreeMap<&str, Vec<&CaseReport>> = BTreeMap::new();
    for branch in known {
        by_branch.entry(branch).or_default();
    }
    for case in cases {
        by_branch.entry(&case.branch).or_default().push(case);
    }
    if by_branch.is_empty() {
        return vec!["No case was run.".to_owned()];
    }
    let mut head = vec!["branch"];
    head.extend(Boundary::ALL.map(Boundary::name));
    let rows: Vec<Vec<String>> = by_branch
        .iter()
        .map(|(branch, cases)| {
            let mut row = vec![code(branch)];
            row.extend(Boundary::ALL.map(|boundary| states(cases, boundary)));
            row
        })
        .collect();
    let mut lines = table(&head, &rows);
    lines.push(String::new());
    lines.extend(counts(&by_branch));
    lines
}

fn states(cases: &[&CaseReport], boundary: Boundary) -> String {
    let count = |wanted: BoundaryStatus| {
        let states = cases.iter().filter_map(|case| case.boundaries.get(&boundary));
        states.filter(|status| **status == wanted).count()
    };
    let parts: Vec<String> = [
        (BoundaryStatus::Held, "held"),
        (BoundaryStatus::Changed, "**changed**"),
        (BoundaryStatus::NotComparable, "not comparable"),
        (BoundaryStatus::Hidden, "hidden"),
    ]
    .into_iter()
    .map(|(status, word)| (count(status), word))
    .filter(|(n, _)| *n > 0)
    .map(|(n, word)| format!("{n} {word}"))
    .collect();
    if parts.is_empty() { "*not exercised*".to_owned() } else { parts.join(", ") }
}

fn counts(by_branch: &BTreeMap<&str, Vec<&CaseReport>>) -> Vec<String> {
    let statuses = CaseStatus::ALL;
    let names = statuses.map(|status| status.name().replace('_', " "));
    let mut head = vec!["branch", "cases"];
    head.extend(names.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = by_branch
        .iter()
        .map(|(branch, cases)| {
            let mut row = vec![code(branch), cases.len().to_string()];
            row.extend(statuses.map(|status| {
                cases.iter().filter(|case| case.status == status).count().to_string()
            }));
            row
        })
        .collect();
    table(&head, &rows)
}

pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let mut lines = vec![row(&head), format!("|{}", " --- |".repeat(head.len()))];
    lines.extend(rows.iter().map(|cells| row(cells)));
    lines
}

/// Text in a cell.
pub(super) fn cell(text: &str) -> String {
    super::prose(text)
}

/// Text as code, also inside a cell.
pub(super) fn code(text: &str) -> String {
    let text = clip(&printable(text), 300);
    let text = text.replace('|', "\\|");
    // The fence must be longer than any run of backticks inside.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
