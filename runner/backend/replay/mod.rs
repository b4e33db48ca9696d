//! Answers from evidence or from a recording.

use std::sync::Arc;

use super::{Backend, BackendError, Failed};
use crate::plan::ReplayTarget;

/// Opens a recording.
///
/// # Errors
/// It cannot be read.
#[expect(clippy::unused_async, reason = "the contract")]
pub async fn open(target: &ReplayTarget) -> Result<Arc<dyn Backend>, Failed> {
    Err(BackendError::Broken(format!("{} cannot be read", target.recording.display())).into())
}
