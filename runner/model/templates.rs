//! The chat templates of a directory: where they are looked for, and which one a request takes.

use std::fmt;
use std::path::{Path, PathBuf};

use minijinja::Environment;
use serde_json::{Map, Value};

use super::error::ModelError;
use super::{files, jinja};

const DEFAULT: &str = "default";
const TOOL_USE: &str = "tool_use";

/// The chat templates of a model, compiled.
pub struct Templates {
    all: Vec<Template>,
    environment: Environment<'static>,
}

/// One chat template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// `default`, `tool_use` or the model's own name for it.
    pub name: String,
    /// The file that holds it.
    pub path: PathBuf,
    /// The text as it is in the file.
    pub source: String,
}

impl Templates {
    /// Reads the templates in transformers' order: the `.jinja` files, else the tokenizer's
    /// configuration, else a processor's `chat_template.json`.
    ///
    /// # Errors
    /// A file is broken or a template does not compile.
    pub(super) fn read(
        dir: &Path,
        tokenizer_config: &Map<String, Value>,
    ) -> Result<Self, ModelError> {
        let mut all = from_files(dir)?;
        if all.is_empty() {
            let path = dir.join("tokenizer_config.json");
            all = from_config(&path, tokenizer_config.get("chat_template"))?;
        }
        if all.is_empty() {
            let path = dir.join("chat_template.json");
            let document = files::json::<Map<String, Value>>(&path)?.unwrap_or_default();
            all = from_config(&path, document.get("chat_template"))?;
        }
        let mut environment = jinja::environment();
        for template in &all {
            let source = jinja::prepare(&template.source);
            environment
                .add_template_owned(template.name.clone(), source)
                .map_err(|error| template.error(&error))?;
        }
        Ok(Templates { all, environment })
    }

    /// Every template, `default` first.
    pub fn all(&self) -> &[Template] {
        &self.all
    }

    /// The template a request takes: `tool_use` when it offers tools and there is one, else `default`.
    pub fn select(&self, tools: bool) -> Option<&Template> {
        let named = |name: &str| self.all.iter().find(|template| template.name == name);
        named(TOOL_USE).filter(|_| tools).or_else(|| named(DEFAULT))
    }

    pub(super) fn compiled(
        &self,
        template: &Template,
    ) -> Result<minijinja::Template<'_, '_>, ModelError> {
        self.environment.get_template(&template.name).map_err(|error| template.error(&error))
    }

    pub(super) fn hash(&self) -> Option<String> {
        match self.all.as_slice() {
            [] => None,
            [only] => Some(files::sha256(only.source.as_bytes())),
            many => {
                let line = |one: &Template| {
                    format!("{}  {}\n", files::sha256(one.source.as_bytes()), one.name)
                };
                Some(files::sha256(many.iter().map(line).collect::<String>().as_bytes()))
            }
        }
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Templates").field("all", &self.all).finish_non_exhaustive()
    }
}

impl Template {
    pub(super) fn error(&self, error: &minijinja::Error) -> ModelError {
        let message = jinja::message(error);
        ModelError::Template { path: self.path.clone(), line: error.line().unwrap_or(1), message }
    }
}

fn from_files(dir: &Path) -> Result<Vec<Template>, ModelError> {
    let mut all = Vec::new();
    let path = dir.join("chat_template.jinja");
    if let Some(source) = files::text(&path)? {
        all.push(Template { name: DEFAULT.to_owned(), path, source });
    }
    let folder = dir.join("additional_chat_templates");
    let mut paths: Vec<PathBuf> = match folder.read_dir() {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jinja"));
    paths.sort();
    for path in paths {
        if let (Some(source), Some(stem)) = (files::text(&path)?, path.file_stem()) {
            all.push(Template { name: stem.to_string_lossy().into_owned(), path, source });
        }
    }
    Ok(all)
}

fn from_config(path: &Path, value: Option<&Value>) -> Result<Vec<Template>, ModelError> {
    let template = |name: &str, source: &str| Template {
        name: name.to_owned(),
        path: path.to_owned(),
        source: source.to_owned(),
    };
    let named = |entry: &Value| {
        Some(template(entry.get("name")?.as_str()?, entry.get("template")?.as_str()?))
    };
    let found = match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(source)) => Some(vec![template(DEFAULT, source)]),
        Some(Value::Array(entries)) => entries.iter().map(named).collect(),
        Some(Value::Object(entries)) => {
            entries.iter().map(|(name, source)| Some(template(name, source.as_str()?))).collect()
        }
        Some(_) => None,
    };
    let mut found = found.ok_or_else(|| ModelError::Invalid {
        path: path.to_owned(),
        message: "`chat_template` is neither a text nor a list of `name` and `template`".to_owned(),
    })?;
    found.sort_by_key(|template| template.name != DEFAULT);
    Ok(found)
}
