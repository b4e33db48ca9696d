//! `task_score`: the reply, or the share of all replies of a spec, is right by a reference answer.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assert, Info, Scope, View, show};
use crate::capture::{Boundary, Score};
use crate::compare::stats::{Z95, mean, standard_error, wilson};
use crate::finding::Outcome;
use crate::score::extract::Extractor;
use crate::score::normalize::{Normalize, normalize};
use crate::score::scorer::Scorer;

/// How a reply is scored and how good it must be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskScore {
    /// How it is compared.
    scorer: Scorer,
    /// What is taken out of the reply.
    #[serde(default)]
    extractor: Extractor,
    /// The right answer; a row of a data set brings its own.
    #[serde(default)]
    reference: Option<String>,
    /// The least score, or the least mean score over a spec; 1 when left out.
    #[serde(default)]
    min: Option<f64>,
    /// What is made alike in the extracted text and in the reference before they are compared.
    #[serde(default)]
    normalize: Vec<Normalize>,
    /// Set when a row was bound, and whether the verdict is taken over the spec.
    #[serde(skip)]
    bound: Option<bool>,
}

impl TaskScore {
    fn least(&self) -> f64 {
        self.min.unwrap_or(1.0)
    }

    fn over_spec(&self) -> bool {
        self.bound == Some(true)
    }

    /// Scores a text; one without anything to extract scores 0.
    fn rate(&self, text: &str, reference: &str) -> Score {
        let extracted = if text.is_empty() { None } else { self.extractor.extract(text) };
        let right = extracted.as_deref().is_some_and(|found| {
            let found = normalize(found, &self.normalize);
            // A pattern would be another pattern after normalising.
            match self.scorer {
                Scorer::Regex => self.scorer.right(&found, reference),
                _ => self.scorer.right(&found, &normalize(reference, &self.normalize)),
            }
        });
        Score {
            scorer: self.scorer.info().name.to_owned(),
            extractor: self.extractor.info().name.to_owned(),
            extracted,
            reference: reference.to_owned(),
            value: if right { 1.0 } else { 0.0 },
        }
    }
}

impl Assert for TaskScore {
    const INFO: Info = Info {
        name: "task_score",
        boundary: Boundary::Score,
        summary: "what is extracted from the reply is right by the reference answer",
        help: "\
A scorer (exact, contains, number, choice, json, regex) compares what an extractor (whole,
first_line, last_line, first_number, last_number, choice_letter, json, or regex and after with
their text) takes out of the content. `normalize` makes case, punctuation, articles or whitespace
alike first. Over the rows of `cases_from`, `min` is the least mean score; the finding prints k of
n with the Wilson 95 % interval. An empty reply scores 0; a row without a reply leaves the verdict
open.

    - task_score: { scorer: exact, reference: Oslo, normalize: [case, whitespace] }
    - task_score: { scorer: number, extractor: last_number, min: 0.9 }
    - task_score: { scorer: exact, extractor: { regex: 'code (\\w+)' }, reference: X12 }
    - task_score: { scorer: contains, extractor: { after: \"Answer:\" }, reference: Oslo }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let scorer = self.scorer.info().name;
        let Some(reference) = &self.reference else {
            return Outcome::hidden(
                format!("{scorer} score"),
                "there is no reference answer to score with",
            );
        };
        let expected = format!("{scorer} {}", show::excerpt(reference));
        if let Err(reason) = view.exchange.response.seen() {
            return Outcome::hidden(expected, reason);
        }
        let Some(score) = self.score(view) else {
            return Outcome::hidden(expected, "the reply has no score");
        };
        let actual = match &score.extracted {
            Some(found) => format!("{}, score {}", show::excerpt(found), score.value),
            None => format!("nothing extracted, score {}", score.value),
        };
        if self.over_spec() {
            return Outcome::pass("a score, judged over the spec", actual);
        }
        if score.value >= self.least() {
            return Outcome::pass(expected, actual);
        }
        let message = match &score.extracted {
            Some(found) => {
                format!("`{}` found {}, which is not right", score.extractor, show::excerpt(found))
            }
            None => format!("`{}` found nothing in the reply", score.extractor),
        };
        Outcome::fail(expected, actual, message)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = self.extractor.problem().into_iter().collect();
        if self.min.is_some_and(|min| !(0.0..=1.0).contains(&min)) {
            problems.push("`min` is a share between 0 and 1".to_owned());
        }
        match &self.reference {
            Some(reference) => problems.extend(self.scorer.problem(reference)),
            None if self.bound.is_some() => {
                problems.push(
                    "no reference answer: give `reference`, or one in each row of the data set"
                        .to_owned(),
                );
            }
            None => {}
        }
        problems
    }

    fn bind(&mut self, reference: Option<&str>, over_spec: bool) {
        if let Some(reference) = reference {
            self.reference = Some(reference.to_owned());
        }
        self.bound = Some(over_spec);
    }

    fn score(&self, view: &View<'_>) -> Option<Score> {
        let reference = self.reference.as_deref()?;
        let response = view.exchange.response.seen().ok()?;
        Some(self.rate(response.content.as_deref().unwrap_or_default(), reference))
    }

    fn judge_scores(&self, scores: &[Option<Score>]) -> Option<Outcome> {
        let least = self.least();
        let expected = format!("mean {} score at least {least}", self.scorer.info().name);
        let n = scores.len();
        let values: Vec<f64> = scores.iter().flatten().map(|score| score.value).collect();
        if values.len() < n {
            let reason = format!("{} of {n} rows have no score", n - values.len());
            return Some(Outcome::hidden(expected, &reason));
        }
        let Some(mean) = mean(&values) else {
            return Some(Outcome::hidden(expected, "there are no rows"));
        };
        let actual = if values.iter().all(|value| *value == 0.0 || *value == 1.0) {
            let k = values.iter().filter(|value| **value == 1.0).count();
            let (low, high) = wilson(k, n, Z95);
            format!("{k}/{n} = {mean:.4}, Wilson 95 % interval {low:.4} to {high:.4}")
        } else {
            let error =
                standard_error(&values).map_or("unknown".to_owned(), |error| format!("{error:.4}"));
            format!("mean {mean:.4} of {n}, standard error {error}")
        };
        if mean >= least {
            return Some(Outcome::pass(expected, actual));
        }
        let message = format!("the score is {actual}, below {least}");
        Some(Outcome::fail(expected, actual, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assertion::Assertion;
    use crate::assertion::sample::{calling, good, hidden, judge, problems, read};
    use crate::finding::Status;

    const FOUR: &str = "task_score: { scorer: number, extractor: first_number, reference: '4' }";

    fn scored(values: &[Option<f64>]) -> Outcome {
        let score = |value: f64| Score {
            scorer: "number".to_owned(),
            extractor: "whole".to_owned(),
            extracted: None,
            reference: String::new(),
            value,
        };
        let scores: Vec<_> = values.iter().map(|value| value.map(score)).collect();
        read("task_score: { scorer: number, min: 0.5 }").unwrap().judge_scores(&scores).unwrap()
    }

    #[test]
    fn the_extracted_text_is_scored_and_shown() {
        assert_eq!(judge(FOUR, &good()).status, Status::Pass);
        let outcome = judge(&FOUR.replace("'4'", "'5'"), &good());
        assert_eq!((outcome.status, outcome.actual.as_str()), (Status::Fail, "\"4\", score 0"));
        for yaml in [
            "task_score: { scorer: exact, extractor: { regex: '(4 \\w+)' }, reference: 4 degrees }",
            "task_score: { scorer: contains, reference: IT IS, normalize: [case] }",
            "task_score: { scorer: exact, extractor: { after: is }, reference: 4 degrees. }",
            "task_score: { scorer: regex, reference: '^It' }",
        ] {
            assert_eq!(judge(yaml, &good()).status, Status::Pass, "{yaml}");
        }
    }

    #[test]
    fn an_empty_reply_scores_nought_and_no_reply_has_no_score() {
        let outcome = judge(FOUR, &calling(&[("f", "{}")]));
        assert_eq!(
            (outcome.status, outcome.actual.as_str()),
            (Status::Fail, "nothing extracted, score 0")
        );
        assert_eq!(judge(FOUR, &hidden()).status, Status::NotEvaluated);
        let nothing = "task_score: { scorer: regex, reference: '.*' }";
        assert_eq!(judge(nothing, &calling(&[("f", "{}")])).status, Status::Fail);
    }

    #[test]
    fn a_row_of_a_spec_only_records_its_score() {
        let Assertion::TaskScore(mut inner) = read("task_score: { scorer: exact }").unwrap() else {
            panic!()
        };
        inner.bind(Some("wrong"), true);
        let capture = crate::assertion::sample::capture(vec![good()]);
        let run = &capture.runs[0];
        let view =
            View { capture: &capture, run, exchange: &run.exchanges[0], index: 0, accepted: None };
        assert_eq!(inner.judge(&view).status, Status::Pass);
        let score = inner.score(&view).unwrap();
        assert_eq!((score.value, score.reference.as_str()), (0.0, "wrong"));
        inner.bind(Some("wrong"), false);
        assert_eq!(inner.judge(&view).status, Status::Fail);
    }

    #[test]
    fn a_spec_is_judged_by_its_mean_with_the_interval() {
        let outcome = scored(&[Some(1.0), Some(1.0), Some(0.0)]);
        assert_eq!(outcome.status, Status::Pass);
        assert!(
            outcome.actual.starts_with("2/3 = 0.6667, Wilson 95 % interval 0.2077 to 0.9385"),
            "{}",
            outcome.actual
        );
        assert_eq!(scored(&[Some(1.0), Some(0.0), Some(0.0)]).status, Status::Fail);
        assert!(scored(&[Some(0.4), Some(0.8)]).actual.contains("standard error 0.2000"));
    }

    #[test]
    fn a_row_without_a_score_is_never_dropped() {
        let outcome = scored(&[Some(1.0), None, Some(1.0)]);
        assert_eq!(outcome.status, Status::NotEvaluated);
        assert!(outcome.message.contains("1 of 3 rows"), "{}", outcome.message);
        assert_eq!(scored(&[]).status, Status::NotEvaluated);
    }

    #[test]
    fn bad_arguments_are_named() {
        assert!(problems("task_score: { scorer: exact, min: 2 }").contains("between 0 and 1"));
        assert!(
            problems("task_score: { scorer: number, reference: four }").contains("not a number")
        );
        assert!(
            problems("task_score: { scorer: exact, extractor: { regex: 'a' } }")
                .contains("0 groups")
        );
        let mut unbound = read("task_score: { scorer: exact }").unwrap();
        assert_eq!(unbound.problems(), Vec::<String>::new());
        unbound.bind(None, false);
        assert!(unbound.problems().join("").contains("no reference answer"));
        let error = read("task_score: { scorer: exakt }").unwrap_err().to_string();
        assert!(error.contains("exact") && error.contains("choice"), "{error}");
    }
}
