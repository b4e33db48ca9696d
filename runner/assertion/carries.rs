//! `carries`: the state of one turn is in the prompt of the next, id by id.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Never, Short, Shorthand};
use super::{Assert, Info, Scope, View, show};
use crate::capture::{Boundary, Exchange, Token};
use crate::compare::walk::first_difference;
use crate::finding::Outcome;
use crate::request::Role;

/// Whether replies may be rendered anew.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Options {
    /// Why a reply may stand in the next prompt with other ids than it was generated with.
    pub allow_rerendered: Option<String>,
}

impl Short for Options {
    const FORMS: &'static str = "`true`, or a mapping with `allow_rerendered`";
    const TYPES: &'static [&'static str] = &["boolean"];
    type Item = Never;

    fn from_truth(truth: bool) -> Option<Self> {
        truth.then(Options::default)
    }
}

/// The prompt of every turn starts with the prompt and the output of the turn before.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Carries(Shorthand<Options>);

impl Assert for Carries {
    const INFO: Info = Info {
        name: "carries",
        boundary: Boundary::Input,
        summary: "each turn's prompt starts with the ids of the turn before: its prompt, then its output",
        help: "\
Turn n+1's prompt ids must begin with turn n's prompt ids followed by its output ids, so that
nothing of the conversation was dropped, retokenized or rendered otherwise. Where a template
renders a reply anew (it drops reasoning, say), state it: then only the prompts are compared, up
to the generation prompt.

    - carries: true
    - carries: { allow_rerendered: the template drops earlier reasoning }",
        scope: Scope::Whole,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let expected = match &self.0.allow_rerendered {
            None => "each prompt starts with the turn before",
            Some(_) => "each prompt starts with the prompt before",
        };
        let exchanges = &view.run.exchanges;
        if exchanges.len() < 2 {
            return Outcome::hidden(expected, "there is one reply only, so nothing is carried");
        }
        for (n, pair) in exchanges.windows(2).enumerate() {
            match self.compare(&pair[0], &pair[1]) {
                Ok(None) => {}
                Ok(Some(lost)) => return lost.outcome(expected, n + 2),
                Err(reason) => return Outcome::hidden(expected, reason),
            }
        }
        let outcome = Outcome::pass(expected, format!("{} replies carried", exchanges.len() - 1));
        match &self.0.allow_rerendered {
            Some(reason) => outcome.within(format!("replies may be rendered anew: {reason}")),
            None => outcome,
        }
    }

    fn problems(&self) -> Vec<String> {
        match &self.0.allow_rerendered {
            Some(reason) if reason.trim().is_empty() => {
                vec!["`allow_rerendered` is the reason, in words".to_owned()]
            }
            _ => Vec::new(),
        }
    }
}

/// Where a prompt leaves the turn before.
struct Lost {
    index: usize,
    expected: Vec<Token>,
    actual: Vec<Token>,
    message: String,
}

impl Lost {
    fn outcome(self, expected: &str, reply: usize) -> Outcome {
        let window = show::difference(&self.expected, &self.actual, self.index, &[]);
        let message = format!(
            "the prompt of reply {reply} leaves the turn before at token {}, in {}",
            self.index, self.message
        );
        let actual = format!("{} ids carried", self.index);
        Outcome::fail(expected, actual, message)
            .at(format!("token {}", self.index))
            .differing(window)
    }
}

impl Carries {
    fn compare<'a>(
        &self,
        before: &'a Exchange,
        after: &'a Exchange,
    ) -> Result<Option<Lost>, &'a str> {
        let (first, second) = (before.input.seen()?, after.input.seen()?);
        let mut carried = first.tokens.clone();
        if self.0.allow_rerendered.is_some() {
            // The generation prompt is what the template adds for the reply; a reply that is rendered anew may
            // begin otherwise, so the comparison ends with the last message that was given.
            carried.truncate(given(before, &carried));
        } else {
            carried.extend(show::plain(&before.generation.seen()?.tokens));
        }
        let (expected, actual): (Vec<u32>, Vec<u32>) = (
            carried.iter().map(|token| token.id).collect(),
            second.tokens.iter().take(carried.len()).map(|token| token.id).collect(),
        );
        let Some(index) = first_difference(&expected, &actual) else { return Ok(None) };
        let message = owner(before, first.tokens.len(), &carried, index);
        Ok(Some(Lost { index, expected: carried, actual: second.tokens.clone(), message }))
    }
}

/// How many of the prompt's tokens stand before the generation prompt: up to the end of the last given message.
fn given(exchange: &Exchange, tokens: &[Token]) -> usize {
    let mut texts =
        exchange.request.messages.iter().filter_map(|message| message.content.as_deref());
    let Some(last) = texts.next_back().map(str::trim).filter(|text| !text.is_empty()) else {
        return tokens.len();
    };
    let whole: String = tokens.iter().map(|token| token.piece.as_str()).collect();
    let Some(end) = whole.rfind(last).map(|start| start + last.len()) else { return tokens.len() };
    let mut length = 0;
    let inside = tokens.iter().take_while(|token| {
        length += token.piece.len();
        length <= end
    });
    inside.count()
}

/// The message that the token at `index` belongs to, in words.
fn owner(exchange: &Exchange, prompt: usize, tokens: &[Token], index: usize) -> String {
    if index >= prompt {
        return "the reply before".to_owned();
    }
    let read: String = tokens.iter().take(index).map(|token| token.piece.as_str()).collect();
    let messages = &exchange.request.messages;
    let whole = |text: &Option<String>| {
        text.as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .is_some_and(|text| read.contains(text))
    };
    // The first message of which not everything had been read by then.
    match messages.iter().position(|message| !whole(&message.content)) {
        Some(n) => {
            let role = match messages[n].role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            format!("message {} ({role})", n + 1)
        }
        None => "the generation prompt".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{EOS, capture, exchange, hidden, judge_capture, problems};
    use crate::capture::Exchange;
    use crate::finding::{Outcome, Status};

    fn judged(yaml: &str, exchanges: Vec<Exchange>) -> Outcome {
        judge_capture(yaml, &capture(exchanges), None)
    }

    fn first() -> Exchange {
        exchange(&[10, 11, 12], &[20, EOS], "a")
    }

    #[test]
    fn the_next_prompt_starts_with_prompt_and_output() {
        let next = exchange(&[10, 11, 12, 20, EOS, 13, 14], &[21, EOS], "b");
        assert_eq!(judged("carries: true", vec![first(), next]).status, Status::Pass);
    }

    #[test]
    fn a_retokenized_reply_is_located() {
        let next = exchange(&[10, 11, 12, 30, 31, EOS, 13], &[21, EOS], "b");
        let outcome = judged("carries: true", vec![first(), next.clone()]);
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 3")));
        assert!(outcome.message.contains("the reply before"), "{}", outcome.message);
        assert_eq!(outcome.difference.unwrap().expected[3].id, 20);
        let allowed =
            judged("carries: { allow_rerendered: the template does }", vec![first(), next]);
        assert_eq!(allowed.status, Status::Pass);
        assert!(allowed.tolerance.unwrap().contains("the template does"));
    }

    #[test]
    fn a_changed_prompt_is_lost_even_where_replies_may_change() {
        let next = exchange(&[10, 99, 12, 20, EOS], &[21, EOS], "b");
        for yaml in ["carries: true", "carries: { allow_rerendered: x }"] {
            let outcome = judged(yaml, vec![first(), next.clone()]);
            assert_eq!(
                (outcome.status, outcome.at.as_deref()),
                (Status::Fail, Some("token 1")),
                "{yaml}"
            );
        }
    }

    #[test]
    fn a_prompt_that_ends_early_is_lost() {
        let next = exchange(&[10, 11], &[21, EOS], "b");
        assert_eq!(judged("carries: true", vec![first(), next]).status, Status::Fail);
    }

    #[test]
    fn what_was_not_seen_is_not_evaluated() {
        assert_eq!(judged("carries: true", vec![first(), hidden()]).status, Status::NotEvaluated);
        assert_eq!(judged("carries: true", vec![first()]).status, Status::NotEvaluated);
        assert!(problems("carries: { allow_rerendered: \" \" }").contains("reason"));
    }
}
