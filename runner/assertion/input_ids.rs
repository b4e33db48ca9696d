//! `input_ids`: the prompt's token ids.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Shorthand;
use super::ids::{IdMatch, Seen};
use super::{Assert, Info, Needs, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// What the prompt's token ids must be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InputIds(Shorthand<IdMatch>);

impl Assert for InputIds {
    const INFO: Info = Info {
        name: "input_ids",
        boundary: Boundary::Input,
        summary: "the prompt's token ids are these, or have this prefix, suffix, run or count",
        help: "\
Ids are compared, never pieces. `accepted` compares with the snapshot of the boundary `input`.
Everything that is written in one entry must hold.

    - input_ids: [1, 57, 12, 2]
    - input_ids: accepted
    - input_ids: { prefix: [1], contains: [57, 12], suffix: [3, 88], count: { max: 40 } }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let tokens = match view.exchange.prompt_tokens() {
            Ok(tokens) => tokens,
            Err(reason) => return Outcome::hidden(self.0.describe(), reason),
        };
        let accepted = view.accepted_exchange().and_then(|accepted| accepted.input.as_deref());
        self.0.judge(&Seen { what: "prompt", tokens, output: &[] }, accepted)
    }

    fn problems(&self) -> Vec<String> {
        self.0.problems()
    }

    fn needs(&self) -> Needs {
        Needs { accepted: self.0.accepted.then_some(Boundary::Input), ..Needs::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        accepted, capture, exchange, good, hidden, judge, judge_against, judge_capture, problems,
        read, tokens,
    };
    use crate::capture::{AcceptedInput, hash_ids};
    use crate::finding::Status;

    #[test]
    fn exact_ids_pass_and_one_changed_id_is_shown_in_its_window() {
        assert_eq!(judge("input_ids: [10, 11, 12, 13]", &good()).status, Status::Pass);
        let outcome = judge("input_ids: [10, 11, 99, 13]", &good());
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 2")));
        let difference = outcome.difference.unwrap();
        assert_eq!(
            (difference.index, difference.expected[2].id, difference.actual[2].id),
            (2, 99, 12)
        );
    }

    #[test]
    fn parts_are_judged_together() {
        let yaml = "input_ids: { prefix: [10], suffix: [12, 13], contains: [11, 12], count: { min: 4, max: 4 } }";
        assert_eq!(judge(yaml, &good()).status, Status::Pass);
        for (broken, place) in [
            ("prefix: [11]", Some("token 0")),
            ("suffix: [11, 13]", Some("token 2")),
            ("contains: [11, 13]", Some("token 2")),
            ("contains: [77]", None),
            ("suffix: [9, 10, 11, 12, 13]", None),
            ("prefix: [10, 11, 12, 13, 14]", Some("token 4")),
            ("count: { max: 3 }", None),
            ("count: 5", None),
        ] {
            let outcome = judge(&format!("input_ids: {{ {broken} }}"), &good());
            assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, place), "{broken}");
        }
    }

    #[test]
    fn accepted_ids_are_compared_one_by_one() {
        assert_eq!(judge_against("input_ids: accepted", &good(), &good()).status, Status::Pass);
        let doubled = exchange(&[10, 10, 11, 12, 13], &[20], "");
        let outcome = judge_against("input_ids: accepted", &doubled, &good());
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 1")));
        let cut = exchange(&[10, 11], &[20], "");
        assert_eq!(
            judge_against("input_ids: accepted", &cut, &good()).at.as_deref(),
            Some("token 2")
        );
        assert_eq!(judge("input_ids: accepted", &good()).status, Status::NotEvaluated);
    }

    #[test]
    fn a_folded_stretch_is_compared_by_its_hash() {
        let mut before = accepted(&good());
        let mut fold = |ids: &[u32]| {
            let stretch = AcceptedInput::Folded { count: ids.len(), hash: hash_ids(ids) };
            let last = AcceptedInput::Token(tokens(&[13]).remove(0));
            before.exchanges[0].input = Some(vec![stretch, last]);
            judge_capture("input_ids: accepted", &capture(vec![good()]), Some(&before))
        };
        assert_eq!(fold(&[10, 11, 12]).status, Status::Pass);
        let outcome = fold(&[10, 99, 12]);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 0 to 2")));
    }

    #[test]
    fn a_hidden_prompt_is_not_evaluated() {
        let outcome = judge("input_ids: [10]", &hidden());
        assert_eq!(outcome.status, Status::NotEvaluated);
        assert!(outcome.message.contains("shows no prompt"));
    }

    #[test]
    fn senseless_arguments_are_named() {
        assert!(problems("input_ids: { prefix: [] }").contains("holds for every sequence"));
        assert!(
            problems("input_ids: { count: { min: 5, max: 4 } }").contains("min 5 is above max 4")
        );
        assert!(problems("input_ids: {}").contains("nothing is expected"));
        assert!(problems("input_ids: { accepted: true, equals: [1] }").contains("keep one"));
        assert!(read("input_ids: acepted").unwrap_err().to_string().contains("`accepted`"));
    }
}
