//! The sum over a run, and what to do next.

use super::paint::{Paint, Tone};
use crate::diagnostic::count;
use crate::event::Summary;
use crate::text::{clip, printable};

/// Statuses in the order of their weight, as they read in a sentence.
const STATUSES: [(&str, &str, Tone); 6] = [
    ("passed", "passed", Tone::Good),
    ("failed", "failed", Tone::Bad),
    ("errored", "errored", Tone::Bad),
    ("fixed", "fixed: remove `known_failure`", Tone::Bad),
    ("not_evaluated", "not evaluated", Tone::Unsure),
    ("known_failure", "known to fail", Tone::Unsure),
];

/// Each part begins with an empty line.
pub(super) fn text(paint: Paint, summary: &Summary, brief: usize) -> String {
    let mut lines = Vec::new();
    if brief > 0 {
        let failures = count(brief, "failure");
        lines.push(format!("\n  {failures} shown in one sentence; -v shows them in full"));
    }
    if !summary.by_boundary.is_empty() {
        let parts: Vec<String> =
            summary.by_boundary.iter().map(|(boundary, n)| format!("{n} at {boundary}")).collect();
        lines.push(format!("\n  first differs: {}", parts.join(", ")));
        lines.push("  every token of a case: `evalsuite inspect latest CASE`".to_owned());
    }
    if !summary.unpinned.is_empty() {
        let pin =
            |(name, n): (&String, &usize)| format!("{} ({})", printable(name), count(*n, "case"));
        let parts: Vec<String> = summary.unpinned.iter().map(pin).collect();
        let parts = clip(&parts.join(", "), 400);
        lines.push(format!("\n  {} no spec pins {parts}", paint.tone(Tone::Unsure, "warning:")));
        lines.push(
            "           what is in force there is the deployment's choice and may change with it"
                .to_owned(),
        );
    }
    for (why, n) in &summary.not_sent {
        let why = clip(&printable(why), 300);
        let warning = paint.tone(Tone::Unsure, "warning:");
        lines
            .push(format!("\n  {warning} pinned, but not in force: {why} ({})", count(*n, "case")));
    }
    if summary.retried > 0 {
        let first = summary.requests.saturating_sub(summary.retried);
        lines.push(format!(
            "\n  {first} of {} requests were answered at the first attempt, {} only after another",
            summary.requests, summary.retried
        ));
    }
    for note in &summary.notes {
        let note = clip(&printable(note), 400);
        lines.push(format!("\n  {} {note}", paint.tone(Tone::Unsure, "note:")));
    }
    if summary.pending_snapshots > 0 {
        let waiting = count(summary.pending_snapshots, "snapshot");
        lines.push(format!(
            "\n  {waiting} to review: `cargo insta review`, or `evalsuite snapshots list` and `accept`"
        ));
    }
    if let Some(why) = &summary.stopped {
        let why = clip(&printable(why), 400);
        lines.push(format!("\n  {} {why}", paint.tone(Tone::Bad, "stopped early:")));
    }
    lines.push(format!(
        "\n  {}   in {:.2} s\n",
        statuses(paint, summary),
        summary.elapsed_ms / 1000.0
    ));
    lines.join("\n")
}

fn statuses(paint: Paint, summary: &Summary) -> String {
    let parts = STATUSES.iter().filter_map(|(status, words, tone)| {
        let n = summary.by_status.get(*status).copied().unwrap_or(0);
        (n > 0).then(|| paint.tone(*tone, &format!("{n} {words}")))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "nothing was judged".to_owned() } else { parts.join(", ") }
}
