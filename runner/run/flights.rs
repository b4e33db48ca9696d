//! Cases in flight: at most `jobs` at a time, landing in the order of the plan.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::task::{JoinHandle, JoinSet};

use super::backends::Backends;
use crate::backend::Backend;
use crate::capture::{Capture, Exchange, Run};
use crate::converse::converse;
use crate::error::Error;
use crate::evidence::{Log, Place};
use crate::plan::{Case, Cases};

/// The cases of a plan on their way. Dropping it cancels those that have not landed.
pub(super) struct Flights<'a> {
    waiting: Cases,
    backends: &'a Backends,
    jobs: usize,
    log: Option<Arc<Log>>,
    flying: VecDeque<(Arc<Case>, Flight)>,
    /// Why no further case takes off.
    grounded: Option<Error>,
}

impl<'a> Flights<'a> {
    pub(super) fn new(
        cases: Cases,
        backends: &'a Backends,
        jobs: usize,
        log: Option<Arc<Log>>,
    ) -> Self {
        let (jobs, flying) = (jobs.max(1), VecDeque::new());
        Flights { waiting: cases, backends, jobs, log, flying, grounded: None }
    }

    /// The next case in the order of the plan, with what was captured; `None` after the last.
    ///
    /// This may be cancelled and called again: a case that has not landed stays in the queue.
    pub(super) async fn next(&mut self) -> Option<Result<(Arc<Case>, Capture), Error>> {
        while self.flying.len() < self.jobs && self.grounded.is_none() {
            let Some(case) = self.waiting.next() else { break };
            self.grounded = case.and_then(|case| self.take_off(case)).err();
        }
        let Some((case, flight)) = self.flying.front_mut() else {
            return self.grounded.take().map(Err);
        };
        let case = Arc::clone(case);
        let landed = (&mut flight.0).await;
        self.flying.pop_front();
        Some(match landed {
            Ok(capture) => Ok((case, capture)),
            Err(error) => {
                let message = format!("{} broke off: {error}; please report this", case.id);
                Err(Error::Backend { target: case.target.clone(), message })
            }
        })
    }

    fn take_off(&mut self, case: Case) -> Result<(), Error> {
        let case = Arc::new(case);
        let Some(backend) = self.backends.get(&case.target) else {
            let message = "no such target was opened".to_owned();
            return Err(Error::Backend { target: case.target.clone(), message });
        };
        let (backend, log) = (Arc::clone(backend), self.log.clone());
        let trip = Trip { case: Arc::clone(&case), backend, log };
        self.flying.push_back((case, Flight(tokio::spawn(trip.fly()))));
        Ok(())
    }
}

/// A task that ends when it is dropped, so that nothing runs on after an early stop.
struct Flight(JoinHandle<Capture>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a case needs on its way.
#[derive(Clone)]
struct Trip {
    case: Arc<Case>,
    backend: Arc<dyn Backend>,
    log: Option<Arc<Log>>,
}

impl Trip {
    /// All runs of one case: the repeats one after another, then those under load at the same time, then the twin.
    async fn fly(self) -> Capture {
        let case = &self.case;
        let mut runs = Vec::new();
        for n in 0..case.repeat.max(1) {
            runs.push(self.converse(Place::Run(n), case.stream, 1).await);
        }
        runs.extend(self.under_load(runs.len()).await);
        let twin = match case.twin {
            true => Some(self.converse(Place::Twin, !case.stream, 1).await),
            false => None,
        };
        Capture { case: case.id.clone(), runs, twin, scores: Vec::new() }
    }

    async fn under_load(&self, before: usize) -> Vec<Run> {
        let load = self.case.load;
        let mut set = JoinSet::new();
        for n in before..before + load {
            let (trip, stream) = (self.clone(), self.case.stream);
            set.spawn(async move { (n, trip.converse(Place::Run(n), stream, load).await) });
        }
        let mut runs = set.join_all().await;
        runs.sort_by_key(|(n, _)| *n);
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// One conversation, each exchange of which is kept as soon as it is over.
    async fn converse(&self, place: Place, stream: bool, load: usize) -> Run {
        let keep = |exchange: &Exchange| {
            if let Some(log) = &self.log {
                log.exchange(&self.case.id, place, load, exchange);
            }
        };
        converse(&self.case, self.backend.as_ref(), stream, load, &keep).await
    }
}
