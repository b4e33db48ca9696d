//! Near ties: two outputs part where both tokens were almost equally likely.

use crate::capture::OutputToken;

/// How far apart the two tokens of a fork are, in nats, in each distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaps {
    /// Under the reference.
    pub reference: f32,
    /// Under the candidate.
    pub candidate: f32,
}

impl Gaps {
    /// The larger of the two; NaN when either is.
    pub fn largest(self) -> f32 {
        if self.reference.is_nan() || self.reference > self.candidate { self.reference } else { self.candidate }
    }

    /// Whether both are within `tolerance` nats. A NaN is not.
    pub fn near(self, tolerance: f64) -> bool {
        f64::from(self.reference) <= tolerance && f64::from(self.candidate) <= tolerance
    }
}

/// The gaps between the two chosen tokens of a fork.
///
/// # Errors
/// Which token is missing from which list: then nothing is known of the gap, and it is not near.
pub fn gaps(reference: &OutputToken, candidate: &OutputToken) -> Result<Gaps, String> {
    let gap = |side: &str, seen: &OutputToken| {
        let first = logprob(seen, reference.id).ok_or_else(|| missing(side, reference))?;
        let second = logprob(seen, candidate.id).ok_or_else(|| missing(side, candidate))?;
        Ok::<f32, String>((first - second).abs())
    };
    Ok(Gaps { reference: gap("reference", reference)?, candidate: gap("candidate", candidate)? })
}

/// The log-probability of an id at a position: from the list, or the chosen token's own.
pub fn logprob(seen: &OutputToken, id: u32) -> Option<f32> {
    let listed = seen.top.iter().find(|top| top.id == id).map(|top| top.logprob);
    listed.or(if seen.id == id { seen.logprob } else { None })
}

fn missing(side: &str, token: &OutputToken) -> String {
    format!("token {} {:?} is not in the {side}'s list", token.id, token.piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::sample::with_top;

    #[test]
    fn both_gaps_must_be_near() {
        let reference = with_top(5, &[(5, -0.70), (6, -0.75)]);
        let candidate = with_top(6, &[(6, -0.60), (5, -0.90)]);
        let gaps = gaps(&reference, &candidate).unwrap();
        assert!((gaps.reference - 0.05).abs() < 1e-6 && (gaps.candidate - 0.30).abs() < 1e-6);
        assert!(gaps.near(0.31) && !gaps.near(0.2));
        assert!((gaps.largest() - 0.30).abs() < 1e-6);
    }

    #[test]
    fn a_token_outside_a_list_is_never_near() {
        let reference = with_top(5, &[(5, -0.1), (7, -3.0)]);
        let candidate = with_top(6, &[(6, -0.1), (5, -0.2)]);
        let error = gaps(&reference, &candidate).unwrap_err();
        assert!(error.contains("token 6") && error.contains("reference's list"), "{error}");
    }

    #[test]
    fn nan_is_not_near() {
        let reference = with_top(5, &[(5, f32::NAN), (6, -0.7)]);
        let candidate = with_top(6, &[(6, -0.7), (5, -0.7)]);
        let gaps = gaps(&reference, &candidate).unwrap();
        assert!(!gaps.near(10.0) && gaps.largest().is_nan());
    }
}
