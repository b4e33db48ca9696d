//! The in-process engine: a config-driven decoder for dense models of the Llama kind, its cache, sampling and
//! the decode loop. It knows ids and numbers; prompts, templates and replies are the backend's business.

use std::fmt;

mod cache;
mod config;
mod decoder;
mod detokenize;
mod device;
mod error;
mod generate;
mod layer;
mod rope;
mod sampler;
mod stop;
#[cfg(test)]
mod testing;
mod weights;

pub use cache::Cache;
pub use config::{ARCHITECTURES, Config};
pub use decoder::Model;
pub use detokenize::Detokenizer;
pub use device::{device, dtype};
pub use error::EngineError;
pub use generate::{Ending, Generated, Job, Sampled, Step, generate};
pub use rope::Rope;
pub use sampler::{Sampler, Sampling, argmax, confidence};
pub use stop::{Released, StopStrings};

/// Why a generation is broken off from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abort {
    /// Nobody waits for it any more.
    Cancelled,
    /// Its time is up.
    Deadline,
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Abort::Cancelled => "cancelled",
            Abort::Deadline => "timed out",
        })
    }
}
