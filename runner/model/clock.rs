//! The pinned instant that chat templates see through `strftime_now`.

use std::fmt::Write as _;

use chrono::format::{Item, StrftimeItems};
use chrono::{NaiveDate, NaiveDateTime};
use serde_json::Value;

/// A fixed instant without a zone. The wall clock is never read: a prompt must not change by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock(pub NaiveDateTime);

impl Default for Clock {
    /// 2026-01-01 00:00:00.
    fn default() -> Self {
        Clock(NaiveDate::from_ymd_opt(2026, 1, 1).unwrap_or_default().into())
    }
}

impl Clock {
    pub(super) const HELP: &'static str =
        "write a date or a date and time, such as \"2026-01-02\" or \"2026-01-02 03:04:05\"";

    /// Reads `2026-01-02`, `2026-01-02 03:04:05` or the same with a `T`.
    pub fn parse(value: &Value) -> Option<Clock> {
        let text = value.as_str()?.trim_end_matches('Z');
        let date = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(NaiveDateTime::from);
        ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .or_else(date)
            .map(Clock)
    }

    /// Python's `strftime`: what it does not know stays as it was written.
    pub(super) fn strftime(self, format: &str) -> String {
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            let length = directive_length(&rest[at..]);
            self.directive(&rest[at..at + length], &mut text);
            rest = &rest[at + length..];
        }
        text + rest
    }

    fn directive(self, directive: &str, text: &mut String) {
        // A naive instant has no zone; Python's microseconds are chrono's nanoseconds.
        let directive = match directive {
            "%z" | "%Z" => return,
            "%f" => "%6f",
            other => other,
        };
        let items: Vec<Item<'_>> = StrftimeItems::new(directive).collect();
        let start = text.len();
        let unknown = items.contains(&Item::Error);
        if unknown || write!(text, "{}", self.0.format_with_items(items.iter())).is_err() {
            text.truncate(start);
            text.push_str(directive);
        }
    }
}

/// The length of the directive that `text` starts with: `%`, perhaps a flag, and one character.
fn directive_length(text: &str) -> usize {
    let mut length = 0;
    for (index, character) in text.chars().enumerate() {
        length += character.len_utf8();
        if index > 0 && !"-_0^#".contains(character) {
            break;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formats_as_python_does() {
        let clock = Clock::parse(&json!("2026-01-02T03:04:05")).unwrap();
        assert_eq!(
            clock.strftime("%d %b %Y %H:%M:%S %A %B %-d %y %j"),
            "02 Jan 2026 03:04:05 Friday January 2 26 002"
        );
        assert_eq!(clock.strftime("100% é %% %f|%Z|%Q %"), "100% é % 000000||%Q %");
        assert_eq!(Clock::parse(&json!("2026-01-01")), Some(Clock::default()));
        assert_eq!(Clock::parse(&json!("yesterday")), None);
    }
}
