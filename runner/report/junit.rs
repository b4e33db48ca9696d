//! `junit`: XML for Jenkins, GitLab and others. A case is a test, a spec file is a suite.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Options, Reporter, Sink};
use crate::capture::Boundary;
use crate::error::exit;
use crate::event::{CaseReport, CaseStatus, Event, RunStarted, Summary};
use crate::finding::{Finding, Status};
use crate::text::printable;

struct Junit {
    out: Sink,
    run: Option<RunStarted>,
    suites: Vec<TestSuite>,
    names: HashSet<String>,
}

pub(super) fn open(sink: Sink, _: Options) -> Box<dyn Reporter> {
    Box::new(Junit { out: sink, run: None, suites: Vec::new(), names: HashSet::new() })
}

impl Reporter for Junit {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Run(run) => self.run = Some(run.clone()),
            Event::Case(case) => self.case(case),
            Event::Summary(summary) => self.write(summary)?,
        }
        Ok(())
    }
}

impl Junit {
    fn case(&mut self, case: &CaseReport) {
        let name = self.unique(printable(&case.id));
        let suite_name = suite_name(&name).to_owned();
        let mut test = TestCase::new(&name, status(case));
        test.set_classname(&suite_name).set_time(duration(case.elapsed_ms));
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
        self.suite(&suite_name).add_test_case(test);
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

    fn suite(&mut self, name: &str) -> &mut TestSuite {
        let index = self.suites.iter().position(|suite| suite.name.as_str() == name);
        let index = index.unwrap_or_else(|| {
            self.suites.push(TestSuite::new(name));
            self.suites.len() - 1
        });
        &mut self.suites[index]
    }

    fn write(&mut self, summary: &Summary) -> io::Result<()> {
        if self.names.is_empty() {
            self.nothing_ran(summary);
        } else if let Some(why) = &summary.stopped {
            // Without a word about the rest, what ran would look like everything.
            let status = TestCaseStatus::non_success(NonSuccessKind::Error);
            self.about_the_run("stopped early", status, why);
        }
        let mut report = Report::new("evalsuite");
        report.set_time(duration(summary.elapsed_ms));
        for mut suite in std::mem::take(&mut self.suites) {
            suite.set_time(suite.test_cases.iter().filter_map(|test| test.time).sum());
            if let Some(run) = &self.run {
                suite.add_property(property("version", &run.version));
                suite.add_property(property("manifest", &run.manifest));
            }
            suite.add_property(property("run.requests", &summary.requests.to_string()));
            suite.add_property(property("run.retried", &summary.retried.to_string()));
            report.add_test_suite(suite);
        }
        // Made in memory: a reader must never find half a document, and the errors here are those of writing.
        let xml = report.to_string().map_err(io::Error::other)?;
        self.out.write_all(xml.as_bytes())?;
        self.out.flush()
    }

    /// An empty report looks like a job that was never run, and some readers refuse it.
    fn nothing_ran(&mut self, summary: &Summary) {
        let status = match summary.exit {
            exit::BACKEND => TestCaseStatus::non_success(NonSuccessKind::Error),
            _ => TestCaseStatus::skipped(),
        };
        let why = summary.stopped.as_deref().unwrap_or("no case was selected");
        self.about_the_run("nothing ran", status, why);
    }

    /// A test case that stands for the run itself.
    fn about_the_run(&mut self, name: &str, mut status: TestCaseStatus, why: &str) {
        status.set_message(printable(why));
        let mut test = TestCase::new(name, status);
        test.set_classname("evalsuite");
        self.suite("evalsuite").add_test_case(test);
    }
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

#[cfg(test)]
mod tests {
    use junit_parser::{TestSuites, from_reader};

    use super::*;
    use crate::report::{sample, written};

    fn read(events: &[Event]) -> TestSuites {
        let xml = written("junit", Options::default(), events);
        from_reader(xml.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{xml}"))
    }

    fn cases(report: &TestSuites) -> Vec<&junit_parser::TestCase> {
        report.suites.iter().flat_map(|suite| &suite.cases).collect()
    }

    #[test]
    fn an_independent_reader_sees_every_case_once_with_its_status() {
        let report = read(&sample::events());
        let cases = cases(&report);
        let mut names: Vec<&str> = cases.iter().map(|case| case.original_name.as_str()).collect();
        let mut expected: Vec<String> = sample::cases().into_iter().map(|case| case.id).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!((report.tests, report.failures, report.errors, report.skipped), (10, 6, 1, 2));
        let of =
            |name: &str| *cases.iter().find(|case| case.original_name.ends_with(name)).unwrap();
        let failure = of("weather.generation").status.failure_as_ref();
        assert_eq!(failure.failure_type, "generation");
        assert_eq!(failure.message, "the generation is not what was expected");
        assert!(
            failure.text.contains("\n  expected  5 degrees\n  actual    4 degrees\n"),
            "{}",
            failure.text
        );
        assert_eq!(of("weather.fixed").status.failure_as_ref().failure_type, "fixed");
        assert!(of("plain.cut").status.error_as_ref().message.contains("500 ms"));
        assert!(of("eos.unseen").status.skipped_as_ref().message.starts_with("not evaluated: "));
        assert!(of("weather.known").status.skipped_as_ref().message.starts_with("known failure: "));
        assert!(of("remembers_name").status.is_success());
    }

    #[test]
    fn a_case_names_its_place_its_boundaries_and_its_ladder() {
        let report = read(&sample::events());
        let case =
            *cases(&report).iter().find(|c| c.original_name.ends_with("weather.input")).unwrap();
        assert_eq!(case.file.as_deref(), Some("specs/tool_call/weather.yaml"));
        assert_eq!(case.line, Some(8));
        assert_eq!(case.classname.as_deref(), Some("tool_call/weather"));
        assert_eq!(case.properties.hashmap["boundary.input"], "changed");
        assert_eq!(report.suites[0].properties.hashmap["run.retried"], "0");
        assert_eq!(case.properties.hashmap["boundary.response"], "not_comparable");
        assert!(case.system_out.as_ref().unwrap().contains("generation: not_comparable\n  ended"));
    }

    #[test]
    fn hostile_text_in_every_field_stays_well_formed_and_visible() {
        let mut events = sample::events();
        for status in [
            CaseStatus::Errored,
            CaseStatus::NotEvaluated,
            CaseStatus::KnownFailure,
            CaseStatus::Fixed,
        ] {
            let mut case = sample::hostile();
            case.status = status;
            events.insert(1, Event::Case(Box::new(case)));
        }
        events.insert(1, Event::Case(Box::new(sample::hostile())));
        let report = read(&events);
        let cases = cases(&report);
        assert_eq!(cases.len(), 15);
        let failed = cases
            .iter()
            .find(|case| case.status.is_failure() && case.name.contains("]]>"))
            .unwrap();
        let failure = failed.status.failure_as_ref();
        assert_eq!(failure.message, printable(sample::HOSTILE));
        // This reader loses what stands for `<` and `>` in an element's text, but nothing else.
        let start = failure.text.trim_start();
        assert!(start.starts_with("a\\u001b[31mred\\u0000\\u0007\\r\\n]]"), "{start}");
        let names: HashSet<&str> = cases.iter().map(|case| case.original_name.as_str()).collect();
        assert_eq!(names.len(), cases.len(), "a repeated name gets a number");
        let xml = written("junit", Options::default(), &events);
        let legal = |c: char| {
            c == '\n' || (c >= ' ' && c != '\u{7f}' && c != '\u{fffe}' && c != '\u{ffff}')
        };
        assert_eq!(xml.chars().find(|c| !legal(*c)), None);
    }

    #[test]
    fn a_report_is_never_empty() {
        let stopped = Some("target `a`: no such folder".to_owned());
        let broken = Summary { exit: exit::BACKEND, stopped, ..Summary::default() };
        let report = read(&[Event::Summary(broken)]);
        assert_eq!((report.tests, report.errors), (1, 1));
        assert_eq!(cases(&report)[0].status.error_as_ref().message, "target `a`: no such folder");
        let nothing = Summary { exit: exit::NOTHING, elapsed_ms: f64::NAN, ..Summary::default() };
        let report = read(&[Event::Run(sample::started()), Event::Summary(nothing)]);
        assert_eq!((report.tests, report.skipped), (1, 1));
    }

    #[test]
    fn a_suite_is_a_spec_file() {
        assert_eq!(suite_name("tool_call/weather.oslo[t=0.5]"), "tool_call/weather");
        assert_eq!(suite_name("tool_call/weather"), "tool_call/weather");
        assert_eq!(suite_name("odd"), "odd");
        assert_eq!(suite_name("tool_call/weather[target=a.b]"), "tool_call/weather");
    }
}
