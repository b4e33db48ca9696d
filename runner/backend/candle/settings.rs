//! Which settings apply: the request's, else those of `generation_config.json`, else the built-in ones.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::capture::{Observed, Setting};
use crate::engine::{Job, Sampling};
use crate::model::{EosSets, ModelDir};
use crate::request::Settings;

const FILE: &str = "generation_config.json";

/// The settings in force and where each comes from.
#[derive(Debug)]
pub(super) struct Resolved {
    sampling: Sampling,
    max_tokens: Option<usize>,
    min_tokens: usize,
    stop: Vec<String>,
    stop_token_ids: Vec<u32>,
    ignore_eos: bool,
    end_ids: Vec<u32>,
    /// The record of them, in the order of [`Settings`], then `eos_token_ids`.
    pub(super) settings: Vec<Setting>,
}

impl Resolved {
    /// Resolves the settings of one request; `room` is how many tokens fit behind its prompt.
    ///
    /// # Errors
    /// A message: a value of `generation_config.json` has the wrong type, or settings contradict each other.
    pub(super) fn of(
        request: &Settings,
        files: &ModelDir,
        room: usize,
    ) -> Result<Resolved, String> {
        resolve(request, files.generation_config.as_ref(), &files.eos, room)
    }

    /// The engine's job but for prompt and evidence.
    pub(super) fn job(&self) -> Job<'_> {
        Job {
            prompt: &[],
            sampling: self.sampling.clone(),
            max_tokens: self.max_tokens,
            min_tokens: self.min_tokens,
            end_ids: &self.end_ids,
            ignore_eos: self.ignore_eos,
            stop_ids: &self.stop_token_ids,
            stop_strings: &self.stop,
            top: 0,
        }
    }
}

fn resolve(
    request: &Settings,
    generation_config: Option<&Value>,
    eos: &EosSets,
    room: usize,
) -> Result<Resolved, String> {
    let mut from =
        Sources { request: request.pinned(), file: defaults(generation_config), seen: vec![] };
    let sampling = Sampling {
        temperature: from.take("temperature", "temperature", 1.0)?,
        top_p: from.take("top_p", "top_p", 1.0)?,
        top_k: from.take("top_k", "top_k", 0)?,
        min_p: from.take("min_p", "min_p", 0.0)?,
        seed: from.take("seed", "", 0)?,
        ..Sampling::default()
    };
    // No cap at all is told apart from a cap that the context cuts: only the second was asked for.
    let most = from.take("max_tokens", "max_new_tokens", room)?;
    let max_tokens = from.is_set().then_some(most);
    let min_tokens = from.take("min_tokens", "min_new_tokens", 0)?;
    let stop: Vec<String> = from.take("stop", "stop_strings", Vec::new())?;
    let stop_token_ids = from.take("stop_token_ids", "", Vec::new())?;
    let ignore_eos = from.take("ignore_eos", "", false)?;
    let sampling = Sampling {
        repetition_penalty: from.take("repetition_penalty", "repetition_penalty", 1.0)?,
        presence_penalty: from.take("presence_penalty", "", 0.0)?,
        frequency_penalty: from.take("frequency_penalty", "", 0.0)?,
        logit_bias: from.take("logit_bias", "", BTreeMap::new())?,
        ..sampling
    };
    if stop.iter().any(String::is_empty) {
        return Err(
            "`stop` holds an empty string, which would end every reply at once; drop it".to_owned()
        );
    }
    if max_tokens.is_some_and(|most| min_tokens > most) {
        return Err(format!("`min_tokens` is {min_tokens}, but `max_tokens` is {most}"));
    }
    from.cap(room);
    let end_ids = eos.effective();
    from.seen.push(Setting {
        name: "eos_token_ids".to_owned(),
        requested: None,
        resolved: Observed::Seen(json!(end_ids)),
        provenance: named_by(eos, &end_ids),
    });
    let settings = from.seen;
    Ok(Resolved {
        sampling,
        max_tokens,
        min_tokens,
        stop,
        stop_token_ids,
        ignore_eos,
        end_ids,
        settings,
    })
}

/// The files that name end ids, or `default` when none does.
fn named_by(eos: &EosSets, ids: &[u32]) -> String {
    let mut files: Vec<&str> = ids.iter().flat_map(|id| eos.provenance(*id)).collect();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() { "default".to_owned() } else { files.join(", ") }
}

/// The file's fields, brought into the words of a request.
fn defaults(generation_config: Option<&Value>) -> Map<String, Value> {
    let mut fields = generation_config.and_then(Value::as_object).cloned().unwrap_or_default();
    fields.retain(|_, value| !value.is_null());
    if fields.get("do_sample") == Some(&Value::Bool(false)) {
        fields.insert("temperature".to_owned(), json!(0.0));
    }
    // Transformers writes a negative number for no limit.
    if fields.get("top_k").and_then(Value::as_i64).is_some_and(|k| k < 0) {
        fields.insert("top_k".to_owned(), json!(0));
    }
    if let Some(text) = fields.get("stop_strings").and_then(Value::as_str) {
        let list = json!([text]);
        fields.insert("stop_strings".to_owned(), list);
    }
    fields
}

struct Sources {
    request: Map<String, Value>,
    file: Map<String, Value>,
    seen: Vec<Setting>,
}

impl Sources {
    /// The value in force for `name`, called `in_file` in the file, recorded with its origin.
    fn take<T: DeserializeOwned + Serialize>(
        &mut self,
        name: &str,
        in_file: &str,
        default: T,
    ) -> Result<T, String> {
        let requested = self.request.get(name).cloned();
        let (value, provenance) = match (&requested, self.file.get(in_file)) {
            (Some(value), _) => (value.clone(), "request"),
            (None, Some(value)) => (value.clone(), FILE),
            (None, None) => (json!(default), "default"),
        };
        let taken = serde_json::from_value(value.clone()).map_err(|error| {
            let origin = if provenance == FILE {
                format!("{FILE}: `{in_file}`")
            } else {
                format!("`{name}`")
            };
            format!("{origin} is {value}: {error}")
        })?;
        self.seen.push(Setting {
            name: name.to_owned(),
            requested,
            resolved: Observed::Seen(value),
            provenance: provenance.to_owned(),
        });
        Ok(taken)
    }

    /// Whether the value taken last was set anywhere.
    fn is_set(&self) -> bool {
        self.seen.last().is_some_and(|setting| setting.provenance != "default")
    }

    /// Where a cap does not fit into the context, the context is in force.
    fn cap(&mut self, room: usize) {
        let setting = self.seen.iter_mut().find(|setting| setting.name == "max_tokens");
        let Some(setting) = setting else { return };
        let asked = setting.resolved.seen().ok().and_then(Value::as_u64);
        if asked.is_some_and(|asked| asked > room as u64) {
            setting.resolved = Observed::Seen(json!(room));
            setting.provenance = "context".to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eos() -> EosSets {
        EosSets { tokenizer: vec![2], config: vec![], generation_config: vec![2, 7] }
    }

    fn of(request: Value, file: Value) -> Result<Resolved, String> {
        let request: Settings = serde_json::from_value(request).unwrap();
        resolve(&request, Some(&file), &eos(), 100)
    }

    fn row(resolved: &Resolved, name: &str) -> (Value, String) {
        let setting = resolved.settings.iter().find(|setting| setting.name == name).unwrap();
        (setting.resolved.seen().unwrap().clone(), setting.provenance.clone())
    }

    #[test]
    fn the_request_outranks_the_file_and_the_file_the_default() {
        let file = json!({"temperature": 0.6, "top_k": 20, "max_new_tokens": 30, "min_p": null});
        let resolved = of(json!({"temperature": 0.0}), file).unwrap();
        assert_eq!(row(&resolved, "temperature"), (json!(0.0), "request".into()));
        assert_eq!(row(&resolved, "top_k"), (json!(20), FILE.into()));
        assert_eq!(row(&resolved, "max_tokens"), (json!(30), FILE.into()));
        assert_eq!(row(&resolved, "min_p"), (json!(0.0), "default".into()));
        assert_eq!(resolved.job().sampling.top_k, 20);
        let names: Vec<&str> = resolved.settings.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(
            names,
            [
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
            ]
        );
    }

    #[test]
    fn do_sample_false_is_greedy() {
        let file = json!({"do_sample": false, "temperature": 0.6, "top_k": -1});
        let resolved = of(json!({}), file).unwrap();
        assert_eq!(row(&resolved, "temperature"), (json!(0.0), FILE.into()));
        assert_eq!(row(&resolved, "top_k"), (json!(0), FILE.into()));
    }

    #[test]
    fn a_cap_beyond_the_context_is_cut() {
        let resolved = of(json!({"max_tokens": 500}), json!({})).unwrap();
        assert_eq!(row(&resolved, "max_tokens"), (json!(100), "context".into()));
        assert_eq!(resolved.job().max_tokens, Some(500));
        let resolved = of(json!({}), json!({})).unwrap();
        assert_eq!(row(&resolved, "max_tokens"), (json!(100), "default".into()));
        assert_eq!(resolved.job().max_tokens, None);
    }

    #[test]
    fn end_ids_say_which_files_name_them() {
        let resolved = of(json!({}), json!({})).unwrap();
        let origin = "generation_config.json, tokenizer_config.json".to_owned();
        assert_eq!(row(&resolved, "eos_token_ids"), (json!([2, 7]), origin));
        assert_eq!(resolved.job().end_ids, [2, 7]);
    }

    #[test]
    fn contradictions_and_wrong_types_are_refused() {
        let text = of(json!({}), json!({"temperature": "hot"})).unwrap_err();
        assert!(text.contains("generation_config.json: `temperature` is \"hot\""), "{text}");
        let text = of(json!({"stop": ["a", ""]}), json!({})).unwrap_err();
        assert!(text.contains("empty string"), "{text}");
        let text = of(json!({"min_tokens": 5, "max_tokens": 3}), json!({})).unwrap_err();
        assert!(text.contains("`min_tokens` is 5, but `max_tokens` is 3"), "{text}");
    }
}
