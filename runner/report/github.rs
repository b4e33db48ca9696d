//! `github`: workflow commands that annotate the lines of the specs in a pull request.

use std::io::{self, Write};

use super::{Options, Reporter, Sink};
use crate::event::{CaseReport, CaseStatus, Event};
use crate::finding::Status;
use crate::text::printable;

struct Github {
    out: Sink,
}

pub(super) fn open(sink: Sink, _: Options) -> Box<dyn Reporter> {
    Box::new(Github { out: sink })
}

impl Reporter for Github {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Case(case) => annotate(&mut self.out, case)?,
            Event::Summary(summary) => {
                if let Some(why) = &summary.stopped {
                    writeln!(self.out, "::error title=evalsuite stopped early::{}", data(why))?;
                }
            }
            Event::Run(_) => {}
        }
        self.out.flush()
    }
}

fn annotate(out: &mut dyn Write, case: &CaseReport) -> io::Result<()> {
    if !matches!(case.status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed) {
        return Ok(());
    }
    let first = case.findings.iter().find(|finding| finding.outcome.status == Status::Fail);
    let place = first.map_or(&case.spec, |finding| &finding.spec);
    let title = match case.boundary {
        Some(boundary) => {
            format!("{} {}, first differs at {boundary}", case.id, case.status.name())
        }
        None => format!("{} {}", case.id, case.status.name()),
    };
    let message = match first {
        Some(finding) => format!(
            "{}: {}\nexpected {}\nactual {}\n{}",
            finding.name,
            finding.outcome.message,
            finding.outcome.expected,
            finding.outcome.actual,
            case.reproduce
        ),
        None => format!("{}\n{}", case.reason.as_deref().unwrap_or_default(), case.reproduce),
    };
    writeln!(
        out,
        "::error file={},line={},col={},title={}::{}",
        property(&place.file),
        place.line,
        place.column,
        property(&title),
        data(&message)
    )
}

/// The value of a property: colons and commas would end it.
fn property(text: &str) -> String {
    escape(&printable(text)).replace(':', "%3A").replace(',', "%2C")
}

/// The message: line breaks are kept, other controls are shown.
fn data(text: &str) -> String {
    text.split('\n').map(|line| escape(&printable(line))).collect::<Vec<_>>().join("%0A")
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::report::{Options, sample, written};

    #[test]
    fn failures_are_annotated_at_their_line() {
        let text = written("github", Options::default(), &sample::events());
        let lines: Vec<&str> = text.lines().collect();
        let expected = "::error file=specs/tool_call/weather.yaml,line=12,col=11,title=tool_call/weather.input \
            failed%2C first differs at input::double_bos: the input is not what was expected%0Aexpected 5 degrees\
            %0Aactual 4 degrees%0Aevalsuite run specs/tool_call/weather.yaml --case 'tool_call/weather.input'";
        assert_eq!(lines[0], expected);
        // Five boundaries, one error, one that is fixed.
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn no_text_can_end_a_command_or_start_another() {
        let text =
            written("github", Options::default(), &[Event::Case(Box::new(sample::hostile()))]);
        assert_eq!(text.lines().count(), 1);
        let head = text.split("title=").next().unwrap();
        assert_eq!(head.matches(',').count(), 3, "{head}");
        assert!(head.contains("%250A"), "{head}");
    }
}
