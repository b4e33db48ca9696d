//! Two cases with one id, in one file or in two.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::finding::Location;

/// The ids that are taken, each with the place that took it.
#[derive(Debug, Default)]
pub(super) struct Ids {
    first: BTreeMap<Box<str>, Place>,
    file: Option<Rc<str>>,
}

/// A [`Location`] that shares the name of its file and needs no caret.
#[derive(Debug, Clone)]
struct Place {
    file: Rc<str>,
    line: usize,
    column: usize,
}

impl Ids {
    /// Takes the id `base` at a place; gives the place where it was taken before.
    pub(super) fn take(&mut self, base: &str, at: &Location) -> Option<String> {
        if let Some(Place { file, line, column }) = self.first.get(base) {
            return Some(format!("{file}:{line}:{column}"));
        }
        let file = match &self.file {
            Some(file) if **file == *at.file => Rc::clone(file),
            _ => self.file.insert(at.file.as_str().into()).clone(),
        };
        self.first.insert(base.into(), Place { file, line: at.line, column: at.column });
        None
    }
}
