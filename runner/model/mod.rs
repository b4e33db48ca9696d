//! A Hugging Face model directory, as transformers 4 and 5 write it.
//!
//! [`ModelDir::open`] reads everything but the weights' values: configuration, tokenizer, chat
//! templates, end ids and hashes. [`template::render`] turns a request into the prompt's text,
//! [`Tokenizer::encode`] turns that into ids.

mod bytes;
mod clock;
pub mod eos;
pub mod error;
mod files;
mod jinja;
mod special;
pub mod template;
mod templates;
pub mod tokenizer;
mod weights;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub use clock::Clock;
pub use eos::EosSets;
pub use error::ModelError;
pub use special::SpecialTokens;
pub use template::render;
pub use templates::{Template, Templates};
pub use tokenizer::Tokenizer;

/// A model directory, read and checked.
#[derive(Debug)]
pub struct ModelDir {
    /// The directory.
    pub path: PathBuf,
    /// `config.json`, an object.
    pub config: Value,
    /// `generation_config.json`, an object, when there is one.
    pub generation_config: Option<Value>,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The named special tokens.
    pub special_tokens: SpecialTokens,
    /// The chat templates; there may be none.
    pub templates: Templates,
    /// The end ids.
    pub eos: EosSets,
    /// What the chat templates take for now.
    pub clock: Clock,
    /// SHA-256 of what was read.
    pub hashes: Hashes,
    /// What a user should know although nothing is broken, one sentence each.
    pub warnings: Vec<String>,
    weights: Vec<PathBuf>,
}

/// SHA-256 in hex of the parts that identify a model; a part that is absent is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hashes {
    /// `config.json`.
    pub config: String,
    /// The weight files.
    pub weights: Option<String>,
    /// `tokenizer.json`.
    pub tokenizer: String,
    /// The chat templates.
    pub template: Option<String>,
    /// `generation_config.json`.
    pub generation_config: Option<String>,
}

impl ModelDir {
    /// Reads the directory. Weights may be absent, so that a tokenizer can be used alone.
    ///
    /// # Errors
    /// A file that is needed is missing, or one that is there is broken.
    pub fn open(path: &Path) -> Result<ModelDir, ModelError> {
        if !path.is_dir() {
            let help = "give the directory of a model in Hugging Face format".to_owned();
            return Err(ModelError::Missing { path: path.to_owned(), help });
        }
        let (config, config_bytes) =
            required(path, "config.json", "the architecture is read from it")?;
        let config = object(path, "config.json", config)?;
        let generation = optional(path, "generation_config.json")?;
        let (generation_config, generation_hash) = match generation {
            Some((value, hash)) => {
                (Some(object(path, "generation_config.json", value)?), Some(hash))
            }
            None => (None, None),
        };
        let tokenizer_config: Map<String, Value> =
            files::json(&path.join("tokenizer_config.json"))?.unwrap_or_default();
        let special_tokens = SpecialTokens::read(path, &tokenizer_config)?;
        let json = read_required(path, "tokenizer.json", TOKENIZER_HELP)?;
        let tokenizer = Tokenizer::read(path, &json, &tokenizer_config, &special_tokens)?;
        let templates = Templates::read(path, &tokenizer_config)?;
        let eos_token = special_tokens.get("eos_token");
        let eos = EosSets::read(path, &config, generation_config.as_ref(), &tokenizer, eos_token)?;
        let weights = weights::find(path)?;
        let hashes = Hashes {
            config: files::sha256(&config_bytes),
            weights: weights::hash(&weights)?,
            tokenizer: files::sha256(&json),
            template: templates.hash(),
            generation_config: generation_hash,
        };
        let mut model = ModelDir {
            path: path.to_owned(),
            config,
            generation_config,
            tokenizer,
            special_tokens,
            templates,
            eos,
            clock: Clock::default(),
            hashes,
            warnings: Vec::new(),
            weights,
        };
        model.warnings = warnings(&model);
        Ok(model)
    }

    /// The safetensors files that hold the weights, at least one, each checked to be whole.
    ///
    /// # Errors
    /// The directory holds no weights.
    pub fn weights(&self) -> Result<&[PathBuf], ModelError> {
        if self.weights.is_empty() { Err(weights::missing(&self.path)) } else { Ok(&self.weights) }
    }

    /// What identifies this model, for the run's manifest: each part with the first 16 hex digits
    /// of its hash, or `none`.
    pub fn facts(&self) -> Vec<(String, String)> {
        let short = |hash: Option<&str>| {
            hash.map_or("none", |hash| hash.get(..16).unwrap_or(hash)).to_owned()
        };
        let facts = [
            ("model", short(Some(&self.hashes.config))),
            ("weights", short(self.hashes.weights.as_deref())),
            ("tokenizer", short(Some(&self.hashes.tokenizer))),
            ("template", short(self.hashes.template.as_deref())),
            ("generation_config", short(self.hashes.generation_config.as_deref())),
        ];
        facts.map(|(name, fact)| (name.to_owned(), fact)).to_vec()
    }
}

const TOKENIZER_HELP: &str = "only tokenizers in this form are read; `AutoTokenizer.from_pretrained(…).save_pretrained(…)` of transformers writes it";

fn read_required(dir: &Path, name: &str, help: &str) -> Result<Vec<u8>, ModelError> {
    let path = dir.join(name);
    files::bytes(&path)?.ok_or_else(|| ModelError::Missing { path, help: help.to_owned() })
}

fn required(dir: &Path, name: &str, help: &str) -> Result<(Value, Vec<u8>), ModelError> {
    let bytes = read_required(dir, name, help)?;
    Ok((files::parse(&dir.join(name), &bytes)?, bytes))
}

fn optional(dir: &Path, name: &str) -> Result<Option<(Value, String)>, ModelError> {
    let path = dir.join(name);
    let read = |bytes: Vec<u8>| Ok((files::parse(&path, &bytes)?, files::sha256(&bytes)));
    files::bytes(&path)?.map(read).transpose()
}

fn object(dir: &Path, name: &str, value: Value) -> Result<Value, ModelError> {
    if value.is_object() {
        return Ok(value);
    }
    let message = "not a JSON object; download it again".to_owned();
    Err(ModelError::Invalid { path: dir.join(name), message })
}

fn warnings(model: &ModelDir) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (Some(bos), [first, ..]) =
        (model.special_tokens.get("bos_token"), model.tokenizer.affixes().0)
    {
        let holds = |template: &Template| {
            template.source.contains("bos_token") || template.source.contains(bos)
        };
        if model.tokenizer.id(bos) == Some(*first) && model.templates.all().iter().any(holds) {
            warnings.push(format!(
                "the tokenizer adds {bos} and the chat template holds it, too: a server that encodes the rendered prompt with special tokens added begins it twice"
            ));
        }
    }
    if !model.eos.agree() {
        let eos = &model.eos;
        warnings.push(format!(
            "the end ids differ: generation_config.json {:?}, config.json {:?}, tokenizer_config.json {:?}; generation ends at any of them",
            eos.generation_config, eos.config, eos.tokenizer
        ));
    }
    warnings
}
