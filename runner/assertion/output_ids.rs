//! `output_ids`: the token ids that the model generated.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Bounds, Short, Shorthand, tolerance_problems};
use super::fork::{self, Fork};
use super::ids::{IdMatch, Seen, word};
use super::logits::same_prompt;
use super::show;
use super::{Assert, Info, Needs, Scope, View};
use crate::capture::{AcceptedInput, Boundary, OutputToken};
use crate::compare::walk::walk;
use crate::finding::{Outcome, Status};

/// What the output's token ids must be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct OutputIds(Shorthand<Arguments>);

/// The arguments; everything that is written must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OutputIdsArguments")]
struct Arguments {
    /// The ids are exactly these, the end token included.
    equals: Option<Vec<u32>>,
    /// The ids are exactly those of the accepted snapshot.
    accepted: bool,
    /// They begin with these.
    prefix: Option<Vec<u32>>,
    /// They end with these.
    suffix: Option<Vec<u32>>,
    /// These ids occur in one run.
    contains: Option<Vec<u32>>,
    /// How many there are: a number, or `min` and `max`.
    count: Option<Shorthand<Bounds>>,
    /// With `accepted`: the largest gap in nats, on both sides, at which a different token is a near tie.
    near_tie: Option<f64>,
    /// Where the tolerance comes from.
    because: Option<String>,
}

impl Short for Arguments {
    const FORMS: &'static str = "a list of ids, the word `accepted`, or a mapping with `equals`, `accepted`, `prefix`, `suffix`, \
         `contains`, `count`, `near_tie` or `because`";
    const TYPES: &'static [&'static str] = &["string", "array"];
    type Item = u32;

    fn from_text(text: &str) -> Option<Result<Self, String>> {
        Some(word(text).map(|()| Arguments { accepted: true, ..Arguments::default() }))
    }

    fn from_list(items: Vec<u32>) -> Option<Self> {
        Some(Arguments { equals: Some(items), ..Arguments::default() })
    }
}

impl Arguments {
    fn ids(&self) -> IdMatch {
        IdMatch {
            equals: self.equals.clone(),
            accepted: self.accepted,
            prefix: self.prefix.clone(),
            suffix: self.suffix.clone(),
            contains: self.contains.clone(),
            count: self.count.clone(),
        }
    }

    /// The near tie at which the output parts from the accepted one, where it is allowed and is one.
    fn near_tie(
        &self,
        accepted: Option<&[OutputToken]>,
        actual: &[OutputToken],
    ) -> Option<Outcome> {
        let tolerance = self.near_tie.filter(|_| self.accepted)?;
        let (_, fork) = walk(accepted?, actual);
        let outcome =
            Fork { near_tie: Some(tolerance), because: self.because.as_deref(), at: fork? }.judge(
                accepted?,
                actual,
                "the accepted ids",
            );
        (outcome.status == Status::NearTie).then_some(outcome)
    }
}

impl Assert for OutputIds {
    const INFO: Info = Info {
        name: "output_ids",
        boundary: Boundary::Generation,
        summary: "the generated token ids are these, or have this prefix, suffix, run or count",
        help: "\
The end token is part of the output. `accepted` compares with the snapshot of the boundary
`generation`; with `near_tie` a different token counts as a near tie when both tokens are in both
top lists and at most so many nats apart in each.

    - output_ids: [57, 12, 2]
    - output_ids: accepted
    - output_ids: { prefix: [57], suffix: [2], count: { max: 12 } }
    - output_ids: { accepted: true, near_tie: 0.125, because: \"bf16 steps at this magnitude\" }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let matcher = self.0.ids();
        let tokens = match view.exchange.output_tokens() {
            Ok(tokens) => tokens,
            Err(reason) => return Outcome::hidden(matcher.describe(), reason),
        };
        let accepted = view.accepted_exchange().and_then(|accepted| accepted.output.as_deref());
        let same_prompt =
            view.accepted_exchange().is_none_or(|accepted| same_prompt(view, accepted));
        let tie = self.0.near_tie(accepted, tokens).filter(|_| same_prompt);
        // A near tie excuses the difference from the accepted ids, and nothing else.
        let matcher = IdMatch { accepted: matcher.accepted && tie.is_none(), ..matcher };
        let plain = show::plain(tokens);
        let ids: Option<Vec<AcceptedInput>> = accepted
            .map(|tokens| show::plain(tokens).into_iter().map(AcceptedInput::Token).collect());
        let seen = Seen { what: "output", tokens: &plain, output: tokens };
        let outcome = matcher.judge(&seen, ids.as_deref());
        let outcome = tie.filter(|_| outcome.status == Status::Pass).unwrap_or(outcome);
        match self.0.near_tie {
            Some(tolerance) => {
                outcome.within(fork::tolerance(tolerance, self.0.because.as_deref()))
            }
            None => outcome,
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = self.0.ids().problems();
        problems.extend(tolerance_problems("near_tie", self.0.near_tie, self.0.because.as_deref()));
        if self.0.near_tie.is_some() && !self.0.accepted {
            problems.push(
                "`near_tie` needs `accepted: true`: bare ids have no probabilities".to_owned(),
            );
        }
        problems
    }

    fn needs(&self) -> Needs {
        Needs { accepted: self.0.accepted.then_some(Boundary::Generation), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        EOS, edit_generation, exchange, good, hidden, judge, judge_against, problems, with_top,
    };
    use crate::finding::Status;

    const TIE: &str = "output_ids: { accepted: true, near_tie: 0.125, because: bf16 }";

    #[test]
    fn ids_pass_and_a_dropped_end_id_fails() {
        for yaml in
            ["output_ids: [20, 21, 2]", "output_ids: { suffix: [2] }", "output_ids: { count: 3 }"]
        {
            assert_eq!(judge(yaml, &good()).status, Status::Pass, "{yaml}");
            let mut broken = good();
            edit_generation(&mut broken, |generation| drop(generation.tokens.edit().pop()));
            assert_eq!(judge(yaml, &broken).status, Status::Fail, "{yaml}");
            assert_eq!(judge(yaml, &hidden()).status, Status::NotEvaluated, "{yaml}");
        }
    }

    #[test]
    fn the_distribution_at_the_difference_is_shown() {
        let outcome = judge("output_ids: [20, 99, 2]", &good());
        assert_eq!(outcome.at.as_deref(), Some("token 1"));
        assert_eq!(outcome.difference.unwrap().top[0].id, 21);
    }

    #[test]
    fn a_near_tie_is_neither_a_pass_nor_a_failure() {
        let (mut before, mut after) = (good(), good());
        edit_generation(&mut before, |g| {
            g.tokens.edit()[1] = with_top(21, &[(21, -0.70), (22, -0.72)])
        });
        edit_generation(&mut after, |g| {
            g.tokens.edit()[1] = with_top(22, &[(22, -0.70), (21, -0.71)])
        });
        assert_eq!(judge_against(TIE, &after, &before).status, Status::NearTie);
        assert_eq!(judge_against("output_ids: accepted", &after, &before).status, Status::Fail);
        let counted = TIE.replace("near_tie", "count: 2, near_tie");
        assert_eq!(judge_against(&counted, &after, &before).status, Status::Fail);
        let mut elsewhere = after.clone();
        elsewhere.input = exchange(&[99], &[], "").input;
        assert_eq!(judge_against(TIE, &elsewhere, &before).status, Status::Fail);
        edit_generation(&mut after, |g| {
            g.tokens.edit()[1] = with_top(22, &[(22, -0.2), (21, -1.9)])
        });
        assert_eq!(judge_against(TIE, &after, &before).status, Status::Fail);
        assert_eq!(judge_against(TIE, &before, &before).status, Status::Pass);
    }

    #[test]
    fn an_early_end_is_no_tie() {
        let mut after = good();
        edit_generation(&mut after, |generation| generation.tokens.edit().truncate(2));
        let outcome = judge_against(TIE, &after, &good());
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 2")));
        assert_eq!(outcome.difference.unwrap().expected.last().unwrap().id, EOS);
    }

    #[test]
    fn a_tolerance_has_an_origin_and_a_reference() {
        assert!(problems("output_ids: { accepted: true, near_tie: 0.1 }").contains("because"));
        assert!(
            problems("output_ids: { equals: [1], near_tie: 0.1, because: x }")
                .contains("accepted: true")
        );
        assert!(problems("output_ids: { contains: [] }").contains("every sequence"));
    }
}
