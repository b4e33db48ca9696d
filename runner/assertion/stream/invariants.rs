//! What holds for the pieces of every stream.

use crate::assertion::show;
use crate::capture::{Delta, Response};

/// Whether a piece carries text, reasoning or part of a call.
pub(super) fn carries(delta: &Delta) -> bool {
    let text = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    text(&delta.content) || text(&delta.reasoning) || !delta.tool_calls.is_empty()
}

/// The first piece that breaks an invariant, or the message that the pieces do not add up to; with a sentence.
pub(super) fn broken(deltas: &[Delta], response: &Response) -> Option<(String, String)> {
    let checks: [fn(&[Delta]) -> Option<(usize, String)>; 5] = [role, finish, usage, calls, pieces];
    for check in checks {
        if let Some((at, message)) = check(deltas) {
            return Some((format!("piece {at}"), message));
        }
    }
    sum(deltas, response).map(|message| ("message".to_owned(), message))
}

fn role(deltas: &[Delta]) -> Option<(usize, String)> {
    let first = deltas.first()?;
    if first.role.as_deref() != Some("assistant") {
        return Some((0, "the first piece does not say that the assistant speaks".to_owned()));
    }
    let again = deltas
        .iter()
        .skip(1)
        .position(|delta| delta.role.as_deref().is_some_and(|role| role != "assistant"))?;
    Some((again + 1, "the role changes in the middle of the stream".to_owned()))
}

fn finish(deltas: &[Delta]) -> Option<(usize, String)> {
    let mut ends = deltas.iter().enumerate().filter(|(_, delta)| delta.finish_reason.is_some());
    let Some((end, _)) = ends.next() else {
        return Some((deltas.len(), "the stream ends without a finish reason".to_owned()));
    };
    if let Some((again, _)) = ends.next() {
        return Some((again, "there is a second finish reason".to_owned()));
    }
    let late = deltas.iter().skip(end + 1).position(carries)?;
    Some((end + 1 + late, "a piece with text or a call comes after the finish reason".to_owned()))
}

fn usage(deltas: &[Delta]) -> Option<(usize, String)> {
    let at: Vec<usize> = (0..deltas.len()).filter(|&n| deltas[n].usage.is_some()).collect();
    let end = deltas.iter().position(|delta| delta.finish_reason.is_some())?;
    match at.as_slice() {
        [first, ..] if *first < end => {
            Some((*first, "usage comes before the finish reason".to_owned()))
        }
        [_, again, ..] => Some((*again, "usage comes a second time".to_owned())),
        _ => None,
    }
}

fn calls(deltas: &[Delta]) -> Option<(usize, String)> {
    let mut begun = 0;
    for (n, delta) in deltas.iter().enumerate() {
        for piece in &delta.tool_calls {
            let first = piece.index == begun;
            if piece.index > begun {
                return Some((n, format!("call {} comes before call {begun}", piece.index)));
            }
            if first && (piece.id.is_none() || piece.name.is_none()) {
                return Some((n, format!("the first piece of call {begun} lacks its id or name")));
            }
            if !first && (piece.id.is_some() || piece.name.is_some()) {
                return Some((n, format!("call {} is given its id or name again", piece.index)));
            }
            begun += usize::from(first);
        }
    }
    None
}

fn pieces(deltas: &[Delta]) -> Option<(usize, String)> {
    let half =
        |text: &Option<String>| text.as_deref().is_some_and(|text| text.contains('\u{fffd}'));
    for (n, delta) in deltas.iter().enumerate() {
        if half(&delta.content) || half(&delta.reasoning) {
            return Some((n, "a piece holds U+FFFD, which stands for half a character".to_owned()));
        }
        if n > 0 && delta.at_ms < deltas[n - 1].at_ms {
            return Some((n, "a piece arrived before the one in front of it".to_owned()));
        }
    }
    None
}

/// The first part of the message that its pieces do not add up to.
fn sum(deltas: &[Delta], response: &Response) -> Option<String> {
    let joined = |part: fn(&Delta) -> &Option<String>| {
        deltas.iter().filter_map(|delta| part(delta).as_deref()).collect::<String>()
    };
    let texts = [
        ("content", joined(|delta| &delta.content), &response.content),
        ("reasoning", joined(|delta| &delta.reasoning), &response.reasoning),
    ];
    for (name, pieces, whole) in texts {
        let whole = whole.as_deref().unwrap_or_default();
        if pieces != whole {
            let (pieces, whole) = (show::excerpt(&pieces), show::excerpt(whole));
            return Some(format!(
                "the pieces of the {name} add up to {pieces}, the message has {whole}"
            ));
        }
    }
    let all = || deltas.iter().flat_map(|delta| &delta.tool_calls);
    let count = all().filter(|piece| piece.name.is_some()).count();
    if count != response.tool_calls.len() {
        return Some(format!(
            "the stream begins {count} calls, the message has {}",
            response.tool_calls.len()
        ));
    }
    for (n, call) in response.tool_calls.iter().enumerate() {
        let mine = || all().filter(|piece| piece.index == n);
        let arguments: String = mine().map(|piece| piece.arguments.as_str()).collect();
        let name = mine().find_map(|piece| piece.name.as_deref()).unwrap_or_default();
        if name != call.name || arguments != call.arguments {
            return Some(format!(
                "the pieces of call {n} add up to {name}({arguments}), the message has {}({})",
                call.name, call.arguments
            ));
        }
    }
    None
}
