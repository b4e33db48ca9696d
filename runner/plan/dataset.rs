//! A data set in JSON Lines: each row becomes a case of one user turn, or of several.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::files::show;
use super::ledger::{Ledger, SpecFile};
use super::tools::cause;
use crate::diagnostic::{Diagnostic, choices};
use crate::finding::Location;
use crate::spec::{CasesFrom, Spanned, place};

/// A data set, read row by row.
#[derive(Debug)]
pub(super) struct DataSet {
    /// The file as it is shown.
    pub(super) file: String,
    /// SHA-256 of its text, in hexadecimal.
    pub(super) hash: String,
    text: Rc<str>,
    /// Where the next line begins, in bytes.
    next: usize,
    /// Lines that were passed.
    lines: usize,
    /// How many rows may still be read.
    left: usize,
    /// How many could be read.
    read: usize,
}

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    /// A name in characters that ids allow.
    pub(super) id: String,
    /// What the user says, turn by turn.
    pub(super) user: Vec<String>,
    /// The reference answer.
    pub(super) reference: Option<String>,
    /// Its line in the file.
    pub(super) at: Location,
}

/// Opens the file; that it is missing or gives no case is reported.
pub(super) fn open(
    file: &SpecFile,
    typed: &Spanned<CasesFrom>,
    ledger: &mut Ledger,
) -> Option<DataSet> {
    let from = &typed.value;
    let at = file.at(from.path.node);
    let path = match file.fixtures.resolve(&from.path.value, at.clone()) {
        Ok(path) => path,
        Err(problem) => {
            ledger.problems.push(problem);
            return None;
        }
    };
    let text = ledger.text(&path, Some(at.clone()))?;
    let left = from.limit.as_ref().map_or(usize::MAX, |limit| limit.value);
    if left == 0 || text.lines().all(|line| line.trim().is_empty()) {
        ledger.report(at, "the data set gives no case", "it holds one JSON object on each line");
    }
    let (file, hash) = (show(&path), ledger.hash(&path));
    Some(DataSet { file, hash, text, next: 0, lines: 0, left, read: 0 })
}

impl DataSet {
    /// The next row that can be read; problems name the line of the data set.
    pub(super) fn next(&mut self, from: &CasesFrom, ledger: &mut Ledger) -> Option<Row> {
        let text = Rc::clone(&self.text);
        while self.left > 0 {
            let rest = text.get(self.next..).filter(|rest| !rest.is_empty())?;
            self.next += rest.find('\n').map_or(rest.len(), |end| end + 1);
            self.lines += 1;
            let line = rest.lines().next().filter(|line| !line.trim().is_empty());
            let Some(line) = line else { continue };
            self.left -= 1;
            let here = Location { line: self.lines, ..place(&self.file, line, 1, 1) };
            match row(line, from, self.read + 1, here) {
                Ok(row) => {
                    self.read += 1;
                    return Some(row);
                }
                Err(problem) => ledger.problems.push(*problem),
            }
        }
        None
    }
}

fn row(line: &str, from: &CasesFrom, number: usize, at: Location) -> Result<Row, Box<Diagnostic>> {
    let object: Map<String, Value> = serde_json::from_str(line).map_err(|error| {
        let at = Location { column: error.column().max(1), ..at.clone() };
        Box::new(Diagnostic::new(at, format!("this line is no JSON object: {}", cause(&error))))
    })?;
    let text = |field: &Spanned<String>| field_text(&object, &field.value, &at);
    let id = match &from.id {
        Some(field) => clean(&text(field)?),
        None => format!("row-{number}"),
    };
    if id.trim_matches(['-', '.']).is_empty() {
        let problem = Diagnostic::new(at.clone(), "the id of this row is empty");
        return Err(Box::new(problem.help("give it one, or leave `id` out of `cases_from`")));
    }
    let user = match object.get(&from.user.value) {
        Some(Value::Array(texts)) if !texts.is_empty() && texts.iter().all(Value::is_string) => {
            texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => vec![text(&from.user)?],
    };
    let reference = from.reference.as_ref().map(text).transpose()?;
    Ok(Row { id, user, reference, at })
}

fn field_text(
    object: &Map<String, Value>,
    field: &str,
    at: &Location,
) -> Result<String, Box<Diagnostic>> {
    match object.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(_) => {
            let problem =
                Diagnostic::new(at.clone(), format!("the field `{field}` of this row is no text"));
            Err(Box::new(
                problem.help("it is a text, a number, `true` or `false`, or a list of texts"),
            ))
        }
        None => {
            let fields: Vec<&str> = object.keys().map(String::as_str).collect();
            let problem = Diagnostic::new(at.clone(), format!("this row has no field `{field}`"));
            Err(Box::new(problem.help(choices(field, &fields))))
        }
    }
}

fn clean(id: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id: String = id.trim().chars().map(|c| if legal(c) { c } else { '-' }).collect();
    id.trim_start_matches('.').to_owned()
}
