//! Reading accepted snapshots back into ids and probabilities, for assertions against what was accepted.

use std::path::Path;

use super::file::{Stored, corrupt, read};
use super::path;
use crate::capture::{
    Accepted, AcceptedExchange, AcceptedInput, Boundary, OutputToken, Token, TopToken,
};
use crate::error::Error;

/// What was accepted for a case; a boundary without a snapshot is left out.
///
/// # Errors
/// A snapshot that cannot be read, with its file and line.
pub fn accepted(stem: &Path) -> Result<Accepted, Error> {
    let mut accepted = Accepted::default();
    for boundary in [Boundary::Input, Boundary::Generation] {
        let file = path(stem, boundary);
        let Some(stored) = read(&file)? else { continue };
        parse(&stored, boundary, &mut accepted).map_err(|(index, message)| {
            let line = stored.body.lines().nth(index);
            corrupt(&file, stored.first_line + index, line, &message)
        })?;
    }
    Ok(accepted)
}

/// What is wrong, with the 0-based line of the body.
type Problem = (usize, String);

fn parse(stored: &Stored, boundary: Boundary, accepted: &mut Accepted) -> Result<(), Problem> {
    let section = if boundary == Boundary::Input { "tokens: " } else { "output: " };
    let mut exchange = 0;
    let mut lines = stored.body.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.starts_with("exchange ") {
            exchange += 1;
        }
        let Some(count) = line.strip_prefix(section) else { continue };
        if exchange == 0 {
            return Err((index, "`exchange` is missing above this line".to_owned()));
        }
        // Nothing was shown to be accepted: `output: 14, hidden, "no ids"`.
        if count.starts_with("hidden, ") || count.contains(", hidden, ") {
            slot(accepted, exchange - 1);
            continue;
        }
        let count: usize = count
            .trim()
            .parse()
            .map_err(|_| (index, "a number of tokens is missing".to_owned()))?;
        let mut items = Vec::new();
        while let Some((at, item)) = lines.next_if(|(_, item)| item.starts_with("  ")) {
            items.push((at, item));
        }
        let slot = slot(accepted, exchange - 1);
        match boundary {
            Boundary::Input => slot.input = Some(input(&items, count, index)?),
            _ => slot.output = Some(output(&items, count, index)?),
        }
    }
    if exchange == 0 {
        return Err((0, "there is no `exchange` in it".to_owned()));
    }
    Ok(())
}

fn slot(accepted: &mut Accepted, index: usize) -> &mut AcceptedExchange {
    if accepted.exchanges.len() <= index {
        accepted.exchanges.resize(index + 1, AcceptedExchange::default());
    }
    &mut accepted.exchanges[index]
}

fn input(
    items: &[(usize, &str)],
    count: usize,
    index: usize,
) -> Result<Vec<AcceptedInput>, Problem> {
    let mut input = Vec::new();
    let mut next = 0;
    for &(at, item) in items {
        let (position, rest) = first_word(item);
        let stretch = match position.split_once("..") {
            Some((start, end)) => folded(start, end, rest),
            None => {
                token(position, rest).map(|(at, token, _)| (at, 1, AcceptedInput::Token(token)))
            }
        };
        let (start, length, stretch) = stretch.ok_or((
            at,
            "expected `index id \"piece\"` or `start..end count tokens hash`".to_owned(),
        ))?;
        check_position(at, start, next)?;
        next = start + length;
        input.push(stretch);
    }
    check_count(index, next, count)?;
    Ok(input)
}

fn folded(start: &str, end: &str, rest: &str) -> Option<(usize, usize, AcceptedInput)> {
    let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [count, "tokens", hash] = words[..] else { return None };
    let count: usize = count.parse().ok()?;
    (end.checked_sub(start)? == count)
        .then(|| (start, count, AcceptedInput::Folded { count, hash: hash.to_owned() }))
}

fn output(
    items: &[(usize, &str)],
    count: usize,
    index: usize,
) -> Result<Vec<OutputToken>, Problem> {
    let mut output = Vec::new();
    for &(at, item) in items {
        let (position, rest) = first_word(item);
        let parsed = token(position, rest).and_then(|(position, token, rest)| {
            let mut words = rest.split_whitespace();
            let logprob = match words.next()? {
                "-" => None,
                word => Some(word.parse().ok()?),
            };
            let top = words.map(top_token).collect::<Option<Vec<_>>>()?;
            Some((position, OutputToken { id: token.id, piece: token.piece, logprob, top }))
        });
        let (position, token) =
            parsed.ok_or((at, "expected `index id \"piece\" logprob id:logprob …`".to_owned()))?;
        check_position(at, position, output.len())?;
        output.push(token);
    }
    check_count(index, output.len(), count)?;
    Ok(output)
}

fn check_position(line: usize, position: usize, next: usize) -> Result<(), Problem> {
    if position == next {
        return Ok(());
    }
    Err((line, format!("token {next} is expected here, not token {position}")))
}

fn check_count(line: usize, found: usize, count: usize) -> Result<(), Problem> {
    if found == count {
        return Ok(());
    }
    Err((line, format!("{count} tokens are announced and {found} follow")))
}

/// The position, the token, and what follows its piece.
fn token<'a>(position: &str, rest: &'a str) -> Option<(usize, Token, &'a str)> {
    let (id, rest) = first_word(rest);
    let mut pieces = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let piece = pieces.next()?.ok()?;
    let rest = rest.get(pieces.byte_offset()..)?;
    Some((position.parse().ok()?, Token { id: id.parse().ok()?, piece }, rest))
}

fn top_token(word: &str) -> Option<TopToken> {
    let (id, logprob) = word.split_once(':')?;
    // The piece is not in the file: a line would be twice as long for little.
    Some(TopToken { id: id.parse().ok()?, piece: String::new(), logprob: logprob.parse().ok()? })
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}
