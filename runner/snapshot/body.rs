//! What a snapshot says: plain text, one fact a line, made to be reviewed in a pull request.

use crate::capture::{
    Boundary, Capture, Exchange, Generation, Input, OutputToken, Response, Score, Setting, Token,
    hash_ids,
};
use crate::text::{hash, quote};

/// Prompts with more tokens than this are folded.
const FOLD_OVER: usize = 200;
/// Tokens written out at either end of a folded prompt.
const KEEP: usize = 24;
/// Tokens in one folded range: how closely a change in the middle is located.
const RANGE: usize = 64;
/// Lines of text written out at either end of a folded prompt.
const KEEP_LINES: usize = 8;
/// The longest line of a folded prompt that is written out, in characters.
const LONG_LINE: usize = 240;
/// Alternatives kept per output token.
const ALTERNATIVES: usize = 4;

/// How much of a long prompt is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Both ends, and hashes of what is between them.
    Folded,
    /// All of it.
    Full,
}

/// The text for one boundary of a case's first run, or why there is nothing to write.
pub(super) fn body(boundary: Boundary, capture: &Capture) -> Result<String, String> {
    let run = capture.runs.first().ok_or("the case did not run")?;
    if let Some(failure) = &run.error {
        return Err(format!("turn {} broke off: {}", failure.turn + 1, failure.message));
    }
    let mut lines = Vec::new();
    if boundary == Boundary::Score {
        score_lines(&mut lines, &capture.scores);
    } else {
        for (index, exchange) in run.exchanges.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            lines.push(format!("exchange {}, turn {}", index + 1, exchange.turn + 1));
            exchange_lines(&mut lines, boundary, exchange, Detail::Folded)?;
        }
    }
    if lines.is_empty() {
        return Err(format!("there is nothing at the {boundary} boundary of this case"));
    }
    Ok(lines.join("\n"))
}

/// The lines for one boundary of one exchange; the error is why the boundary is hidden.
pub(crate) fn exchange_lines(
    lines: &mut Vec<String>,
    boundary: Boundary,
    exchange: &Exchange,
    detail: Detail,
) -> Result<(), String> {
    match boundary {
        Boundary::Input => input_lines(lines, exchange.input.seen()?, detail),
        Boundary::Settings => settings_lines(lines, exchange.settings.seen()?),
        Boundary::Generation => generation_lines(lines, exchange.generation.seen()?),
        Boundary::Response => {
            // Only the in-process engine cuts its deltas the same way every time.
            let counted = exchange.input.seen().is_ok_and(|input| input.rung == "native");
            response_lines(lines, exchange.response.seen()?, counted);
        }
        Boundary::Score => {}
    }
    Ok(())
}

fn input_lines(lines: &mut Vec<String>, input: &Input, detail: Detail) {
    let tokens = input.tokens.seen();
    let long = tokens.is_ok_and(|tokens| tokens.len() > FOLD_OVER);
    let folded = detail == Detail::Folded && long;
    match input.prompt.seen() {
        Ok(prompt) if folded => folded_text(lines, prompt),
        Ok(prompt) => quoted(lines, "prompt", prompt),
        Err(reason) => lines.push(format!("prompt: hidden, {}", quote(reason))),
    }
    let tokens = match tokens {
        Ok(tokens) => tokens,
        Err(reason) => {
            let count = input.count.map_or_else(String::new, |count| format!("{count}, "));
            lines.push(format!("tokens: {count}hidden, {}", quote(reason)));
            return;
        }
    };
    lines.push(format!("tokens: {}", tokens.len()));
    if !folded {
        token_lines(lines, 0, tokens);
        return;
    }
    let tail = tokens.len() - KEEP;
    token_lines(lines, 0, &tokens[..KEEP]);
    let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
    for (index, range) in ids[KEEP..tail].chunks(RANGE).enumerate() {
        let start = KEEP + index * RANGE;
        let end = start + range.len();
        lines.push(format!("  {start}..{end}  {} tokens  {}", range.len(), hash_ids(range)));
    }
    token_lines(lines, tail, &tokens[tail..]);
}

fn token_lines(lines: &mut Vec<String>, first: usize, tokens: &[Token]) {
    lines.extend(tokens.iter().enumerate().map(|(index, token)| {
        format!("  {:>4}  {:>6}  {}", first + index, token.id, quote(&token.piece))
    }));
}

/// A text under its name, one line of it a line, each quoted so that spaces at its end are seen.
fn quoted(lines: &mut Vec<String>, name: &str, text: &str) {
    if text.is_empty() {
        lines.push(format!("{name}: \"\""));
        return;
    }
    lines.push(format!("{name}:"));
    lines.extend(text.split_inclusive('\n').map(|line| format!("  {}", quote(line))));
}

fn folded_text(lines: &mut Vec<String>, prompt: &str) {
    lines.push(format!("prompt: {} characters, {}", prompt.chars().count(), hash(prompt)));
    let all: Vec<&str> = prompt.split_inclusive('\n').collect();
    if all.len() <= 2 * KEEP_LINES {
        lines.extend(all.iter().map(|line| format!("  {}", fold_line(line))));
        return;
    }
    let tail = all.len() - KEEP_LINES;
    lines.extend(all[..KEEP_LINES].iter().map(|line| format!("  {}", fold_line(line))));
    let middle = all[KEEP_LINES..tail].concat();
    lines.push(format!("  … {} lines  {}", tail - KEEP_LINES, hash(&middle)));
    lines.extend(all[tail..].iter().map(|line| format!("  {}", fold_line(line))));
}

fn fold_line(line: &str) -> String {
    let count = line.chars().count();
    if count <= LONG_LINE {
        return quote(line);
    }
    let head: String = line.chars().take(LONG_LINE / 4).collect();
    let tail: String = line.chars().skip(count - LONG_LINE / 4).collect();
    format!("{} … {count} characters, {} … {}", quote(&head), hash(line), quote(&tail))
}

fn settings_lines(lines: &mut Vec<String>, settings: &[Setting]) {
    lines.push("settings:".to_owned());
    for setting in settings {
        let resolved = match setting.resolved.seen() {
            Ok(value) => value.to_string(),
            Err(reason) => format!("hidden, {}", quote(reason)),
        };
        let asked = match &setting.requested {
            Some(value) if setting.resolved.seen() != Ok(value) => format!(", requested {value}"),
            _ => String::new(),
        };
        lines.push(format!("  {}  {resolved}  from {}{asked}", setting.name, setting.provenance));
    }
}

fn generation_lines(lines: &mut Vec<String>, generation: &Generation) {
    lines.push(format!("termination: {}", generation.termination));
    match generation.text.seen() {
        Ok(text) => quoted(lines, "text", text),
        Err(reason) => lines.push(format!("text: hidden, {}", quote(reason))),
    }
    let tokens = match generation.tokens.seen() {
        Ok(tokens) => tokens,
        Err(reason) => {
            let count = generation.count.map_or_else(String::new, |count| format!("{count}, "));
            lines.push(format!("output: {count}hidden, {}", quote(reason)));
            return;
        }
    };
    lines.push(format!("output: {}", tokens.len()));
    lines.extend(tokens.iter().enumerate().map(|(index, token)| {
        format!("  {index:>4}  {:>6}  {}  {}", token.id, quote(&token.piece), probabilities(token))
    }));
}

fn probabilities(token: &OutputToken) -> String {
    let chosen = token.logprob.map_or_else(|| "-".to_owned(), decimals);
    let top = token.top.iter().take(ALTERNATIVES);
    let top: Vec<String> =
        top.map(|other| format!("{}:{}", other.id, decimals(other.logprob))).collect();
    format!("{chosen}  {}", top.join(" ")).trim_end().to_owned()
}

/// Five decimals; a rounded zero has no sign, which says nothing and would differ for no reason.
fn decimals(value: f32) -> String {
    let text = format!("{value:.5}");
    if text == "-0.00000" { "0.00000".to_owned() } else { text }
}

fn response_lines(lines: &mut Vec<String>, response: &Response, counted: bool) {
    match &response.content {
        Some(content) => quoted(lines, "content", content),
        None => lines.push("content: none".to_owned()),
    }
    if let Some(reasoning) = &response.reasoning {
        quoted(lines, "reasoning", reasoning);
    }
    // The ids of calls are left out: many servers draw them at random.
    for (index, call) in response.tool_calls.iter().enumerate() {
        lines.push(format!("tool call {}: {}", index + 1, quote(&call.name)));
        lines.push(format!("  arguments {}", quote(&call.arguments)));
    }
    let finish = response.finish_reason.as_deref().map_or_else(|| "none".to_owned(), quote);
    lines.push(format!("finish_reason: {finish}"));
    if let Some(usage) = response.usage {
        lines.push(format!(
            "usage: {} prompt tokens, {} completion tokens",
            usage.prompt_tokens, usage.completion_tokens
        ));
    }
    lines.extend(response.faults.iter().map(|fault| format!("fault: {}", quote(fault))));
    match &response.stream {
        Some(deltas) if counted => lines.push(format!("stream: {} deltas", deltas.len())),
        Some(_) => lines.push("stream: yes".to_owned()),
        None => {}
    }
}

fn score_lines(lines: &mut Vec<String>, scores: &[Score]) {
    for score in scores {
        let extracted = score.extracted.as_deref().map_or_else(|| "nothing".to_owned(), quote);
        lines.push(format!("{} of {}: {:.4}", score.scorer, score.extractor, score.value));
        lines.push(format!("  extracted  {extracted}"));
        lines.push(format!("  reference  {}", quote(&score.reference)));
    }
}
