//! The whole ladder of one case: every turn, every token.

use crate::capture::{Boundary, Capture, Run};
use crate::event::CaseReport;
use crate::finding::Status;
use crate::snapshot::{Detail, exchange_lines};
use crate::text::printable;

use super::carried;

/// Everything that was seen of a case, and what was concluded from it where that is known.
pub fn inspect(capture: &Capture, report: Option<&CaseReport>) -> String {
    let mut lines = vec![printable(&capture.case)];
    if let Some(report) = report {
        verdict(&mut lines, report);
    }
    for (index, run) in capture.runs.iter().enumerate() {
        if capture.runs.len() > 1 {
            lines.push(String::new());
            lines.push(format!(
                "run {} of {}, {} at a time",
                index + 1,
                capture.runs.len(),
                run.load
            ));
        }
        run_lines(&mut lines, run);
    }
    if let Some(twin) = &capture.twin {
        lines.push(String::new());
        lines.push("the same with streaming flipped".to_owned());
        run_lines(&mut lines, twin);
    }
    for score in &capture.scores {
        let extracted = score.extracted.as_deref().map_or_else(|| "nothing".to_owned(), printable);
        let reference = printable(&score.reference);
        lines.push(String::new());
        lines.push(format!("score {} of {}: {}", score.scorer, score.extractor, score.value));
        lines.push(format!("  extracted {extracted}, reference {reference}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn verdict(lines: &mut Vec<String>, report: &CaseReport) {
    lines.push(format!("status: {}", report.status.name()));
    if let Some(reason) = &report.reason {
        lines.push(format!("reason: {}", printable(reason)));
    }
    if let Some(boundary) = report.boundary {
        lines.push(format!("first differs at: {boundary}"));
    }
    for finding in &report.findings {
        let outcome = &finding.outcome;
        let turn = finding.turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
        lines.push(format!(
            "  {:<13} {} ({}{turn})",
            outcome.status.name(),
            finding.name,
            finding.boundary
        ));
        if outcome.status != Status::Pass {
            lines.push(format!("                {}", printable(&outcome.message)));
            lines.push(format!("                at {}", printable(&finding.spec.to_string())));
        }
    }
}

fn run_lines(lines: &mut Vec<String>, run: &Run) {
    for (index, exchange) in run.exchanges.iter().enumerate() {
        lines.push(String::new());
        lines.push(format!("turn {}", exchange.turn + 1));
        if let Some(before) = index.checked_sub(1).and_then(|before| run.exchanges.get(before)) {
            lines.push(carried(before, exchange));
        }
        for boundary in Boundary::ALL {
            if boundary == Boundary::Score {
                continue;
            }
            lines.push(format!("-- {boundary}"));
            if let Err(reason) = exchange_lines(lines, boundary, exchange, Detail::Full) {
                lines.push(format!("hidden: {}", printable(&reason)));
            }
        }
    }
    if let Some(failure) = &run.error {
        lines.push(String::new());
        lines.push(format!(
            "broke off at turn {}, {}: {}",
            failure.turn + 1,
            failure.kind,
            printable(&failure.message)
        ));
    }
}
