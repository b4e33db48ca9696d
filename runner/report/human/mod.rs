//! `human`: for the terminal. A failure is the product, so it is shown in full; what held is one line.

use std::io::{self, Write};

use super::{Options, Reporter, Sink, short_id};
use crate::event::{BoundaryStatus, CaseReport, CaseStatus, Event, RunStarted};
use crate::finding::Status;
use crate::text::{clip, printable};

mod failure;
mod paint;
mod summary;
#[cfg(test)]
mod tests;
mod tokens;

use paint::{Paint, Tone};

/// Failures shown in full; of further ones only the first sentence, or the output would be a wall.
const IN_FULL: usize = 5;

struct Human {
    out: Sink,
    options: Options,
    paint: Paint,
    failures: usize,
    /// Whether more than one target answers, so that a case must say which.
    targets: bool,
    /// Whether the last line is empty.
    gap: bool,
}

pub(super) fn open(sink: Sink, options: Options) -> Box<dyn Reporter> {
    Box::new(Human {
        out: sink,
        options,
        paint: Paint { color: options.color },
        failures: 0,
        targets: false,
        gap: false,
    })
}

impl Reporter for Human {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Run(run) => self.started(run)?,
            Event::Case(case) => self.case(case)?,
            Event::Summary(summary) => {
                let brief = self.failures.saturating_sub(self.in_full());
                let text = summary::text(self.paint, summary, brief);
                let text = if self.gap { text.trim_start_matches('\n') } else { &text };
                self.out.write_all(text.as_bytes())?;
            }
        }
        self.out.flush()
    }
}

impl Human {
    fn in_full(&self) -> usize {
        if self.options.verbosity > 0 { usize::MAX } else { IN_FULL }
    }

    fn started(&mut self, run: &RunStarted) -> io::Result<()> {
        self.targets = run.targets.len() > 1;
        if self.options.verbosity < 0 {
            return Ok(());
        }
        let targets: Vec<String> =
            run.targets.iter().map(|target| printable(&target.name)).collect();
        let selection = match run.selection.as_str() {
            "" => String::new(),
            words => format!(" ({})", printable(words)),
        };
        let cases = crate::diagnostic::count(run.cases, "case");
        writeln!(self.out, "  {cases}{selection} on {}", targets.join(", "))
    }

    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let bad =
            matches!(case.status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed);
        if !bad && self.options.verbosity < 0 {
            return Ok(());
        }
        self.line(case)?;
        self.gap = bad && self.failures < self.in_full();
        if bad {
            self.failures += 1;
            if self.gap {
                failure::write(&mut self.out, self.paint, case, self.options.verbosity > 0)?;
            } else {
                failure::brief(&mut self.out, case)?;
            }
        } else if self.options.verbosity > 0 {
            self.findings(case)?;
        }
        Ok(())
    }

    /// `PASS  multi_turn    recall.remembers_name`.
    fn line(&mut self, case: &CaseReport) -> io::Result<()> {
        let (word, tone) = word(case.status);
        let word = self.paint.tone(tone, &format!("{word:<6}"));
        let name = printable(short_id(&case.id, &case.branch));
        let branch = printable(&case.branch);
        let target =
            if self.targets { format!("   on {}", printable(&case.target)) } else { String::new() };
        let note = match (case.status, case.boundary, &case.reason) {
            (CaseStatus::Failed, Some(boundary), _) => {
                format!("   first differs at: {}", self.paint.tone(Tone::Bad, boundary.name()))
            }
            (CaseStatus::NotEvaluated | CaseStatus::KnownFailure, _, Some(reason)) => {
                format!("   {}", clip(&printable(reason), 90))
            }
            _ => String::new(),
        };
        writeln!(self.out, "  {word} {branch:<12}  {name}{target}{note}")
    }

    /// Every finding of a case that held.
    fn findings(&mut self, case: &CaseReport) -> io::Result<()> {
        for finding in &case.findings {
            let (mark, tone) = match finding.outcome.status {
                Status::Pass => ("held", Tone::Good),
                Status::Warn => ("warn", Tone::Unsure),
                Status::Fail => ("fail", Tone::Bad),
                other => (other.name(), Tone::Unsure),
            };
            let place = failure::place(finding);
            let actual = clip(&printable(&finding.outcome.actual), 60);
            let mark = self.paint.tone(tone, &format!("{mark:<14}"));
            writeln!(self.out, "        {mark}{}  {place}  {actual}", printable(&finding.name))?;
        }
        Ok(())
    }
}

fn word(status: CaseStatus) -> (&'static str, Tone) {
    match status {
        CaseStatus::Passed => ("PASS", Tone::Good),
        CaseStatus::Failed => ("FAIL", Tone::Bad),
        CaseStatus::Errored => ("ERROR", Tone::Bad),
        CaseStatus::NotEvaluated => ("UNSEEN", Tone::Unsure),
        CaseStatus::KnownFailure => ("KNOWN", Tone::Unsure),
        CaseStatus::Fixed => ("FIXED", Tone::Bad),
    }
}

/// How a boundary's state reads, and how alarming it is.
fn boundary_word(status: BoundaryStatus) -> (&'static str, Tone) {
    match status {
        BoundaryStatus::Held => ("held", Tone::Good),
        BoundaryStatus::Changed => ("CHANGED", Tone::Bad),
        BoundaryStatus::NotComparable => ("not comparable", Tone::Faint),
        BoundaryStatus::Hidden => ("hidden", Tone::Unsure),
        BoundaryStatus::NotExercised => ("-", Tone::Faint),
    }
}
