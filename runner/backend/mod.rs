//! Backends: who answers a request.
//!
//! A backend knows only [`Request`] and [`Exchange`]. To add one: a new file, a `mod` line, and a line in
//! [`open`](crate::backend).

#[cfg(feature = "candle")]
pub mod candle;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use thiserror::Error;

use crate::capture::Exchange;
use crate::plan::{Target, TargetKind};
use crate::request::Request;

/// An answer to come.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Exchange, BackendError>> + Send + 'a>>;

/// Something that answers requests.
pub trait Backend: Send + Sync {
    /// Named facts that identify what answers, in a fixed order: `model`, `weights`, `tokenizer`,
    /// `template`, `generation_config`, `engine`, `dtype`, `device`.
    fn identity(&self) -> Vec<(String, String)>;

    /// Answers one request; [`Exchange::turn`] is filled in by the caller.
    fn exchange<'a>(&'a self, request: &'a Request) -> Answer<'a>;
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum BackendError {
    /// The backend could not be opened, or broke: nothing more can be asked of it.
    #[error("{0}")]
    Broken(String),
    /// This one request was refused, such as a prompt longer than the context.
    #[error("{0}")]
    Rejected(String),
    /// This one request took longer than it was given.
    #[error("no complete answer within {0} ms")]
    Timeout(u128),
}

/// Opens a target.
///
/// # Errors
/// [`BackendError::Broken`] with what is wrong with it and what to do.
pub fn open(target: &Target) -> Result<Arc<dyn Backend>, BackendError> {
    match &target.kind {
        #[cfg(feature = "candle")]
        TargetKind::Candle(candle) => Ok(Arc::new(candle::Candle::open(candle)?)),
        #[cfg(not(feature = "candle"))]
        TargetKind::Candle(_) => Err(BackendError::Broken(
            "this evalsuite was built without the in-process backend; build it with `--features candle`"
                .to_owned(),
        )),
    }
}
