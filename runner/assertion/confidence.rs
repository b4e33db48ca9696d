//! `confidence`: how sure the model was of what it wrote.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Span;
use super::{Assert, Info, Scope, View, show};
use crate::capture::{Boundary, OutputToken};
use crate::compare::stats::mean;
use crate::finding::Outcome;

/// Floors and ceilings on the probabilities of the chosen tokens.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// The mean log-probability of the chosen tokens is at least this, in nats.
    #[serde(default)]
    mean_logprob: Option<f64>,
    /// The lowest mean over any run of tokens.
    #[serde(default)]
    lowest_run: Option<LowestRun>,
    /// exp(−mean log-probability) is at most this.
    #[serde(default)]
    perplexity: Option<f64>,
    /// At every position the chosen token is at least this much above the best other one, in nats.
    #[serde(default)]
    margin: Option<f64>,
    /// The share of positions at which the chosen token has a probability of 0.99 or more.
    #[serde(default)]
    locked: Option<Span>,
    /// Where the limits come from.
    #[serde(default)]
    because: Option<String>,
}

/// A floor for every run of so many tokens.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LowestRun {
    /// The length of a run; a shorter output is one run.
    window: usize,
    /// The mean log-probability of every run is at least this, in nats.
    mean_logprob: f64,
}

/// One measured limit.
struct Check {
    expected: String,
    actual: String,
    holds: bool,
    /// The token at which it is worst.
    at: Option<usize>,
}

/// The probability from which a position counts as locked.
const LOCKED: f64 = 0.99;

impl Confidence {
    fn checks(&self, logprobs: &[f64], tokens: &[OutputToken]) -> Result<Vec<Check>, String> {
        let average = mean(logprobs).ok_or("the output has no token")?;
        let mut checks = Vec::new();
        let mut add =
            |expected, actual, holds, at| checks.push(Check { expected, actual, holds, at });
        if let Some(floor) = self.mean_logprob {
            let holds = average >= floor;
            add(
                format!("mean logprob at least {floor}"),
                format!("mean logprob {average:.4}"),
                holds,
                None,
            );
        }
        if let Some(run) = self.lowest_run {
            let (start, lowest) = lowest_run(logprobs, run.window);
            let expected = format!(
                "every run of {} has mean logprob at least {}",
                show::tokens(run.window),
                run.mean_logprob
            );
            add(
                expected,
                format!("lowest run {lowest:.4}"),
                lowest >= run.mean_logprob,
                Some(start),
            );
        }
        if let Some(ceiling) = self.perplexity {
            let perplexity = (-average).exp();
            let actual = format!("perplexity {perplexity:.4}");
            add(format!("perplexity at most {ceiling}"), actual, perplexity <= ceiling, None);
        }
        if let Some(floor) = self.margin {
            let (at, margin) = smallest_margin(tokens)?;
            add(
                format!("margin at least {floor}"),
                format!("smallest margin {margin:.4}"),
                margin >= floor,
                Some(at),
            );
        }
        if let Some(span) = self.locked {
            let locked = logprobs.iter().filter(|logprob| logprob.exp() >= LOCKED).count();
            let share = locked as f64 / logprobs.len() as f64;
            let actual =
                format!("share of locked positions {share:.4} ({locked} of {})", logprobs.len());
            add(format!("share of locked positions {span}"), actual, span.contains(share), None);
        }
        Ok(checks)
    }

    fn describe(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.mean_logprob.map(|floor| format!("mean logprob at least {floor}")));
        parts
            .extend(self.lowest_run.map(|run| format!("lowest run at least {}", run.mean_logprob)));
        parts.extend(self.perplexity.map(|ceiling| format!("perplexity at most {ceiling}")));
        parts.extend(self.margin.map(|floor| format!("margin at least {floor}")));
        parts.extend(self.locked.map(|span| format!("locked {span}")));
        parts.join(" and ")
    }
}

/// The first token and the mean of the lowest run; a NaN is the lowest.
fn lowest_run(logprobs: &[f64], window: usize) -> (usize, f64) {
    let window = window.clamp(1, logprobs.len().max(1));
    let means = logprobs.windows(window).map(|run| mean(run).unwrap_or(f64::NAN)).enumerate();
    means.fold(
        (0, f64::INFINITY),
        |lowest, run| if run.1 < lowest.1 || run.1.is_nan() { run } else { lowest },
    )
}

/// The position and size of the smallest lead of a chosen token over the best other one.
fn smallest_margin(tokens: &[OutputToken]) -> Result<(usize, f64), String> {
    let mut smallest = (0, f64::INFINITY);
    for (index, token) in tokens.iter().enumerate() {
        let other = token.top.iter().find(|top| top.id != token.id);
        let (Some(chosen), Some(other)) = (token.logprob, other) else {
            return Err(format!("no alternative to token {index} was kept"));
        };
        let margin = f64::from(chosen) - f64::from(other.logprob);
        if margin < smallest.1 || margin.is_nan() {
            smallest = (index, margin);
        }
    }
    Ok(smallest)
}

impl Assert for Confidence {
    const INFO: Info = Info {
        name: "confidence",
        boundary: Boundary::Generation,
        summary: "the model was so sure of its output",
        help: "\
Log-probabilities of the chosen tokens under the raw distribution, in nats: the mean, the lowest
mean of any run of `window` tokens, the perplexity exp(-mean), the smallest lead over the
runner-up (negative where the chosen token was not the most likely), and the share of positions
with a probability of 0.99 or more.

    - confidence: { mean_logprob: -0.5, lowest_run: { window: 8, mean_logprob: -2 } }
    - confidence: { perplexity: 1.4, margin: 0.1, because: \"20 reference runs\" }
    - confidence: { locked: { max: 0.95 } }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let tokens = match view.exchange.output_tokens() {
            Ok(tokens) => tokens,
            Err(reason) => return Outcome::hidden(self.describe(), reason),
        };
        let logprobs: Option<Vec<f64>> =
            tokens.iter().map(|token| token.logprob.map(f64::from)).collect();
        let Some(logprobs) = logprobs else {
            return Outcome::hidden(self.describe(), "no log-probability was kept for some token");
        };
        let checks = match self.checks(&logprobs, tokens) {
            Ok(checks) => checks,
            Err(reason) => return Outcome::hidden(self.describe(), &reason),
        };
        let tolerance = match &self.because {
            Some(because) => format!("{}, because: {because}", self.describe()),
            None => self.describe(),
        };
        if let Some(failed) = checks.iter().find(|check| !check.holds) {
            let message = format!("{}, not {}", failed.actual, failed.expected);
            let outcome =
                Outcome::fail(&failed.expected, &failed.actual, message).within(tolerance);
            return match failed.at {
                Some(index) => outcome.at(format!("token {index}")),
                None => outcome,
            };
        }
        let actual: Vec<_> = checks.into_iter().map(|check| check.actual).collect();
        Outcome::pass(self.describe(), actual.join(", ")).within(tolerance)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.describe().is_empty() {
            problems.push("give at least one of `mean_logprob`, `lowest_run`, `perplexity`, `margin`, `locked`".to_owned());
        }
        let floors = [self.mean_logprob, self.lowest_run.map(|run| run.mean_logprob)];
        if floors.iter().flatten().any(|floor| *floor > 0.0 || floor.is_nan()) {
            problems
                .push("a log-probability is never above 0, so this floor cannot hold".to_owned());
        }
        if self.lowest_run.is_some_and(|run| run.window == 0) {
            problems.push("`lowest_run.window` is 0; a run has at least one token".to_owned());
        }
        if self.perplexity.is_some_and(|ceiling| ceiling < 1.0 || ceiling.is_nan()) {
            problems.push("a perplexity is never below 1, so this ceiling cannot hold".to_owned());
        }
        problems.extend(self.locked.map(|span| span.problems("locked")).unwrap_or_default());
        problems
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        edit_generation, exchange, good, hidden, judge, problems, with_top,
    };
    use crate::capture::Exchange;
    use crate::finding::Status;

    /// The good one with an unsure token at 1: a low probability, the runner-up more likely.
    fn unsure() -> Exchange {
        let mut exchange = good();
        edit_generation(&mut exchange, |g| {
            g.tokens.edit()[1] = with_top(21, &[(22, -1.2), (21, -2.3)])
        });
        exchange
    }

    #[test]
    fn every_limit_tells_sure_from_unsure() {
        for (yaml, place) in [
            ("confidence: { mean_logprob: -0.2 }", None),
            ("confidence: { lowest_run: { window: 1, mean_logprob: -1 } }", Some("token 1")),
            ("confidence: { perplexity: 1.2, because: 20 runs }", None),
            ("confidence: { margin: 0 }", Some("token 1")),
        ] {
            let outcome = judge(yaml, &good());
            assert_eq!(outcome.status, Status::Pass, "{yaml}: {}", outcome.message);
            let outcome = judge(yaml, &unsure());
            assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, place), "{yaml}");
            assert_eq!(judge(yaml, &hidden()).status, Status::NotEvaluated, "{yaml}");
        }
    }

    #[test]
    fn locked_positions_are_counted() {
        let mut locked = good();
        edit_generation(&mut locked, |g| {
            g.tokens.edit()[0] = with_top(20, &[(20, -0.001), (21, -7.0)])
        });
        assert_eq!(judge("confidence: { locked: { min: 0.3 } }", &locked).status, Status::Pass);
        assert_eq!(judge("confidence: { locked: { min: 0.3 } }", &good()).status, Status::Fail);
    }

    #[test]
    fn unseen_probabilities_are_not_evaluated_and_nan_fails() {
        let mut bare = good();
        edit_generation(&mut bare, |g| g.tokens.edit()[2].logprob = None);
        assert_eq!(judge("confidence: { mean_logprob: -1 }", &bare).status, Status::NotEvaluated);
        edit_generation(&mut bare, |g| g.tokens.edit()[2].logprob = Some(f32::NAN));
        assert_eq!(judge("confidence: { mean_logprob: -1 }", &bare).status, Status::Fail);
        let nothing = exchange(&[1], &[], "");
        assert_eq!(judge("confidence: { perplexity: 2 }", &nothing).status, Status::NotEvaluated);
    }

    #[test]
    fn limits_that_cannot_hold_are_named() {
        assert!(problems("confidence: {}").contains("at least one"));
        assert!(problems("confidence: { mean_logprob: 0.5 }").contains("never above 0"));
        assert!(problems("confidence: { perplexity: 0.5 }").contains("never below 1"));
        assert!(
            problems("confidence: { lowest_run: { window: 0, mean_logprob: -1 } }")
                .contains("at least one token")
        );
    }
}
