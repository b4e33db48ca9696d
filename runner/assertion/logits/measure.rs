//! What two outputs differ by, over the prefix that they share.

use std::fmt;

use crate::compare::kl::lower_bound;
use crate::compare::near_tie::logprob;
use crate::compare::walk::{Position, SharedPrefix};

/// The largest change of a log-probability.
pub(super) struct Change {
    pub(super) value: f64,
    pub(super) index: usize,
    pub(super) id: u32,
    pub(super) piece: String,
}

/// The largest divergence at one position.
pub(super) struct Divergence {
    pub(super) nats: f64,
    pub(super) coverage: f64,
    pub(super) index: usize,
}

/// The differences over a shared prefix; `None` where nothing could be measured.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) difference: Option<Change>,
    pub(super) kl: Option<Divergence>,
    /// Positions at which both sides kept a top list.
    pub(super) compared: usize,
    /// Those of them with the same most likely token.
    pub(super) agreeing: usize,
    pub(super) first_disagreement: Option<usize>,
}

impl Measured {
    /// Measures every position whose distributions are comparable.
    pub(super) fn of(shared: &SharedPrefix<'_>) -> Self {
        let mut measured = Measured::default();
        for position in shared.distributions() {
            measured.change(&position);
            measured.divergence(&position);
            measured.agree(&position);
        }
        measured
    }

    /// The share of positions with the same most likely token.
    pub(super) fn agreement(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.agreeing as f64 / self.compared as f64)
    }

    fn change(&mut self, position: &Position<'_>) {
        let chosen = (position.reference.id, &position.reference.piece, position.reference.logprob);
        let listed = position.reference.top.iter().map(|top| (top.id, &top.piece, Some(top.logprob)));
        for (id, piece, before) in std::iter::once(chosen).chain(listed) {
            let (Some(before), Some(now)) = (before, logprob(position.candidate, id)) else { continue };
            // Two impossible tokens are equally impossible; their difference would be NaN.
            let value = if before == now { 0.0 } else { (f64::from(before) - f64::from(now)).abs() };
            if self.difference.as_ref().is_none_or(|worst| worse(value, worst.value)) {
                let index = position.index;
                self.difference = Some(Change { value, index, id, piece: piece.clone() });
            }
        }
    }

    fn divergence(&mut self, position: &Position<'_>) {
        let Some(bound) = lower_bound(&position.reference.top, &position.candidate.top) else { return };
        if self.kl.as_ref().is_none_or(|worst| worse(bound.nats, worst.nats)) {
            let index = position.index;
            self.kl = Some(Divergence { nats: bound.nats, coverage: bound.coverage, index });
        }
    }

    fn agree(&mut self, position: &Position<'_>) {
        let (Some(before), Some(now)) = (position.reference.top.first(), position.candidate.top.first()) else {
            return;
        };
        self.compared += 1;
        if before.id == now.id {
            self.agreeing += 1;
        } else if self.first_disagreement.is_none() {
            self.first_disagreement = Some(position.index);
        }
    }
}

/// Larger, or the first NaN.
fn worse(value: f64, than: f64) -> bool {
    value > than || (value.is_nan() && !than.is_nan())
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(worst) = &self.difference {
            parts.push(format!("largest difference {:.6} at token {}", worst.value, worst.index));
        }
        if let Some(worst) = &self.kl {
            parts.push(format!(
                "largest KL at least {:.6} at token {} (coverage {:.3})",
                worst.nats, worst.index, worst.coverage
            ));
        }
        if self.compared > 0 {
            parts.push(format!("same most likely token at {} of {}", self.agreeing, self.compared));
        }
        f.write_str(&parts.join(", "))
    }
}
