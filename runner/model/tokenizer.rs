//! The tokenizer: text to ids and back, and what one id stands for.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};
use tokenizers::AddedToken;

use super::bytes::{self, Alphabet};
use super::error::ModelError;
use super::files;
use super::special::SpecialTokens;

/// A tokenizer as `tokenizer.json` describes it, with the added tokens of its configuration.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    alphabet: Alphabet,
    prefix: Vec<u32>,
    suffix: Vec<u32>,
}

impl Tokenizer {
    /// Reads `tokenizer.json` of `dir` from its `bytes`.
    ///
    /// # Errors
    /// The file is not JSON, or describes a tokenizer that this program does not read.
    pub(super) fn read(
        dir: &Path,
        json: &[u8],
        config: &Map<String, Value>,
        special: &SpecialTokens,
    ) -> Result<Tokenizer, ModelError> {
        let path = dir.join("tokenizer.json");
        let document: Value = files::parse(&path, json)?;
        let invalid = |message: String| ModelError::Invalid { path: path.clone(), message };
        let mut inner = tokenizers::Tokenizer::from_bytes(json).map_err(|error| {
            invalid(format!("not a tokenizer of the `tokenizers` library: {error}; save it again with transformers"))
        })?;
        // A file may carry the cut and the padding of its training; a request is never cut.
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| invalid(error.to_string()))?;
        add_configured(&mut inner, config, special).map_err(|error| invalid(error.to_string()))?;
        let mut tokenizer = Tokenizer {
            alphabet: Alphabet::of(&document),
            inner,
            prefix: Vec::new(),
            suffix: Vec::new(),
        };
        tokenizer.learn_affixes()?;
        Ok(tokenizer)
    }

    /// The ids of `text`: special tokens in it are recognised, none are added.
    ///
    /// # Errors
    /// The tokenizer's model refuses the text, which needs a vocabulary without an unknown token.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.encode_with(text, false)
    }

    /// The text of `ids`; `skip_special` leaves out the tokens that are flagged special.
    ///
    /// Bytes that are not UTF-8 become U+FFFD, and no clean-up of spaces is done.
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> String {
        self.inner.decode(ids, skip_special).unwrap_or_else(|_| {
            let kept = ids.iter().filter(|id| !(skip_special && self.is_special(**id)));
            let bytes: Vec<u8> = kept.flat_map(|id| self.token_bytes(*id)).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }

    /// One id as evidence shows it: special tokens by name, bytes that are no whole character as
    /// `<0xNN>`, an id outside the vocabulary as `<id N>`.
    pub fn piece(&self, id: u32) -> String {
        if self.inner.id_to_token(id).is_none() {
            return format!("<id {id}>");
        }
        let mut piece = String::new();
        for chunk in self.token_bytes(id).utf8_chunks() {
            piece.push_str(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(piece, "<0x{byte:02X}>");
            }
        }
        piece
    }

    /// The bytes that one id contributes to the decoded text; empty for an id outside the vocabulary.
    ///
    /// A tokenizer that drops the space at the start of a text does so in [`Tokenizer::decode`] only.
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        match self.inner.id_to_token(id) {
            None => Vec::new(),
            Some(token) if self.is_added(id) => token.into_bytes(),
            Some(token) => bytes::of_token(&self.alphabet, &token),
        }
    }

    /// The id of a token by its exact vocabulary entry.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// Whether decoding may leave this id out, as its entry is flagged special.
    pub fn is_special(&self, id: u32) -> bool {
        self.added(id).is_some_and(|token| token.special)
    }

    /// Whether this id was added beside the model's own vocabulary, special or not.
    pub fn is_added(&self, id: u32) -> bool {
        self.added(id).is_some()
    }

    /// One more than the greatest id, added tokens included; a model may have more, unused rows.
    pub fn vocab_size(&self) -> usize {
        let added = self.inner.get_added_vocabulary().get_added_tokens_decoder();
        let top = added.keys().max().map_or(0, |id| *id as usize + 1);
        top.max(self.inner.get_vocab_size(false))
    }

    /// The ids put before and after a text by a server that encodes with special tokens added.
    pub fn affixes(&self) -> (&[u32], &[u32]) {
        (&self.prefix, &self.suffix)
    }

    fn added(&self, id: u32) -> Option<&AddedToken> {
        self.inner.get_added_vocabulary().get_added_tokens_decoder().get(&id)
    }

    fn encode_with(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>, ModelError> {
        let encoding = self.inner.encode_fast(text, add_special_tokens);
        encoding
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|error| ModelError::Encode(error.to_string()))
    }

    fn learn_affixes(&mut self) -> Result<(), ModelError> {
        let plain = self.encode_with("a", false)?;
        let framed = self.encode_with("a", true)?;
        if let Some(at) = framed.windows(plain.len().max(1)).position(|window| window == plain) {
            self.prefix = framed[..at].to_vec();
            self.suffix = framed[at + plain.len()..].to_vec();
        }
        Ok(())
    }
}

/// Adds what the configuration names and `tokenizer.json` lacks, as transformers does on loading.
fn add_configured(
    tokenizer: &mut tokenizers::Tokenizer,
    config: &Map<String, Value>,
    special: &SpecialTokens,
) -> tokenizers::Result<()> {
    let mut missing = declared(config);
    let known = tokenizer.get_added_tokens_decoder();
    missing.retain(|(_, token)| !known.values().any(|other| other == token));
    missing.sort_by_key(|(id, _)| *id);
    let mut tokens: Vec<AddedToken> = missing.into_iter().map(|(_, token)| token).collect();
    for text in special.texts() {
        let is_known = known.values().chain(&tokens).any(|token| token.content == text);
        if !is_known {
            tokens.push(AddedToken::from(text, true));
        }
    }
    for token in tokens {
        if token.special {
            tokenizer.add_special_tokens([token])?;
        } else {
            tokenizer.add_tokens([token])?;
        }
    }
    Ok(())
}

/// The tokens that the configuration declares, with their ids: `added_tokens_decoder`, an object from
/// the id to the token, or `added_tokens`, a list.
fn declared(config: &Map<String, Value>) -> Vec<(u32, AddedToken)> {
    let decoder = config.get("added_tokens_decoder").and_then(Value::as_object);
    let by_id =
        decoder.into_iter().flatten().filter_map(|(id, entry)| Some((id.parse().ok()?, entry)));
    let list = config.get("added_tokens").and_then(Value::as_array);
    let listed = list
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((u32::try_from(entry.get("id")?.as_u64()?).ok()?, entry)));
    by_id.chain(listed).filter_map(|(id, entry)| Some((id, added_token(entry)?))).collect()
}

fn added_token(entry: &Value) -> Option<AddedToken> {
    let flag = |name: &str| entry.get(name).and_then(Value::as_bool).unwrap_or(false);
    let token = AddedToken::from(entry.get("content")?.as_str()?, flag("special"))
        .single_word(flag("single_word"))
        .lstrip(flag("lstrip"))
        .rstrip(flag("rstrip"))
        .normalized(flag("normalized"));
    Some(token)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn byte_level() -> Value {
        let vocab = json!({"a": 0, "b": 1, "Ġ": 2, "ä¸": 3, "Ń": 4, "Ċ": 5});
        json!({
            "version": "1.0", "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
            "padding": null, "normalizer": null,
            "added_tokens": [{"id": 6, "content": "<|end|>", "single_word": false, "lstrip": false,
                              "rstrip": false, "normalized": false, "special": true}],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
            "post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [6], "tokens": ["<|end|>"]}}},
            "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
            "model": {"type": "BPE", "vocab": vocab, "merges": []},
        })
    }

    fn sentencepiece() -> Value {
        let vocab =
            json!({"<unk>": 0, "▁": 1, "a": 2, "▁a": 3, "<0xE4>": 4, "<0xB8>": 5, "<0xAD>": 6});
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            "pre_tokenizer": null, "post_processor": null,
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]},
            "model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": true, "fuse_unk": true,
                      "vocab": vocab, "merges": [["▁", "a"]]},
        })
    }

    fn read(document: &Value, config: &Value) -> Result<Tokenizer, ModelError> {
        let config = config.as_object().unwrap();
        let special = SpecialTokens::read(Path::new("m"), config)?;
        Tokenizer::read(Path::new("m"), document.to_string().as_bytes(), config, &special)
    }

    #[test]
    fn byte_level_tokens_show_half_characters() {
        let tokenizer = read(&byte_level(), &json!({})).unwrap();
        assert_eq!(tokenizer.encode("a b\n<|end|>").unwrap(), [0, 2, 1, 5, 6]);
        assert_eq!(tokenizer.piece(3), "<0xE4><0xB8>");
        assert_eq!(tokenizer.token_bytes(4), [0xAD]);
        assert_eq!(tokenizer.decode(&[3, 4, 6], true), "中");
        assert_eq!(tokenizer.decode(&[3, 4, 6], false), "中<|end|>");
        assert_eq!(
            (tokenizer.piece(5), tokenizer.piece(6)),
            ("\n".to_owned(), "<|end|>".to_owned())
        );
        assert!(tokenizer.is_special(6) && !tokenizer.is_special(5));
        assert_eq!((tokenizer.piece(99), tokenizer.vocab_size()), ("<id 99>".to_owned(), 7));
        assert_eq!(tokenizer.affixes(), (&[6][..], &[][..]));
    }

    #[test]
    fn byte_fallback_tokens_are_bytes() {
        let tokenizer = read(&sentencepiece(), &json!({})).unwrap();
        assert_eq!(tokenizer.encode(" a中").unwrap(), [3, 4, 5, 6]);
        assert_eq!(tokenizer.token_bytes(3), b" a");
        assert_eq!((tokenizer.piece(4), tokenizer.piece(1)), ("<0xE4>".to_owned(), " ".to_owned()));
        assert_eq!(tokenizer.decode(&[3, 4, 5, 6], true), " a中");
    }

    #[test]
    fn configured_tokens_are_added() {
        let config = json!({
            "added_tokens_decoder": {"7": {"content": "<tool>", "special": false, "normalized": false}},
            "added_tokens": [{"id": 8, "content": "<x>", "special": true}],
            "eos_token": "b",
        });
        let tokenizer = read(&byte_level(), &config).unwrap();
        assert_eq!(tokenizer.encode("a<tool><x>").unwrap(), [0, 7, 8]);
        assert!(tokenizer.is_added(7) && !tokenizer.is_special(7));
        assert!(tokenizer.is_special(1), "a named token of the vocabulary becomes special");
    }

    #[test]
    fn a_broken_tokenizer_names_the_file() {
        let mut broken = byte_level();
        broken["model"]["type"] = json!("Unheard");
        let error = read(&broken, &json!({})).unwrap_err().to_string();
        assert!(error.starts_with("m/tokenizer.json: not a tokenizer"), "{error}");
    }
}
