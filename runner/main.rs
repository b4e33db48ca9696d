//! The `evalsuite` program: parse the command line, run, turn the result into an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use evalsuite::diagnostic;
use evalsuite::error::Error;

mod cli;

fn main() -> ExitCode {
    limit_threads();
    let args = cli::Args::parse();
    let color = args.color.enabled(&io::stderr());
    match cli::execute(args) {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be said when stderr is closed, and the exit code still tells.
            let _ = explain(&mut io::stderr().lock(), &error, color);
            ExitCode::from(error.exit_code())
        }
    }
}

fn explain(out: &mut dyn Write, error: &Error, color: bool) -> io::Result<()> {
    if let Error::Specs(diagnostics) = error {
        for diagnostic in diagnostics {
            writeln!(out, "{}", diagnostic::render(diagnostic, color))?;
        }
    }
    writeln!(out, "error: {error}")
}

/// `evalsuite … | head` is not a failure.
fn is_broken_pipe(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}

/// The kernels read these once, at the first use, and by default take every core. Their pools spin, so that two
/// threads on a busy two-core machine were measured many times slower than one; the decode of one row hardly
/// gains from a second thread.
#[expect(unsafe_code, reason = "no other thread exists yet at the start of `main`")]
#[expect(clippy::disallowed_methods, reason = "the program's own start")]
fn limit_threads() {
    for name in ["RAYON_NUM_THREADS", "CANDLE_NUM_THREADS"] {
        if std::env::var_os(name).is_none() {
            unsafe { std::env::set_var(name, "1") };
        }
    }
}
