//! `prompt`: the rendered prompt text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Shorthand;
use super::text::TextMatch;
use super::{Assert, Info, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// What the rendered prompt must be like.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Prompt(Shorthand<TextMatch>);

impl Assert for Prompt {
    const INFO: Info = Info {
        name: "prompt",
        boundary: Boundary::Input,
        summary: "the rendered prompt equals, contains or matches this",
        help: "\
The text that the chat template made is judged as it is and shown with escapes. A line break is
written as \\n in double quotes. A bare text means `equals`.

    - prompt: { contains: \"<|im_start|>user\\nhello<|im_end|>\\n\" }
    - prompt: { ends_with: \"<|im_start|>assistant\\n\", not_contains: \"<|endoftext|>\" }
    - prompt: { matches: '\"name\": ?\"get_weather\"' }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let prompt = view.exchange.input.seen().and_then(|input| input.prompt.seen());
        self.0.judge("prompt", prompt.map(|prompt| Some(prompt.as_str())))
    }

    fn problems(&self) -> Vec<String> {
        self.0.problems()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{good, hidden, judge, problems};
    use crate::capture::Observed;
    use crate::finding::Status;

    #[test]
    fn the_text_itself_is_judged_and_shown_escaped() {
        let mut exchange = good();
        let Observed::Seen(input) = &mut exchange.input else { panic!() };
        input.prompt = Observed::Seen("<|im_start|>user\nhi".to_owned());
        assert_eq!(judge(r#"prompt: { contains: "user\nhi" }"#, &exchange).status, Status::Pass);
        let outcome = judge(r#"prompt: { ends_with: "assistant\n" }"#, &exchange);
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.actual.contains(r"user\nhi"), "{}", outcome.actual);
    }

    #[test]
    fn a_hidden_text_beside_seen_ids_is_not_evaluated() {
        let mut exchange = good();
        let Observed::Seen(input) = &mut exchange.input else { panic!() };
        input.prompt = Observed::Hidden("only ids".to_owned());
        assert_eq!(judge("prompt: { not_contains: x }", &exchange).status, Status::NotEvaluated);
        assert_eq!(judge("prompt: { not_contains: x }", &hidden()).status, Status::NotEvaluated);
    }

    #[test]
    fn a_backslash_and_an_n_is_named() {
        assert!(problems(r"prompt: { contains: 'user\nhi' }").contains("double quotes"));
    }
}
