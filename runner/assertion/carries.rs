//! `carries`: each prompt continues what the model has read and written before.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::{Never, Short, Shorthand};
use super::{Assert, Info, Scope, View, show};
use crate::capture::{Boundary, Exchange, Generation, Termination, Token};
use crate::compare::walk::first_difference;
use crate::finding::Outcome;

/// How strictly a conversation is carried on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Carries(Shorthand<Arguments>);

/// The arguments in their long form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CarriesArguments")]
struct Arguments {
    /// Why the reply may be rendered with other ids; then only the prompt before it must be carried on.
    #[serde(default)]
    allow_rerendered: Option<String>,
    /// False only in `carries: false`, which is refused.
    #[serde(skip, default = "yes")]
    asked: bool,
}

fn yes() -> bool {
    true
}

impl Short for Arguments {
    const FORMS: &'static str = "`true`, or a mapping with `allow_rerendered` and the reason";
    const TYPES: &'static [&'static str] = &["boolean"];
    type Item = Never;

    fn from_truth(truth: bool) -> Option<Self> {
        Some(Arguments { allow_rerendered: None, asked: truth })
    }
}

impl Carries {
    fn describe(&self) -> String {
        match &self.0.allow_rerendered {
            None => "each prompt starts with the prompt and the output before it".to_owned(),
            Some(_) => "each prompt starts with the prompt before it".to_owned(),
        }
    }

    /// The tokens that the next prompt must start with.
    fn carried(&self, exchange: &Exchange) -> Result<Vec<Token>, String> {
        let mut tokens = exchange.prompt_tokens()?.to_vec();
        if self.0.allow_rerendered.is_none() {
            tokens.extend(spoken(exchange.generation.seen()?)?);
        }
        Ok(tokens)
    }

    /// The break between a reply and the next prompt.
    fn broken(&self, turn: usize, before: &Exchange, after: &Exchange) -> Option<Outcome> {
        let (expected, next) = match (self.carried(before), after.prompt_tokens()) {
            (Ok(expected), Ok(next)) => (expected, next),
            (Err(reason), _) => return Some(Outcome::hidden(self.describe(), &reason)),
            (_, Err(reason)) => return Some(Outcome::hidden(self.describe(), reason)),
        };
        let ids: Vec<u32> = expected.iter().map(|token| token.id).collect();
        let actual: Vec<u32> = next.iter().map(|token| token.id).collect();
        let index = first_difference(&ids, &actual[..actual.len().min(ids.len())])?;
        let prompt = before.prompt_tokens().map_or(0, <[Token]>::len);
        let place = if index >= prompt {
            let token = index - prompt;
            format!(
                "token {token} of reply {}, message {}",
                turn + 1,
                before.request.messages.len() + 1
            )
        } else {
            match message_at(after, index) {
                Some((number, role)) => format!("message {number} ({role})"),
                None => "the template's own text".to_owned(),
            }
        };
        let name = |token: Option<&Token>| token.map_or("the end".to_owned(), show::token);
        let message = format!(
            "prompt {} breaks with what came before in {place}: expected {}, found {}",
            turn + 2,
            name(expected.get(index)),
            name(next.get(index)),
        );
        let outcome = Outcome::fail(self.describe(), show::ids(&actual), message)
            .at(format!("prompt {}, token {index}", turn + 2))
            .differing(show::difference(&expected, next, index, &[]));
        Some(outcome)
    }
}

/// The output without its end token: the template writes the end of a turn itself, in its own way.
fn spoken(generation: &Generation) -> Result<Vec<Token>, &str> {
    let tokens = generation.tokens.seen()?;
    let ended = matches!(generation.termination, Termination::Eos(_) | Termination::StopToken(_));
    let count = tokens.len().saturating_sub(usize::from(ended));
    Ok(show::plain(&tokens[..count]))
}

/// The 1-based message of a request whose text holds the token at `index` of its prompt.
fn message_at(exchange: &Exchange, index: usize) -> Option<(usize, String)> {
    let prompt = exchange.input.seen().ok()?.prompt.seen().ok()?;
    let offset: usize =
        exchange.prompt_tokens().ok()?.iter().take(index).map(|token| token.piece.len()).sum();
    let mut from = 0;
    for (number, message) in exchange.request.messages.iter().enumerate() {
        let content = message.content.as_deref().unwrap_or_default().trim();
        let Some(start) = prompt.get(from..).and_then(|rest| rest.find(content)) else { continue };
        let end = from + start + content.len();
        if offset < end || (offset == end && content.is_empty()) {
            let role = format!("{:?}", message.role).to_lowercase();
            return Some((number + 1, role));
        }
        from = end;
    }
    None
}

impl Assert for Carries {
    const INFO: Info = Info {
        name: "carries",
        boundary: Boundary::Input,
        summary: "each prompt starts with the ids of the prompt and the reply before it",
        help: "\
The end token of a reply is not compared, since the template closes a turn in its own way. Where
the template renders replies anew, such as without their reasoning, say so: then the ids of each
prompt must still start with those of the prompt before it.

    - carries: true
    - carries: { allow_rerendered: \"the template drops earlier reasoning\" }",
        scope: Scope::Whole,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let exchanges = &view.run.exchanges;
        if exchanges.len() < 2 {
            return Outcome::hidden(self.describe(), "there is no second reply to compare");
        }
        let mut pairs = exchanges.windows(2).enumerate();
        let broken = pairs.find_map(|(turn, pair)| self.broken(turn, &pair[0], &pair[1]));
        let outcome = broken.unwrap_or_else(|| {
            Outcome::pass(self.describe(), format!("{} prompts", exchanges.len()))
        });
        match &self.0.allow_rerendered {
            Some(reason) => outcome.within(format!("allow_rerendered, because: {reason}")),
            None => outcome,
        }
    }

    fn problems(&self) -> Vec<String> {
        if !self.0.asked {
            return vec!["`carries: false` asks for nothing; leave the entry out".to_owned()];
        }
        if self.0.allow_rerendered.as_deref().is_some_and(|reason| reason.trim().is_empty()) {
            return vec!["`allow_rerendered` needs the reason".to_owned()];
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{
        EOS, capture, exchange, hidden, judge_capture, problems, request,
    };
    use crate::capture::Exchange;
    use crate::finding::{Outcome, Status};
    use crate::request::Role;

    const RERENDERED: &str = "carries: { allow_rerendered: drops reasoning }";

    fn conversation(second: &[u32]) -> [Exchange; 2] {
        let mut next = exchange(second, &[40, EOS], "bye");
        next.request =
            request(&[(Role::User, "t11"), (Role::Assistant, "t20t21"), (Role::User, "t30")]);
        [exchange(&[10, 11, 12], &[20, 21, EOS], "t20t21"), next]
    }

    fn judge(yaml: &str, exchanges: [Exchange; 2]) -> Outcome {
        judge_capture(yaml, &capture(exchanges.to_vec()), None)
    }

    #[test]
    fn prompt_and_output_are_carried_whatever_ends_the_turn() {
        for end in [&[EOS, 30][..], &[3, 30], &[99, EOS, 30]] {
            let second = [&[10, 11, 12, 20, 21][..], end].concat();
            assert_eq!(
                judge("carries: true", conversation(&second)).status,
                Status::Pass,
                "{end:?}"
            );
        }
    }

    #[test]
    fn a_retokenised_reply_breaks_unless_it_is_allowed() {
        let broken = conversation(&[10, 11, 12, 20, 99, EOS, 30]);
        let outcome = judge("carries: true", broken.clone());
        assert_eq!(
            (outcome.status, outcome.at.as_deref()),
            (Status::Fail, Some("prompt 2, token 4"))
        );
        assert!(outcome.message.contains("token 1 of reply 1, message 2"), "{}", outcome.message);
        assert_eq!(outcome.difference.as_ref().unwrap().index, 4);
        let outcome = judge(RERENDERED, broken);
        assert_eq!(outcome.status, Status::Pass);
        assert!(outcome.tolerance.unwrap().contains("drops reasoning"));
    }

    #[test]
    fn a_changed_earlier_message_breaks_in_any_case() {
        for yaml in ["carries: true", RERENDERED] {
            let mut changed = conversation(&[10, 77, 12, 20, 21, EOS, 30]);
            changed[1].request.messages[0].content = Some("t77".to_owned());
            let outcome = judge(yaml, changed);
            assert_eq!(outcome.status, Status::Fail, "{yaml}");
            assert!(outcome.message.contains("message 1 (user)"), "{}", outcome.message);
        }
        assert_eq!(judge("carries: true", conversation(&[10, 11, 12, 20])).status, Status::Fail);
    }

    #[test]
    fn what_cannot_be_seen_is_not_evaluated() {
        let [first, mut second] = conversation(&[10, 11, 12, 20, 21, EOS]);
        second.input = hidden().input;
        assert_eq!(
            judge("carries: true", [first.clone(), second.clone()]).status,
            Status::NotEvaluated
        );
        let alone = capture(vec![first.clone()]);
        assert_eq!(judge_capture("carries: true", &alone, None).status, Status::NotEvaluated);
        let [mut first, second] = conversation(&[10, 11, 12, 20, 21, EOS]);
        first.generation = hidden().generation;
        assert_eq!(judge(RERENDERED, [first.clone(), second.clone()]).status, Status::Pass);
        assert_eq!(judge("carries: true", [first, second]).status, Status::NotEvaluated);
    }

    #[test]
    fn empty_reasons_are_named() {
        assert!(problems("carries: false").contains("asks for nothing"));
        assert!(problems("carries: { allow_rerendered: '' }").contains("needs the reason"));
    }
}
