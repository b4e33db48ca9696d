//! A server that speaks the OpenAI API, seen through its own dialect.

pub mod dialect;
pub mod http;
pub mod reply;
pub mod retry;
pub mod sse;
pub mod transport;

use super::{Answer, Ask, Backend, BackendError, Failed, Opening};
use crate::plan::RemoteTarget;

/// A server.
#[derive(Debug)]
pub struct Remote {
    identity: Vec<(String, String)>,
}

/// Opens a server.
///
/// # Errors
/// Nobody answers.
#[expect(clippy::unused_async, reason = "the contract")]
pub async fn open(target: &RemoteTarget, _opening: &Opening) -> Result<Remote, Failed> {
    Err(BackendError::Broken(format!("{} cannot be reached", target.url)).into())
}

impl Backend for Remote {
    fn identity(&self) -> Vec<(String, String)> {
        self.identity.clone()
    }

    fn exchange<'a>(&'a self, _ask: Ask<'a>) -> Answer<'a> {
        Box::pin(async { Err(BackendError::Broken("not yet".to_owned()).into()) })
    }
}

/// The words for `dialect` in `targets.yaml`.
pub fn dialect_names() -> Vec<&'static str> {
    let mut names = vec!["auto"];
    names.extend(dialect::ALL.iter().map(|dialect| dialect.name));
    names
}
