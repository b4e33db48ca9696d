//! One attempt at a call: sent, and read to its end.

use std::time::Duration;

use chrono::Utc;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response};
use tokio::time::{Instant, timeout_at};

use super::answer::{Answer, Closed};
use super::fault::{Fault, reading};
use super::{Http, Outgoing};
use crate::backend::BackendError;
use crate::backend::remote::retry::{is_transient, told};

/// No call is longer, so that no time overflows.
const LONGEST_CALL: Duration = Duration::from_secs(7 * 86_400);

/// When the whole call must be over, and how long it was given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    end: Instant,
    given: Duration,
}

impl Limit {
    /// From now on.
    pub(super) fn of(given: Duration) -> Self {
        Limit { end: Instant::now() + given.min(LONGEST_CALL), given }
    }

    /// The time that is left.
    pub(super) fn left(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// What comes of `future` within the limit and, where given, within `idle` from now; else the time that was over.
    async fn bound<F: Future>(self, idle: Option<Duration>, future: F) -> Result<F::Output, Late> {
        let idle = idle.filter(|idle| *idle < self.left());
        let end = idle.map_or(self.end, |idle| Instant::now() + idle);
        let late = Late { given: idle.unwrap_or(self.given), whole: idle.is_none() };
        timeout_at(end, future).await.map_err(|_| late)
    }
}

/// A time that is over.
#[derive(Debug)]
struct Late {
    given: Duration,
    /// Whether it is that of the whole call.
    whole: bool,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) struct Tried {
    /// The status; 0 when no headers came.
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) closed: Closed,
    pub(super) broke: Option<BackendError>,
    /// For the list of attempts.
    pub(super) word: String,
    /// Whether another attempt may end otherwise.
    pub(super) again: bool,
    /// The wait that the server asks for.
    pub(super) told: Option<Duration>,
}

impl From<Fault> for Tried {
    fn from(fault: Fault) -> Self {
        Tried {
            status: 0,
            content_type: String::new(),
            closed: Closed::default(),
            broke: Some(fault.error),
            word: fault.word,
            again: fault.again,
            told: None,
        }
    }
}

impl Http {
    /// Sends once and reads what comes.
    pub(super) async fn attempt(&self, out: &Outgoing, limit: Limit) -> Tried {
        let sent = Instant::now();
        let response = match limit.bound(None, self.request(out).send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                return Fault::sending(error, self.address.shown(), self.connect).into();
            }
            Err(late) => return Fault::late("no first byte", late.given).into(),
        };
        let status = response.status().as_u16();
        let mut answer = Answer::new(status, response.headers(), &self.redactor);
        let broke = self.read(response, &mut answer, limit, sent).await.err();
        let location = answer.headers.get("location");
        let redirect = (300..400).contains(&status).then(|| redirect(status, location));
        let told = answer.headers.get("retry-after").and_then(|text| told(text, Utc::now()));
        Tried {
            status,
            content_type: answer.content_type.clone(),
            word: match &broke {
                Some(error) => format!("{status}, {error}"),
                None => status.to_string(),
            },
            again: is_transient(status),
            told,
            closed: answer.close(since(sent), broke.is_some()),
            broke: broke.or(redirect),
        }
    }

    fn request(&self, out: &Outgoing) -> RequestBuilder {
        let url = self.address.join(&out.path);
        let request = match &out.body {
            Some(body) => self
                .client
                .post(url)
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(body.clone()),
            None => self.client.get(url),
        };
        match &self.key {
            Some((name, value)) => request.header(name, value),
            None => request,
        }
    }

    /// Reads to the end of the body. Until its first byte only the limit of the call counts, since a server may be
    /// busy with other requests; from then on the time between two pieces counts too.
    async fn read(
        &self,
        mut response: Response,
        answer: &mut Answer<'_>,
        limit: Limit,
        sent: Instant,
    ) -> Result<(), BackendError> {
        loop {
            let idle = (answer.size > 0).then_some(self.idle);
            match limit.bound(idle, response.chunk()).await {
                Ok(Ok(Some(piece))) => answer.push(&piece, since(sent))?,
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(reading(error, answer.size)),
                Err(late) => return Err(late.reading(answer.size)),
            }
        }
    }
}

impl Late {
    fn reading(&self, size: usize) -> BackendError {
        let what = match (self.whole, size) {
            (true, 0) => "no first byte of the body".to_owned(),
            (true, _) => "no complete answer".to_owned(),
            (false, _) => format!("nothing more came after {size} bytes"),
        };
        BackendError::Timeout(what, self.given.as_millis())
    }
}

/// Milliseconds.
fn since(sent: Instant) -> f64 {
    sent.elapsed().as_secs_f64() * 1000.0
}

/// A redirect is not followed: the key would go along, and somebody else would be tested.
fn redirect(status: u16, location: Option<&String>) -> BackendError {
    let place = location.map_or("somewhere else", String::as_str);
    BackendError::Rejected(format!(
        "the server answers {status} and sends the request to {place}, which is not followed; \
         if that is the server to test, write its address in targets.yaml"
    ))
}
