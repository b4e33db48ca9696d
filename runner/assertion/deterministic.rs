//! `deterministic`: every run of the case generates the same tokens.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Never, Short, Shorthand, tolerance_problems};
use super::{Assert, Info, Needs, Scope, View, show};
use crate::capture::{Boundary, Exchange, Run, Token};
use crate::compare::walk::{SharedPrefix, first_difference, walk};
use crate::finding::Outcome;

/// How often and how hard the case is run again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Deterministic(Shorthand<Arguments>);

/// The arguments in their long form.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DeterministicArguments")]
struct Arguments {
    /// So many runs one after the other, the first included; 2 or more.
    repeats: Option<usize>,
    /// Further runs, so many at the same time.
    under_load: Option<usize>,
    /// The largest difference of a chosen token's log-probability, in nats; ids alone count without it.
    logprobs_atol: Option<f64>,
    /// Where the tolerance comes from.
    because: Option<String>,
}

impl Short for Arguments {
    const FORMS: &'static str =
        "a number of runs, or a mapping with `repeats`, `under_load`, `logprobs_atol` or `because`";
    const TYPES: &'static [&'static str] = &["integer"];
    type Item = Never;

    fn from_number(number: u64) -> Option<Self> {
        Some(Arguments { repeats: usize::try_from(number).ok(), ..Arguments::default() })
    }
}

impl Arguments {
    fn describe(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.repeats.map(|n| format!("{n} runs")));
        parts.extend(self.under_load.map(|n| format!("runs at load {n}")));
        let atol = self.logprobs_atol.map(|atol| format!(" and log-probabilities within {atol}"));
        format!("the same ids in {}{}", parts.join(" and "), atol.unwrap_or_default())
    }

    fn tolerance(&self) -> Option<String> {
        let because = self.because.as_deref().unwrap_or("not said");
        Some(format!("logprobs_atol {}, because: {because}", self.logprobs_atol?))
    }

    /// Why there are too few runs to judge.
    fn lacking(&self, runs: &[Run]) -> Option<String> {
        let alone = runs.iter().filter(|run| run.load <= 1).count();
        let loaded = runs.len() - alone;
        if let Some(repeats) = self.repeats
            && alone < repeats
        {
            return Some(format!("{alone} of {repeats} runs are there"));
        }
        (self.under_load.is_some() && loaded == 0).then(|| "no run under load is there".to_owned())
    }

    /// The first difference between two answers to one request.
    fn compare(&self, name: &str, first: &Exchange, other: &Exchange) -> Option<Outcome> {
        let expected = self.describe();
        let ids = |tokens: &[Token]| tokens.iter().map(|token| token.id).collect::<Vec<_>>();
        if let (Ok(a), Ok(b)) = (first.prompt_tokens(), other.prompt_tokens())
            && let Some(index) = first_difference(&ids(a), &ids(b))
        {
            let message = format!("{name} already has another prompt at token {index}");
            return Some(
                Outcome::fail(expected, "different prompt ids", message)
                    .at(format!("prompt token {index}"))
                    .differing(show::difference(a, b, index, &[])),
            );
        }
        let (a, b) = match (first.output_tokens(), other.output_tokens()) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(reason), _) | (_, Err(reason)) => return Some(Outcome::hidden(expected, reason)),
        };
        let (shared, fork) = walk(a, b);
        if let Some(fork) = fork {
            let index = fork.index;
            let top = fork.candidate.map_or(&[][..], |token| &token.top);
            let window = show::difference(&show::plain(a), &show::plain(b), index, top);
            let message = format!("{name} parts from run 1 at token {index}");
            return Some(
                Outcome::fail(expected, "different ids", message)
                    .at(format!("token {index}"))
                    .differing(window),
            );
        }
        self.logprobs(name, &shared)
    }

    fn logprobs(&self, name: &str, shared: &SharedPrefix<'_>) -> Option<Outcome> {
        let atol = self.logprobs_atol?;
        for position in shared.chosen() {
            let (Some(a), Some(b)) = (position.reference.logprob, position.candidate.logprob)
            else {
                let reason = format!("no log-probability of token {} was kept", position.index);
                return Some(Outcome::hidden(self.describe(), &reason));
            };
            let difference = f64::from(a) - f64::from(b);
            if difference.abs() > atol || difference.is_nan() {
                let index = position.index;
                let message = format!(
                    "{name} has the ids of run 1, but at token {index} a log-probability {:.6} nats away, more than {atol}",
                    difference.abs()
                );
                let actual = format!("{a} and {b}");
                return Some(
                    Outcome::fail(self.describe(), actual, message).at(format!("token {index}")),
                );
            }
        }
        None
    }
}

/// Compares two runs exchange by exchange.
fn runs(arguments: &Arguments, name: &str, first: &Run, other: &Run) -> Option<Outcome> {
    for (turn, (a, b)) in first.exchanges.iter().zip(&other.exchanges).enumerate() {
        let Some(outcome) = arguments.compare(name, a, b) else { continue };
        let place = outcome.at.as_deref().map(|at| format!("{name}, reply {}, {at}", turn + 1));
        return Some(match place {
            Some(place) => outcome.at(place),
            None => outcome,
        });
    }
    if let Some(error) = first.error.as_ref().or(other.error.as_ref()) {
        let reason = format!("a run ended early: {}", error.message);
        return Some(Outcome::hidden(arguments.describe(), &reason));
    }
    if first.exchanges.len() == other.exchanges.len() {
        return None;
    }
    let (a, b) = (first.exchanges.len(), other.exchanges.len());
    let message = format!("{name} has {b} replies, run 1 has {a}");
    Some(Outcome::fail(arguments.describe(), format!("{b} replies"), message))
}

impl Assert for Deterministic {
    const INFO: Info = Info {
        name: "deterministic",
        boundary: Boundary::Generation,
        summary: "every run generates the same ids, alone and under load",
        help: "\
The case is run again and each run is compared with the first, reply by reply. `under_load` adds
runs at that concurrency, which batching and prefix caches can change.

    - deterministic: 3
    - deterministic: { repeats: 2, under_load: 8 }
    - deterministic: { repeats: 3, logprobs_atol: 0.000001, because: \"one CPU, one thread\" }",
        scope: Scope::Whole,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let all = &view.capture.runs;
        let expected = self.0.describe();
        let outcome = match (self.0.lacking(all), all.split_first()) {
            (Some(reason), _) => Outcome::hidden(expected, &reason),
            (None, None) => Outcome::hidden(expected, "there is no run"),
            (None, Some((first, others))) => {
                let compared = others.iter().enumerate().find_map(|(index, other)| {
                    let load = if other.load > 1 {
                        format!(" at load {}", other.load)
                    } else {
                        String::new()
                    };
                    runs(&self.0, &format!("run {}{load}", index + 2), first, other)
                });
                match compared {
                    None => Outcome::pass(expected, format!("{} equal runs", all.len())),
                    Some(outcome) => outcome,
                }
            }
        };
        match self.0.tolerance() {
            Some(tolerance) => outcome.within(tolerance),
            None => outcome,
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems =
            tolerance_problems("logprobs_atol", self.0.logprobs_atol, self.0.because.as_deref());
        if self.0.repeats.is_none() && self.0.under_load.is_none() {
            problems.push("give `repeats`, `under_load` or both".to_owned());
        }
        for (name, value) in [("repeats", self.0.repeats), ("under_load", self.0.under_load)] {
            if value.is_some_and(|value| value < 2) {
                problems.push(format!("`{name}` below 2 compares nothing"));
            }
        }
        problems
    }

    fn needs(&self) -> Needs {
        let repeats = self.0.repeats.unwrap_or(1);
        Needs { repeats, load: self.0.under_load.unwrap_or(0), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        capture, edit_generation, exchange, good, hidden, judge_capture, problems, read, run,
    };
    use crate::capture::{Capture, Exchange, Failure};
    use crate::finding::{Outcome, Status};

    fn repeated(second: Exchange) -> Capture {
        let mut capture = capture(vec![good()]);
        capture.runs.push(run(vec![second]));
        capture
    }

    fn judge(yaml: &str, capture: &Capture) -> Outcome {
        judge_capture(yaml, capture, None)
    }

    #[test]
    fn equal_runs_pass_and_another_token_fails() {
        assert_eq!(judge("deterministic: 2", &repeated(good())).status, Status::Pass);
        let outcome =
            judge("deterministic: 2", &repeated(exchange(&[10, 11, 12, 13], &[20, 22, 2], "")));
        assert_eq!(
            (outcome.status, outcome.at.as_deref()),
            (Status::Fail, Some("run 2, reply 1, token 1"))
        );
        assert!(outcome.difference.is_some());
    }

    #[test]
    fn a_run_under_load_is_named() {
        let mut capture = repeated(exchange(&[10, 11, 12, 13], &[20], ""));
        capture.runs[1].load = 8;
        let outcome = judge("deterministic: { under_load: 8 }", &capture);
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.message.contains("at load 8"), "{}", outcome.message);
        capture.runs[1].exchanges = vec![good()];
        assert_eq!(judge("deterministic: { under_load: 8 }", &capture).status, Status::Pass);
        capture.runs[1].load = 1;
        assert_eq!(
            judge("deterministic: { under_load: 8 }", &capture).status,
            Status::NotEvaluated
        );
    }

    #[test]
    fn log_probabilities_count_only_when_asked_for() {
        let mut other = good();
        edit_generation(&mut other, |generation| generation.tokens.edit()[1].logprob = Some(-0.2));
        let capture = repeated(other);
        assert_eq!(judge("deterministic: 2", &capture).status, Status::Pass);
        let yaml = "deterministic: { repeats: 2, logprobs_atol: 0.01, because: one CPU }";
        let outcome = judge(yaml, &capture);
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.tolerance.unwrap().contains("one CPU"));
        assert_eq!(judge(yaml, &repeated(good())).status, Status::Pass);
    }

    #[test]
    fn missing_runs_and_hidden_ids_are_not_evaluated() {
        assert_eq!(judge("deterministic: 3", &repeated(good())).status, Status::NotEvaluated);
        let mut unseen = good();
        unseen.generation = hidden().generation;
        assert_eq!(judge("deterministic: 2", &repeated(unseen)).status, Status::NotEvaluated);
        let mut broken = repeated(good());
        broken.runs[1].exchanges.clear();
        let message = "connection lost".to_owned();
        broken.runs[1].error =
            Some(Failure { kind: "unreachable".to_owned(), turn: 0, message, wire: Vec::new() });
        assert_eq!(judge("deterministic: 2", &broken).status, Status::NotEvaluated);
    }

    #[test]
    fn what_compares_nothing_is_named() {
        assert!(problems("deterministic: 1").contains("compares nothing"));
        assert!(problems("deterministic: {}").contains("give `repeats`"));
        assert!(problems("deterministic: { repeats: 2, logprobs_atol: 1 }").contains("because"));
        let needs = read("deterministic: { repeats: 3, under_load: 4 }").unwrap().needs();
        assert_eq!((needs.repeats, needs.load), (3, 4));
    }
}
