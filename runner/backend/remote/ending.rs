//! Why a generation ended, by the evidence; the server's word comes last.

use serde_json::Value;

use super::reply::Choice;
use crate::capture::Termination;
use crate::request::Settings;

/// What there is to judge by.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub(super) choice: &'a Choice,
    pub(super) settings: &'a Settings,
    /// The output's ids, the end token included.
    pub(super) ids: Option<&'a [u32]>,
    /// How many tokens were generated.
    pub(super) completion: Option<usize>,
    /// How many tokens were read.
    pub(super) prompt: Option<usize>,
    /// The end ids, where they are known.
    pub(super) end_ids: &'a [u32],
    /// The cap in force, where it is known.
    pub(super) cap: Option<usize>,
    /// The context length, where it is known.
    pub(super) context: Option<usize>,
    /// The native word for it: `eos`, `word`, `limit`.
    pub(super) native: Option<&'a str>,
}

/// Classifies the end.
pub(super) fn classify(evidence: &Evidence<'_>) -> Termination {
    let word = evidence.choice.finish_reason.as_deref().unwrap_or_default();
    let extra = evidence.choice.stop_reason.as_ref();
    let faulty = extra.is_some_and(|word| word == "NaN happened");
    if matches!(word, "abort" | "cancelled" | "canceled" | "timeout" | "error") {
        return Termination::Aborted(word.to_owned());
    }
    if faulty {
        return Termination::NumericalFault;
    }
    if word == "content_filter" {
        return Termination::ContentFilter;
    }
    if word == "repetition" {
        return Termination::Aborted("repetition".to_owned());
    }
    stopped(evidence, extra)
        .or_else(|| capped(evidence))
        .or_else(|| indicated(evidence, word, extra))
        .unwrap_or(match word {
            "stop" | "tool_calls" => Termination::StopUnspecified,
            _ => Termination::Unknown,
        })
}

/// By a stop string, a stop id or an end id.
fn stopped(evidence: &Evidence<'_>, extra: Option<&Value>) -> Option<Termination> {
    let stops = evidence.settings.stop.as_deref().unwrap_or_default();
    if let Some(text) = extra.and_then(Value::as_str)
        && stops.iter().any(|stop| stop == text)
    {
        return Some(Termination::StopString(text.to_owned()));
    }
    let last = *evidence.ids?.last()?;
    let stop_ids = evidence.settings.stop_token_ids.as_deref().unwrap_or_default();
    if stop_ids.contains(&last) {
        return Some(Termination::StopToken(last));
    }
    let ends = evidence.end_ids.contains(&last) && evidence.settings.ignore_eos != Some(true);
    (ends || evidence.native == Some("eos")).then_some(Termination::Eos(last))
}

/// By the cap or the context. A count that equals the cap outranks what the server says.
fn capped(evidence: &Evidence<'_>) -> Option<Termination> {
    let completion = evidence.completion?;
    if evidence.cap.is_some_and(|cap| completion == cap) {
        return Some(Termination::LengthMaxTokens);
    }
    let full = evidence.context.zip(evidence.prompt);
    let full = full.is_some_and(|(context, prompt)| {
        prompt.saturating_add(completion).saturating_add(1) >= context
    });
    full.then_some(Termination::LengthContext)
}

/// As the server indicates it.
fn indicated(evidence: &Evidence<'_>, word: &str, extra: Option<&Value>) -> Option<Termination> {
    let stops = evidence.settings.stop.as_deref().unwrap_or_default();
    match (evidence.native, word) {
        (Some("word"), _) | (_, "stop_sequence") => {
            let named = extra.and_then(Value::as_str).map(str::to_owned);
            // One stop string only can be the one.
            let only = if let [only] = stops { Some(only.clone()) } else { None };
            Some(named.or(only).map_or(Termination::StopUnspecified, Termination::StopString))
        }
        // Where the cap is known, a count below it means that something else was full.
        (_, "length") => Some(match (evidence.completion, evidence.cap) {
            (Some(_), Some(_)) => Termination::LengthContext,
            _ => Termination::LengthMaxTokens,
        }),
        _ => match extra.and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok()) {
            Some(id)
                if evidence
                    .settings
                    .stop_token_ids
                    .as_deref()
                    .is_some_and(|ids| ids.contains(&id)) =>
            {
                Some(Termination::StopToken(id))
            }
            // vLLM tells an integer for every end id but the first.
            Some(id) => Some(Termination::Eos(id)),
            None => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(word: &str, extra: Value) -> Choice {
        Choice {
            finish_reason: Some(word.to_owned()),
            stop_reason: Some(extra).filter(|extra| !extra.is_null()),
            ..Choice::default()
        }
    }

    fn class(
        choice: &Choice,
        ids: Option<&[u32]>,
        change: impl FnOnce(&mut Evidence<'_>),
    ) -> String {
        let settings: Settings =
            serde_json::from_value(json!({"stop": ["END", "\n"], "stop_token_ids": [7]})).unwrap();
        let mut evidence = Evidence {
            choice,
            settings: &settings,
            ids,
            completion: ids.map(<[u32]>::len),
            prompt: Some(10),
            end_ids: &[2],
            cap: Some(5),
            context: Some(100),
            native: None,
        };
        change(&mut evidence);
        classify(&evidence).to_string()
    }

    #[test]
    fn the_evidence_decides_in_the_order_of_its_weight() {
        let stop = choice("stop", Value::Null);
        let length = choice("length", Value::Null);
        let keep = |_: &mut Evidence<'_>| {};
        assert_eq!(class(&stop, Some(&[1, 2]), keep), "eos(2)");
        // An end token at the very cap: the model ended, whatever the server says.
        assert_eq!(class(&length, Some(&[1, 1, 1, 1, 2]), keep), "eos(2)");
        assert_eq!(class(&stop, Some(&[1, 7]), keep), "stop_token(7)");
        assert_eq!(
            class(&choice("stop", json!("END")), Some(&[1, 5]), keep),
            "stop_string(\"END\")"
        );
        // The count outranks the word.
        assert_eq!(class(&stop, Some(&[1, 1, 1, 1, 1]), keep), "length(max_tokens)");
        assert_eq!(class(&length, Some(&[1, 1]), keep), "length(context)");
        assert_eq!(class(&stop, Some(&[1, 1]), |e| e.context = Some(12)), "length(context)");
        assert_eq!(class(&stop, None, keep), "stop_unspecified");
        assert_eq!(class(&choice("tool_calls", Value::Null), None, keep), "stop_unspecified");
        assert_eq!(class(&choice("stop", json!(9)), None, keep), "eos(9)");
        assert_eq!(class(&choice("stop", json!(7)), None, keep), "stop_token(7)");
        assert_eq!(class(&choice("abort", Value::Null), Some(&[2]), keep), "aborted(abort)");
        assert_eq!(
            class(&choice("stop", json!("NaN happened")), Some(&[2]), keep),
            "numerical_fault"
        );
        assert_eq!(class(&choice("content_filter", Value::Null), None, keep), "content_filter");
        assert_eq!(class(&choice("weird", Value::Null), None, keep), "unknown");
        let ended = |e: &mut Evidence<'_>| (e.native, e.end_ids) = (Some("eos"), &[]);
        assert_eq!(class(&stop, Some(&[1, 5]), ended), "eos(5)");
        let word = |e: &mut Evidence<'_>| e.native = Some("word");
        assert_eq!(class(&choice("stop", json!("\n")), Some(&[1]), word), "stop_string(\"\\n\")");
    }

    #[test]
    fn an_end_id_that_is_ignored_ends_nothing() {
        let settings: Settings = serde_json::from_value(json!({"ignore_eos": true})).unwrap();
        let choice = choice("length", Value::Null);
        let evidence = Evidence {
            choice: &choice,
            settings: &settings,
            ids: Some(&[1, 2]),
            completion: Some(2),
            prompt: None,
            end_ids: &[2],
            cap: Some(2),
            context: None,
            native: None,
        };
        assert_eq!(classify(&evidence), Termination::LengthMaxTokens);
    }
}
