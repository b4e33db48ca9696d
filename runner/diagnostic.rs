//! Messages about a spec: where, what, and what to do.

use std::fmt::Write as _;

use crate::finding::Location;

/// One problem in a spec, a target file or a fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where; line 0 means the file as a whole.
    pub location: Location,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A problem at a place.
    pub fn new(location: Location, message: impl Into<String>) -> Self {
        Diagnostic { location, message: message.into(), help: None }
    }

    /// A problem with a file as a whole.
    pub fn file(file: impl Into<String>, message: impl Into<String>) -> Self {
        let location = Location { file: file.into(), ..Location::default() };
        Diagnostic::new(location, message)
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// `1 problem`, `2 problems`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The longest stretch of a source line that is shown.
const WIDTH: usize = 100;

/// The problem with its source line, a caret and the help, without a trailing line break.
pub fn render(diagnostic: &Diagnostic, color: bool) -> String {
    let paint = |style: &str, text: &str| match color {
        true => format!("\x1b[{style}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let (error, gutter) = ("1;31", "1;34");
    let at = &diagnostic.location;
    let message = visible(&diagnostic.message);
    let mut out = format!("{}: {}", paint(error, "error"), paint("1", &message));
    if at.line == 0 {
        let _ = write!(out, "\n {} {}", paint(gutter, "-->"), at.file);
        if let Some(help) = &diagnostic.help {
            let _ = write!(out, "\n {} {}", paint(gutter, "="), help_lines(help, "   "));
        }
        return out;
    }
    let number = at.line.to_string();
    let blank = " ".repeat(number.len());
    let bar = paint(gutter, "|");
    let (line, column, length) = excerpt(&at.source, at.column);
    let caret = format!("{}{}", " ".repeat(column), paint(error, &"^".repeat(length)));
    let _ = write!(out, "\n{blank}{} {at}", paint(gutter, "-->"));
    let _ = write!(out, "\n{blank} {bar}");
    let _ = write!(out, "\n{} {bar} {line}", paint(gutter, &number));
    let _ = write!(out, "\n{blank} {bar} {caret}");
    if let Some(help) = &diagnostic.help {
        let indent = format!("{blank}   ");
        let _ = write!(out, "\n{blank} {} {}", paint(gutter, "="), help_lines(help, &indent));
    }
    out
}

fn help_lines(help: &str, indent: &str) -> String {
    format!("help: {}", help.replace('\n', &format!("\n{indent}      ")))
}

/// The part of a source line around a 1-based column, with the 0-based column and the length of the word there.
fn excerpt(source: &str, column: usize) -> (String, usize, usize) {
    let chars: Vec<char> = source.trim_end().chars().map(plain).collect();
    let at = column.saturating_sub(1).min(chars.len());
    let length = word_length(&chars[at..]);
    if chars.len() <= WIDTH {
        return (chars.iter().collect(), at, length);
    }
    let start = at.saturating_sub(WIDTH / 3);
    let end = (start + WIDTH).min(chars.len());
    let left = if start > 0 { "…" } else { "" };
    let right = if end < chars.len() { "…" } else { "" };
    let middle: String = chars[start..end].iter().collect();
    let offset = at - start + left.chars().count();
    (format!("{left}{middle}{right}"), offset, length.min(end.saturating_sub(at)).max(1))
}

/// The length of the word or quoted text at the beginning, at least 1.
fn word_length(chars: &[char]) -> usize {
    let Some(&first) = chars.first() else { return 1 };
    let found = match first {
        '"' | '\'' => chars[1..].iter().position(|&c| c == first).map(|n| n + 2),
        _ => chars.iter().position(|c| c.is_whitespace() || ":,]}".contains(*c)),
    };
    found.unwrap_or(chars.len()).max(1)
}

/// A character that takes one column: control characters would move the caret or the cursor.
fn plain(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

fn visible(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { ' ' } else { plain(c) }).collect()
}

/// The legal word that was probably meant.
pub fn suggest<'a>(word: &str, legal: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    legal
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(d, candidate)| *d <= limit && *d < candidate.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Help for a word that is not one of `legal`: the one that was probably meant, and all of them.
pub fn choices(word: &str, legal: &[&str]) -> String {
    let all = match legal {
        [] => "none is legal here".to_owned(),
        [only] => format!("the only one here is `{only}`"),
        _ => format!("legal here: {}", legal.join(", ")),
    };
    match suggest(word, legal.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? {all}"),
        None => all,
    }
}

/// Edits between two words; swapping two neighbours is one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(previous[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if let (true, Some(&earlier)) = (swapped, before.get(j.saturating_sub(2))) {
                best = best.min(earlier + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(source: &str, line: usize, column: usize) -> Location {
        Location { file: "a.yaml".into(), line, column, source: source.into() }
    }

    #[test]
    fn the_caret_underlines_the_word() {
        let problem =
            Diagnostic::new(at("naem: y", 12, 1), "unknown field `naem`").help("write\nit");
        let text = "error: unknown field `naem`\n  --> a.yaml:12:1\n   |\n12 | naem: y\n   | ^^^^\n   = help: write\n           it";
        assert_eq!(render(&problem, false), text);
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let source = format!("{}here{}", "x ".repeat(200), " y".repeat(200));
        let text = render(&Diagnostic::new(at(&source, 1, 401), "m"), false);
        let lines: Vec<&str> = text.lines().collect();
        let column = lines[4].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[3].chars().skip(column).take(4).collect::<String>(), "here");
        assert!(lines[3].chars().count() < 120);
    }

    #[test]
    fn a_problem_of_a_file_has_no_caret() {
        let text = render(&Diagnostic::file("b.yaml", "it is empty").help("add a case"), false);
        assert_eq!(text, "error: it is empty\n --> b.yaml\n = help: add a case");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let text = render(&Diagnostic::new(at("a: \x1b[2J", 1, 4), "bad \x07 text"), false);
        assert!(!text.contains('\x1b') && !text.contains('\x07'));
    }

    #[test]
    fn close_words_are_suggested_and_far_ones_are_not() {
        let legal = ["multi_turn", "tool_call", "streaming"];
        assert_eq!(suggest("multi-turn", legal), Some("multi_turn"));
        assert_eq!(suggest("tool_clal", legal), Some("tool_call"));
        assert_eq!(suggest("banana", legal), None);
    }
}
