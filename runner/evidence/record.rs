//! The lines of `evidence.jsonl`: each exchange as soon as it is over, and what is left to say when its case is.
//!
//! A kill keeps every exchange so far: what has no closing line is read back as a case that was broken off.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capture::{Capture, Exchange, Failure, Run, Score, WireCall};
use crate::privacy::{self, Privacy};

/// The kind of [`Failure`] of a case whose end is not on record.
pub const INTERRUPTED: &str = "interrupted";

/// Which conversation of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The run at this position.
    Run(usize),
    /// The run with streaming flipped.
    Twin,
}

/// One line. The names are outside, since raw JSON survives no other form of tagging.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record<'a> {
    Probes(Probed<'a>),
    Exchange(Box<Kept<'a>>),
    Case(Closed<'a>),
}

/// How a target was found out, before anything was asked of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Probed<'a> {
    pub(super) target: Cow<'a, str>,
    pub(super) calls: Cow<'a, [WireCall]>,
}

/// An exchange and where it belongs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept<'a> {
    case: Cow<'a, str>,
    #[serde(default)]
    run: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    twin: bool,
    load: usize,
    seen: Cow<'a, Exchange>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(case: &'a str, place: Place, load: usize, seen: Cow<'a, Exchange>) -> Self {
        let (run, twin) = match place {
            Place::Run(run) => (run, false),
            Place::Twin => (0, true),
        };
        Kept { case: Cow::Borrowed(case), run, twin, load, seen }
    }
}

/// The end of a case; its exchanges stand on the lines before it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Closed<'a> {
    case: Cow<'a, str>,
    runs: Vec<Ended<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    twin: Option<Ended<'a>>,
    #[serde(default, skip_serializing_if = "<[Score]>::is_empty")]
    scores: Cow<'a, [Score]>,
}

/// The end of one conversation.
#[derive(Debug, Serialize, Deserialize)]
struct Ended<'a> {
    load: usize,
    exchanges: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, Failure>>,
}

impl<'a> Closed<'a> {
    pub(super) fn new(capture: &'a Capture, privacy: Privacy) -> Self {
        let ended = |run: &'a Run| Ended {
            load: run.load,
            exchanges: run.exchanges.len(),
            error: run.error.as_ref().map(|failure| privacy::failure(privacy, failure)),
        };
        Closed {
            case: Cow::Borrowed(&capture.case),
            runs: capture.runs.iter().map(ended).collect(),
            twin: capture.twin.as_ref().map(ended),
            scores: privacy::scores(privacy, &capture.scores),
        }
    }
}

/// Puts the captures of a run together again.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    whole: Vec<Capture>,
    open: BTreeMap<String, Open>,
    /// The order in which the open cases began.
    begun: Vec<String>,
}

/// The conversations of a case, each with its load.
type Open = BTreeMap<Place, (usize, Vec<Exchange>)>;

impl Assembly {
    /// Takes the next line.
    ///
    /// # Errors
    /// A case that closes with more or fewer exchanges than stand before it.
    pub(super) fn take(&mut self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Probes(_) => {}
            Record::Exchange(kept) => {
                let place = if kept.twin { Place::Twin } else { Place::Run(kept.run) };
                let case = kept.case.into_owned();
                if !self.open.contains_key(&case) {
                    self.begun.push(case.clone());
                }
                let open = self.open.entry(case).or_default();
                let run = open.entry(place).or_insert((kept.load, Vec::new()));
                run.1.push(kept.seen.into_owned());
            }
            Record::Case(closed) => {
                let mut open = self.open.remove(closed.case.as_ref()).unwrap_or_default();
                self.begun.retain(|case| *case != closed.case);
                let mut runs = Vec::new();
                for (n, ended) in closed.runs.into_iter().enumerate() {
                    runs.push(end(&closed.case, &mut open, Place::Run(n), ended)?);
                }
                let twin =
                    closed.twin.map(|ended| end(&closed.case, &mut open, Place::Twin, ended));
                self.whole.push(Capture {
                    runs,
                    twin: twin.transpose()?,
                    scores: closed.scores.into_owned(),
                    case: closed.case.into_owned(),
                });
            }
        }
        Ok(())
    }

    /// The captures in the order in which their cases ended, then those that were broken off.
    pub(super) fn finish(mut self) -> Vec<Capture> {
        for case in self.begun {
            let open = self.open.remove(&case).unwrap_or_default();
            let mut capture = Capture { case, runs: Vec::new(), twin: None, scores: Vec::new() };
            for (place, (load, exchanges)) in open {
                let run = broken_off(load, exchanges);
                match place {
                    Place::Run(_) => capture.runs.push(run),
                    Place::Twin => capture.twin = Some(run),
                }
            }
            self.whole.push(capture);
        }
        self.whole
    }
}

fn end(case: &str, open: &mut Open, place: Place, ended: Ended<'_>) -> Result<Run, String> {
    let exchanges = open.remove(&place).map(|(_, exchanges)| exchanges).unwrap_or_default();
    if exchanges.len() != ended.exchanges {
        return Err(format!(
            "`{case}` ends with {} exchanges, and {} stand before",
            ended.exchanges,
            exchanges.len()
        ));
    }
    let error = ended.error.map(Cow::into_owned);
    Ok(Run { load: ended.load, exchanges, error })
}

/// A conversation whose end is not on record, though it may have had one.
fn broken_off(load: usize, exchanges: Vec<Exchange>) -> Run {
    let turn = exchanges.last().map_or(0, |exchange| exchange.turn + 1);
    let failure = Failure {
        kind: INTERRUPTED.to_owned(),
        turn,
        message: "the run ended before this case did".to_owned(),
        wire: Vec::new(),
    };
    Run { load, exchanges, error: Some(failure) }
}
