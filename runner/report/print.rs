//! The one place that writes to the terminal beside reporters.

use std::io::{self, Write};

/// Writes the answer of a command to stdout, as it is.
///
/// # Errors
/// Stdout cannot be written. A reader that went away, such as `head`, is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    unless_nobody_reads(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a hint or a problem to stderr, on lines of its own.
///
/// # Errors
/// As [`print()`].
pub fn note(text: &str) -> io::Result<()> {
    unless_nobody_reads(writeln!(io::stderr().lock(), "{}", text.trim_end()))
}

fn unless_nobody_reads(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reader_that_went_away_is_forgiven() {
        assert!(unless_nobody_reads(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(unless_nobody_reads(Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
