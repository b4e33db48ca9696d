//! The test cases of a report as XML, put aside as they come: their sums stand before them in the document, and a
//! run of any length must not be held in memory.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use std::time::Duration;

use quick_junit::{Property, Report, TestCase, TestSuite};
use tempfile::SpooledTempFile;

/// What is put aside in memory before a temporary file is used, in bytes.
const IN_MEMORY: usize = 256 * 1024;

/// Test cases by suite, suites in the order in which they first came.
pub(super) struct Shelf {
    xml: SpooledTempFile,
    /// How much was put aside, in bytes.
    end: u64,
    suites: Vec<Suite>,
    /// Indices into `suites`.
    index: BTreeMap<Rc<str>, usize>,
}

/// The sums of a suite, and where its cases are.
struct Suite {
    name: Rc<str>,
    tests: usize,
    skipped: usize,
    errors: usize,
    failures: usize,
    time: Duration,
    /// Where a piece begins and ends, in bytes.
    pieces: Vec<(u64, u64)>,
}

impl Default for Shelf {
    fn default() -> Self {
        let xml = SpooledTempFile::new(IN_MEMORY);
        Shelf { xml, end: 0, suites: Vec::new(), index: BTreeMap::new() }
    }
}

impl Shelf {
    /// Adds a case to the suite of that name.
    ///
    /// # Errors
    /// The temporary file cannot be written.
    pub(super) fn add(&mut self, suite_name: &str, test: TestCase) -> io::Result<()> {
        let time = test.time.unwrap_or_default();
        let mut alone = TestSuite::new(suite_name);
        alone.add_test_case(test);
        let index = match self.index.get(suite_name) {
            Some(index) => *index,
            None => {
                let name: Rc<str> = suite_name.into();
                self.index.insert(Rc::clone(&name), self.suites.len());
                self.suites.push(Suite::new(name));
                self.suites.len() - 1
            }
        };
        let Some(suite) = self.suites.get_mut(index) else { return Ok(()) };
        suite.tests += alone.tests;
        suite.skipped += alone.skipped;
        suite.errors += alone.errors;
        suite.failures += alone.failures;
        suite.time += time;
        let mut report = Report::new("");
        report.add_test_suite(alone);
        let xml = text(&report)?;
        let xml = between(&xml, "<testcase", "</testsuite>");
        self.xml.write_all(xml.as_bytes())?;
        let begin = self.end;
        self.end += xml.len() as u64;
        match suite.pieces.last_mut() {
            Some((_, end)) if *end == begin => *end = self.end,
            _ => suite.pieces.push((begin, self.end)),
        }
        Ok(())
    }

    /// Writes the whole report; every suite has the `properties`.
    ///
    /// # Errors
    /// The temporary file cannot be read, or `out` cannot be written.
    pub(super) fn write(
        &mut self,
        out: &mut dyn Write,
        time: Duration,
        properties: &[Property],
    ) -> io::Result<()> {
        let sum = |of: fn(&Suite) -> usize| self.suites.iter().map(of).sum();
        let mut report = Report::new("evalsuite");
        report.set_time(time);
        report.tests = sum(|suite| suite.tests);
        report.skipped = sum(|suite| suite.skipped);
        report.errors = sum(|suite| suite.errors);
        report.failures = sum(|suite| suite.failures);
        let (head, foot) = halves(&text(&report)?, "</testsuites>");
        out.write_all(head.as_bytes())?;
        for suite in &self.suites {
            let mut report = Report::new("");
            report.add_test_suite(suite.without_cases(properties));
            let xml = text(&report)?;
            let (head, foot) =
                halves(between(&xml, "<testsuite ", "</testsuites>"), "</testsuite>");
            out.write_all(head.as_bytes())?;
            for (begin, end) in &suite.pieces {
                self.xml.seek(SeekFrom::Start(*begin))?;
                io::copy(&mut (&mut self.xml).take(end - begin), out)?;
            }
            out.write_all(foot.as_bytes())?;
        }
        out.write_all(foot.as_bytes())
    }
}

impl Suite {
    fn new(name: Rc<str>) -> Self {
        Suite {
            name,
            tests: 0,
            skipped: 0,
            errors: 0,
            failures: 0,
            time: Duration::ZERO,
            pieces: Vec::new(),
        }
    }

    fn without_cases(&self, properties: &[Property]) -> TestSuite {
        let mut suite = TestSuite::new(&*self.name);
        suite.tests = self.tests;
        suite.skipped = self.skipped;
        suite.errors = self.errors;
        suite.failures = self.failures;
        suite.set_time(self.time);
        suite.add_properties(properties.iter().cloned());
        suite
    }
}

fn text(report: &Report) -> io::Result<String> {
    report.to_string().map_err(io::Error::other)
}

/// The lines from the first with the tag `from` up to the last with the tag `to`, without that. A `<` in a text or
/// in an attribute is escaped, so a tag is never part of one.
fn between<'a>(xml: &'a str, from: &str, to: &str) -> &'a str {
    let line =
        |at: usize| xml.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let begin = xml.find(from).map_or(0, line);
    let end = xml.rfind(to).map_or(xml.len(), line);
    xml.get(begin..end).unwrap_or_default()
}

/// What stands before the line with the last tag `tag`, and the rest.
fn halves(xml: &str, tag: &str) -> (String, String) {
    let at = xml.rfind(tag).unwrap_or(xml.len());
    let at = xml.get(..at).and_then(|before| before.rfind('\n')).map_or(at, |end| end + 1);
    let (head, foot) = xml.split_at(at);
    (head.to_owned(), foot.to_owned())
}
