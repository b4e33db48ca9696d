//! A server that is a recording.

use std::future::ready;
use std::path::Path;

use super::book::Book;
use super::entry::{Entry, refused, status};
use crate::backend::BackendError;
use crate::backend::remote::transport::{Call, Received, Receiving, Transport};
use crate::capture::CHAT;

/// Answers calls from a recording. Nothing waits: a recorded pause has passed already.
#[derive(Debug)]
pub struct Recorded {
    file: String,
    address: String,
    book: Book,
}

impl Recorded {
    pub(super) fn new(file: &Path, address: Option<String>, entries: Vec<Entry>) -> Self {
        let file = file.display().to_string();
        let address = address.unwrap_or_else(|| file.clone());
        Recorded { file, address, book: Book::new(entries) }
    }

    fn answer(&self, call: &Call<'_>) -> Received {
        match self.book.find(call) {
            Ok(entry) => entry.answer(call),
            Err(why) if call.purpose == CHAT && call.origin.is_some() => {
                refused(call, BackendError::Rejected(format!("{}: {why}", self.file)))
            }
            // As a server that has no such route, or that does not take this question.
            Err(_) if self.book.knows(&call.path) => {
                status(call, 422, "the recording answers other questions on this path")
            }
            Err(_) => status(call, 404, "the recording has no such path"),
        }
    }
}

impl Transport for Recorded {
    fn call<'a>(&'a self, call: Call<'a>) -> Receiving<'a> {
        Box::pin(ready(self.answer(&call)))
    }

    fn address(&self) -> &str {
        &self.address
    }
}
