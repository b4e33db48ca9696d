//! Reporters: what a run shows. They know only events.
#[cfg(test)]
pub(crate) mod sample;
