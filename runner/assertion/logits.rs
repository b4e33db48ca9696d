//! `logits`: probabilities against the accepted ones, up to the first divergence.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Against, tolerance_problems};
use super::fork::Fork;
use super::ids::{NO_SNAPSHOT, Seen, against};
use super::{Assert, Info, Needs, Scope, View, show};
use crate::capture::{AcceptedExchange, Boundary, OutputToken};
use crate::compare::walk::walk;
use crate::finding::Outcome;

mod measure;

use measure::Measured;

/// Tolerances on probabilities.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Logits {
    /// What the probabilities are compared with.
    against: Against,
    /// The largest difference of a log-probability, chosen token and listed alternatives, in nats.
    #[serde(default)]
    atol: Option<f64>,
    /// The largest KL(accepted ‖ now) at one position, in nats; the lower bound that the lists prove.
    #[serde(default)]
    kl: Option<f64>,
    /// The least share of positions with the same most likely token, 0 to 1.
    #[serde(default)]
    top1_agreement: Option<f64>,
    /// The largest gap in nats, on both sides, at which a different token is a near tie.
    #[serde(default)]
    near_tie: Option<f64>,
    /// Where the tolerances come from.
    because: String,
}

impl Logits {
    /// The tolerances in one line.
    fn limits(&self) -> String {
        let named = [
            ("atol", self.atol),
            ("kl", self.kl),
            ("top1_agreement", self.top1_agreement),
            ("near_tie", self.near_tie),
        ];
        let set: Vec<_> = named
            .iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)))
            .collect();
        set.join(", ")
    }

    /// The worst of what was measured, if it breaks a tolerance.
    fn broken(&self, measured: &Measured) -> Option<(String, Option<usize>)> {
        if let (Some(atol), Some(worst)) = (self.atol, &measured.difference)
            && exceeds(worst.value, atol)
        {
            let message = format!(
                "the log-probability of token {} {:?} moved by {:.6} nats at token {}, more than {atol}",
                worst.id, worst.piece, worst.value, worst.index
            );
            return Some((message, Some(worst.index)));
        }
        if let (Some(kl), Some(worst)) = (self.kl, &measured.kl)
            && exceeds(worst.nats, kl)
        {
            let message = format!(
                "the distribution at token {} moved by a KL of at least {:.6} nats, more than {kl}",
                worst.index, worst.nats
            );
            return Some((message, Some(worst.index)));
        }
        let least = self.top1_agreement?;
        let share = measured.agreement()?;
        (share < least).then(|| {
            let message = format!(
                "the most likely token is the same at {} of {} positions ({share:.4}), fewer than {least}",
                measured.agreeing, measured.compared
            );
            (message, measured.first_disagreement)
        })
    }

    /// Which of the tolerances had nothing to measure.
    fn unmeasured(&self, measured: &Measured) -> Option<&'static str> {
        let empty = [
            (self.atol.is_some() && measured.difference.is_none(), "log-probabilities were"),
            (self.kl.is_some() && measured.kl.is_none(), "top lists were"),
            (self.top1_agreement.is_some() && measured.compared == 0, "top lists were"),
        ];
        empty.iter().find_map(|(unmeasured, what)| unmeasured.then_some(*what))
    }

    fn compare(&self, reference: &[OutputToken], candidate: &[OutputToken]) -> Outcome {
        let (shared, fork) = walk(reference, candidate);
        let measured = Measured::of(&shared);
        let tolerance = format!("{}, because: {}", self.limits(), self.because);
        if let Some((message, index)) = self.broken(&measured) {
            let outcome =
                Outcome::fail(self.limits(), measured.to_string(), message).within(tolerance);
            let Some(index) = index else { return outcome };
            let top = candidate.get(index).map_or(&[][..], |token| &token.top);
            let window =
                show::difference(&show::plain(reference), &show::plain(candidate), index, top);
            return outcome.at(format!("token {index}")).differing(window);
        }
        if let Some(at) = fork {
            let fork = Fork { near_tie: self.near_tie, because: Some(&self.because), at };
            return fork.judge(reference, candidate, &self.limits()).within(tolerance);
        }
        if let Some(what) = self.unmeasured(&measured) {
            let reason = format!("no {what} kept on both sides");
            return Outcome::hidden(self.limits(), &reason).within(tolerance);
        }
        Outcome::pass(self.limits(), measured.to_string()).within(tolerance)
    }
}

/// Above a limit; a NaN is.
fn exceeds(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

/// Whether the prompt is the accepted one, as far as both were seen.
pub(super) fn same_prompt(view: &View<'_>, accepted: &AcceptedExchange) -> bool {
    let (Ok(tokens), Some(before)) = (view.exchange.prompt_tokens(), &accepted.input) else {
        return true;
    };
    let seen = Seen { what: "prompt", tokens, output: &[] };
    against(&seen, before).is_none()
}

impl Assert for Logits {
    const INFO: Info = Info {
        name: "logits",
        boundary: Boundary::Generation,
        summary: "probabilities are those of the accepted output, within stated tolerances",
        help: "\
The outputs are walked to the first different token; tolerances apply up to there, since later
positions answer a different question. `atol` bounds the change of any log-probability, `kl` the
divergence at any position (as far as the top lists prove it), `top1_agreement` the share of
positions with the same most likely token. A different token fails, unless both tokens are in
both lists and within `near_tie` nats in each. `because` says where the tolerances come from.

    - logits: { against: accepted, atol: 0.02, near_tie: 0.125, because: \"two CPUs, 20 runs\" }
    - logits: { against: accepted, kl: 0.01, top1_agreement: 0.99, because: \"q8_0 against f16\" }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let Against::Accepted = self.against;
        let tokens = match view.exchange.output_tokens() {
            Ok(tokens) => tokens,
            Err(reason) => return Outcome::hidden(self.limits(), reason),
        };
        let Some(accepted) = view.accepted_exchange() else {
            return Outcome::hidden(self.limits(), NO_SNAPSHOT);
        };
        let Some(reference) = &accepted.output else {
            return Outcome::hidden(self.limits(), NO_SNAPSHOT);
        };
        if !same_prompt(view, accepted) {
            let reason = "the prompt is not the accepted one, so the probabilities answer a different question";
            return Outcome::hidden(self.limits(), reason);
        }
        self.compare(reference, tokens)
    }

    fn problems(&self) -> Vec<String> {
        let because = Some(self.because.as_str());
        let mut problems = Vec::new();
        for (name, value) in [("atol", self.atol), ("kl", self.kl), ("near_tie", self.near_tie)] {
            problems.extend(tolerance_problems(name, value, because));
        }
        if self.top1_agreement.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            problems.push("`top1_agreement` is a share between 0 and 1".to_owned());
        }
        if self.atol.is_none() && self.kl.is_none() && self.top1_agreement.is_none() {
            problems.push("give at least one of `atol`, `kl` and `top1_agreement`".to_owned());
        }
        problems
    }

    fn needs(&self) -> Needs {
        Needs { accepted: Some(Boundary::Generation), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests;
