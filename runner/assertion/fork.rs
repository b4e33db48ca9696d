//! The verdict at the first token at which two outputs part, shared by `output_ids` and `logits`.

use super::show;
use crate::capture::OutputToken;
use crate::compare::near_tie::gaps;
use crate::compare::walk;
use crate::finding::{Outcome, Status};

/// A fork and the rule for near ties.
pub(super) struct Fork<'a> {
    /// The largest gap of a near tie, in nats; `None` when every different token is a failure.
    pub(super) near_tie: Option<f64>,
    /// Where that tolerance comes from.
    pub(super) because: Option<&'a str>,
    /// Where the outputs part.
    pub(super) at: walk::Fork<'a>,
}

impl Fork<'_> {
    /// A near tie or a failure, with the tokens around the fork.
    pub(super) fn judge(&self, reference: &[OutputToken], candidate: &[OutputToken], wanted: &str) -> Outcome {
        let index = self.at.index;
        let name = |token: Option<&OutputToken>| match token {
            Some(token) => format!("{} {:?}", token.id, token.piece),
            None => "the end".to_owned(),
        };
        let (expected, actual) = (name(self.at.reference), name(self.at.candidate));
        let parted = format!("the outputs part at token {index}: expected {expected}, found {actual}");
        let (status, message) = match self.gap() {
            Some((true, gap)) => (Status::NearTie, format!("{parted}; a near tie, {gap}")),
            Some((false, gap)) => (Status::Fail, format!("{parted}; no near tie, {gap}")),
            None => (Status::Fail, parted),
        };
        let top = self.at.candidate.map_or(&[][..], |token| &token.top);
        let window = show::difference(&show::plain(reference), &show::plain(candidate), index, top);
        let outcome = Outcome::new(status, wanted, format!("{actual} at token {index}"), message)
            .at(format!("token {index}"))
            .differing(window);
        match self.near_tie {
            Some(nats) => outcome.within(tolerance(nats, self.because)),
            None => outcome,
        }
    }

    /// Whether the fork is a near tie, and the gaps in words.
    fn gap(&self) -> Option<(bool, String)> {
        let nats = self.near_tie?;
        let (Some(reference), Some(candidate)) = (self.at.reference, self.at.candidate) else {
            return Some((false, "one side ended".to_owned()));
        };
        Some(match gaps(reference, candidate) {
            Ok(gaps) => {
                let words = format!(
                    "the two tokens are {:.4} nats apart in the reference and {:.4} here",
                    gaps.reference, gaps.candidate
                );
                (gaps.near(nats), words)
            }
            Err(missing) => (false, missing),
        })
    }
}

/// A near-tie tolerance as findings print it.
pub(super) fn tolerance(nats: f64, because: Option<&str>) -> String {
    match because {
        Some(because) => format!("near_tie {nats} nats, because: {because}"),
        None => format!("near_tie {nats} nats"),
    }
}
