//! Arguments that a family writes one by one, put together as a JSON object.

use super::RawCall;
use super::defect::DefectKind;
use super::json;
use super::scan::Scan;
use super::schema::Typed;

/// The arguments read so far.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    members: Vec<(String, String)>,
    ambiguous: Vec<String>,
}

impl Arguments {
    /// Adds the argument that began at `start` and ends here.
    pub(super) fn add(&mut self, scan: &mut Scan<'_>, start: usize, key: &str, value: Typed) {
        if self.members.iter().any(|(other, _)| other == key) {
            scan.defect(DefectKind::DuplicateKey, start, format!("`{key}` is given twice"));
        }
        if value.duplicate {
            let message = format!("a key is given twice in `{key}`");
            scan.defect(DefectKind::DuplicateKey, start, message);
        }
        if value.wrong {
            let message = format!("the value of `{key}` is not of its declared type");
            scan.defect(DefectKind::WrongType, start, message);
        }
        if value.ambiguous && !self.ambiguous.iter().any(|other| other == key) {
            self.ambiguous.push(key.to_owned());
        }
        self.members.push((key.to_owned(), value.json));
    }

    /// The call of these arguments; whether it is closed is judged by the scan.
    pub(super) fn call(self, name: String) -> RawCall {
        RawCall {
            name,
            arguments: object(&self.members),
            id: None,
            closed: false,
            ambiguous: self.ambiguous,
        }
    }
}

/// A JSON object of keys and JSON values, spaced as Python writes it.
pub(super) fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}: {value}", json::quoted(key))).collect();
    format!("{{{}}}", members.join(", "))
}
