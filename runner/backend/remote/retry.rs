//! Which outcomes of a call are tried again, and when. Verdicts never are: only what the transport did.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use chrono::{DateTime, Utc};

/// The longest wait that a server can ask for.
pub const LONGEST_TOLD: Duration = Duration::from_secs(30);

/// How often and how slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Attempts beyond the first.
    pub retries: usize,
    /// The first wait; each further one is twice as long.
    pub shortest: Duration,
    /// Where waits stop to grow.
    pub longest: Duration,
}

impl Policy {
    /// From 200 ms to 5 s.
    pub fn new(retries: usize) -> Self {
        let (shortest, longest) = (Duration::from_millis(200), Duration::from_secs(5));
        Policy { retries, shortest, longest }
    }

    /// The waits before the attempts beyond the first, each up to twice as long by chance, so that requests which
    /// were turned away together do not come back together.
    pub fn waits(&self) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::new()
            .with_min_delay(self.shortest)
            .with_max_delay(self.longest)
            .with_max_times(self.retries)
            .with_jitter()
            // Without a seed, this build of the crate gives every request the same jitter.
            .with_jitter_seed(RandomState::new().hash_one(self.retries))
            .build()
    }
}

/// Whether a status says that the same request may be answered later.
pub fn is_transient(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// The wait that `Retry-After` asks for, in seconds or as an HTTP date, at most [`LONGEST_TOLD`].
pub fn told(retry_after: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = retry_after.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let then = DateTime::parse_from_rfc2822(text).ok()?;
            (then.to_utc() - now).to_std().unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_TOLD))
}

/// How long to wait for the next attempt: the server's word, but no less than the own wait. `None` when the time that
/// is left would be over, since waiting for that changes nothing.
pub fn wait(own: Duration, told: Option<Duration>, left: Duration) -> Option<Duration> {
    let wait = own.max(told.unwrap_or_default());
    (wait < left).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn waits_grow_within_bounds() {
        let waits: Vec<_> = Policy::new(8).waits().collect();
        assert_eq!(waits.len(), 8);
        for (wait, base) in waits.iter().zip([200, 400, 800, 1600, 3200, 5000, 5000, 5000]) {
            assert!(*wait >= MS(base) && *wait < MS(2 * base), "{waits:?}");
        }
        assert_eq!(Policy::new(0).waits().count(), 0);
    }

    #[test]
    fn two_requests_do_not_wait_in_step() {
        let all: Vec<Vec<_>> = (0..4).map(|_| Policy::new(4).waits().collect()).collect();
        assert!(all.iter().any(|waits| Some(waits) != all.first()), "{all:?}");
    }

    #[test]
    fn only_these_statuses_pass() {
        let transient: Vec<u16> = (100..600).filter(|status| is_transient(*status)).collect();
        assert_eq!(transient, [429, 502, 503, 504]);
    }

    #[test]
    fn retry_after_is_read() {
        let now = DateTime::parse_from_rfc3339("2026-12-01T10:00:00Z").unwrap().to_utc();
        for (text, expected) in [
            ("0", Some(MS(0))),
            (" 7 ", Some(MS(7000))),
            ("86400", Some(LONGEST_TOLD)),
            ("Tue, 01 Dec 2026 10:00:05 GMT", Some(MS(5000))),
            ("Tue, 01 Dec 2026 09:00:00 GMT", Some(MS(0))),
            ("Tue, 01 Dec 2027 10:00:05 GMT", None),
            ("soon", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(told(text, now), expected, "{text:?}");
        }
    }

    #[test]
    fn waits_never_reach_beyond_the_deadline() {
        for (own, told, left, expected) in [
            (200, None, 1000, Some(200)),
            (200, Some(50), 1000, Some(200)),
            (200, Some(900), 1000, Some(900)),
            (200, Some(900), 800, None),
            (200, None, 200, None),
        ] {
            let got = wait(MS(own), told.map(MS), MS(left));
            assert_eq!(got, expected.map(MS), "{own} {told:?} {left}");
        }
    }
}
