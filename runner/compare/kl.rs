//! A lower bound of the Kullback-Leibler divergence from two truncated top lists.

use crate::capture::TopToken;

/// A bound in nats and how much of the reference it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// KL(reference ‖ candidate) is at least this.
    pub nats: f64,
    /// The reference's probability mass on ids that both lists have.
    pub coverage: f64,
}

/// The largest KL(reference ‖ candidate) that the two lists prove.
///
/// Ids of both lists count each on their own. What the candidate's list lacks (`missing`) and what the
/// reference's list lacks (`rest`) count as one lump each: lumping never raises the divergence, and a missing id
/// is at most as likely as the last one listed. `None` when a list is empty.
pub fn lower_bound(reference: &[TopToken], candidate: &[TopToken]) -> Option<Bound> {
    let last = candidate.iter().map(|top| f64::from(top.logprob).exp()).reduce(f64::min)?;
    if reference.is_empty() {
        return None;
    }
    let (mut nats, mut shared_p, mut shared_q, mut missing_p, mut missing) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for top in reference {
        let p = f64::from(top.logprob).exp();
        match candidate.iter().find(|other| other.id == top.id) {
            Some(other) => {
                let q = f64::from(other.logprob).exp();
                nats += term(p, q);
                shared_p += p;
                shared_q += q;
            }
            None => {
                missing_p += p;
                missing += 1.0;
            }
        }
    }
    // Rounding in f32 can carry a full list past 1.
    let rest_p = (1.0 - shared_p - missing_p).max(0.0);
    let left_q = (1.0 - shared_q).max(f64::from(f32::EPSILON));
    if missing_p > 0.0 {
        // The division of the candidate's unseen mass that gives the smallest divergence.
        let missing_q = (missing * last).min(left_q * missing_p / (missing_p + rest_p));
        nats += term(missing_p, missing_q) + term(rest_p, left_q - missing_q);
    } else {
        nats += term(rest_p, left_q);
    }
    let nats = if nats.is_nan() { nats } else { nats.max(0.0) };
    Some(Bound { nats, coverage: shared_p })
}

fn term(p: f64, q: f64) -> f64 {
    // Mass below the rounding of f32 log-probabilities is noise.
    if p < f64::from(f32::EPSILON) { 0.0 } else { p * (p / q).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::sample::with_top;

    fn list(probabilities: &[(u32, f64)]) -> Vec<TopToken> {
        let logs: Vec<(u32, f32)> = probabilities.iter().map(|(id, p)| (*id, p.ln() as f32)).collect();
        with_top(probabilities[0].0, &logs).top
    }

    #[test]
    fn whole_lists_give_the_exact_divergence() {
        let (p, q) = (list(&[(1, 0.5), (2, 0.5)]), list(&[(1, 0.75), (2, 0.25)]));
        let exact = 0.5 * (0.5f64 / 0.75).ln() + 0.5 * (0.5f64 / 0.25).ln();
        let bound = lower_bound(&p, &q).unwrap();
        assert!((bound.nats - exact).abs() < 1e-6, "{bound:?}");
        assert!((bound.coverage - 1.0).abs() < 1e-6);
    }

    #[test]
    fn equal_lists_are_zero_apart() {
        let p = list(&[(1, 0.6), (2, 0.3)]);
        assert!(lower_bound(&p, &p).unwrap().nats < 1e-6);
    }

    #[test]
    fn a_missing_id_is_at_most_as_likely_as_the_last_listed() {
        // The truth: q(3) = 0.02, the rest 0.03.
        let p = list(&[(1, 0.5), (3, 0.4)]);
        let q = list(&[(1, 0.90), (2, 0.05)]);
        let truth = 0.5 * (0.5f64 / 0.9).ln() + 0.4 * (0.4f64 / 0.02).ln() + 0.1 * (0.1f64 / 0.08).ln();
        let bound = lower_bound(&p, &q).unwrap();
        assert!(bound.nats > 0.3 && bound.nats <= truth, "{bound:?} against {truth}");
    }

    #[test]
    fn truncation_never_raises_the_bound() {
        let p = list(&[(1, 0.5), (2, 0.3), (3, 0.2)]);
        let q = list(&[(1, 0.3), (2, 0.3), (3, 0.4)]);
        let whole = lower_bound(&p, &q).unwrap().nats;
        for (a, b) in [(2, 3), (3, 2), (1, 3), (1, 1)] {
            assert!(lower_bound(&p[..a], &q[..b]).unwrap().nats <= whole + 1e-6);
        }
        assert!(lower_bound(&[], &q).is_none() && lower_bound(&p, &[]).is_none());
    }
}
