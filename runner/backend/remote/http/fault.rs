//! What went wrong on the way, in words.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use crate::backend::BackendError;

/// A failure before the headers of an answer were there.
#[derive(Debug)]
pub(super) struct Fault {
    /// For the case.
    pub(super) error: BackendError,
    /// For the list of attempts.
    pub(super) word: String,
    /// Whether the same call may succeed later.
    pub(super) again: bool,
}

impl Fault {
    /// The time for the whole call is over.
    pub(super) fn late(what: &str, limit: Duration) -> Self {
        let error = BackendError::Timeout(what.to_owned(), limit.as_millis());
        Fault { word: error.to_string(), error, again: false }
    }

    /// A call that could not be sent or was not answered; `at` is the server's root.
    pub(super) fn sending(error: reqwest::Error, at: &str, connect: Duration) -> Self {
        // The address may hold a key.
        let error = error.without_url();
        if error.is_connect() {
            return Fault::connecting(&error, at, connect);
        }
        let word = deepest(&error);
        let closed = io_kind(&error).is_some()
            || ["connection closed", "channel closed", "operation was canceled"]
                .iter()
                .any(|start| word.starts_with(start));
        if closed {
            let text = "the connection was closed before the headers of an answer were complete";
            let word = "closed without an answer".to_owned();
            return Fault { error: BackendError::Incomplete(text.to_owned()), word, again: true };
        }
        let text = format!("what answers at {at} does not speak HTTP/1.1: {word}");
        Fault { error: BackendError::Malformed(text), word, again: false }
    }

    fn connecting(error: &reqwest::Error, at: &str, connect: Duration) -> Self {
        if let Some(tls) = find::<rustls::Error>(error) {
            let (word, help) = match tls {
                rustls::Error::InvalidCertificate(why) => (
                    format!("its certificate is not trusted ({why})"),
                    "name the certificate to trust with `ca` in targets.yaml",
                ),
                _ => (
                    format!("the TLS handshake failed ({tls})"),
                    "does the server speak `http://`?",
                ),
            };
            let error =
                BackendError::Unreachable(format!("nobody answers at {at}: {word}; {help}"));
            return Fault { error, word, again: false };
        }
        let word = if error.is_dns() {
            "no such host".to_owned()
        } else if error.is_timeout() {
            format!("no connection within {} ms", connect.as_millis())
        } else {
            match io_kind(error) {
                Some(ErrorKind::ConnectionRefused) => "connection refused".to_owned(),
                Some(ErrorKind::ConnectionReset) => "connection reset".to_owned(),
                Some(ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable) => {
                    "no route to it".to_owned()
                }
                _ => deepest(error),
            }
        };
        let text = format!("nobody answers at {at}: {word}; is the server running?");
        Fault { error: BackendError::Unreachable(text), word, again: true }
    }
}

/// An answer that broke off after `size` bytes of its body.
pub(super) fn reading(error: reqwest::Error, size: usize) -> BackendError {
    let error = error.without_url();
    // A framing that makes no sense is the server's mistake, and not the network's.
    match io_kind(&error) {
        Some(ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
            let why = deepest(&error);
            BackendError::Malformed(format!(
                "the transfer encoding is broken after {size} bytes: {why}"
            ))
        }
        _ => BackendError::Incomplete(format!(
            "the connection was closed after {size} bytes, before the end of the answer"
        )),
    }
}

/// An error and everything that caused it. IO errors hide what they wrap from [`Error::source`].
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn io_kind(error: &reqwest::Error) -> Option<ErrorKind> {
    find(error).map(io::Error::kind)
}

/// The cause at the end of the chain, which says most.
pub(super) fn deepest(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}
