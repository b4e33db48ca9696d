//! `reasoning`: what the reply reasoned beside its answer.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Shorthand;
use super::text::TextMatch;
use super::{Assert, Info, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// What the reasoning must be like.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Reasoning(Shorthand<TextMatch>);

impl Assert for Reasoning {
    const INFO: Info = Info {
        name: "reasoning",
        boundary: Boundary::Response,
        summary: "the reasoning beside the answer equals, contains or matches this",
        help: "\
The reasoning that the API returned apart from the answer, with the conditions of `content`.
A reply without reasoning is `empty`.

    - reasoning: { contains: \"the tool\" }
    - reasoning: { empty: true }
    - reasoning: { empty: false, not_contains: \"</think>\" }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let response = view.exchange.response.seen();
        self.0.judge("reasoning", response.map(|response| response.reasoning.as_deref()))
    }

    fn problems(&self) -> Vec<String> {
        self.0.problems()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{edit_response, good, hidden, judge, problems};
    use crate::finding::Status;

    #[test]
    fn reasoning_is_judged_apart_from_the_content() {
        let mut thinking = good();
        edit_response(&mut thinking, |response| {
            response.reasoning = Some("use the tool".to_owned())
        });
        assert_eq!(judge("reasoning: { contains: the tool }", &thinking).status, Status::Pass);
        assert_eq!(judge("reasoning: { contains: the tool }", &good()).status, Status::Fail);
        assert_eq!(judge("reasoning: { contains: degrees }", &thinking).status, Status::Fail);
        assert_eq!(judge("reasoning: { empty: true }", &good()).status, Status::Pass);
        assert_eq!(judge("reasoning: { empty: true }", &thinking).status, Status::Fail);
    }

    #[test]
    fn hidden_is_not_evaluated() {
        assert_eq!(judge("reasoning: { empty: true }", &hidden()).status, Status::NotEvaluated);
        assert!(problems("reasoning: { contains: '' }").contains("every text"));
    }
}
