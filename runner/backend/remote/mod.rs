//! A server that speaks the OpenAI API, seen through its own dialect.
//!
//! One request becomes one chat call, and side calls for what the reply does not show. Everything that is sent and
//! received goes through a [`Transport`], so that a recording is judged exactly as a server is.

pub mod assemble;
mod body;
pub mod dialect;
mod ending;
pub mod error_body;
pub mod http;
mod inquiry;
mod output;
mod probe;
mod prompt;
pub mod reply;
pub mod retry;
mod settings;
mod shadow;
pub mod sse;
pub mod transport;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::{Answer, Ask, Backend, BackendError, Failed, Opening};
use crate::capture::{Exchange, WireCall};
use crate::model::ModelDir;
use crate::plan::RemoteTarget;
use crate::request::Request;
use body::Refused;
use inquiry::Inquiry;
use output::ByBytes;
use probe::Known;
use transport::Transport;

/// A server.
pub struct Remote {
    transport: Box<dyn Transport>,
    known: Known,
    model: String,
    local: Option<ModelDir>,
    by_bytes: ByBytes,
    refused: Mutex<BTreeMap<Shape, Refused>>,
    /// Side routes that the server does not grant.
    missing: Mutex<Vec<String>>,
}

/// Opens a server.
///
/// # Errors
/// Nobody answers, the server refuses the key, or a file that the target names cannot be read.
pub async fn open(target: &RemoteTarget, opening: &Opening) -> Result<Remote, Failed> {
    let http = http::Http::open(target, opening)?;
    let tokenizer = target.tokenizer.as_deref();
    Ok(over(Box::new(http), &target.model, &target.dialect, tokenizer).await?)
}

/// A server at the other end of `transport`.
///
/// # Errors
/// As [`open`].
pub async fn over(
    transport: Box<dyn Transport>,
    model: &str,
    dialect: &str,
    tokenizer: Option<&Path>,
) -> Result<Remote, BackendError> {
    let known = probe::probe(transport.as_ref(), dialect, model).await?;
    let local = tokenizer.map(ModelDir::open).transpose();
    let local = local.map_err(|error| BackendError::Broken(error.to_string()))?;
    Ok(Remote {
        transport,
        known,
        model: model.to_owned(),
        local,
        by_bytes: ByBytes::default(),
        refused: Mutex::default(),
        missing: Mutex::default(),
    })
}

/// What servers make a refusal depend on: whether a request is streamed, and whether it offers tools.
type Shape = (bool, bool);

fn shape(request: &Request) -> Shape {
    (request.stream, !request.tools.is_empty())
}

impl Remote {
    /// What the server has refused so far in requests of this kind.
    fn refused(&self, request: &Request) -> Refused {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(&shape(request)).cloned().unwrap_or_default()
    }

    fn refuse(&self, request: &Request, field: String, why: String) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.entry(shape(request)).or_default().insert(field, why);
    }

    fn is_missing(&self, path: &str) -> bool {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().any(|known| known == path)
    }

    fn miss(&self, path: &str) {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }
}

impl Backend for Remote {
    fn identity(&self) -> Vec<(String, String)> {
        let mut identity = self.known.identity(self.transport.address(), &self.model);
        if let Some(local) = &self.local {
            let ours = local.facts().into_iter();
            let ours = ours.filter(|(name, _)| matches!(name.as_str(), "tokenizer" | "template"));
            identity.extend(ours.map(|(name, fact)| (format!("our {name}"), fact)));
        }
        identity
    }

    fn probes(&self) -> &[WireCall] {
        &self.known.calls
    }

    fn exchange<'a>(&'a self, ask: Ask<'a>) -> Answer<'a> {
        Box::pin(async move {
            let started = now();
            let mut inquiry = Inquiry::new(self, ask);
            match inquiry.run().await {
                Ok(parts) => Ok(Exchange {
                    turn: ask.turn,
                    request: ask.request.clone(),
                    input: parts.input,
                    settings: parts.settings,
                    generation: parts.generation,
                    response: parts.response,
                    wire: inquiry.wire,
                    elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
                }),
                Err(error) => Err(Failed { error, wire: inquiry.wire }),
            }
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a backend measures its exchanges")]
fn now() -> Instant {
    Instant::now()
}

/// The words for `dialect` in `targets.yaml`.
pub fn dialect_names() -> Vec<&'static str> {
    let mut names = vec!["auto"];
    names.extend(dialect::ALL.iter().map(|dialect| dialect.name));
    names
}
