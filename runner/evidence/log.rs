//! Writes evidence as it comes, from conversations that run at the same time.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Closed, Kept, Place, Probed, Record};
use super::{append, io_error};
use crate::capture::{Capture, Exchange, WireCall};
use crate::error::Error;
use crate::privacy::{self, Privacy};

/// The evidence file of the run that is going on.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    privacy: Privacy,
    written: Mutex<Written>,
}

#[derive(Debug)]
struct Written {
    file: File,
    /// The first failure, kept until somebody can be told.
    failed: Option<io::Error>,
}

impl Log {
    pub(super) fn new(path: PathBuf, file: File, privacy: Privacy) -> Self {
        Log { path, privacy, written: Mutex::new(Written { file, failed: None }) }
    }

    /// Adds the calls by which a target was found out, where there are any.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn probes(&self, target: &str, calls: &[WireCall]) -> Result<(), Error> {
        if calls.is_empty() {
            return Ok(());
        }
        let (target, calls) = (Cow::Borrowed(target), Cow::Borrowed(calls));
        append(&mut self.written().file, &Record::Probes(Probed { target, calls }))
            .map_err(|source| io_error("write", &self.path, source))
    }

    /// Adds an exchange that is over. A failure is told by [`Log::close`], since a conversation cannot do
    /// anything about it.
    pub fn exchange(&self, case: &str, place: Place, load: usize, exchange: &Exchange) {
        let seen = privacy::exchange(self.privacy, exchange);
        let mut written = self.written();
        let written = &mut *written;
        if written.failed.is_none() {
            let record = Record::Exchange(Box::new(Kept::new(case, place, load, seen)));
            written.failed = append(&mut written.file, &record).err();
        }
    }

    /// Ends a case whose exchanges were added.
    ///
    /// # Errors
    /// The file cannot be written, or could not be before.
    pub fn close(&self, capture: &Capture) -> Result<(), Error> {
        let record = Record::Case(Closed::new(capture, self.privacy));
        let mut written = self.written();
        let done = match written.failed.take() {
            Some(failed) => Err(failed),
            None => append(&mut written.file, &record),
        };
        done.map_err(|source| io_error("write", &self.path, source))
    }

    /// Nothing but a write happens under the lock, so what a panic leaves is whole.
    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
