//! The exchanges of a run that made no calls: each is the answer to the very request that it answered.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::book::differs;
use super::folder::error;
use crate::backend::{Answer, Ask, Backend, BackendError, Failed};
use crate::capture::{Capture, Exchange, Failure};
use crate::evidence::StoredRun;
use crate::privacy;
use crate::request::Request;

/// Answers from the exchanges of a run.
#[derive(Debug)]
pub struct Stored {
    run: String,
    identity: Vec<(String, String)>,
    cases: BTreeMap<String, Vec<Kept>>,
    /// By case, which of its answers were given.
    used: Mutex<BTreeMap<String, Vec<bool>>>,
}

/// What happened at one turn.
#[derive(Debug)]
enum Kept {
    Answered(Box<Exchange>),
    Failed(Failure),
}

impl Kept {
    fn turn(&self) -> usize {
        match self {
            Kept::Answered(exchange) => exchange.turn,
            Kept::Failed(failure) => failure.turn,
        }
    }
}

impl Stored {
    /// # Errors
    /// The texts were withheld, so that no request can be compared with what was asked.
    pub(super) fn new(run: &StoredRun, captures: Vec<Capture>) -> Result<Stored, BackendError> {
        let mut cases: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
        for capture in captures {
            let kept = cases.entry(capture.case).or_default();
            for run in capture.runs.into_iter().chain(capture.twin) {
                let answered = run.exchanges.into_iter().map(|it| Kept::Answered(Box::new(it)));
                kept.extend(answered);
                kept.extend(run.error.map(Kept::Failed));
            }
        }
        let withheld = |kept: &Kept| match kept {
            Kept::Answered(exchange) => privacy::withheld(exchange),
            Kept::Failed(_) => None,
        };
        let run_name = run.path.display().to_string();
        if let Some(why) = cases.values().flatten().find_map(withheld) {
            return Err(BackendError::Broken(format!("{run_name} cannot answer: {why}")));
        }
        let facts = run.manifest.targets.iter().flat_map(|target| target.facts.clone());
        let mut identity: Vec<(String, String)> = facts.collect();
        identity.push(("replay".to_owned(), run_name.clone()));
        let used = cases.iter().map(|(case, kept)| (case.clone(), vec![false; kept.len()]));
        let used = Mutex::new(used.collect());
        Ok(Stored { run: run_name, identity, cases, used })
    }

    fn answer(&self, ask: Ask<'_>) -> Result<Exchange, BackendError> {
        let refuse = |why: String| BackendError::Rejected(format!("{}: {why}", self.run));
        let kept = self.cases.get(ask.case).ok_or_else(|| {
            let ids: Vec<&str> = self.cases.keys().take(5).map(String::as_str).collect();
            refuse(format!("there is no case `{}`; there is {} …", ask.case, ids.join(", ")))
        })?;
        let mut difference = None;
        let mut places = Vec::new();
        for (place, kept) in kept.iter().enumerate().filter(|(_, kept)| kept.turn() == ask.turn) {
            let found = match kept {
                Kept::Answered(exchange) => compare(&exchange.request, ask.request),
                Kept::Failed(_) => None,
            };
            match found {
                Some(found) => {
                    difference.get_or_insert(found);
                }
                None => places.push(place),
            }
        }
        let chosen = self.choose(ask.case, &places).and_then(|place| kept.get(place));
        match (chosen, difference) {
            (Some(Kept::Answered(exchange)), _) => Ok(exchange.as_ref().clone()),
            (Some(Kept::Failed(failure)), _) => Err(error(failure)),
            (None, Some(difference)) => Err(refuse(format!(
                "turn {} of `{}` was asked otherwise: {difference}",
                ask.turn, ask.case
            ))),
            (None, None) => {
                Err(refuse(format!("`{}` has no answer at turn {}", ask.case, ask.turn)))
            }
        }
    }

    /// The first of these places that was not used, else the last.
    fn choose(&self, case: &str, places: &[usize]) -> Option<usize> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.get_mut(case)?;
        let fresh = places.iter().find(|place| used.get(**place) == Some(&false));
        let chosen = *fresh.or(places.last())?;
        if let Some(used) = used.get_mut(chosen) {
            *used = true;
        }
        Some(chosen)
    }
}

/// The first field in which two requests differ. How much evidence is asked for and how long one waits change no
/// answer.
fn compare(kept: &Request, asked: &Request) -> Option<String> {
    let fields = |request: &Request| -> Value {
        json!({
            "messages": request.messages, "tools": request.tools, "tool_choice": request.tool_choice,
            "settings": request.settings, "template": request.template, "stream": request.stream,
            "prefill": request.prefill,
        })
    };
    let (kept, asked) = (fields(kept), fields(asked));
    // Both ways: a field that is new is a difference too.
    differs(&kept, &asked, "request").or_else(|| {
        let back = differs(&asked, &kept, "request")?;
        Some(format!("as recorded, {back} now"))
    })
}

impl Backend for Stored {
    fn identity(&self) -> Vec<(String, String)> {
        self.identity.clone()
    }

    fn exchange<'a>(&'a self, ask: Ask<'a>) -> Answer<'a> {
        Box::pin(ready(self.answer(ask).map_err(Failed::from)))
    }
}
