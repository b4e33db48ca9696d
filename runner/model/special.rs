//! The named special tokens, which a chat template sees as variables such as `bos_token`.

use std::path::Path;

use serde_json::{Map, Value};

use super::error::ModelError;
use super::files;

const NAMES: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/// What `tokenizer_config.json` and `special_tokens_map.json` say about special tokens.
#[derive(Debug, Clone, Default)]
pub struct SpecialTokens {
    /// The text of each named token, in transformers' order; only those that are defined.
    pub named: Vec<(String, String)>,
    /// Further tokens that are special although they have no name of their own.
    pub additional: Vec<String>,
}

impl SpecialTokens {
    /// Reads the tokens from the parsed `tokenizer_config.json` and the older map beside it.
    ///
    /// # Errors
    /// The map is there but is not a JSON object.
    pub(super) fn read(dir: &Path, config: &Map<String, Value>) -> Result<Self, ModelError> {
        let map = files::json::<Map<String, Value>>(&dir.join("special_tokens_map.json"))?;
        let map = map.unwrap_or_default();
        let lookup = |name: &str| config.get(name).or_else(|| map.get(name));
        let mut tokens = SpecialTokens::default();
        for name in NAMES {
            if let Some(text) = lookup(name).and_then(token_text) {
                tokens.named.push((name.to_owned(), text.to_owned()));
            }
        }
        for key in ["additional_special_tokens", "extra_special_tokens"] {
            match lookup(key) {
                Some(Value::Array(items)) => {
                    tokens
                        .additional
                        .extend(items.iter().filter_map(token_text).map(str::to_owned));
                }
                // Multimodal tokenizers name their own: {"image_token": "<image>"}.
                Some(Value::Object(own)) => {
                    tokens.named.extend(own.iter().filter_map(|(name, token)| {
                        Some((name.clone(), token_text(token)?.to_owned()))
                    }))
                }
                _ => {}
            }
        }
        Ok(tokens)
    }

    /// The text of one named token.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Every special token's text.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(_, text)| text).chain(&self.additional).map(String::as_str)
    }
}

/// A token is written as a string or as an object that describes an added token.
fn token_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_strings_or_objects() {
        let dir = tempfile::tempdir().unwrap();
        let older = json!({"pad_token": "<pad>", "eos_token": "ignored"}).to_string();
        std::fs::File::create(dir.path().join("special_tokens_map.json"))
            .and_then(|mut file| std::io::Write::write_all(&mut file, older.as_bytes()))
            .unwrap();
        let config = json!({
            "bos_token": null,
            "eos_token": {"__type": "AddedToken", "content": "</s>", "lstrip": false},
            "additional_special_tokens": ["<x>", {"content": "<y>"}],
            "extra_special_tokens": {"image_token": "<image>"},
        });
        let tokens = SpecialTokens::read(dir.path(), config.as_object().unwrap()).unwrap();
        assert_eq!(tokens.get("eos_token"), Some("</s>"));
        assert_eq!(tokens.get("pad_token"), Some("<pad>"));
        assert_eq!(tokens.get("bos_token"), None);
        assert_eq!(tokens.get("image_token"), Some("<image>"));
        assert_eq!(tokens.additional, ["<x>", "<y>"]);
    }
}
