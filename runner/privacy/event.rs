//! A verdict without its texts.

use super::exchange::alternative;
use super::{Privacy, WITHHELD};
use crate::capture::Token;
use crate::event::CaseReport;
use crate::finding::{Difference, Finding, Outcome};

/// Names, places and statuses stay; what quotes a spec, a prompt or a reply goes.
pub(super) fn mask(privacy: Privacy, case: &CaseReport) -> CaseReport {
    let mut masked = CaseReport {
        reason: case.reason.as_ref().map(|text| privacy.mask(text)),
        findings: case.findings.iter().map(|it| finding(privacy, it)).collect(),
        ladder: Vec::new(),
        ..case.clone()
    };
    masked.spec.source.clear();
    masked
}

fn finding(privacy: Privacy, finding: &Finding) -> Finding {
    let outcome = &finding.outcome;
    let mut masked = finding.clone();
    masked.spec.source.clear();
    masked.outcome = Outcome {
        status: outcome.status,
        expected: text(privacy, &outcome.expected),
        actual: text(privacy, &outcome.actual),
        at: outcome.at.as_ref().map(|place| self::place(privacy, place)),
        message: text(privacy, &outcome.message),
        tolerance: outcome.tolerance.clone(),
        difference: outcome.difference.as_ref().map(difference),
    };
    masked
}

fn text(privacy: Privacy, text: &str) -> String {
    if text.is_empty() { String::new() } else { privacy.mask(text) }
}

/// `token 17` says where and quotes nothing; the path of an argument does.
fn place(privacy: Privacy, place: &str) -> String {
    let plain = |word: &str| {
        let word = word.trim_end_matches(',');
        matches!(word, "token" | "prompt" | "reply" | "call" | "message")
            || word.parse::<usize>().is_ok()
    };
    if place.split(' ').all(plain) { place.to_owned() } else { privacy.mask(place) }
}

fn difference(difference: &Difference) -> Difference {
    let blank = |token: &Token| Token { id: token.id, piece: WITHHELD.to_owned() };
    Difference {
        index: difference.index,
        start: difference.start,
        expected: difference.expected.iter().map(blank).collect(),
        actual: difference.actual.iter().map(blank).collect(),
        top: difference.top.iter().map(alternative).collect(),
    }
}
