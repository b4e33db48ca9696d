//! Progress on stderr: a bar on a terminal, a line now and then elsewhere.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::event::{CaseReport, CaseStatus};

/// Without a terminal, one line after so many cases.
const EVERY: usize = 25;

/// How far a run is; shown beside the reports, never in them.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    total: usize,
    done: usize,
    bad: usize,
}

impl Progress {
    /// For `total` cases; `terminal` says whether stderr is one, and a `quiet` progress shows nothing.
    pub fn new(total: usize, terminal: bool, quiet: bool) -> Self {
        let bar = (terminal && !quiet && total > 0).then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total as u64), target);
            let style =
                ProgressStyle::with_template("  {bar:30} {pos}/{len}  {elapsed}  {wide_msg}");
            // The template is fixed; without it the default style is as good.
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, quiet, total, done: 0, bad: 0 }
    }

    /// A case is done. Nothing that goes wrong here is worth ending a run.
    pub fn case(&mut self, case: &CaseReport) {
        if let Some(line) = self.count(case.status) {
            let _ = writeln!(io::stderr(), "{line}");
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(crate::text::printable(&case.id));
        }
    }

    /// Does `write` while the bar is out of its way: both may share a terminal.
    pub fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Counts a case; the line to show after it, if one is due.
    fn count(&mut self, status: CaseStatus) -> Option<String> {
        self.done += 1;
        let bad = matches!(status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed);
        self.bad += usize::from(bad);
        let due = self.bar.is_none() && !self.quiet && self.done.is_multiple_of(EVERY);
        (due && self.done < self.total)
            .then(|| format!("{} of {} cases, {} did not hold", self.done, self.total, self.bad))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_a_line_is_shown_now_and_then() {
        let mut progress = Progress::new(60, false, false);
        let lines: Vec<String> = (0..60)
            .filter_map(|n| {
                progress.count(if n == 3 { CaseStatus::Failed } else { CaseStatus::Passed })
            })
            .collect();
        assert_eq!(lines, ["25 of 60 cases, 1 did not hold", "50 of 60 cases, 1 did not hold"]);
    }

    #[test]
    fn quiet_shows_nothing() {
        let mut progress = Progress::new(60, true, true);
        assert!((0..60).all(|_| progress.count(CaseStatus::Passed).is_none()));
        assert_eq!(progress.suspend(|| 3), 3);
        progress.finish();
    }
}
