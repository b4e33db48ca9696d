//! `task_score`: what a reply is worth against a reference answer.

use schemars::JsonSchema;
use serde::Deserialize;

use super::show::excerpt;
use super::{Assert, Info, Scope, View};
use crate::capture::{Boundary, Score};
use crate::compare::stats::{Z95, mean, standard_error, wilson};
use crate::diagnostic::count;
use crate::finding::Outcome;
use crate::score::{Extractor, Pair, Scorer};

/// What is scored, how, and how much is enough.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskScore {
    /// How the answer is compared with the reference.
    #[serde(default = "exact")]
    scorer: Scorer,
    /// How the answer is found in the reply.
    #[serde(default = "whole")]
    extractor: Extractor,
    /// The reference answer; a data set brings its own.
    #[serde(default)]
    reference: Option<String>,
    /// The least score, or the least mean over a spec, between 0 and 1.
    #[serde(default = "one")]
    min: f64,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// Whether the verdict is taken over all rows.
    #[serde(skip)]
    over_spec: bool,
}

fn exact() -> Scorer {
    Scorer::Exact
}

fn whole() -> Extractor {
    Extractor::Whole
}

fn one() -> f64 {
    1.0
}

const NO_REFERENCE: &str = "the spec gives no reference answer; write `reference:` here, or name its field in `cases_from`";

impl Assert for TaskScore {
    const INFO: Info = Info {
        name: "task_score",
        boundary: Boundary::Score,
        summary: "the answer scores at least so much against a reference",
        help: "\
An extractor finds the answer in the reply, a scorer gives it 0 to 1 against the reference.
`extractor` is `whole`, `scorer` is `exact` and `min` is 1 when left out. In a case, the case's
own score is judged. At the top of a spec, the mean over all cases is judged, and the field
`reference` of `cases_from` brings the references.

    - task_score: { reference: \"42\" }
    - task_score: { extractor: last_number, scorer: number, reference: \"1200\", min: 0.8 }
    - task_score: { extractor: { regex: 'code is (\\d+)' }, reference: \"4417\" }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let Some(reference) = &self.reference else {
            return Outcome::hidden(format!("score at least {}", self.min), NO_REFERENCE);
        };
        let word = self.scorer.info().name;
        let expected = if self.over_spec {
            format!("a score by `{word}` against {}", excerpt(reference))
        } else {
            format!("score at least {} by `{word}` against {}", self.min, excerpt(reference))
        };
        if let Some(problem) = self.scorer.problem(reference) {
            return Outcome::hidden(expected, &problem);
        }
        let score = match view.exchange.response.seen() {
            Ok(_) => self.score(view),
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let Some(score) = score else { return Outcome::hidden(expected, "the reply has no score") };
        let found =
            score.extracted.as_deref().map_or_else(|| "nothing extracted".to_owned(), excerpt);
        let actual = format!("score {} from {found}", score.value);
        if self.over_spec || score.value >= self.min {
            return Outcome::pass(expected, actual);
        }
        let message = match &score.extracted {
            Some(_) => format!("the answer {found} scores {}, below {}", score.value, self.min),
            None => {
                format!("`{}` extracts nothing from the reply, so it scores 0", score.extractor)
            }
        };
        Outcome::fail(expected, actual, message)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = self.extractor.problems();
        problems
            .extend(self.reference.as_deref().and_then(|reference| self.scorer.problem(reference)));
        if !(0.0..=1.0).contains(&self.min) {
            problems.push(format!("`min` is {}, but scores lie between 0 and 1", self.min));
        }
        problems
    }

    fn bind(&mut self, reference: Option<&str>, over_spec: bool) {
        if let Some(reference) = reference {
            self.reference = Some(reference.to_owned());
        }
        self.over_spec = over_spec;
    }

    fn score(&self, view: &View<'_>) -> Option<Score> {
        let response = view.exchange.response.seen().ok()?;
        let reference = self.reference.as_deref()?;
        // A reference that nothing can equal gives no score rather than a wrong 0.
        if self.scorer.problem(reference).is_some() {
            return None;
        }
        let extracted = self.extractor.extract(response.content.as_deref().unwrap_or_default());
        let pair = |answer| Pair { answer, reference, ignore_case: self.ignore_case };
        let value = extracted.as_deref().map_or(0.0, |answer| self.scorer.score(pair(answer)));
        Some(Score {
            scorer: self.scorer.info().name.to_owned(),
            extractor: self.extractor.info().name.to_owned(),
            extracted,
            reference: reference.to_owned(),
            value,
        })
    }

    fn judge_scores(&self, scores: &[Option<Score>]) -> Option<Outcome> {
        let expected = format!("mean score at least {}", self.min);
        let values: Vec<f64> = scores.iter().flatten().map(|score| score.value).collect();
        let missing = scores.len() - values.len();
        if missing > 0 {
            let reason = format!("{missing} of {} without a score", count(scores.len(), "row"));
            return Some(Outcome::hidden(expected, &reason));
        }
        let Some(mean) = mean(&values) else {
            return Some(Outcome::hidden(expected, "0 rows were scored, so there is no mean"));
        };
        let (actual, interval) = summary(&values, mean);
        let outcome = if mean >= self.min {
            Outcome::pass(expected, actual)
        } else {
            let message = format!("the mean score {mean:.3} is below {}; {interval}", self.min);
            Outcome::fail(expected, actual, message)
        };
        let tolerance = format!("min {} applies to the mean itself; {interval}", self.min);
        Some(outcome.within(tolerance))
    }
}

/// The mean with its counts, and its 95 % interval.
fn summary(values: &[f64], mean: f64) -> (String, String) {
    let n = values.len();
    if values.iter().all(|value| *value == 0.0 || *value == 1.0) {
        let k = values.iter().filter(|value| **value == 1.0).count();
        let (low, high) = wilson(k, n, Z95);
        let interval = format!("95 % interval {low:.3} to {high:.3} (Wilson)");
        return (format!("{mean:.3} ({k}/{n}), {interval}"), interval);
    }
    let interval = match standard_error(values) {
        Some(error) => {
            let (low, high) = ((mean - Z95 * error).max(0.0), (mean + Z95 * error).min(1.0));
            format!("95 % interval {low:.3} to {high:.3} (normal)")
        }
        None => "no interval from one row".to_owned(),
    };
    (format!("{mean:.3} over {}, {interval}", count(n, "row")), interval)
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        calling, capture, edit_response, good, hidden, judge, problems, sound,
    };
    use crate::assertion::{Assertion, View};
    use crate::capture::{Exchange, Score};
    use crate::finding::{Outcome, Status};

    fn saying(text: &str) -> Exchange {
        let mut exchange = good();
        edit_response(&mut exchange, |response| response.content = Some(text.to_owned()));
        exchange
    }

    fn with_view<T>(exchange: &Exchange, run: impl FnOnce(&View<'_>) -> T) -> T {
        let capture = capture(vec![exchange.clone()]);
        let first = &capture.runs[0];
        run(&View {
            capture: &capture,
            run: first,
            exchange: &first.exchanges[0],
            index: 0,
            accepted: None,
        })
    }

    fn bound(yaml: &str, reference: Option<&str>) -> Assertion {
        let mut assertion = sound(yaml);
        assertion.bind(reference, true);
        assertion
    }

    fn over(yaml: &str, values: &[Option<f64>]) -> Outcome {
        let score = |value: &Option<f64>| {
            value.map(|value| Score {
                scorer: "exact".into(),
                extractor: "whole".into(),
                extracted: Some("x".into()),
                reference: "x".into(),
                value,
            })
        };
        let scores: Vec<_> = values.iter().map(score).collect();
        sound(yaml).judge_scores(&scores).unwrap()
    }

    #[test]
    fn a_case_is_judged_by_its_own_score() {
        for (yaml, right, wrong) in [
            ("task_score: { reference: \"42\" }", " 42\n", "43"),
            ("task_score: { reference: oslo, ignore_case: true }", "Oslo", "Bergen"),
            (
                "task_score: { extractor: last_number, scorer: number, reference: \"4\", min: 0.5 }",
                "2 and 4.0.",
                "4 and 2",
            ),
            (
                "task_score: { extractor: { regex: 'code is (\\d+)' }, reference: \"17\" }",
                "the code is 17",
                "17",
            ),
            ("task_score: { extractor: { after: '####' }, reference: \"17\" }", "#### 17", "17"),
            (
                "task_score: { extractor: choice_letter, scorer: choice, reference: B }",
                "(B)",
                "Because",
            ),
        ] {
            assert_eq!(judge(yaml, &saying(right)).status, Status::Pass, "{yaml}");
            let outcome = judge(yaml, &saying(wrong));
            assert_eq!(outcome.status, Status::Fail, "{yaml}");
            assert!(!outcome.message.is_empty(), "{yaml}");
        }
        let minimal = "task_score: { reference: x, min: 0 }";
        assert_eq!(judge(minimal, &saying("y")).status, Status::Pass);
    }

    #[test]
    fn a_reply_without_an_answer_scores_zero_and_an_unseen_one_nothing() {
        let assertion = sound("task_score: { reference: \"42\" }");
        let score = with_view(&calling(&[("f", "{}")]), |view| assertion.score(view)).unwrap();
        assert_eq!((score.extracted, score.value), (None, 0.0));
        assert!(with_view(&hidden(), |view| assertion.score(view)).is_none());
        let outcome = with_view(&hidden(), |view| assertion.judge(view));
        assert_eq!(
            (outcome.status, outcome.message.as_str()),
            (Status::NotEvaluated, "there is no response")
        );
    }

    #[test]
    fn a_row_only_records_its_score() {
        let assertion = bound("task_score: { min: 0.9 }", Some("42"));
        let (outcome, score) =
            with_view(&saying("43"), |view| (assertion.judge(view), assertion.score(view)));
        assert_eq!(outcome.status, Status::Pass);
        assert!(outcome.actual.contains("score 0 from \"43\""), "{}", outcome.actual);
        assert_eq!(score.unwrap().reference, "42");
        let outcome = with_view(&hidden(), |view| assertion.judge(view));
        assert_eq!(outcome.status, Status::NotEvaluated);
    }

    #[test]
    fn a_missing_or_senseless_reference_is_told() {
        for (reference, said) in [(None, "no reference"), (Some("four"), "no number")] {
            let assertion = bound("task_score: { scorer: number }", reference);
            let (outcome, score) =
                with_view(&saying("4"), |view| (assertion.judge(view), assertion.score(view)));
            assert_eq!(outcome.status, Status::NotEvaluated);
            assert!(outcome.message.contains(said), "{}", outcome.message);
            assert_eq!(score, None);
        }
        let assertion = bound("task_score: { reference: a }", None);
        assert_eq!(with_view(&saying("a"), |view| assertion.score(view)).unwrap().value, 1.0);
    }

    #[test]
    fn the_mean_over_a_spec_has_its_interval() {
        let mut values = vec![Some(1.0); 81];
        values.extend(vec![Some(0.0); 182]);
        let outcome = over("task_score: { min: 0.3 }", &values);
        assert_eq!(outcome.status, Status::Pass);
        assert_eq!(outcome.actual, "0.308 (81/263), 95 % interval 0.255 to 0.366 (Wilson)");
        assert!(outcome.tolerance.unwrap().contains("0.255 to 0.366"));
        let outcome = over("task_score: { min: 0.31 }", &values);
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.message.contains("0.308 is below 0.31"), "{}", outcome.message);
        let outcome = over("task_score: { min: 0.5 }", &[Some(0.5), Some(0.7)]);
        assert_eq!(outcome.status, Status::Pass);
        assert!(outcome.actual.contains("0.600 over 2 rows"), "{}", outcome.actual);
    }

    #[test]
    fn missing_rows_leave_the_mean_open() {
        let outcome = over("task_score: { min: 0 }", &[Some(1.0), None, Some(1.0)]);
        assert_eq!(
            (outcome.status, outcome.message.as_str()),
            (Status::NotEvaluated, "1 of 3 rows without a score")
        );
        assert_eq!(over("task_score: { min: 0 }", &[]).status, Status::NotEvaluated);
    }

    #[test]
    fn senseless_arguments_are_named() {
        for (yaml, said) in [
            ("task_score: { min: 1.5 }", "between 0 and 1"),
            ("task_score: { min: .nan }", "between 0 and 1"),
            ("task_score: { extractor: { regex: 'a' } }", "exactly one"),
            ("task_score: { extractor: { regex: '(' } }", "not a regular expression"),
            ("task_score: { scorer: number, reference: four }", "no number"),
        ] {
            assert!(problems(yaml).contains(said), "{yaml}: {}", problems(yaml));
        }
    }
}
