//! Backends: who answers a request.
//!
//! A backend knows only [`Request`] and [`Exchange`]. To add one: a new file, a `mod` line, and a line in
//! [`open`](crate::backend).

#[cfg(feature = "candle")]
pub mod candle;
pub mod remote;
pub mod replay;
mod secret;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use thiserror::Error;

use crate::capture::{Exchange, WireCall};
use crate::plan::{Target, TargetKind};
use crate::request::Request;

pub use secret::{Redactor, Secret, Secrets};

/// An answer to come.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Exchange, Failed>> + Send + 'a>>;

/// Something that answers requests.
pub trait Backend: Send + Sync {
    /// Named facts that identify what answers, in a fixed order: `model`, `weights`, `tokenizer`,
    /// `template`, `generation_config`, `engine`, `dtype`, `device`.
    fn identity(&self) -> Vec<(String, String)>;

    /// The calls by which it found out what it talks to.
    fn probes(&self) -> &[WireCall] {
        &[]
    }

    /// Answers one request; [`Exchange::turn`] is filled in by the caller.
    fn exchange<'a>(&'a self, ask: Ask<'a>) -> Answer<'a>;
}

/// A request and where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The request.
    pub request: &'a Request,
    /// The case's full id, by which a recording finds its answer.
    pub case: &'a str,
    /// The index in the case's turns.
    pub turn: usize,
}

/// There is no answer.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub error: BackendError,
    /// The calls that were made.
    pub wire: Vec<WireCall>,
}

impl From<BackendError> for Failed {
    fn from(error: BackendError) -> Self {
        Failed { error, wire: Vec::new() }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BackendError {
    /// The backend could not be opened, or broke: nothing more can be asked of it.
    #[error("{0}")]
    Broken(String),
    /// Nobody answers at the address.
    #[error("{0}")]
    Unreachable(String),
    /// The server says that it cannot answer now, or that it failed: 429 and 5xx.
    #[error("{0}")]
    Unavailable(String),
    /// This one request was refused, such as a prompt longer than the context.
    #[error("{0}")]
    Rejected(String),
    /// This one request took longer than it was given; what was waited for, and milliseconds.
    #[error("{0} within {1} ms")]
    Timeout(String, u128),
    /// What came back is not what the API promises.
    #[error("{0}")]
    Malformed(String),
    /// The reply broke off before its end.
    #[error("{0}")]
    Incomplete(String),
}

impl BackendError {
    /// The word in [`crate::capture::Failure::kind`].
    pub fn kind(&self) -> &'static str {
        match self {
            BackendError::Broken(_) => "broken",
            BackendError::Unreachable(_) => "unreachable",
            BackendError::Unavailable(_) => "unavailable",
            BackendError::Rejected(_) => "rejected",
            BackendError::Timeout(..) => "timeout",
            BackendError::Malformed(_) => "malformed",
            BackendError::Incomplete(_) => "incomplete",
        }
    }
}

/// What the command line decides about backends.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The most requests in flight at once, at least 1.
    pub jobs: usize,
    /// How often a request is sent again after a transport failure.
    pub retries: usize,
    /// The values of the environment variables that targets name.
    pub secrets: BTreeMap<String, Secret>,
}

/// Opens a target.
///
/// # Errors
/// With what is wrong with it and what to do.
pub async fn open(target: &Target, opening: &Opening) -> Result<Arc<dyn Backend>, Failed> {
    match &target.kind {
        #[cfg(feature = "candle")]
        TargetKind::Candle(candle) => Ok(Arc::new(candle::Candle::open(candle)?)),
        #[cfg(not(feature = "candle"))]
        TargetKind::Candle(_) => Err(Failed::from(BackendError::Broken(
            "this evalsuite was built without the in-process backend; build it with `--features candle`"
                .to_owned(),
        ))),
        TargetKind::Remote(remote) => Ok(Arc::new(remote::open(remote, opening).await?)),
        TargetKind::Replay(replay) => Ok(replay::open(replay).await?),
    }
}
