//! `deterministic`: the same request gives the same reply, alone and under load.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assert, Info, Needs, Scope, View, show};
use crate::capture::{Boundary, Exchange, OutputToken, Run};
use crate::compare::walk::first_difference;
use crate::finding::Outcome;

/// How often the conversation is repeated, and what must be equal.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deterministic {
    /// How many runs, one after another; at least 2, unless `under_load` is given.
    #[serde(default)]
    pub repeats: usize,
    /// How many further runs, all at the same time.
    #[serde(default)]
    pub under_load: usize,
    /// The log-probabilities of the chosen tokens may differ by this much; they are not compared when left out.
    #[serde(default)]
    pub logprobs_atol: Option<f64>,
    /// Where that tolerance comes from.
    #[serde(default)]
    pub because: Option<String>,
}

impl Assert for Deterministic {
    const INFO: Info = Info {
        name: "deterministic",
        boundary: Boundary::Generation,
        summary: "repeating the conversation, alone or under load, gives the same output ids",
        help: "\
The case is run `repeats` times one after another, then `under_load` times at once, and every
output is compared with that of the first run: the ids, why it ended, and the log-probabilities
where `logprobs_atol` is given. Sampling with a seed counts as the same request.

    - deterministic: { repeats: 3 }
    - deterministic: { repeats: 2, under_load: 4 }
    - deterministic: { repeats: 2, logprobs_atol: 0, because: one engine on one thread }",
        scope: Scope::Whole,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let runs = &view.capture.runs;
        let expected = format!("the same output in {} runs", runs.len());
        let [first, others @ ..] = runs.as_slice() else {
            return Outcome::hidden(expected, "there was no run");
        };
        if others.is_empty() {
            return Outcome::hidden(expected, "there was one run only");
        }
        for (n, other) in others.iter().enumerate() {
            if let Some(outcome) = self.compare(first, other, n + 2, &expected) {
                return outcome;
            }
        }
        let outcome = Outcome::pass(expected, "the same");
        match self.tolerance() {
            Some(tolerance) => outcome.within(tolerance),
            None => outcome,
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.repeats < 2 && self.under_load == 0 {
            problems
                .push("`deterministic` needs `repeats` of at least 2, or `under_load`".to_owned());
        }
        if self.under_load == 1 {
            problems.push("`under_load` of 1 is no load; write 2 or more".to_owned());
        }
        if self.logprobs_atol.is_some_and(|atol| atol < 0.0) {
            problems.push("`logprobs_atol` is never below 0".to_owned());
        }
        if self.logprobs_atol.is_some()
            && self.because.as_deref().is_none_or(|text| text.trim().is_empty())
        {
            problems.push("a tolerance needs `because`: where the number comes from".to_owned());
        }
        problems
    }

    fn needs(&self) -> Needs {
        Needs { repeats: self.repeats.max(1), load: self.under_load, ..Needs::default() }
    }
}

impl Deterministic {
    fn tolerance(&self) -> Option<String> {
        let because = self.because.as_deref().unwrap_or_default();
        Some(format!("logprobs_atol {}, because: {because}", self.logprobs_atol?))
    }

    /// The outcome at the first difference, or for a run that could not be compared.
    fn compare(&self, first: &Run, other: &Run, number: usize, expected: &str) -> Option<Outcome> {
        let load = match other.load {
            1 => String::new(),
            load => format!(", {load} at a time"),
        };
        if let Some(failure) = first.error.as_ref().or(other.error.as_ref()) {
            return Some(Outcome::hidden(
                expected,
                &format!("a run broke off: {}", failure.message),
            ));
        }
        for (n, (a, b)) in first.exchanges.iter().zip(&other.exchanges).enumerate() {
            let place = format!("reply {} of run {number}{load}", n + 1);
            if let Some(outcome) = self.compare_replies(a, b, &place, expected) {
                return Some(outcome);
            }
        }
        None
    }

    fn compare_replies(
        &self,
        a: &Exchange,
        b: &Exchange,
        place: &str,
        expected: &str,
    ) -> Option<Outcome> {
        let (a, b) = match (a.generation.seen(), b.generation.seen()) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(reason), _) | (_, Err(reason)) => return Some(Outcome::hidden(expected, reason)),
        };
        if let Some(index) = first_difference(&a.ids(), &b.ids()) {
            let top = b.tokens.get(index).map_or(&[][..], |token| &token.top);
            let window =
                show::difference(&show::plain(&a.tokens), &show::plain(&b.tokens), index, top);
            let message = format!("{place} leaves the first run at token {index}");
            let outcome =
                Outcome::fail(expected, "another output", message).at(format!("token {index}"));
            return Some(outcome.differing(window));
        }
        if a.termination != b.termination {
            let message =
                format!("{place} ended by {}, the first run by {}", b.termination, a.termination);
            return Some(Outcome::fail(expected, b.termination.to_string(), message));
        }
        let atol = self.logprobs_atol?;
        let (index, gap) = widest(&a.tokens, &b.tokens)?;
        if gap <= atol {
            return None;
        }
        let message = format!("{place}: the log-probability of token {index} differs by {gap:.6}");
        let outcome = Outcome::fail(expected, format!("{gap:.6} apart"), message);
        Some(outcome.at(format!("token {index}")).within(self.tolerance().unwrap_or_default()))
    }
}

/// The position at which the log-probabilities are furthest apart, and by how much.
fn widest(a: &[OutputToken], b: &[OutputToken]) -> Option<(usize, f64)> {
    let pairs = a.iter().zip(b).enumerate();
    let gaps = pairs
        .filter_map(|(n, (a, b))| Some((n, (f64::from(a.logprob?) - f64::from(b.logprob?)).abs())));
    gaps.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        capture, edit_generation, good, hidden, judge_capture, problems, run, sound,
    };
    use crate::capture::{Capture, Exchange};
    use crate::finding::Status;

    fn twice(second: Exchange) -> Capture {
        let mut capture = capture(vec![good()]);
        capture.runs.push(run(vec![second]));
        capture
    }

    #[test]
    fn a_run_that_differs_is_found_with_the_token() {
        let yaml = "deterministic: { repeats: 2 }";
        assert_eq!(judge_capture(yaml, &twice(good()), None).status, Status::Pass);
        let mut other = good();
        edit_generation(&mut other, |generation| generation.tokens[1].id = 99);
        let mut changed = twice(other);
        changed.runs[1].load = 4;
        let outcome = judge_capture(yaml, &changed, None);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 1")));
        assert!(outcome.message.contains("4 at a time"), "{}", outcome.message);
    }

    #[test]
    fn log_probabilities_have_a_tolerance() {
        let mut other = good();
        edit_generation(&mut other, |generation| generation.tokens[2].logprob = Some(-0.2));
        let runs = twice(other);
        let judged = |yaml| judge_capture(yaml, &runs, None);
        assert_eq!(judged("deterministic: { repeats: 2 }").status, Status::Pass);
        let loose = judged("deterministic: { repeats: 2, logprobs_atol: 0.2, because: measured }");
        assert_eq!(loose.status, Status::Pass);
        assert!(loose.tolerance.unwrap().contains("measured"));
        let tight = judged("deterministic: { repeats: 2, logprobs_atol: 0.01, because: measured }");
        assert_eq!((tight.status, tight.at.as_deref()), (Status::Fail, Some("token 2")));
    }

    #[test]
    fn one_run_or_a_hidden_one_is_not_evaluated() {
        let yaml = "deterministic: { repeats: 2 }";
        assert_eq!(judge_capture(yaml, &capture(vec![good()]), None).status, Status::NotEvaluated);
        assert_eq!(judge_capture(yaml, &twice(hidden()), None).status, Status::NotEvaluated);
    }

    #[test]
    fn it_asks_for_its_runs_and_refuses_senseless_ones() {
        let needs = sound("deterministic: { repeats: 3, under_load: 2 }").needs();
        assert_eq!((needs.repeats, needs.load), (3, 2));
        assert!(problems("deterministic: { repeats: 1 }").contains("at least 2"));
        assert!(problems("deterministic: { under_load: 1 }").contains("no load"));
        assert!(problems("deterministic: { repeats: 2, logprobs_atol: 0.1 }").contains("because"));
    }
}
