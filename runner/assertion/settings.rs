//! `settings`: the generation settings that were in force.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::json::equal;
use super::{Assert, Info, Scope, View};
use crate::capture::{Boundary, NOT_SENT, Observed, Setting};
use crate::finding::Outcome;

/// Fields with the values that must have been in force.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(Map<String, Value>);

/// Settings that change what is generated; a value of anyone but the request is worth a warning.
const PINNABLE: [&str; 7] =
    ["temperature", "top_k", "top_p", "min_p", "seed", "max_tokens", "repetition_penalty"];

/// The settings that the request left to someone else, as `top_k = 20 (generation_config.json)`, in the
/// order of the evidence.
pub fn unpinned(settings: &[Setting]) -> Vec<String> {
    // At temperature 0 the most likely token is taken, whatever these say.
    const SAMPLING: [&str; 4] = ["top_k", "top_p", "min_p", "seed"];
    // With these values they do nothing, so nothing is left to anyone.
    const NEUTRAL: [(&str, f64); 4] =
        [("top_k", 0.0), ("top_p", 1.0), ("min_p", 0.0), ("repetition_penalty", 1.0)];
    let is = |setting: &Setting, value: f64| {
        setting.resolved.seen().is_ok_and(|seen| seen.as_f64() == Some(value))
    };
    // Where the server does not tell, what was asked is all there is to go by.
    let asked = |setting: &Setting| {
        let zero = setting.requested.as_ref().and_then(Value::as_f64) == Some(0.0);
        zero && setting.resolved.seen().is_err()
    };
    let cold = |setting: &Setting| is(setting, 0.0) || asked(setting);
    let greedy = settings.iter().any(|setting| setting.name == "temperature" && cold(setting));
    let open = settings.iter().filter(|setting| {
        let name = setting.name.as_str();
        let neutral = NEUTRAL.iter().any(|(field, value)| *field == name && is(setting, *value));
        let matters = PINNABLE.contains(&name) && !(greedy && SAMPLING.contains(&name));
        matters && !neutral && setting.requested.is_none() && setting.provenance != "request"
    });
    open.map(describe).collect()
}

/// The settings that were pinned and never reached the backend, each with the reason, in the order of the evidence.
pub fn not_sent(settings: &[Setting]) -> Vec<String> {
    let left_out = settings.iter().filter(|setting| setting.provenance == NOT_SENT);
    let why = |setting: &Setting| {
        let reason = setting.resolved.seen().err()?;
        Some(format!("{}: {reason}", setting.name))
    };
    left_out.filter_map(why).collect()
}

fn describe(setting: &Setting) -> String {
    match &setting.resolved {
        Observed::Seen(value) => format!("{} = {value} ({})", setting.name, setting.provenance),
        Observed::Hidden(_) => format!("{} (not told)", setting.name),
    }
}

impl Settings {
    fn expected(&self) -> String {
        let fields: Vec<_> =
            self.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        fields.join(", ")
    }
}

impl Assert for Settings {
    const INFO: Info = Info {
        name: "settings",
        boundary: Boundary::Settings,
        summary: "these settings were in force, whoever set them",
        help: "\
The resolved value of each field is compared, numbers by value. The finding says where a value
came from: the request, generation_config.json or a default.

    - settings: { temperature: 0, top_k: 0 }
    - settings: { eos_token_ids: [2, 0] }",
        scope: Scope::Each,
    };

    fn judge(&self, view: &View<'_>) -> Outcome {
        let seen = match view.exchange.settings.seen() {
            Ok(seen) => seen,
            Err(reason) => return Outcome::hidden(self.expected(), reason),
        };
        let mut actual = Vec::new();
        let mut failed = Vec::new();
        let mut hidden = None;
        for (name, expected) in &self.0 {
            let Some(setting) = seen.iter().find(|setting| setting.name == *name) else {
                return unknown(self.expected(), name, seen);
            };
            actual.push(describe(setting));
            match setting.resolved.seen() {
                Ok(value) if equal(expected, value) => {}
                Ok(value) => failed.push((name, expected, value, &setting.provenance)),
                Err(reason) => hidden = hidden.or(Some((name, reason))),
            }
        }
        let actual = actual.join(", ");
        match (failed.first(), hidden) {
            (Some((name, expected, value, provenance)), _) => {
                let message = format!("`{name}` was {value}, set by {provenance}, not {expected}");
                Outcome::fail(self.expected(), actual, message).at(name.as_str())
            }
            (None, Some((name, reason))) => {
                Outcome::hidden(self.expected(), reason).at(name.as_str())
            }
            (None, None) => Outcome::pass(self.expected(), actual),
        }
    }

    fn problems(&self) -> Vec<String> {
        if self.0.is_empty() {
            return vec!["no setting is named, such as `settings: { temperature: 0 }`".to_owned()];
        }
        Vec::new()
    }
}

fn unknown(expected: String, name: &str, seen: &[Setting]) -> Outcome {
    let names: Vec<_> = seen.iter().map(|setting| setting.name.as_str()).collect();
    let message = format!("no setting `{name}` was seen; seen were: {}", names.join(", "));
    Outcome::fail(expected, "no such setting", message).at(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{not_sent, unpinned};
    use crate::assertion::sample::{good, hidden, judge, problems, setting};
    use crate::capture::{NOT_SENT, Observed};
    use crate::finding::Status;

    #[test]
    fn values_are_compared_as_numbers() {
        assert_eq!(
            judge("settings: { temperature: 0, top_k: 20.0 }", &good()).status,
            Status::Pass
        );
        let outcome = judge("settings: { temperature: 0, top_k: 0 }", &good());
        assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("top_k")));
        assert!(outcome.message.contains("generation_config.json"), "{}", outcome.message);
    }

    #[test]
    fn a_field_that_nobody_reports_is_answered_with_those_seen() {
        let outcome = judge("settings: { temprature: 0 }", &good());
        assert_eq!(outcome.status, Status::Fail);
        assert!(outcome.message.contains("temperature, top_k, max_tokens"), "{}", outcome.message);
    }

    #[test]
    fn hidden_is_not_evaluated_but_a_wrong_field_beside_it_fails() {
        let mut exchange = good();
        let Observed::Seen(settings) = &mut exchange.settings else { panic!() };
        settings[0].resolved = Observed::Hidden("not shown".to_owned());
        assert_eq!(judge("settings: { temperature: 0 }", &exchange).status, Status::NotEvaluated);
        assert_eq!(judge("settings: { temperature: 0, top_k: 1 }", &exchange).status, Status::Fail);
        assert_eq!(judge("settings: { temperature: 0 }", &hidden()).status, Status::NotEvaluated);
        assert!(problems("settings: {}").contains("no setting is named"));
    }

    #[test]
    fn what_the_request_left_open_is_listed() {
        let mut settings = [
            setting("temperature", json!(0.6), "request"),
            setting("top_k", json!(20), "generation_config.json"),
            setting("eos_token_ids", json!([2]), "generation_config.json"),
            setting("min_p", json!(0.0), "default"),
            setting("repetition_penalty", json!(1.1), "default"),
        ];
        let open = ["top_k = 20 (generation_config.json)", "repetition_penalty = 1.1 (default)"];
        assert_eq!(unpinned(&settings), open);
        settings[0] = setting("temperature", json!(0), "request");
        assert_eq!(unpinned(&settings), open[1..], "greedy decoding does not look at top_k");
        settings[0].resolved = Observed::Hidden("not told".to_owned());
        assert_eq!(unpinned(&settings), open[1..], "it was asked for, if nothing more is known");
    }

    #[test]
    fn what_was_pinned_and_not_sent_is_listed_with_the_reason() {
        let mut settings =
            [setting("top_k", json!(20), "request"), setting("seed", json!(7), "request")];
        assert!(not_sent(&settings).is_empty());
        settings[0].resolved = Observed::Hidden("the server refuses it".to_owned());
        settings[0].provenance = NOT_SENT.to_owned();
        assert_eq!(not_sent(&settings), ["top_k: the server refuses it"]);
    }
}
