//! The program from outside: one binary, so that it links once.

mod bad_specs;
mod cli;
#[cfg(feature = "candle")]
mod faults;
#[cfg(feature = "candle")]
mod golden;
mod golden_text;
mod readme;
#[cfg(feature = "candle")]
mod reports;
#[cfg(feature = "candle")]
mod review;
mod support;
mod tidy;
