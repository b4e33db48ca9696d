//! The ids that end a reply, kept apart by the file that names them.

use std::path::Path;

use serde_json::Value;

use super::error::ModelError;
use super::tokenizer::Tokenizer;

/// The end ids as three files give them; servers differ in which of them they read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EosSets {
    /// The id of `eos_token` in `tokenizer_config.json`.
    pub tokenizer: Vec<u32>,
    /// `eos_token_id` of `config.json`.
    pub config: Vec<u32>,
    /// `eos_token_id` of `generation_config.json`.
    pub generation_config: Vec<u32>,
}

impl EosSets {
    pub(super) fn read(
        dir: &Path,
        config: &Value,
        generation_config: Option<&Value>,
        tokenizer: &Tokenizer,
        eos_token: Option<&str>,
    ) -> Result<EosSets, ModelError> {
        let nested = config.pointer("/text_config/eos_token_id");
        let in_config = config.get("eos_token_id").filter(|ids| !ids.is_null()).or(nested);
        let in_generation = generation_config.and_then(|value| value.get("eos_token_id"));
        Ok(EosSets {
            tokenizer: eos_token.and_then(|token| tokenizer.id(token)).into_iter().collect(),
            config: ids(&dir.join("config.json"), in_config)?,
            generation_config: ids(&dir.join("generation_config.json"), in_generation)?,
        })
    }

    /// All end ids, ascending: generation ends at any of them.
    pub fn effective(&self) -> Vec<u32> {
        let sets = self.named();
        let mut all: Vec<u32> = sets.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The files that name `id` as an end id, most specific first; empty when none does.
    pub fn provenance(&self, id: u32) -> Vec<&'static str> {
        let sets = self.named();
        sets.iter().filter(|(_, ids)| ids.contains(&id)).map(|(name, _)| *name).collect()
    }

    /// Whether the files that name any end id all name the same ones.
    pub fn agree(&self) -> bool {
        let sorted = |ids: &[u32]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        let mut sets = self.named().into_iter().filter(|(_, ids)| !ids.is_empty());
        let first = sets.next().map(|(_, ids)| sorted(ids));
        sets.all(|(_, ids)| Some(sorted(ids)) == first)
    }

    fn named(&self) -> [(&'static str, &[u32]); 3] {
        [
            ("generation_config.json", &self.generation_config),
            ("config.json", &self.config),
            ("tokenizer_config.json", &self.tokenizer),
        ]
    }
}

fn ids(path: &Path, value: Option<&Value>) -> Result<Vec<u32>, ModelError> {
    let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    let found = match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(one).collect(),
        Some(value) => one(value).map(|id| vec![id]),
    };
    found.ok_or_else(|| ModelError::Invalid {
        path: path.to_owned(),
        message: format!(
            "`eos_token_id` is {}; write a token id or a list of token ids",
            value.unwrap_or(&Value::Null)
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sets_are_joined_with_their_origin() {
        let sets = EosSets { tokenizer: vec![2], config: vec![2], generation_config: vec![7, 2] };
        assert_eq!(sets.effective(), [2, 7]);
        assert_eq!(sets.provenance(7), ["generation_config.json"]);
        assert_eq!(sets.provenance(2).len(), 3);
        assert!(!sets.agree());
        assert!(EosSets { tokenizer: vec![2], config: vec![2], ..EosSets::default() }.agree());
    }

    #[test]
    fn an_id_may_be_a_number_a_list_or_absent() {
        let path = Path::new("config.json");
        assert_eq!(ids(path, Some(&json!(3))).unwrap(), [3]);
        assert_eq!(ids(path, Some(&json!([3, 4]))).unwrap(), [3, 4]);
        assert_eq!(ids(path, Some(&json!(null))).unwrap(), [0; 0]);
        let error = ids(path, Some(&json!("</s>"))).unwrap_err().to_string();
        assert!(error.contains("`eos_token_id` is \"</s>\""), "{error}");
    }
}
