//! Reporters: what a run shows. They know only events, so they cannot disagree.
//!
//! To add one: a new file, a `mod` line and a line in [`ALL`]; the command line, its help and the README table
//! follow.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::Error;
use crate::event::Event;

mod checklist;
mod github;
mod human;
mod json;
mod junit;
mod progress;
#[cfg(test)]
pub(crate) mod sample;

pub use progress::Progress;
#[cfg(test)]
use sample::written;

/// Something that is told what happens in a run.
pub trait Reporter {
    /// One event, in the order of the plan.
    ///
    /// # Errors
    /// The sink cannot be written. A broken pipe means that nobody reads on, which is no failure of the run.
    fn event(&mut self, event: &Event) -> io::Result<()>;
}

/// Where a report goes.
pub type Sink = Box<dyn Write>;

/// How a report looks; only people are shown colours and details.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether colours may be used.
    pub color: bool,
    /// -1 shows failures and the summary only, 0 also a line per case, 1 also every finding.
    pub verbosity: i8,
}

/// A kind of report.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The word in `--report NAME`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    open: fn(Sink, Options) -> Box<dyn Reporter>,
}

/// Every reporter.
pub const ALL: &[Info] = &[
    Info {
        name: "human",
        summary: "for the terminal: failures in full, a line per case",
        open: human::open,
    },
    Info { name: "junit", summary: "JUnit XML, for Jenkins, GitLab and others", open: junit::open },
    Info { name: "json", summary: "one JSON object per line, for programs", open: json::open },
    Info {
        name: "checklist",
        summary: "Markdown to sign when a model is onboarded",
        open: checklist::open,
    },
    Info { name: "github", summary: "annotations in a GitHub workflow", open: github::open },
];

/// The reporter of that name, writing to `sink`.
///
/// # Errors
/// There is none of that name; the message lists those there are.
pub fn open(name: &str, sink: Sink, options: Options) -> Result<Box<dyn Reporter>, Error> {
    let known = ALL.iter().find(|info| info.name == name);
    let names = || ALL.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let info = known
        .ok_or_else(|| Error::Usage(format!("`{name}` is no report; there are {}", names())))?;
    Ok((info.open)(sink, options))
}

/// The report that `--report NAME[=PATH]` asks for: into the file, which is emptied now, or to stdout. A file has
/// no colours.
///
/// # Errors
/// There is no report of that name, or the file cannot be written.
pub fn open_at(argument: &str, options: Options) -> Result<Box<dyn Reporter>, Error> {
    let Some((name, path)) = argument.split_once('=') else {
        return open(argument, Box::new(BufWriter::new(io::stdout())), options);
    };
    // The name first: a typing error must not empty a file.
    open(name, Box::new(io::sink()), options)?;
    let file = create(Path::new(path)).map_err(|error| {
        Error::Usage(format!("the report `{name}` cannot be written to {path}: {error}"))
    })?;
    open(name, Box::new(BufWriter::new(file)), Options { color: false, ..options })
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::create(path)
}

/// A full id without its branch: `weather.oslo` of `tool_call/weather.oslo`.
fn short_id<'a>(id: &'a str, branch: &str) -> &'a str {
    id.strip_prefix(branch).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_list() {
        let error = open("junti", Box::new(io::sink()), Options::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "`junti` is no report; there are human, junit, json, checklist, github"
        );
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn a_report_goes_to_the_file_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/out.jsonl");
        let mut reporter =
            open_at(&format!("json={}", path.display()), Options::default()).unwrap();
        reporter.event(&Event::Run(sample::started())).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > 100);
        let wrong = open_at(&format!("jsno={}", path.display()), Options::default());
        assert!(wrong.is_err());
        assert!(std::fs::metadata(&path).unwrap().len() > 100, "a wrong name empties no file");
        let taken = open_at(&format!("json={}", folder.path().display()), Options::default())
            .err()
            .unwrap();
        assert_eq!(taken.exit_code(), 2);
    }

    #[test]
    fn every_reporter_survives_text_of_a_model_and_shows_every_case() {
        let mut events = sample::events();
        events.insert(1, Event::Case(Box::new(sample::hostile())));
        for info in ALL {
            let text = written(info.name, Options { color: false, verbosity: 1 }, &events);
            assert!(text.contains("tool_call"), "{}", info.name);
            let controls = text.chars().filter(|c| c.is_control() && *c != '\n');
            assert_eq!(controls.collect::<String>(), "", "{}", info.name);
        }
    }

    #[test]
    fn a_sink_that_fails_is_reported() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        for info in ALL {
            let mut reporter = open(info.name, Box::new(Broken), Options::default()).unwrap();
            let results =
                sample::events().iter().map(|event| reporter.event(event)).collect::<Vec<_>>();
            let broken = |result: &io::Result<()>| {
                result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            };
            assert!(results.iter().any(broken), "{}", info.name);
        }
    }
}
