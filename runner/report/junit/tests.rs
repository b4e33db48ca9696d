use junit_parser::{TestSuites, from_reader};

use quick_junit::{Report, TestSuite};

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
    let of = |name: &str| *cases.iter().find(|case| case.original_name.ends_with(name)).unwrap();
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
    let case = *cases(&report).iter().find(|c| c.original_name.ends_with("weather.input")).unwrap();
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
    for status in
        [CaseStatus::Errored, CaseStatus::NotEvaluated, CaseStatus::KnownFailure, CaseStatus::Fixed]
    {
        let mut case = sample::hostile();
        case.status = status;
        events.insert(1, Event::Case(Box::new(case)));
    }
    events.insert(1, Event::Case(Box::new(sample::hostile())));
    let report = read(&events);
    let cases = cases(&report);
    assert_eq!(cases.len(), 15);
    let failed =
        cases.iter().find(|case| case.status.is_failure() && case.name.contains("]]>")).unwrap();
    let failure = failed.status.failure_as_ref();
    assert_eq!(failure.message, printable(sample::HOSTILE));
    // This reader loses what stands for `<` and `>` in an element's text, but nothing else.
    let start = failure.text.trim_start();
    assert!(start.starts_with("a\\u001b[31mred\\u0000\\u0007\\r\\n]]"), "{start}");
    let names: HashSet<&str> = cases.iter().map(|case| case.original_name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "a repeated name gets a number");
    let xml = written("junit", Options::default(), &events);
    let legal =
        |c: char| c == '\n' || (c >= ' ' && c != '\u{7f}' && c != '\u{fffe}' && c != '\u{ffff}');
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

/// The report as `quick-junit` writes it when it is given everything at once.
fn whole(reports: &[CaseReport], summary: &Summary) -> String {
    let mut suites: Vec<TestSuite> = Vec::new();
    for case in reports {
        let id = printable(&case.id);
        let name = suite_name(&id);
        let test = test_case(case, &id, name);
        match suites.iter_mut().find(|suite| suite.name.as_str() == name) {
            Some(suite) => suite.add_test_case(test),
            None => {
                suites.push(TestSuite::new(name));
                suites.last_mut().unwrap().add_test_case(test)
            }
        };
    }
    let mut report = Report::new("evalsuite");
    report.set_time(duration(summary.elapsed_ms));
    for mut suite in suites {
        suite.set_time(suite.test_cases.iter().filter_map(|test| test.time).sum());
        suite.add_property(property("run.requests", &summary.requests.to_string()));
        suite.add_property(property("run.retried", &summary.retried.to_string()));
        report.add_test_suite(suite);
    }
    report.to_string().unwrap()
}

#[test]
fn what_was_put_aside_is_the_report_written_at_once() {
    let mut reports = Vec::new();
    // Suites come back, and there is more than stays in memory.
    for round in 0..60 {
        for mut case in sample::cases().into_iter().chain([sample::hostile()]) {
            case.id = format!("tool_call/{}.{round}-{}", round % 3, case.id);
            case.reason = Some(format!("</testcase>\n<testcase>{}", "x".repeat(500)));
            reports.push(case);
        }
    }
    let summary = Summary { requests: 7, retried: 2, elapsed_ms: 1234.5, ..Summary::default() };
    let mut events: Vec<Event> =
        reports.iter().map(|case| Event::Case(Box::new(case.clone()))).collect();
    events.push(Event::Summary(summary.clone()));
    let xml = written("junit", Options::default(), &events);
    assert!(xml.len() > 512 * 1024, "{}", xml.len());
    let expected = whole(&reports, &summary);
    let differs = xml.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None);
    assert!(xml == expected);
}
