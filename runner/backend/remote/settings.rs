//! Boundary 2 over HTTP: what was asked, and what the server says was in force.

use serde_json::{Value, json};

use super::body::Deviation;
use super::dialect::{Dialect, Told};
use crate::capture::{NOT_SENT, Observed, Setting};
use crate::request::Request;

/// The settings of a request, in the order of [`crate::request::Settings`], `eos_token_ids` last but for what was not
/// sent.
pub(super) fn observe(
    dialect: &Dialect,
    request: &Request,
    left_out: &[Deviation],
    told: &[Told],
) -> Vec<Setting> {
    const NAMES: [&str; 15] = [
        "temperature",
        "top_p",
        "top_k",
        "min_p",
        "seed",
        "max_tokens",
        "min_tokens",
        "stop",
        "stop_token_ids",
        "ignore_eos",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "eos_token_ids",
    ];
    let pinned = request.settings.pinned();
    let theirs = |name: &str| {
        dialect.settings.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs)
    };
    let mut settings: Vec<Setting> = NAMES
        .into_iter()
        .map(|name| {
            let requested = pinned.get(name).cloned();
            let dropped = left_out
                .iter()
                .find(|left| left.name == name || Some(left.name.as_str()) == theirs(name));
            let told = told.iter().find(|told| told.name == name);
            resolved(name, requested, dropped, told)
        })
        .collect();
    // Fields that are no setting of ours, such as those that ask for evidence.
    let known = |left: &&Deviation| {
        !NAMES.contains(&left.name.as_str())
            && !dialect.settings.iter().any(|(_, theirs)| *theirs == left.name)
    };
    settings.extend(left_out.iter().filter(known).map(|left| Setting {
        name: left.name.clone(),
        requested: Some(left.requested.clone()),
        resolved: Observed::Hidden(left.why.clone()),
        provenance: NOT_SENT.to_owned(),
    }));
    settings
}

fn resolved(
    name: &str,
    requested: Option<Value>,
    dropped: Option<&Deviation>,
    told: Option<&Told>,
) -> Setting {
    let (resolved, provenance) = match (&requested, dropped, told) {
        (Some(asked), _, Some(told)) if told.of_request && same(asked, &told.value) => {
            (Observed::Seen(asked.clone()), "request".to_owned())
        }
        (_, _, Some(told)) if told.of_request => {
            (Observed::Seen(told.value.clone()), told.source.to_owned())
        }
        (Some(_), Some(dropped), _) => (Observed::Hidden(dropped.why.clone()), NOT_SENT.to_owned()),
        (None, _, Some(told)) => (Observed::Seen(told.value.clone()), told.source.to_owned()),
        (Some(_), None, _) => {
            let why = "sent as asked; the server does not tell what was in force".to_owned();
            (Observed::Hidden(why), "unknown".to_owned())
        }
        (None, _, None) => {
            let why = "left to the server, which does not tell it".to_owned();
            (Observed::Hidden(why), "unknown".to_owned())
        }
    };
    Setting { name: name.to_owned(), requested, resolved, provenance }
}

/// Whether a server means the same: numbers by value in single precision.
fn same(asked: &Value, told: &Value) -> bool {
    match (asked, told) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|told| same(value, told)))
        }
        _ => match (asked.as_f64(), told.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
            _ => asked == told,
        },
    }
}

/// A number that was kept in single precision, as it was written: `0.800000011920929` is 0.8.
pub(super) fn rounded(value: &Value) -> Value {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else { return value.clone() };
    let single = number as f32;
    let exact = f64::from(single) == number;
    let short = single.to_string().parse::<f64>();
    match short {
        Ok(short) if exact => json!(short),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::remote::dialect::by_name;
    use crate::request::Settings;

    fn request(settings: Value) -> Request {
        Request {
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            settings: serde_json::from_value::<Settings>(settings).unwrap(),
            template: serde_json::Map::new(),
            stream: false,
            prefill: false,
            top_logprobs: 0,
            timeout: None,
        }
    }

    fn told(name: &'static str, value: Value, of_request: bool) -> Told {
        Told { name, value, source: "the server", of_request }
    }

    #[test]
    fn what_the_server_says_outranks_what_was_asked_and_silence_is_unknown() {
        let dialect = by_name("llamacpp").unwrap();
        let asked = request(json!({"temperature": 0.0, "top_p": 0.5, "stop_token_ids": [3]}));
        let told = [
            told("temperature", json!(0.8), true),
            told("top_p", json!(0.5), true),
            told("top_k", json!(40), false),
        ];
        let left = Deviation {
            name: "stop_token_ids".to_owned(),
            requested: json!([3]),
            why: "not sent".to_owned(),
        };
        let settings = observe(dialect, &asked, &[left], &told);
        let row = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap();
        assert_eq!(row("temperature").resolved, Observed::Seen(json!(0.8)));
        assert_eq!(row("temperature").provenance, "the server");
        assert_eq!(row("top_p").provenance, "request");
        assert_eq!(row("top_k").resolved, Observed::Seen(json!(40)));
        assert!(row("stop_token_ids").resolved.seen().is_err());
        assert!(row("seed").resolved.seen().is_err());
        assert!(row("eos_token_ids").resolved.seen().is_err());
    }

    #[test]
    fn a_default_says_nothing_about_a_request_that_set_the_field() {
        let asked = request(json!({"top_k": 7}));
        let told = [told("top_k", json!(40), false)];
        let settings = observe(by_name("llamacpp").unwrap(), &asked, &[], &told);
        assert!(settings[2].resolved.seen().is_err(), "{:?}", settings[2]);
    }

    #[test]
    fn a_dropped_field_is_recorded_under_our_name_or_its_own() {
        let left = |name: &str| Deviation {
            name: name.to_owned(),
            requested: json!(1.5),
            why: "refused".to_owned(),
        };
        let asked = request(json!({"repetition_penalty": 1.5}));
        let left = [left("repeat_penalty"), left("verbose")];
        let settings = observe(by_name("llamacpp").unwrap(), &asked, &left, &[]);
        let row = settings.iter().find(|setting| setting.name == "repetition_penalty").unwrap();
        assert_eq!(row.resolved, Observed::Hidden("refused".to_owned()));
        assert_eq!(settings.last().unwrap().name, "verbose");
    }

    #[test]
    fn single_precision_is_written_as_it_was_meant() {
        assert_eq!(rounded(&json!(0.800000011920929)), json!(0.8));
        assert_eq!(rounded(&json!(0.949999988079071)), json!(0.95));
        assert_eq!(rounded(&json!(0.1)), json!(0.1));
        assert_eq!(rounded(&json!(40)), json!(40));
    }
}
