//! The in-process backend: a model directory, run by our own engine on one thread.
//!
//! Requests wait in a queue and are answered one after the other, each from an empty cache, so that an answer
//! depends on nothing but its request.

mod reply;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use candle_core::utils::with_threadpool;
use tokio::sync::oneshot;

use super::{Answer, Ask, Backend, BackendError};
use crate::capture::{Exchange, Input, Observed, Token};
use crate::engine::{self, Abort, Ending, EngineError, Model};
use crate::model::{self, ModelDir};
use crate::plan::CandleTarget;
use crate::request::Request;
use reply::Reply;
use settings::Resolved;

/// What computes, as `identity` names it; held to Cargo.lock by a test.
const ENGINE: &str = concat!("evalsuite ", env!("CARGO_PKG_VERSION"), ", candle 0.11.1");

/// A model that answers in process.
#[derive(Debug)]
pub struct Candle {
    identity: Vec<(String, String)>,
    queue: mpsc::Sender<Job>,
}

/// One request in the queue.
struct Job {
    request: Request,
    sent: Instant,
    cancelled: Arc<AtomicBool>,
    answer: oneshot::Sender<Result<Exchange, BackendError>>,
}

impl Candle {
    /// Loads the model and starts the engine's thread.
    ///
    /// # Errors
    /// [`BackendError::Broken`]: the directory, its weights, the device or the number type cannot be used.
    pub fn open(target: &CandleTarget) -> Result<Candle, BackendError> {
        let broken = |error: &dyn std::fmt::Display| BackendError::Broken(error.to_string());
        let device = engine::device(&target.device).map_err(|error| broken(&error))?;
        let dtype = engine::dtype(&target.dtype, &device).map_err(|error| broken(&error))?;
        let files = ModelDir::open(&target.model).map_err(|error| broken(&error))?;
        let model = Model::load(&target.model, &files.config, &device, dtype)
            .map_err(|error| broken(&format!("{}: {error}", target.model.display())))?;
        let mut identity = files.facts();
        let device = match device.location() {
            candle_core::DeviceLocation::Cpu => "cpu".to_owned(),
            candle_core::DeviceLocation::Cuda { gpu_id } => format!("cuda:{gpu_id}"),
            candle_core::DeviceLocation::Metal { gpu_id } => format!("metal:{gpu_id}"),
        };
        for (name, fact) in [("engine", ENGINE), ("dtype", dtype.as_str()), ("device", &device)] {
            identity.push((name.to_owned(), fact.to_owned()));
        }
        let (queue, jobs) = mpsc::channel();
        std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || serve(&files, &model, &jobs))
            .map_err(|error| broken(&format!("cannot start the engine's thread: {error}")))?;
        Ok(Candle { identity, queue })
    }
}

impl Backend for Candle {
    fn identity(&self) -> Vec<(String, String)> {
        self.identity.clone()
    }

    fn exchange<'a>(&'a self, ask: Ask<'a>) -> Answer<'a> {
        Box::pin(async move {
            let cancelled = Arc::new(AtomicBool::new(false));
            let (answer, answered) = oneshot::channel();
            let ended =
                || BackendError::Broken("the engine's thread ended unexpectedly".to_owned());
            // Dropping this future tells the engine that nobody waits any more.
            let _cancel = CancelOnDrop(Arc::clone(&cancelled));
            let job = Job { request: ask.request.clone(), sent: now(), cancelled, answer };
            self.queue.send(job).map_err(|_| ended())?;
            Ok(answered.await.map_err(|_| ended())??)
        })
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[expect(clippy::disallowed_methods, reason = "a backend measures its exchanges")]
fn now() -> Instant {
    Instant::now()
}

/// The engine's thread: answers until the backend is dropped.
fn serve(files: &ModelDir, model: &Model, jobs: &mpsc::Receiver<Job>) {
    for job in jobs {
        if job.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        // Inside candle's pool its kernels run in place instead of handing each piece to another thread.
        let exchange = with_threadpool(|| answer(files, model, &job));
        // Whoever asked may be gone.
        let _ = job.answer.send(exchange);
    }
}

fn answer(files: &ModelDir, model: &Model, job: &Job) -> Result<Exchange, BackendError> {
    let request = &job.request;
    // The wait in the queue is not the model's, so the clock of the timeout starts here.
    let deadline = request.timeout.and_then(|timeout| now().checked_add(timeout));
    let interrupt = || {
        if job.cancelled.load(Ordering::Relaxed) {
            return Some(Abort::Cancelled);
        }
        deadline.filter(|deadline| now() >= *deadline).map(|_| Abort::Deadline)
    };
    let rejected = |error: &dyn std::fmt::Display| BackendError::Rejected(error.to_string());
    refuse_forced_call(request)?;
    let prompt = model::render(files, request).map_err(|error| rejected(&error))?;
    let ids = files.tokenizer.encode(&prompt).map_err(|error| rejected(&error))?;
    let room = model.config().context.saturating_sub(ids.len());
    let resolved = Resolved::of(&request.settings, files, room).map_err(BackendError::Rejected)?;
    let work = engine::Job { prompt: &ids, top: request.top_logprobs, ..resolved.job() };
    let decode = |ids: &[u32]| files.tokenizer.decode(ids, false);
    let mut reply = Reply::new(files, request, &prompt, job.sent);
    let done = engine::generate(model, &work, &decode, &interrupt, &mut |step| {
        reply.take(step.text);
    });
    let done = done.map_err(|error| failure(error, request))?;
    if let Ending::Aborted(abort) = done.ending {
        return Err(failure(EngineError::Aborted(abort), request));
    }
    let response = reply.finish(&done, ids.len());
    let tokens = ids.iter().map(|id| Token { id: *id, piece: files.tokenizer.piece(*id) });
    let input = Input {
        prompt: Observed::Seen(prompt.clone()),
        tokens: Observed::Seen(tokens.collect()),
        count: Some(ids.len()),
        rung: "native".to_owned(),
        rendered: None,
    };
    Ok(Exchange {
        turn: 0,
        request: request.clone(),
        input: Observed::Seen(input),
        settings: Observed::Seen(resolved.settings),
        generation: Observed::Seen(reply::generation(&files.tokenizer, &done)),
        response: Observed::Seen(response),
        wire: Vec::new(),
        elapsed_ms: job.sent.elapsed().as_secs_f64() * 1e3,
    })
}

/// A call can be allowed or forbidden here, but not forced.
fn refuse_forced_call(request: &Request) -> Result<(), BackendError> {
    match &request.tool_choice {
        None => Ok(()),
        Some(choice) if choice == "auto" || choice == "none" => Ok(()),
        Some(choice) => Err(BackendError::Rejected(format!(
            "`tool_choice` is {choice}, and the in-process engine cannot force a call; write auto or none"
        ))),
    }
}

fn failure(error: EngineError, request: &Request) -> BackendError {
    match error {
        EngineError::Aborted(Abort::Deadline) => {
            let waited = request.timeout.unwrap_or_default().as_millis();
            BackendError::Timeout("no complete answer".to_owned(), waited)
        }
        EngineError::Aborted(Abort::Cancelled) => BackendError::Rejected("cancelled".to_owned()),
        EngineError::Refused(_) => BackendError::Rejected(error.to_string()),
        other => BackendError::Broken(other.to_string()),
    }
}

#[cfg(test)]
#[path = "candle/tests.rs"]
mod tests;
