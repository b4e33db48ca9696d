//! `content`: the answer's text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Shorthand;
use super::text::TextMatch;
use super::{Assert, Info, Scope, View};
use crate::capture::Boundary;
use crate::finding::Outcome;

/// What the answer's text must be like.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Content(Shorthand<TextMatch>);

impl Assert for Content {
    const INFO: Info = Info {
        name: "content",
        boundary: Boundary::Response,
        summary: "the answer's text equals, contains or matches this",
        help: "\
The text is compared as it was returned, white space included. A bare text means `equals`.
`contains`, `not_contains`, `matches` and `not_matches` take one text or a list; all must hold.

    - content: Hello Mia!
    - content: { contains: \"4 degrees\" }
    - content: { contains: [rainy, Oslo], not_matches: '<\\|.*?\\|>' }
    - content: { one_of: [\"yes\", \"Yes\"] }
    - content: { empty: true }",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let response = view.exchange.response.seen();
        self.0.judge("content", response.map(|response| response.content.as_deref()))
    }

    fn problems(&self) -> Vec<String> {
        self.0.problems()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{calling, edit_response, good, hidden, judge, problems, read};
    use crate::finding::Status;

    #[test]
    fn every_condition_passes_on_the_clean_text_and_fails_on_another() {
        let mut other = good();
        edit_response(&mut other, |response| {
            response.content = Some("No idea.\u{fffd}".to_owned())
        });
        for yaml in [
            "content: It is 4 degrees.",
            "content: { equals: It is 4 degrees. }",
            "content: { one_of: [no, It is 4 degrees.] }",
            "content: { contains: 4 degrees }",
            "content: { contains: [It, degrees] }",
            "content: { not_contains: idea }",
            r"content: { matches: '^It is \d degrees\.$' }",
            "content: { not_matches: '[Ii]dea' }",
            "content: { starts_with: It }",
            "content: { ends_with: degrees. }",
        ] {
            assert_eq!(judge(yaml, &good()).status, Status::Pass, "{yaml}");
            let outcome = judge(yaml, &other);
            assert_eq!(outcome.status, Status::Fail, "{yaml}");
            assert!(!outcome.message.is_empty(), "{yaml}");
        }
    }

    #[test]
    fn the_first_differing_character_is_named() {
        let outcome = judge("content: It is 5 degrees.", &good());
        assert_eq!(outcome.at.as_deref(), Some("character 7"));
        let outcome = judge("content: { not_contains: degrees }", &good());
        assert_eq!(outcome.at.as_deref(), Some("character 9"));
    }

    #[test]
    fn an_absent_text_is_empty_and_equals_nothing() {
        let calling = calling(&[("f", "{}")]);
        assert_eq!(judge("content: { empty: true }", &calling).status, Status::Pass);
        assert_eq!(judge("content: { not_contains: tool_call }", &calling).status, Status::Pass);
        for yaml in ["content: hello", "content: { empty: false }", "content: { matches: '.*' }"] {
            assert_eq!(judge(yaml, &calling).status, Status::Fail, "{yaml}");
        }
        assert_eq!(judge("content: { empty: true }", &good()).status, Status::Fail);
    }

    #[test]
    fn nothing_is_judged_without_a_response() {
        for yaml in ["content: hello", "content: { not_contains: x }", "content: { empty: true }"] {
            assert_eq!(judge(yaml, &hidden()).status, Status::NotEvaluated, "{yaml}");
        }
    }

    #[test]
    fn senseless_arguments_are_named() {
        for (yaml, said) in [
            ("content: { matches: '(' }", "not a regular expression"),
            ("content: { contains: '' }", "holds for every text"),
            ("content: { not_contains: '' }", "cannot hold"),
            ("content: { one_of: [] }", "empty list"),
            ("content: {}", "nothing is expected"),
            (r"content: 'a\nb'", "double quotes"),
        ] {
            assert!(problems(yaml).contains(said), "{yaml}: {}", problems(yaml));
        }
        let error = read("content: { contain: x }").unwrap_err().to_string();
        assert!(error.contains("contain") && error.contains("not_contains"), "{error}");
        let error = read("content: 4").unwrap_err().to_string();
        assert!(error.contains("a text, or a mapping"), "{error}");
    }
}
