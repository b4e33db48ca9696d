//! One case that did not hold: what, where, the evidence, and how to see it again.

use std::io::{self, Write};

use super::paint::{Paint, Tone};
use super::{boundary_word, tokens};
use crate::capture::Boundary;
use crate::event::{BoundaryStatus, CaseReport, CaseStatus, LadderStep};
use crate::finding::{Finding, Kind, Status};
use crate::text::{clip, printable};

/// Findings shown per case, and lines of its ladder.
const FINDINGS: usize = 3;
const LADDER: usize = 36;
/// The longest text shown of a value, a message or a line of a spec, in characters.
const VALUE: usize = 160;

/// Everything about the case.
pub(super) fn write(
    out: &mut dyn Write,
    paint: Paint,
    case: &CaseReport,
    all: bool,
) -> io::Result<()> {
    boundaries(out, paint, case)?;
    let (new, failed): (Vec<&Finding>, Vec<&Finding>) =
        failures(case).partition(|finding| finding.is_new_snapshot());
    let shown = if all { failed.len() } else { FINDINGS };
    for finding in failed.iter().take(shown) {
        writeln!(out)?;
        one(out, paint, finding)?;
    }
    if failed.len() > shown {
        writeln!(out, "\n        … {} more; -v shows them", failed.len() - shown)?;
    }
    if !new.is_empty() {
        let names: Vec<&str> = new.iter().map(|finding| finding.boundary.name()).collect();
        let names = names.join(", ");
        writeln!(out, "\n        nothing was accepted yet for the snapshots of: {names}")?;
    } else if failed.is_empty() {
        writeln!(out, "        {}", printable(&case.spec.to_string()))?;
        writeln!(out, "        {}", paint.tone(Tone::Bad, &clip(&why(case), 4 * VALUE)))?;
    }
    ladder(out, paint, &case.ladder, all)?;
    writeln!(out, "\n        again     {}\n", paint.tone(Tone::Strong, &printable(&case.reproduce)))
}

/// The place and the first sentence only.
pub(super) fn brief(out: &mut dyn Write, case: &CaseReport) -> io::Result<()> {
    let first = failures(case).next();
    let place = first.map_or(&case.spec, |finding| &finding.spec);
    let message = first.map_or_else(|| why(case), |finding| printable(&finding.outcome.message));
    let message = clip(&message, VALUE);
    writeln!(out, "        {}: {message}", printable(&place.to_string()))
}

/// Why a case without a failed finding did not hold.
fn why(case: &CaseReport) -> String {
    let reason = printable(case.reason.as_deref().unwrap_or_default());
    match case.status {
        CaseStatus::Fixed => format!("it no longer fails: remove `known_failure: {reason}`"),
        _ => reason,
    }
}

fn failures(case: &CaseReport) -> impl Iterator<Item = &Finding> {
    case.findings.iter().filter(|finding| finding.outcome.status == Status::Fail)
}

fn boundaries(out: &mut dyn Write, paint: Paint, case: &CaseReport) -> io::Result<()> {
    let states = Boundary::ALL.map(|boundary| {
        let status =
            case.boundaries.get(&boundary).copied().unwrap_or(BoundaryStatus::NotExercised);
        let (word, tone) = boundary_word(status);
        format!("{boundary} {}", paint.tone(tone, word))
    });
    writeln!(out, "        {}", states.join("   "))
}

fn one(out: &mut dyn Write, paint: Paint, finding: &Finding) -> io::Result<()> {
    let name = paint.tone(Tone::Strong, &printable(&finding.name));
    writeln!(out, "        {name}  {}", place(finding))?;
    caret(out, paint, finding)?;
    let outcome = &finding.outcome;
    let (expected, actual) = windows(&printable(&outcome.expected), &printable(&outcome.actual));
    writeln!(out, "        expected  {}", paint.tone(Tone::Good, &expected))?;
    writeln!(out, "        actual    {}", paint.tone(Tone::Bad, &actual))?;
    if let Some(at) = &outcome.at {
        writeln!(out, "        at        {}", clip(&printable(at), VALUE))?;
    }
    if let Some(tolerance) = &outcome.tolerance {
        writeln!(out, "        tolerance {}", clip(&printable(tolerance), VALUE))?;
    }
    match &outcome.difference {
        Some(difference) => tokens::write(out, paint, difference),
        None => Ok(()),
    }
}

/// `assertion, turn 2`.
pub(super) fn place(finding: &Finding) -> String {
    let turn = finding.turn.map_or_else(String::new, |turn| format!(", turn {turn}"));
    let run = finding.run.map_or_else(String::new, |run| format!(", run {run}"));
    format!("({} at {}{turn}{run})", finding.kind.name(), finding.boundary)
}

/// The line of the spec with a caret under the place, and the sentence that says what is wrong.
fn caret(out: &mut dyn Write, paint: Paint, finding: &Finding) -> io::Result<()> {
    let spec = &finding.spec;
    let message = clip(&printable(&finding.outcome.message), 2 * VALUE);
    writeln!(out, "        {}", paint.tone(Tone::Faint, &printable(&spec.to_string())))?;
    // A check that is always on has no line of its own; the caret would accuse an innocent one.
    if spec.source.trim().is_empty() || finding.kind == Kind::Seam {
        return writeln!(out, "          {}", paint.tone(Tone::Bad, &message));
    }
    let indent = spec.source.chars().take_while(|c| c.is_whitespace()).count();
    let source = clip(&printable(spec.source.trim()), VALUE);
    let column = spec.column.saturating_sub(1 + indent).min(source.chars().count());
    let number = spec.line.to_string();
    let gutter = " ".repeat(number.len());
    writeln!(out, "      {number} | {source}")?;
    let mark = paint.tone(Tone::Bad, &format!("^ {message}"));
    writeln!(out, "      {gutter} | {}{mark}", " ".repeat(column))
}

/// Two values cut around their first difference, so that it can be seen.
fn windows(expected: &str, actual: &str) -> (String, String) {
    let shared = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let start = if shared > VALUE / 2 { shared - VALUE / 4 } else { 0 };
    let cut = |text: &str| {
        let rest: String = text.chars().skip(start).collect();
        let head = if start == 0 { "" } else { "…" };
        format!("{head}{}", clip(&rest, VALUE))
    };
    (cut(expected), cut(actual))
}

fn ladder(out: &mut dyn Write, paint: Paint, steps: &[LadderStep], all: bool) -> io::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let limit = if all { usize::MAX } else { LADDER };
    let mut written = 0;
    for step in steps {
        let (_, tone) = boundary_word(step.status);
        let mut name = paint.tone(tone, &format!("{:<10}", step.boundary.name()));
        for line in step.lines.iter().take(limit.saturating_sub(written)) {
            let text = format!("        {name}  {}", printable(line));
            writeln!(out, "{}", text.trim_end())?;
            name = " ".repeat(10);
        }
        written += step.lines.len();
    }
    match written.checked_sub(limit) {
        Some(more @ 1..) => writeln!(out, "        … {more} more lines; -v shows them"),
        _ => Ok(()),
    }
}
