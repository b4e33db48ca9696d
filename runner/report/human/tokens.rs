//! Two token sequences side by side around their first difference, and the distribution at the fork.

use std::io::{self, Write};

use super::paint::{Paint, Tone};
use crate::capture::Token;
use crate::finding::Difference;
use crate::text::{clip, quote};

/// The longest piece shown in a column.
const PIECE: usize = 18;
/// The room for all columns.
const WIDTH: usize = 80;
/// Alternatives shown at the fork.
const TOP: usize = 5;

struct Column {
    index: usize,
    expected: String,
    actual: String,
}

impl Column {
    fn width(&self) -> usize {
        let widths = [&self.expected, &self.actual].map(|cell| cell.chars().count());
        widths.into_iter().max().unwrap_or(0).max(self.index.to_string().len())
    }
}

/// The window with a marker under the differing token, then the most likely tokens there.
pub(super) fn write(out: &mut dyn Write, paint: Paint, difference: &Difference) -> io::Result<()> {
    let columns = columns(difference);
    let row = |cells: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|column| format!("{:<1$}", cells(column), column.width()));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mark = |column: &Column| {
        if column.index == difference.index { "^".repeat(column.width()) } else { String::new() }
    };
    writeln!(
        out,
        "\n        token     {}",
        paint.tone(Tone::Faint, &row(&|c| c.index.to_string()))
    )?;
    writeln!(out, "        expected  {}", row(&|c| c.expected.clone()))?;
    writeln!(out, "        actual    {}", row(&|c| c.actual.clone()))?;
    writeln!(out, "                  {}", paint.tone(Tone::Bad, &row(&mark)))?;
    fork(out, difference)
}

fn columns(difference: &Difference) -> Vec<Column> {
    let count = difference.expected.len().max(difference.actual.len());
    let mut columns: Vec<Column> = (0..count)
        .map(|offset| Column {
            index: difference.start + offset,
            expected: cell(difference.expected.get(offset)),
            actual: cell(difference.actual.get(offset)),
        })
        .collect();
    // Narrow from the far end on either side; the differing token stays.
    while columns.iter().map(|column| column.width() + 2).sum::<usize>() > WIDTH
        && columns.len() > 1
    {
        let (Some(first), Some(last)) = (columns.first(), columns.last()) else { break };
        let before = difference.index.saturating_sub(first.index);
        let after = last.index.saturating_sub(difference.index);
        if after >= before {
            columns.pop();
        } else {
            columns.remove(0);
        }
    }
    columns
}

fn cell(token: Option<&Token>) -> String {
    match token {
        Some(token) => format!("{} {}", token.id, clip(&quote(&token.piece), PIECE)),
        None => "-".to_owned(),
    }
}

fn fork(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    let at = difference.index.checked_sub(difference.start);
    let id_in = |tokens: &[Token]| at.and_then(|at| tokens.get(at)).map(|token| token.id);
    let (expected, actual) = (id_in(&difference.expected), id_in(&difference.actual));
    let mut name = "fork";
    for (rank, top) in difference.top.iter().enumerate() {
        let role = match Some(top.id) {
            id if id == expected && id == actual => "  both",
            id if id == expected => "  expected",
            id if id == actual => "  actual",
            _ if rank >= TOP => continue,
            _ => "",
        };
        writeln!(
            out,
            "        {name:<9} {:>6.2} %  {:>8.3}  {} {}{role}",
            top.logprob.exp() * 100.0,
            top.logprob,
            top.id,
            clip(&quote(&top.piece), 2 * PIECE)
        )?;
        name = "";
    }
    Ok(())
}
