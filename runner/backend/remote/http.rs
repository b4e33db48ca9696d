//! Calls over HTTP/1.1, kept apart from what they say: one client, bounded in connections, time and memory.

mod address;
mod answer;
mod attempt;
mod fault;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Certificate, Client};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::retry::{self, Policy};
use super::transport::{Call, Received, Receiving, Transport};
use crate::backend::{BackendError, Opening, Redactor};
use crate::capture::{Attempt, WireCall, WireRequest};
use crate::plan::RemoteTarget;
use address::Address;
pub use answer::LONGEST_BODY;
use attempt::{Limit, Tried};

/// The longest time for a call that names none: such calls generate nothing.
const QUIET: Duration = Duration::from_secs(15);

/// A server reached over HTTP.
///
/// Certificates and proxies are looked up as elsewhere: the system's, or those of `ca` alone; `HTTP_PROXY`,
/// `HTTPS_PROXY` and `NO_PROXY`. A server on this machine is never asked through a proxy.
pub struct Http {
    client: Client,
    address: Address,
    /// The header that carries the key.
    key: Option<(HeaderName, HeaderValue)>,
    redactor: Redactor,
    /// One permit for each request that may be in flight.
    permits: Semaphore,
    policy: Policy,
    connect: Duration,
    idle: Duration,
    /// Nobody answered through all attempts, and nobody has since: further calls try once.
    dead: AtomicBool,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("address", &self.address.shown()).finish_non_exhaustive()
    }
}

impl Http {
    /// A client for a target. Nothing is sent yet.
    ///
    /// # Errors
    /// The address, the key or the certificates cannot be used.
    pub fn open(target: &RemoteTarget, opening: &Opening) -> Result<Http, BackendError> {
        let address = Address::new(&target.url)?;
        let mut secrets = address.secrets();
        let key = key(target, opening)?;
        if let Some((name, _, secret)) = &key {
            secrets.push(secret.clone());
            if *name == AUTHORIZATION && address.has_user() {
                return Err(BackendError::Broken(
                    "both the user in `url` and the key would go into the `Authorization` header; \
                     name another for the key with `api_key_header`"
                        .to_owned(),
                ));
            }
        }
        // A model may be chosen by the query, and its name is no secret.
        secrets.retain(|secret| *secret != target.model);
        let redactor = Redactor::new(secrets);
        let jobs = opening.jobs.max(1);
        Ok(Http {
            client: client(target, &address, jobs)?,
            address,
            key: key.map(|(name, value, _)| (name, value)),
            redactor,
            permits: Semaphore::new(jobs),
            policy: Policy::new(opening.retries),
            connect: target.connect_timeout,
            idle: target.idle_timeout,
            dead: AtomicBool::new(false),
        })
    }

    async fn carry(&self, call: Call<'_>) -> Received {
        let out = Outgoing::new(&call, &self.redactor);
        // An error would mean that the semaphore was closed, which nobody does.
        let permit = self.permits.acquire().await;
        let limit = Limit::of(call.timeout.unwrap_or(self.idle.min(QUIET)));
        let mut policy = self.policy;
        if self.dead.load(Ordering::Relaxed) {
            policy.retries = 0;
        }
        let mut waits = policy.waits();
        let mut attempts = Vec::new();
        let mut waited = Duration::ZERO;
        let last = loop {
            let tried = self.attempt(&out, limit).await;
            let outcome = self.redactor.scrub(&tried.word).into_owned();
            attempts.push(Attempt { outcome, waited_ms: waited.as_secs_f64() * 1000.0 });
            let own = if tried.again { waits.next() } else { None };
            match own.and_then(|own| retry::wait(own, tried.told, limit.left())) {
                Some(wait) => {
                    sleep(wait).await;
                    waited = wait;
                }
                None => break tried,
            }
        };
        drop(permit);
        match &last.broke {
            Some(BackendError::Unreachable(_)) => self.dead.store(true, Ordering::Relaxed),
            _ if last.status > 0 => self.dead.store(false, Ordering::Relaxed),
            _ => {}
        }
        self.received(out, attempts, last)
    }

    fn received(&self, out: Outgoing, attempts: Vec<Attempt>, last: Tried) -> Received {
        let broke = last.broke.map(|error| self.scrub_error(error));
        // A redirect is a whole answer, although it is refused.
        let early = broke.as_ref().filter(|error| !matches!(error, BackendError::Rejected(_)));
        Received {
            wire: WireCall {
                purpose: out.purpose.to_owned(),
                request: out.record,
                response: last.closed.record,
                attempts,
                broke: early.map(ToString::to_string),
            },
            status: last.status,
            content_type: last.content_type,
            body: last.closed.body,
            events: last.closed.events,
            faults: last.closed.faults,
            broke,
        }
    }

    fn scrub_error(&self, error: BackendError) -> BackendError {
        let clean = |text| self.redactor.scrub_owned(text);
        match error {
            BackendError::Broken(text) => BackendError::Broken(clean(text)),
            BackendError::Unreachable(text) => BackendError::Unreachable(clean(text)),
            BackendError::Unavailable(text) => BackendError::Unavailable(clean(text)),
            BackendError::Rejected(text) => BackendError::Rejected(clean(text)),
            BackendError::Timeout(text, ms) => BackendError::Timeout(clean(text), ms),
            BackendError::Malformed(text) => BackendError::Malformed(clean(text)),
            BackendError::Incomplete(text) => BackendError::Incomplete(clean(text)),
        }
    }
}

impl Transport for Http {
    fn call<'a>(&'a self, call: Call<'a>) -> Receiving<'a> {
        Box::pin(self.carry(call))
    }

    fn address(&self) -> &str {
        self.address.shown()
    }

    fn scrub(&self, text: String) -> String {
        self.redactor.scrub_owned(text)
    }
}

/// What is sent in each attempt, and the record of it.
#[derive(Debug)]
struct Outgoing {
    purpose: &'static str,
    path: String,
    body: Option<Bytes>,
    record: WireRequest,
}

impl Outgoing {
    fn new(call: &Call<'_>, redactor: &Redactor) -> Self {
        // A JSON value always has a text.
        let raw = call.body.as_ref().and_then(|body| to_raw_value(body).ok());
        let body = raw.as_ref().map(|raw| Bytes::copy_from_slice(raw.get().as_bytes()));
        let path = call.path.split('?').next().unwrap_or_default();
        let record = WireRequest {
            method: if raw.is_some() { "POST" } else { "GET" }.to_owned(),
            path: redactor.scrub(path).into_owned(),
            body: raw.and_then(|raw| clean(raw, redactor)),
        };
        Outgoing { purpose: call.purpose, path: call.path.clone(), body, record }
    }
}

fn clean(raw: Box<RawValue>, redactor: &Redactor) -> Option<Box<RawValue>> {
    match redactor.scrub(raw.get()) {
        std::borrow::Cow::Borrowed(_) => Some(raw),
        std::borrow::Cow::Owned(scrubbed) => RawValue::from_string(scrubbed).ok(),
    }
}

/// The header that carries the key, its value, and the key.
type Key = (HeaderName, HeaderValue, String);

fn key(target: &RemoteTarget, opening: &Opening) -> Result<Option<Key>, BackendError> {
    let Some(variable) = &target.api_key_env else { return Ok(None) };
    let secret = opening.secrets.get(variable).ok_or_else(|| {
        BackendError::Broken(format!("the variable {variable}, which holds the key, is not set"))
    })?;
    let secret = secret.reveal();
    let (name, text) = match &target.api_key_header {
        Some(name) => (HeaderName::from_bytes(name.as_bytes()).ok(), secret.to_owned()),
        None => (Some(AUTHORIZATION), format!("Bearer {secret}")),
    };
    let name = name.ok_or_else(|| {
        let name = target.api_key_header.as_deref().unwrap_or_default();
        BackendError::Broken(format!("`{name}` in `api_key_header` is no name of a header"))
    })?;
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        BackendError::Broken(format!(
            "the key in {variable} cannot be sent: it holds a line break or another control character"
        ))
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value, secret.to_owned())))
}

fn client(target: &RemoteTarget, address: &Address, jobs: usize) -> Result<Client, BackendError> {
    // Whoever was first has installed a provider that does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("evalsuite/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .redirect(reqwest::redirect::Policy::none())
        // Attempts are counted, so that nobody but us may make them.
        .retry(reqwest::retry::never())
        .connect_timeout(target.connect_timeout)
        .pool_max_idle_per_host(jobs)
        // Small servers close what was idle for a few seconds, just as the next request leaves.
        .pool_idle_timeout(Duration::from_secs(2));
    if address.is_loopback() {
        builder = builder.no_proxy();
    }
    builder = match &target.ca {
        Some(path) => builder.tls_certs_only(certificates(path)?),
        // Reading the system's certificates takes longer than many requests.
        None if !address.is_tls() => builder.tls_certs_only([]),
        None => builder,
    };
    builder.build().map_err(|error| {
        let why = fault::deepest(&error);
        let help = "certificates can be named with `ca` in targets.yaml";
        BackendError::Broken(format!("no HTTP client can be made: {why}; {help}"))
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the certificates of a target are read when it is opened"
)]
fn certificates(path: &std::path::Path) -> Result<Vec<Certificate>, BackendError> {
    let broken = |why: String| {
        BackendError::Broken(format!(
            "the certificates in {} cannot be used: {why}",
            path.display()
        ))
    };
    let pem = std::fs::read(path).map_err(|error| broken(error.to_string()))?;
    let certificates =
        Certificate::from_pem_bundle(&pem).map_err(|error| broken(fault::deepest(&error)))?;
    match certificates.is_empty() {
        true => Err(broken("there is no `BEGIN CERTIFICATE` in it".to_owned())),
        false => Ok(certificates),
    }
}

#[cfg(test)]
mod tests;
