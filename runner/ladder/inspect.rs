//! The whole ladder of one case: every turn, every token.

use crate::capture::{Boundary, Capture, Exchange, NATIVE, Run, WireCall};
use crate::diagnostic::count;
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

/// How a server came to show what is below, where it was a server.
fn seen_by(boundary: Boundary, exchange: &Exchange) -> Option<String> {
    let rung = match boundary {
        Boundary::Input => &exchange.input.seen().ok()?.rung,
        Boundary::Generation => &exchange.generation.seen().ok()?.rung,
        _ => return None,
    };
    (rung != NATIVE).then(|| format!("seen by: {}", printable(rung)))
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
            lines.extend(seen_by(boundary, exchange));
            if let Err(reason) = exchange_lines(lines, boundary, exchange, Detail::Full) {
                lines.push(format!("hidden: {}", printable(&reason)));
            }
        }
        calls(lines, &exchange.wire);
    }
    if let Some(failure) = &run.error {
        lines.push(String::new());
        lines.push(format!(
            "broke off at turn {}, {}: {}",
            failure.turn + 1,
            failure.kind,
            printable(&failure.message)
        ));
        calls(lines, &failure.wire);
    }
}

/// The calls behind an exchange: where they went, what they got, and what of it was not kept.
fn calls(lines: &mut Vec<String>, wire: &[WireCall]) {
    if wire.is_empty() {
        return;
    }
    lines.push("-- calls".to_owned());
    for call in wire {
        let status =
            call.response.as_ref().map_or("no answer".to_owned(), |r| r.status.to_string());
        let mut line =
            format!("{}: {} {} {status}", call.purpose, call.request.method, call.request.path);
        if !call.first_attempt() {
            line += &format!(" after {}", count(call.attempts.len(), "attempt"));
        }
        if let Some(cut) = call.response.as_ref().and_then(|response| response.cut_bytes) {
            line += &format!(", cut: {} beyond the cap were not kept", count(cut, "byte"));
        }
        if let Some(why) = &call.broke {
            line += &format!(", broke off: {why}");
        }
        lines.push(printable(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Attempt, CHAT, WireRequest, WireResponse};
    use crate::report::sample;

    #[test]
    fn calls_say_what_they_got_and_what_was_cut() {
        let mut capture = sample::capture();
        assert!(!inspect(&capture, None).contains("-- calls"));
        let request =
            WireRequest { method: "POST".to_owned(), path: "/v1/x".to_owned(), body: None };
        let response = WireResponse {
            status: 200,
            headers: Default::default(),
            body: None,
            text: None,
            sse: None,
            chunks_base64: None,
            cut_bytes: Some(12),
        };
        let attempt = Attempt { outcome: "503".to_owned(), waited_ms: 5.0 };
        let whole = WireCall {
            purpose: CHAT.to_owned(),
            request,
            response: Some(response),
            attempts: vec![attempt; 2],
            broke: None,
        };
        let silent = WireCall {
            response: None,
            attempts: Vec::new(),
            broke: Some("reset".to_owned()),
            ..whole.clone()
        };
        capture.runs[0].exchanges[0].wire = vec![whole, silent];
        let shown = inspect(&capture, None);
        let first =
            "chat: POST /v1/x 200 after 2 attempts, cut: 12 bytes beyond the cap were not kept\n";
        assert!(shown.contains(first), "{shown}");
        assert!(shown.contains("chat: POST /v1/x no answer, broke off: reset\n"), "{shown}");
    }
}
