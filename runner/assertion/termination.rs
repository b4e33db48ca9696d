//! `termination`: why the generation ended, by the evidence.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use super::arg::Many;
use super::{Assert, Info, Scope, View};
use crate::capture::{Boundary, Termination as Ended};
use crate::finding::Outcome;

/// The classes or exact causes, of which one must be the cause.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Termination(Many<Cause>);

/// A class such as `eos`, or an exact cause such as `eos(2)`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Cause(String);

/// The classes; those with a form in brackets can be asked for exactly.
const LEGAL: &str = "`eos` or `eos(ID)`, `stop_token` or `stop_token(ID)`, `stop_string` or `stop_string(\"TEXT\")`, \
     `length`, `length(max_tokens)` or `length(context)`, `aborted`, `content_filter`, `numerical_fault`, \
     `incomplete_stream`, `stop_unspecified`";

impl TryFrom<String> for Cause {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let text = text.trim();
        let legal = match text.split_once('(') {
            None => matches!(
                text,
                "eos"
                    | "stop_token"
                    | "stop_string"
                    | "length"
                    | "aborted"
                    | "content_filter"
                    | "numerical_fault"
                    | "incomplete_stream"
                    | "stop_unspecified"
            ),
            Some((class, rest)) => match (class, rest.strip_suffix(')')) {
                ("eos" | "stop_token", Some(id)) => id.parse::<u32>().is_ok(),
                ("stop_string", Some(quoted)) => return exact_string(quoted),
                ("length", Some(cause)) => matches!(cause, "max_tokens" | "context"),
                _ => false,
            },
        };
        if legal {
            return Ok(Cause(text.to_owned()));
        }
        Err(format!("unknown termination `{text}`; the legal words are {LEGAL}"))
    }
}

/// `stop_string("…")` with the text as a JSON string or bare.
fn exact_string(quoted: &str) -> Result<Cause, String> {
    let text = if quoted.starts_with('"') {
        serde_json::from_str::<String>(quoted).map_err(|error| {
            format!("the text of stop_string({quoted}) is not a quoted string: {error}")
        })?
    } else {
        quoted.to_owned()
    };
    Ok(Cause(Ended::StopString(text).to_string()))
}

impl Cause {
    fn holds(&self, ended: &Ended) -> bool {
        self.0 == ended.class() || self.0 == ended.to_string()
    }

    /// Whether it may have been the cause, for all that was seen.
    fn may_be(&self, ended: &Ended) -> bool {
        match ended {
            Ended::StopUnspecified => self.0.starts_with("eos") || self.0.starts_with("stop_"),
            Ended::Unknown => true,
            _ => false,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Assert for Termination {
    const INFO: Info = Info {
        name: "termination",
        boundary: Boundary::Generation,
        summary: "the generation ended for this reason, by the evidence",
        help: "\
The reason is derived from the last id, the stop rules and the cap, whatever the API says; the
word of the API is `finish_reason`. A class, an exact reason, or a list of which one must hold:
eos, stop_token, stop_string, length, aborted, content_filter, numerical_fault,
incomplete_stream, stop_unspecified.

    - termination: eos
    - termination: eos(2)
    - termination: length(max_tokens)
    - termination: [eos, 'stop_string(\"\\n\\n\")']",
        scope: Scope::Last,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let causes: Vec<_> = self.0.iter().map(Cause::to_string).collect();
        let expected = causes.join(" or ");
        let generation = match view.exchange.generation.seen() {
            Ok(generation) => generation,
            Err(reason) => return Outcome::hidden(expected, reason),
        };
        let actual = generation.termination.to_string();
        if self.0.iter().any(|cause| cause.holds(&generation.termination)) {
            return Outcome::pass(expected, actual);
        }
        if self.0.iter().any(|cause| cause.may_be(&generation.termination)) {
            let reason =
                "the server said that it ended by itself, and shows nothing that says by what";
            return Outcome::hidden(expected, reason);
        }
        let count = view.exchange.output_count().ok();
        let after =
            count.map_or_else(String::new, |n| format!(" after {}", super::show::tokens(n)));
        let message = format!("the generation ended by {actual}{after}");
        let outcome = Outcome::fail(expected, actual, message);
        match count {
            None | Some(0) => outcome,
            Some(count) => outcome.at(format!("token {}", count - 1)),
        }
    }

    fn problems(&self) -> Vec<String> {
        if self.0.is_empty() {
            return vec![format!("an empty list never holds; the legal words are {LEGAL}")];
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::assertion::sample::{edit_generation, good, hidden, judge, problems, read};
    use crate::capture::Termination as Ended;
    use crate::finding::Status;

    #[test]
    fn classes_and_exact_causes() {
        for yaml in ["termination: eos", "termination: eos(2)", "termination: [length, eos]"] {
            assert_eq!(judge(yaml, &good()).status, Status::Pass, "{yaml}");
            let mut capped = good();
            edit_generation(&mut capped, |g| g.termination = Ended::StopToken(7));
            let outcome = judge(yaml, &capped);
            assert_eq!((outcome.status, outcome.actual.as_str()), (Status::Fail, "stop_token(7)"));
        }
        for yaml in
            ["termination: eos(3)", "termination: length(context)", "termination: stop_string"]
        {
            assert_eq!(judge(yaml, &good()).status, Status::Fail, "{yaml}");
        }
    }

    #[test]
    fn a_stop_string_is_compared_unescaped() {
        let mut stopped = good();
        for (ended, yaml, status) in [
            (Ended::StopUnspecified, "termination: eos", Status::NotEvaluated),
            (Ended::StopUnspecified, "termination: stop_token(7)", Status::NotEvaluated),
            (Ended::StopUnspecified, "termination: length", Status::Fail),
            (Ended::StopUnspecified, "termination: stop_unspecified", Status::Pass),
            (Ended::Unknown, "termination: length", Status::NotEvaluated),
        ] {
            edit_generation(&mut stopped, |g| g.termination = ended.clone());
            assert_eq!(judge(yaml, &stopped).status, status, "{yaml} for {ended}");
        }
        edit_generation(&mut stopped, |g| g.termination = Ended::StopString("\n\n".to_owned()));
        assert_eq!(judge(r#"termination: 'stop_string("\n\n")'"#, &stopped).status, Status::Pass);
        assert_eq!(judge(r#"termination: 'stop_string("\n")'"#, &stopped).status, Status::Fail);
    }

    #[test]
    fn length_is_one_class_with_two_causes() {
        let mut capped = good();
        edit_generation(&mut capped, |g| g.termination = Ended::LengthMaxTokens);
        assert_eq!(judge("termination: length", &capped).status, Status::Pass);
        assert_eq!(judge("termination: length(context)", &capped).status, Status::Fail);
        assert_eq!(judge("termination: length", &hidden()).status, Status::NotEvaluated);
    }

    #[test]
    fn an_unknown_word_lists_the_legal_ones() {
        for yaml in [
            "termination: stop",
            "termination: eos(x)",
            "termination: length(5)",
            "termination: eos(2",
        ] {
            let error = read(yaml).unwrap_err().to_string();
            assert!(error.contains("`stop_string`"), "{yaml}: {error}");
        }
        assert!(problems("termination: []").contains("never holds"));
    }
}
