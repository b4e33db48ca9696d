//! The program from outside: one binary, so that it links once.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read what was written, and fail where something is missing"
)]

mod bad_specs;
#[cfg(feature = "candle")]
mod changed;
mod cli;
#[cfg(feature = "candle")]
mod faults;
#[cfg(feature = "candle")]
mod golden;
mod golden_text;
mod hostile;
#[cfg(feature = "candle")]
mod judge;
#[cfg(feature = "candle")]
mod privacy;
mod readme;
mod recorded;
mod replay;
#[cfg(feature = "candle")]
mod reports;
#[cfg(feature = "candle")]
mod review;
mod server;
mod support;
mod tidy;
mod transcripts;
