//! `confidence`: how sure the model was of what it wrote.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assert, Info, Scope, View, show};
use crate::capture::{Boundary, OutputToken};
use crate::finding::Outcome;

/// How sure the model must have been; everything that is written must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Confidence {
    /// The mean natural log-probability of the output tokens is at least this.
    pub min_mean_logprob: Option<f64>,
    /// The mean over any `window` neighbouring tokens is at least this.
    pub min_window_logprob: Option<f64>,
    /// How many tokens a window has; 8 when left out.
    pub window: Option<usize>,
    /// The perplexity of the output under the model, exp(-mean log-probability), is at most this.
    pub max_perplexity: Option<f64>,
    /// At every token, the chosen one is ahead of the runner-up by at least this many nats.
    pub min_margin: Option<f64>,
    /// At most this share of the tokens has a probability of one, up to rounding.
    pub max_locked: Option<f64>,
}

/// A probability this close to one counts as locked: the log-probability in f32 is -1e-6 or nearer to 0.
const LOCKED: f32 = -1e-6;

impl Assert for Confidence {
    const INFO: Info = Info {
        name: "confidence",
        boundary: Boundary::Generation,
        summary: "the model was this sure of what it wrote",
        help: "\
Read from the log-probabilities of the chosen tokens under the raw distribution, before penalties
and temperature. A model with a broken kernel or a wrong template writes fluent text that it is not
sure of: the mean falls, or a run of tokens does.

    - confidence: { min_mean_logprob: -0.5 }
    - confidence: { min_window_logprob: -2, window: 8 }
    - confidence: { max_perplexity: 1.6, min_margin: 0.1, max_locked: 0.99 }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = self.expected();
        let tokens = match view.exchange.generation.seen() {
            Ok(generation) => &generation.tokens,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let Some(logprobs) = tokens.iter().map(|token| token.logprob).collect::<Option<Vec<f32>>>()
        else {
            return Outcome::hidden(expected, "the log-probabilities of the tokens were not shown");
        };
        if logprobs.is_empty() {
            return Outcome::hidden(expected, "no token was generated");
        }
        let measured = Measured::of(tokens, &logprobs, self.window());
        match self.broken(&measured, tokens) {
            None => Outcome::pass(expected, measured.to_string()),
            Some((at, message)) => {
                Outcome::fail(expected, measured.to_string(), message).at(format!("token {at}"))
            }
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let bounds = [
            self.min_mean_logprob,
            self.min_window_logprob,
            self.max_perplexity,
            self.min_margin,
            self.max_locked,
        ];
        if bounds.iter().all(Option::is_none) {
            problems.push(
                "`confidence` needs at least one bound, such as `min_mean_logprob`".to_owned(),
            );
        }
        for (name, bound) in [
            ("min_mean_logprob", self.min_mean_logprob),
            ("min_window_logprob", self.min_window_logprob),
        ] {
            if bound.is_some_and(|bound| bound > 0.0) {
                problems.push(format!("`{name}` is a log-probability, which is never above 0"));
            }
        }
        if self.max_perplexity.is_some_and(|bound| bound < 1.0) {
            problems.push("`max_perplexity` is never below 1".to_owned());
        }
        if self.max_locked.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            problems.push("`max_locked` is a share between 0 and 1".to_owned());
        }
        if self.window == Some(0) {
            problems.push("`window` is at least 1".to_owned());
        }
        if self.window.is_some() && self.min_window_logprob.is_none() {
            problems.push("`window` has no effect without `min_window_logprob`".to_owned());
        }
        problems
    }
}

impl Confidence {
    fn window(&self) -> usize {
        self.window.unwrap_or(8).max(1)
    }

    fn expected(&self) -> String {
        let bounds = [
            ("mean logprob >=", self.min_mean_logprob),
            ("every window >=", self.min_window_logprob),
            ("perplexity <=", self.max_perplexity),
            ("margin >=", self.min_margin),
            ("locked <=", self.max_locked),
        ];
        let written =
            bounds.iter().filter_map(|(name, bound)| Some(format!("{name} {}", (*bound)?)));
        written.collect::<Vec<_>>().join(", ")
    }

    /// The first bound that does not hold: the token it points at, and a sentence.
    fn broken(&self, measured: &Measured, tokens: &[OutputToken]) -> Option<(usize, String)> {
        let piece = |at: usize| format!("{:?}", tokens[at].piece);
        let lowest = measured.lowest;
        if let Some(bound) = self.min_mean_logprob.filter(|bound| measured.mean < *bound) {
            let text = format!(
                "the mean log-probability is {:.4}, under {bound}; lowest at token {lowest} {}",
                measured.mean,
                piece(lowest)
            );
            return Some((lowest, text));
        }
        if let Some(bound) = self.min_window_logprob.filter(|bound| measured.window.1 < *bound) {
            let (start, mean) = measured.window;
            let end = (start + self.window()).min(tokens.len());
            let text = format!(
                "tokens {start} to {} have a mean log-probability of {mean:.4}, under {bound}",
                end - 1
            );
            return Some((start, text));
        }
        if let Some(bound) = self.max_perplexity.filter(|bound| (-measured.mean).exp() > *bound) {
            let text = format!("the perplexity is {:.4}, over {bound}", (-measured.mean).exp());
            return Some((lowest, text));
        }
        if let Some(bound) = self.min_margin {
            let (at, margin) = measured.margin?;
            if margin < bound {
                let text = format!(
                    "token {at} {} is only {margin:.4} nats ahead of the runner-up",
                    piece(at)
                );
                return Some((at, text));
            }
        }
        let bound = self.max_locked.filter(|bound| measured.locked > *bound)?;
        let share = measured.locked * 100.0;
        Some((
            0,
            format!(
                "{share:.1} % of the tokens have a probability of one, more than {:.1} %",
                bound * 100.0
            ),
        ))
    }
}

/// What was measured of one output.
struct Measured {
    mean: f64,
    /// The token with the lowest log-probability.
    lowest: usize,
    /// The start and the mean of the lowest window.
    window: (usize, f64),
    /// The token with the smallest margin, where the alternatives were shown.
    margin: Option<(usize, f64)>,
    /// The share of tokens at a probability of one.
    locked: f64,
    count: usize,
}

impl Measured {
    /// `logprobs` has one entry per token, and at least one.
    fn of(tokens: &[OutputToken], logprobs: &[f32], window: usize) -> Measured {
        let mean = |values: &[f32]| {
            values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64
        };
        let by_value = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        let lowest = logprobs.iter().copied().map(f64::from).enumerate().min_by(by_value);
        let windows = logprobs.windows(window.min(logprobs.len()));
        let lowest_window = windows.map(mean).enumerate().min_by(by_value);
        let margins = tokens.iter().enumerate().filter_map(|(n, token)| Some((n, margin(token)?)));
        let locked = logprobs.iter().filter(|logprob| **logprob >= LOCKED).count();
        Measured {
            mean: mean(logprobs),
            lowest: lowest.map_or(0, |(n, _)| n),
            window: lowest_window.unwrap_or((0, 0.0)),
            margin: margins.min_by(by_value),
            locked: locked as f64 / logprobs.len() as f64,
            count: logprobs.len(),
        }
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mean {:.4}, lowest window {:.4}", self.mean, self.window.1)?;
        if let Some((_, margin)) = self.margin {
            write!(f, ", smallest margin {margin:.4}")?;
        }
        write!(f, ", over {}", show::tokens(self.count))
    }
}

/// By how many nats the chosen token is ahead of the best other one; below 0 when it is not the best.
fn margin(token: &OutputToken) -> Option<f64> {
    let other = token.top.iter().find(|other| other.id != token.id)?;
    Some(f64::from(token.logprob?) - f64::from(other.logprob))
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{edit_generation, good, hidden, judge, problems, with_top};
    use crate::finding::Status;

    #[test]
    fn the_mean_and_the_perplexity_are_bounded() {
        // Every token of the sample has a log-probability of -0.10536.
        for (yaml, status) in [
            ("confidence: { min_mean_logprob: -0.2 }", Status::Pass),
            ("confidence: { min_mean_logprob: -0.1 }", Status::Fail),
            ("confidence: { max_perplexity: 1.2 }", Status::Pass),
            ("confidence: { max_perplexity: 1.1 }", Status::Fail),
            ("confidence: { min_margin: 2 }", Status::Pass),
            ("confidence: { min_margin: 3 }", Status::Fail),
            ("confidence: { max_locked: 0 }", Status::Pass),
        ] {
            assert_eq!(judge(yaml, &good()).status, status, "{yaml}");
        }
    }

    #[test]
    fn a_low_run_is_found_where_the_mean_is_high() {
        let mut exchange = good();
        edit_generation(&mut exchange, |generation| {
            generation.tokens = (0..20).map(|id| with_top(id, &[(id, -0.01)])).collect();
            for id in 10..12 {
                generation.tokens[id as usize] = with_top(id, &[(id, -3.0)]);
            }
        });
        let yaml = "confidence: { min_mean_logprob: -0.5, min_window_logprob: -2, window: 2 }";
        let outcome = judge(yaml, &exchange);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 10")));
        assert!(outcome.message.contains("tokens 10 to 11"), "{}", outcome.message);
    }

    #[test]
    fn a_probability_of_one_everywhere_is_locked() {
        let mut exchange = good();
        edit_generation(&mut exchange, |generation| {
            generation.tokens = (0..4).map(|id| with_top(id, &[(id, 0.0)])).collect();
        });
        assert_eq!(judge("confidence: { max_locked: 0.9 }", &exchange).status, Status::Fail);
    }

    #[test]
    fn what_was_not_shown_is_not_evaluated() {
        let yaml = "confidence: { min_mean_logprob: -1 }";
        assert_eq!(judge(yaml, &hidden()).status, Status::NotEvaluated);
        let mut exchange = good();
        edit_generation(&mut exchange, |generation| generation.tokens[1].logprob = None);
        assert_eq!(judge(yaml, &exchange).status, Status::NotEvaluated);
    }

    #[test]
    fn senseless_bounds_are_named() {
        assert!(problems("confidence: {}").contains("at least one bound"));
        assert!(problems("confidence: { min_mean_logprob: 1 }").contains("never above 0"));
        assert!(problems("confidence: { max_perplexity: 0.5 }").contains("never below 1"));
        assert!(problems("confidence: { max_perplexity: 2, window: 3 }").contains("no effect"));
        assert!(problems("confidence: { max_locked: 2 }").contains("between 0 and 1"));
    }
}
