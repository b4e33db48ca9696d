//! Keys: kept out of every file, log and report.

mod forms;
mod redactor;

use std::collections::BTreeMap;
use std::fmt;

pub(super) use forms::percent_decode;
pub use redactor::Redactor;

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The value, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Values by the name of the environment variable that holds them.
pub type Secrets = BTreeMap<String, Secret>;
