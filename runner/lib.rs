//! Regression tests for language-model deployments.
//!
//! The flow: specs are read ([`spec`]), resolved ([`plan`]), sent ([`request`], [`backend`]), observed
//! ([`capture`]), judged ([`assertion`]), told ([`event`]) and reported ([`report`]).

pub mod assertion;
pub mod backend;
pub mod branch;
pub mod capture;
pub mod compare;
mod converse;
pub mod diagnostic;
#[cfg(feature = "candle")]
pub mod engine;
pub mod error;
pub mod event;
pub mod evidence;
pub mod explain;
pub mod finding;
pub mod init;
pub mod judge;
pub mod ladder;
pub mod manifest;
pub mod model;
pub mod parse;
pub mod plan;
pub mod privacy;
pub mod report;
pub mod request;
pub mod run;
pub mod schema;
pub mod score;
pub mod snapshot;
pub mod spec;
pub mod text;
