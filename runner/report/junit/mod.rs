//! `junit`: XML for Jenkins, GitLab and others. A case is a test, a spec file is a suite.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus};

use super::{Options, Reporter, Sink};
use crate::capture::Boundary;
use crate::error::exit;
use crate::event::{CaseReport, CaseStatus, Event, RunStarted, Summary};
use crate::finding::{Finding, Status};
use crate::text::printable;

mod shelf;
#[cfg(test)]
mod tests;

use shelf::Shelf;

struct Junit {
    out: Sink,
    run: Option<RunStarted>,
    shelf: Shelf,
    names: HashSet<String>,
}

pub(super) fn open(sink: Sink, _: Options) -> Box<dyn Reporter> {
    Box::new(Junit { out: sink, run: None, shelf: Shelf::default(), names: HashSet::new() })
}

impl Reporter for Junit {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Run(run) => self.run = Some(run.clone()),
            Event::Case(case) => self.case(case)?,
            Event::Summary(summary) => self.write(summary)?,
        }
        Ok(())
    }
}

impl Junit {
    fn case(&mut self, case: &CaseReport) -> io::Result<()> {
        let name = self.unique(printable(&case.id));
        let suite_name = suite_name(&name).to_owned();
        self.shelf.add(&suite_name, test_case(case, &name, &suite_name))
    }

    /// GitLab drops a test whose name it has seen.
    fn unique(&mut self, name: String) -> String {
        let mut candidate = name.clone();
        for n in 2.. {
            if self.names.insert(candidate.clone()) {
                break;
            }
            candidate = format!("{name} ({n})");
        }
        candidate
    }

    fn write(&mut self, summary: &Summary) -> io::Result<()> {
        if self.names.is_empty() {
            self.nothing_ran(summary)?;
        } else if let Some(why) = &summary.stopped {
            // Without a word about the rest, what ran would look like everything.
            let status = TestCaseStatus::non_success(NonSuccessKind::Error);
            self.about_the_run("stopped early", status, why)?;
        }
        let mut properties = Vec::new();
        if let Some(run) = &self.run {
            properties.push(property("version", &run.version));
            properties.push(property("manifest", &run.manifest));
        }
        properties.push(property("run.requests", &summary.requests.to_string()));
        properties.push(property("run.retried", &summary.retried.to_string()));
        self.shelf.write(&mut self.out, duration(summary.elapsed_ms), &properties)?;
        self.out.flush()
    }

    /// An empty report looks like a job that was never run, and some readers refuse it.
    fn nothing_ran(&mut self, summary: &Summary) -> io::Result<()> {
        let status = match summary.exit {
            exit::BACKEND => TestCaseStatus::non_success(NonSuccessKind::Error),
            _ => TestCaseStatus::skipped(),
        };
        let why = summary.stopped.as_deref().unwrap_or("no case was selected");
        self.about_the_run("nothing ran", status, why)
    }

    /// A test case that stands for the run itself.
    fn about_the_run(
        &mut self,
        name: &str,
        mut status: TestCaseStatus,
        why: &str,
    ) -> io::Result<()> {
        status.set_message(printable(why));
        let mut test = TestCase::new(name, status);
        test.set_classname("evalsuite");
        self.shelf.add("evalsuite", test)
    }
}

/// A case as a test of its suite.
fn test_case(case: &CaseReport, name: &str, suite_name: &str) -> TestCase {
    let mut test = TestCase::new(name, status(case));
    test.set_classname(suite_name).set_time(duration(case.elapsed_ms));
    test.extra.insert("file".into(), printable(&case.spec.file).into());
    test.extra.insert("line".into(), case.spec.line.to_string().into());
    test.add_property(property("target", &case.target));
    test.add_property(property("status", case.status.name()));
    for boundary in Boundary::ALL {
        if let Some(status) = case.boundaries.get(&boundary) {
            test.add_property(property(&format!("boundary.{boundary}"), status.name()));
        }
    }
    if case.attempts > 1 {
        test.add_property(property("attempts", &case.attempts.to_string()));
    }
    let ladder = ladder(case);
    if !ladder.is_empty() {
        test.set_system_out(ladder);
    }
    test
}

/// `tool_call/weather` of `tool_call/weather.oslo[stream=true]`.
fn suite_name(id: &str) -> &str {
    let topic = id.find('/').map_or(0, |slash| slash + 1);
    match id[topic..].find(['.', '[']) {
        Some(end) => &id[..topic + end],
        None => id,
    }
}

fn status(case: &CaseReport) -> TestCaseStatus {
    let failed = |kind, ty: &str, message: &str| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(ty).set_message(message).set_description(description(case));
        status
    };
    let reason = printable(case.reason.as_deref().unwrap_or_default());
    match case.status {
        CaseStatus::Passed => TestCaseStatus::success(),
        CaseStatus::Failed => {
            let boundary = case.boundary.map_or("failed", Boundary::name);
            let first = failures(case).next().map(|f| printable(&f.outcome.message));
            failed(NonSuccessKind::Failure, boundary, &first.unwrap_or(reason))
        }
        CaseStatus::Fixed => {
            let message = format!("it no longer fails; remove `known_failure` ({reason})");
            failed(NonSuccessKind::Failure, "fixed", &message)
        }
        CaseStatus::Errored => failed(NonSuccessKind::Error, "errored", &reason),
        CaseStatus::NotEvaluated => skipped(&format!("not evaluated: {reason}")),
        CaseStatus::KnownFailure => skipped(&format!("known failure: {reason}")),
    }
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

fn failures(case: &CaseReport) -> impl Iterator<Item = &Finding> {
    case.findings.iter().filter(|finding| finding.outcome.status == Status::Fail)
}

/// What readers show of a failure; line breaks in an attribute are lost, here they stay.
fn description(case: &CaseReport) -> String {
    let mut lines = Vec::new();
    for finding in failures(case) {
        let outcome = &finding.outcome;
        lines.push(format!("{} at {}: {}", finding.name, finding.boundary, outcome.message));
        lines.push(format!("  spec      {}", finding.spec));
        lines.push(format!("  expected  {}", outcome.expected));
        lines.push(format!("  actual    {}", outcome.actual));
        lines.extend(outcome.at.iter().map(|at| format!("  at        {at}")));
        lines.extend(outcome.tolerance.iter().map(|tolerance| format!("  tolerance {tolerance}")));
    }
    lines.extend(case.reason.iter().cloned());
    lines.push(format!("again: {}", case.reproduce));
    lines.iter().map(|line| printable(line)).collect::<Vec<_>>().join("\n")
}

fn ladder(case: &CaseReport) -> String {
    let mut lines = Vec::new();
    for step in &case.ladder {
        lines.push(format!("{}: {}", step.boundary, step.status.name()));
        lines.extend(step.lines.iter().map(|line| format!("  {}", printable(line))));
    }
    lines.join("\n")
}

fn property(name: &str, value: &str) -> Property {
    Property::new(name, printable(value))
}

/// A clock that ran backwards or a broken number must not cost the report.
fn duration(milliseconds: f64) -> Duration {
    Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
}
