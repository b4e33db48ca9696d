//! `checklist`: what was seen of a model, and what was not, as Markdown for a person to sign.

use std::io::{self, Write};

use super::{Options, Reporter, Sink};
use crate::capture::Boundary;
use crate::event::{BoundaryStatus, CaseReport, CaseStatus, Event, RunStarted, Summary};
use crate::finding::Status;
use crate::text::{clip, printable};

mod table;
#[cfg(test)]
mod tests;

use table::{branches, cell, code, table};

/// Cases listed under one heading.
const LISTED: usize = 50;

struct Checklist {
    out: Sink,
    run: Option<RunStarted>,
    cases: Vec<CaseReport>,
}

pub(super) fn open(sink: Sink, _: Options) -> Box<dyn Reporter> {
    Box::new(Checklist { out: sink, run: None, cases: Vec::new() })
}

impl Reporter for Checklist {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Run(run) => self.run = Some(run.clone()),
            Event::Case(case) => {
                let mut case = case.as_ref().clone();
                // A long run has many ladders and this report shows none.
                case.ladder = Vec::new();
                self.cases.push(case);
            }
            Event::Summary(summary) => {
                let text = self.render(summary);
                self.out.write_all(text.as_bytes())?;
                self.out.flush()?;
            }
        }
        Ok(())
    }
}

impl Checklist {
    fn render(&self, summary: &Summary) -> String {
        let mut page = vec!["# Onboarding checklist".to_owned(), String::new()];
        page.push(verdict(summary));
        page.extend(self.run.iter().flat_map(identity));
        section(&mut page, "Branches and boundaries", branches(self.known_branches(), &self.cases));
        page.push(String::new());
        page.push(LEGEND.to_owned());
        section(&mut page, "What did not hold", self.failures());
        section(&mut page, "Known failures", self.with_status(CaseStatus::KnownFailure));
        section(&mut page, "Not seen, and what seeing it needs", self.hidden());
        section(&mut page, "Settings that no spec pins", unpinned(summary));
        section(&mut page, "To sign", self.sign(summary));
        page.push(String::new());
        page.join("\n")
    }

    fn known_branches(&self) -> &[String] {
        self.run.as_ref().map_or(&[], |run| &run.branches)
    }

    fn failures(&self) -> Vec<String> {
        let bad = |case: &&CaseReport| {
            matches!(case.status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed)
        };
        let bad: Vec<&CaseReport> = self.cases.iter().filter(bad).collect();
        if bad.is_empty() {
            return vec!["Nothing: everything that was judged held.".to_owned()];
        }
        let mut lines = Vec::new();
        for case in bad.iter().take(LISTED) {
            let first = case.findings.iter().find(|f| f.outcome.status == Status::Fail);
            let place = first.map_or(&case.spec, |finding| &finding.spec);
            let reason = match case.status {
                CaseStatus::Fixed => Some("it no longer fails; remove known_failure"),
                _ => case.reason.as_deref(),
            };
            let message = first.map(|f| f.outcome.message.as_str()).or(reason);
            let stage = match (case.status, case.boundary) {
                (CaseStatus::Failed, Some(boundary)) => format!("first differs at **{boundary}**"),
                (status, _) => format!("**{}**", status.name()),
            };
            lines.push(format!("- [ ] {} {stage}, {}", code(&case.id), code(&place.to_string())));
            lines.push(format!("  - {}", prose(message.unwrap_or_default())));
            lines.push(format!("  - {}", code(&case.reproduce)));
        }
        more(&mut lines, bad.len());
        lines
    }

    fn with_status(&self, status: CaseStatus) -> Vec<String> {
        let cases: Vec<&CaseReport> =
            self.cases.iter().filter(|case| case.status == status).collect();
        if cases.is_empty() {
            return vec!["None.".to_owned()];
        }
        let line = |case: &&CaseReport| {
            format!(
                "- {}: {}",
                code(&case.id),
                prose(case.reason.as_deref().unwrap_or("no reason is given"))
            )
        };
        let mut lines: Vec<String> = cases.iter().take(LISTED).map(line).collect();
        more(&mut lines, cases.len());
        lines
    }

    /// Every reason once, with the boundary and the number of cases.
    fn hidden(&self) -> Vec<String> {
        let mut reasons: Vec<(Boundary, &str, usize)> = Vec::new();
        for finding in self.cases.iter().flat_map(|case| &case.findings) {
            if finding.outcome.status != Status::NotEvaluated {
                continue;
            }
            let reason = finding.outcome.message.as_str();
            match reasons.iter_mut().find(|(b, r, _)| *b == finding.boundary && *r == reason) {
                Some((.., n)) => *n += 1,
                None => reasons.push((finding.boundary, reason, 1)),
            }
        }
        if reasons.is_empty() {
            return vec!["Everything that was asked for could be seen.".to_owned()];
        }
        let line = |(boundary, reason, n): &(Boundary, &str, usize)| {
            let findings = crate::diagnostic::count(*n, "finding");
            format!(
                "- [ ] **{boundary}**, {findings}: {}. It needs {}.",
                prose(reason),
                need(*boundary)
            )
        };
        let mut lines: Vec<String> = reasons.iter().take(LISTED).map(line).collect();
        more(&mut lines, reasons.len());
        lines
    }

    fn sign(&self, summary: &Summary) -> Vec<String> {
        let run = |branch: &&String| self.cases.iter().any(|case| case.branch == **branch);
        let missing: Vec<String> =
            self.known_branches().iter().filter(|b| !run(b)).map(|b| code(b)).collect();
        let exercised = |boundary: Boundary| {
            let states = self.cases.iter().filter_map(|case| case.boundaries.get(&boundary));
            states.clone().any(|status| *status != BoundaryStatus::NotExercised)
        };
        let empty: Vec<&str> =
            Boundary::ALL.into_iter().filter(|b| !exercised(*b)).map(Boundary::name).collect();
        let mut lines = vec![
            "- [ ] the model facts above are those of the deployment".to_owned(),
            "- [ ] what did not hold is fixed, or is a known failure with a reason".to_owned(),
            "- [ ] what was not seen is acceptable, or is checked another way".to_owned(),
        ];
        if !missing.is_empty() {
            lines.push(format!(
                "- [ ] no case exercises {}: the deployment does not serve it",
                missing.join(", ")
            ));
        }
        if !empty.is_empty() {
            lines.push(format!("- [ ] no case exercises {}: that is intended", empty.join(", ")));
        }
        if summary.pending_snapshots > 0 {
            let waiting = crate::diagnostic::count(summary.pending_snapshots, "snapshot");
            lines.push(format!("- [ ] {waiting} reviewed (`cargo insta review`)"));
        }
        lines.push(String::new());
        lines.push("Name: ____________________   Date: ____________________".to_owned());
        lines
    }
}

/// What shows a boundary.
fn need(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Input => {
            "a target in process, or one that returns prompt ids or has a `tokenizer`"
        }
        Boundary::Settings => "a target in process, or a server that reports the settings in force",
        Boundary::Generation => {
            "a target in process, or a server that returns token ids and logprobs"
        }
        Boundary::Response => "a server that answers in the OpenAI form",
        Boundary::Score => "a reply that the scorer can read",
    }
}

const LEGEND: &str = "A cell counts cases: *held*, **changed** (first difference), *not comparable* (a boundary \
above changed), *hidden* (asked for but not seen); *not exercised* means that no case asks about it.";

fn verdict(summary: &Summary) -> String {
    let counts: Vec<String> = summary
        .by_status
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(status, n)| format!("{n} {}", status.replace('_', " ")))
        .collect();
    let counts =
        if counts.is_empty() { "nothing was judged".to_owned() } else { counts.join(", ") };
    match &summary.stopped {
        Some(why) => format!("**Incomplete**: {}. So far: {counts}.", prose(why)),
        None => format!("Result: {counts}."),
    }
}

fn identity(run: &RunStarted) -> Vec<String> {
    let mut lines = vec![String::new(), "## What was run".to_owned(), String::new()];
    let selection = if run.selection.is_empty() { "every case" } else { &run.selection };
    let rows = [
        ["time".to_owned(), cell(&run.time)],
        ["evalsuite".to_owned(), cell(&run.version)],
        ["manifest".to_owned(), code(&run.manifest)],
        ["selection".to_owned(), cell(selection)],
    ];
    lines.extend(table(&["run", ""], &rows.map(Vec::from)));
    for target in &run.targets {
        lines.push(String::new());
        let rows: Vec<Vec<String>> =
            target.facts.iter().map(|(name, value)| vec![cell(name), code(value)]).collect();
        lines.extend(table(&[&format!("target {}", code(&target.name)), ""], &rows));
    }
    lines
}

fn unpinned(summary: &Summary) -> Vec<String> {
    if summary.unpinned.is_empty() {
        return vec!["None: every setting in force was asked for.".to_owned()];
    }
    let line = |(name, n): (&String, &usize)| {
        format!("- [ ] {} in {}", code(name), crate::diagnostic::count(*n, "case"))
    };
    summary.unpinned.iter().map(line).collect()
}

fn section(page: &mut Vec<String>, title: &str, lines: Vec<String>) {
    page.extend([String::new(), format!("## {title}"), String::new()]);
    page.extend(lines);
}

fn more(lines: &mut Vec<String>, total: usize) {
    if let Some(more @ 1..) = total.checked_sub(LISTED) {
        lines.push(format!("- … {more} more, in the other reports"));
    }
}

/// Text in a paragraph, with everything that Markdown would act on escaped.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in clip(&printable(text), 300).chars() {
        if "\\`*_{}[]<>#|&~$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
