//! Finding out what a server is: by what it does, never by what it calls itself.

use std::collections::BTreeMap;

use serde_json::Value;

use super::dialect::{self, Dialect};
use super::transport::{Call, Received, Transport};
use crate::backend::BackendError;
use crate::capture::WireCall;
use crate::text;

/// What a server said about itself.
#[derive(Debug, Default)]
pub struct Facts {
    answers: BTreeMap<String, Value>,
}

impl Facts {
    /// The value at a JSON pointer in the answer to a `GET` of that path; `None` where there is none or it is null.
    pub fn get(&self, path: &str, pointer: &str) -> Option<&Value> {
        self.answers.get(path)?.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The context length, in tokens.
    pub(super) fn context(&self, dialect: &Dialect) -> Option<usize> {
        let told = |(path, pointer): &(&str, &str)| self.get(path, pointer)?.as_u64();
        dialect.context.iter().find_map(told).and_then(|length| usize::try_from(length).ok())
    }

    #[cfg(test)]
    pub(super) fn of(answers: &[(&str, Value)]) -> Facts {
        let answers = answers.iter().map(|(path, value)| ((*path).to_owned(), value.clone()));
        Facts { answers: answers.collect() }
    }
}

/// A server, known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) dialect: &'static Dialect,
    pub(super) facts: Facts,
    /// How the dialect was found, for the record.
    pub(super) how: String,
    /// The calls that were made for it.
    pub(super) calls: Vec<WireCall>,
}

/// Asks the server what it is.
///
/// # Errors
/// Nobody answers, or the server refuses the key.
pub(super) async fn probe(
    transport: &dyn Transport,
    dialect: &str,
    model: &str,
) -> Result<Known, BackendError> {
    let mut prober = Prober { transport, calls: Vec::new() };
    let models = prober.ask("/v1/models", None).await;
    if let Some(broke) = &models.broke {
        return Err(broke.clone());
    }
    if matches!(models.status, 401 | 403) {
        let message =
            super::error_body::read(models.status, &models.content_type, &models.body).message;
        let key = "name the variable that holds the key in `api_key_env`";
        return Err(BackendError::Rejected(format!(
            "the server refuses the key (HTTP {}: {message}); {key}",
            models.status
        )));
    }
    let mut facts = Facts::default();
    facts.keep("/v1/models", &models);
    let (dialect, how) = match dialect::by_name(dialect) {
        Some(dialect) => (dialect, "as the target says".to_owned()),
        None => prober.recognise(&mut facts, model).await,
    };
    for (_, path, _) in dialect.facts {
        if !facts.answers.contains_key(*path) {
            facts.keep(path, &prober.ask(path, None).await);
        }
    }
    for (path, _) in dialect.context {
        if !facts.answers.contains_key(*path) {
            facts.keep(path, &prober.ask(path, None).await);
        }
    }
    if let Some((path, body)) = dialect.show {
        facts.keep(path, &prober.ask(path, Some(body(model))).await);
    }
    Ok(Known { dialect, facts, how, calls: prober.calls })
}

/// Asks, and keeps the record.
struct Prober<'a> {
    transport: &'a dyn Transport,
    calls: Vec<WireCall>,
}

impl Prober<'_> {
    async fn ask(&mut self, path: &str, body: Option<Value>) -> Received {
        let path = path.to_owned();
        let call = Call { purpose: "probe", body, path, timeout: None, origin: None };
        let received = self.transport.call(call).await;
        self.calls.push(received.wire.clone());
        received
    }

    /// The first dialect whose probe recognises the server, with what gave it away.
    async fn recognise(&mut self, facts: &mut Facts, model: &str) -> (&'static Dialect, String) {
        let mut tried = Vec::new();
        for dialect in dialect::ALL {
            let Some(probe) = &dialect.probe else { continue };
            let received = self.ask(probe.path, probe.body.map(|body| body(model))).await;
            let answer = serde_json::from_slice(&received.body).unwrap_or(Value::Null);
            if let Some(words) = (probe.recognise)(received.status, &answer) {
                if probe.body.is_none() {
                    facts.keep(probe.path, &received);
                }
                return (dialect, format!("probed: {words}"));
            }
            tried.push(format!("{} {}", probe.path, received.status));
        }
        (dialect::strict(), format!("nothing more was recognised by probing: {}", tried.join(", ")))
    }
}

impl Facts {
    fn keep(&mut self, path: &str, received: &Received) {
        // What was asked once is not asked again, whatever the answer.
        self.answers.insert(path.to_owned(), received.json().unwrap_or(Value::Null));
    }
}

impl Known {
    /// The model's name; with what the server lists instead, where it lists others only. Some servers answer to any name.
    fn named(&self, model: &str) -> String {
        let listed = self.facts.get("/v1/models", "/data").and_then(Value::as_array);
        let names = listed.into_iter().flatten().filter_map(|entry| entry.get("id")?.as_str());
        let names: Vec<&str> = names.collect();
        if names.is_empty() || names.contains(&model) {
            return model.to_owned();
        }
        let few: Vec<&str> = names.iter().copied().take(3).collect();
        format!("{model}, not among those that the server lists: {}", few.join(", "))
    }

    /// What identifies the server, for the manifest.
    pub(super) fn identity(&self, address: &str, model: &str) -> Vec<(String, String)> {
        let mut identity = vec![
            ("model".to_owned(), self.named(model)),
            ("server".to_owned(), address.to_owned()),
            ("dialect".to_owned(), format!("{}, {}", self.dialect.name, self.how)),
        ];
        for (name, path, pointer) in self.dialect.facts {
            let Some(value) = self.facts.get(path, pointer) else { continue };
            let value = match value {
                Value::String(text) if *name == "template" => text::hash(text),
                // A path says nothing beyond its last part and may name people.
                Value::String(text) if *name == "weights" => {
                    text.rsplit('/').next().unwrap_or(text).to_owned()
                }
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            identity.push(((*name).to_owned(), value));
        }
        if let Some(context) = self.facts.context(self.dialect) {
            identity.push(("context".to_owned(), context.to_string()));
        }
        identity
    }
}
