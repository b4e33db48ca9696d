//! The cases of a plan one after another, each made when it is asked for.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use super::Case;
use super::build::in_order;
use super::ledger::Ledger;
use super::unfold::Unfolding;
use crate::error::Error;

#[cfg(test)]
mod tests;

/// A spec file of which cases are selected.
#[derive(Debug)]
pub(super) struct Part {
    /// Its path.
    pub(super) path: PathBuf,
    /// Which of its cases are selected, in order.
    pub(super) picked: Vec<bool>,
}

/// The cases that [`super::outline`] found. Each spec file is read once more when its turn has come, and only its
/// next case is in memory; a file that is not what it was when it was checked ends the iteration with an error.
#[derive(Debug)]
pub struct Cases {
    parts: std::vec::IntoIter<Part>,
    open: Option<(Unfolding, std::vec::IntoIter<bool>)>,
    ready: VecDeque<Case>,
    ledger: Ledger,
    chosen: Vec<String>,
    timeout: Option<Duration>,
}

impl Cases {
    pub(super) fn new(parts: Vec<Part>, ledger: Ledger, chosen: Vec<String>) -> Self {
        let (parts, ready) = (parts.into_iter(), VecDeque::new());
        Cases { parts, open: None, ready, ledger, chosen, timeout: None }
    }

    /// Gives `timeout` to the cases that say none themselves.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Cases { timeout: Some(timeout), ..self }
    }

    /// Makes the next cases ready; `None` after the last.
    fn refill(&mut self) -> Option<()> {
        let Some((unfolding, picked)) = &mut self.open else {
            self.ledger.forget();
            let part = self.parts.next()?;
            let unfolding = Unfolding::open(&part.path, 0, &mut self.ledger);
            self.open = unfolding.map(|unfolding| (unfolding, part.picked.into_iter()));
            return Some(());
        };
        match unfolding.next(&self.chosen, &mut self.ledger) {
            Some(drafts) => {
                let drafts = drafts.into_iter().zip(picked).filter(|(_, picked)| *picked);
                self.ready.extend(drafts.map(|(draft, _)| draft.case));
            }
            None => self.open = None,
        }
        Some(())
    }
}

impl Iterator for Cases {
    type Item = Result<Case, Error>;

    fn next(&mut self) -> Option<Result<Case, Error>> {
        loop {
            if let Some(mut case) = self.ready.pop_front() {
                case.timeout = case.timeout.or(self.timeout);
                return Some(Ok(case));
            }
            self.refill()?;
            if !self.ledger.problems.is_empty() {
                let problems = std::mem::take(&mut self.ledger.problems);
                (self.parts, self.open) = (Vec::new().into_iter(), None);
                self.ready.clear();
                return Some(Err(Error::Specs(in_order(problems))));
            }
        }
    }
}
