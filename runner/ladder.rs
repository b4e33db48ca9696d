//! The ladder: what was seen at each boundary of a case that did not hold, in a few lines each.

use std::collections::BTreeMap;

use crate::capture::{
    Boundary, Exchange, Generation, Input, NOT_SENT, Observed, OutputToken, Response, Run, Setting,
};
use crate::diagnostic::count;
use crate::event::{BoundaryStatus, LadderStep};
use crate::finding::{Difference, Finding, Status};
use crate::text::{clip, printable, quote};

mod inspect;

pub use inspect::inspect;

/// No line is longer, in characters.
const WIDTH: usize = 99;
/// Bars of the confidence line.
const BARS: usize = 72;
/// Lines of prompt or text that are shown.
const TEXT_LINES: usize = 3;

/// What was seen at each boundary of the exchange at fault.
pub fn ladder(
    run: &Run,
    findings: &[Finding],
    boundaries: &BTreeMap<Boundary, BoundaryStatus>,
) -> Vec<LadderStep> {
    let fault = findings.iter().find(|finding| finding.outcome.status == Status::Fail);
    let turn = fault.and_then(|finding| finding.turn);
    let at_fault = run.exchanges.iter().find(|exchange| Some(exchange.turn + 1) == turn);
    let exchange = at_fault.or(run.exchanges.last());
    let before = exchange.and_then(|exchange| {
        run.exchanges.iter().take_while(|other| !std::ptr::eq(*other, exchange)).last()
    });
    let difference = |boundary| {
        let found = findings.iter().filter(|f| f.boundary == boundary);
        found.filter_map(|finding| finding.outcome.difference.as_ref()).next()
    };
    let steps = Boundary::ALL.into_iter().map(|boundary| {
        let lines = match (boundary, exchange) {
            (Boundary::Score, _) => scores(findings),
            (_, None) => vec!["there was no exchange".to_owned()],
            (Boundary::Input, Some(exchange)) => {
                let mut lines =
                    seen(&exchange.input, |input| input_lines(input, difference(boundary)));
                lines.extend(before.map(|before| carried(before, exchange)));
                lines
            }
            (Boundary::Settings, Some(exchange)) => seen(&exchange.settings, |s| settings(s)),
            (Boundary::Generation, Some(exchange)) => {
                seen(&exchange.generation, |g| generation(g, difference(boundary)))
            }
            (Boundary::Response, Some(exchange)) => seen(&exchange.response, response),
        };
        let status = boundaries.get(&boundary).copied().unwrap_or(BoundaryStatus::NotExercised);
        let lines = lines.iter().map(|line| clip(line, WIDTH)).collect();
        LadderStep { boundary, status, lines }
    });
    let broken = run.error.as_ref().map(|failure| {
        let line = format!(
            "{}   turn {}: {}",
            failure.kind,
            failure.turn + 1,
            printable(&failure.message)
        );
        clip(&line, WIDTH)
    });
    let mut steps: Vec<LadderStep> = steps.filter(|step| !step.lines.is_empty()).collect();
    if let (Some(line), Some(step)) = (broken, steps.last_mut()) {
        step.lines.push(line);
    }
    steps
}

fn seen<T>(observed: &Observed<T>, lines: impl FnOnce(&T) -> Vec<String>) -> Vec<String> {
    match observed.seen() {
        Ok(value) => lines(value),
        Err(reason) => vec![format!("hidden      {}", printable(reason))],
    }
}

fn input_lines(input: &Input, difference: Option<&Difference>) -> Vec<String> {
    let mut lines = match input.prompt.seen() {
        Ok(prompt) => tail("prompt", prompt),
        Err(reason) => vec![format!("prompt      hidden: {}", printable(reason))],
    };
    let tokens = match input.tokens.seen() {
        Ok(tokens) => tokens.as_slice(),
        Err(reason) => {
            let counted =
                input.count.map_or_else(String::new, |n| format!("{}; ", count(n, "token")));
            lines.push(format!("ids         {counted}hidden: {}", printable(reason)));
            return lines;
        }
    };
    if input.rung != "native" {
        lines.push(format!("seen by     {}", printable(&input.rung)));
    }
    let (what, range) = match difference {
        // The tokens around the difference, as far as they are in this prompt.
        Some(d) if d.start < tokens.len() => {
            let end = (d.start + d.actual.len()).min(tokens.len());
            (format!("{}..{end} of {}", d.start, tokens.len()), &tokens[d.start..end])
        }
        _ => {
            let start = tokens.len().saturating_sub(8);
            (format!("{}, the last {}", tokens.len(), tokens.len() - start), &tokens[start..])
        }
    };
    let mut words = vec![format!("{what}:")];
    words.extend(
        range.iter().map(|token| clip(&format!("{} {}", token.id, quote(&token.piece)), 40)),
    );
    lines.extend(wrapped("ids", &words));
    lines
}

/// The last lines of a text under its name, each quoted.
fn tail(name: &str, text: &str) -> Vec<String> {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let start = all.len().saturating_sub(TEXT_LINES);
    let note =
        if start == 0 { String::new() } else { format!("… {} above", count(start, "line")) };
    let mut lines = vec![format!("{name:<12}{note}").trim_end().to_owned()];
    if all.is_empty() {
        return vec![format!("{name:<12}\"\"")];
    }
    for line in &all[start..] {
        let quoted = quote(line);
        // The end of a long line says more than its start: that is where the model goes on.
        let shown = match quoted.chars().count().checked_sub(70) {
            None | Some(0) => quoted,
            Some(cut) => format!("… {cut} before {}", quoted.chars().skip(cut).collect::<String>()),
        };
        lines.push(format!("{:<12}{shown}", ""));
    }
    if start == 0 {
        lines.remove(0);
        lines[0] = format!("{name:<12}{}", lines[0].trim_start());
    }
    lines
}

fn settings(settings: &[Setting]) -> Vec<String> {
    let show = |setting: &Setting| match setting.resolved.seen() {
        Ok(value) => format!("{}={value}", setting.name),
        Err(_) => match &setting.requested {
            Some(asked) if setting.provenance == NOT_SENT => {
                format!("{}={asked} NOT SENT", setting.name)
            }
            Some(asked) => format!("{}={asked} (sent, not told)", setting.name),
            None => format!("{}=?", setting.name),
        },
    };
    let (pinned, unpinned): (Vec<_>, Vec<_>) =
        settings.iter().partition(|setting| setting.requested.is_some());
    let pinned: Vec<String> = pinned.into_iter().map(show).collect();
    let from = |s: &Setting| format!("{} ({})", show(s), printable(&s.provenance));
    let unpinned: Vec<String> = unpinned.into_iter().map(from).collect();
    let none = |list: Vec<String>| if list.is_empty() { vec!["none".to_owned()] } else { list };
    let mut lines = wrapped("pinned", &none(pinned));
    lines.extend(wrapped("unpinned", &none(unpinned)));
    lines
}

/// Words under a name, as many lines as they need but no more than four.
fn wrapped(name: &str, words: &[String]) -> Vec<String> {
    let mut lines = vec![format!("{name:<12}")];
    for (index, word) in words.iter().enumerate() {
        let last = lines.len() - 1;
        let fits = lines[last].chars().count() + word.chars().count() + 2 <= WIDTH;
        let begun = lines[last].chars().count() > 12;
        if !fits && begun && lines.len() == 4 {
            lines[last].push_str(&format!("  … {} more", words.len() - index));
            break;
        }
        match (begun, fits) {
            (true, true) => lines[last].push_str(&format!("  {word}")),
            (true, false) => lines.push(format!("{:<12}{word}", "")),
            (false, _) => lines[last].push_str(word),
        }
    }
    lines
}

fn generation(generation: &Generation, difference: Option<&Difference>) -> Vec<String> {
    let tokens = generation.tokens.seen();
    let ended = printable(&generation.termination.to_string());
    let counted = tokens.ok().map(Vec::len).or(generation.count);
    let after = counted.map_or_else(String::new, |n| format!(" after {}", count(n, "token")));
    let mut lines = vec![format!("ended       {ended}{after}")];
    match generation.text.seen() {
        Ok(text) => lines.extend(tail("text", text)),
        Err(reason) => lines.push(format!("text        hidden: {}", printable(reason))),
    }
    let tokens = match tokens {
        Ok(tokens) => tokens,
        Err(reason) => {
            lines.push(format!("ids         hidden: {}", printable(reason)));
            return lines;
        }
    };
    let lowest = confidence(&mut lines, tokens);
    let fork = difference.map(|difference| difference.index).or(lowest);
    if let Some((at, token)) = fork.and_then(|at| Some((at, tokens.get(at)?))) {
        lines.push(format!("at token {at:<3}{}", top_line(token)));
    }
    lines
}

/// The likelihood of each token as a bar, the least likely stretch marked; returns the least likely token.
fn confidence(lines: &mut Vec<String>, tokens: &[OutputToken]) -> Option<usize> {
    let logprobs: Vec<f32> = tokens.iter().map(|token| token.logprob).collect::<Option<_>>()?;
    let lowest = (0..logprobs.len()).min_by(|a, b| logprobs[*a].total_cmp(&logprobs[*b]))?;
    let mean = logprobs.iter().sum::<f32>() / logprobs.len() as f32;
    let start = lowest.saturating_sub(BARS / 2).min(logprobs.len().saturating_sub(BARS));
    let shown = &logprobs[start..logprobs.len().min(start + BARS)];
    // A run is what lies around the lowest token and is less likely than not.
    let unsure = |index: usize| logprobs.get(index).is_some_and(|value| *value < 0.5f32.ln());
    let first = (start..lowest).rev().take_while(|index| unsure(*index)).last().unwrap_or(lowest);
    let last = (lowest + 1..start + shown.len()).take_while(|index| unsure(*index)).last();
    let marks = last.unwrap_or(lowest) - first + 1;
    lines.push(format!(
        "confidence  mean logprob {mean:.3}, lowest {:.3} at token {lowest} {}",
        logprobs[lowest],
        quote(&tokens[lowest].piece)
    ));
    lines.push(format!("{:<12}{}", "", shown.iter().map(|value| bar(*value)).collect::<String>()));
    lines.push(format!("{:<12}{}{}", "", " ".repeat(first - start), "^".repeat(marks)));
    Some(lowest)
}

/// The probability in eighths.
fn bar(logprob: f32) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if logprob.is_nan() {
        return '?';
    }
    BARS[((logprob.exp() * 8.0) as usize).min(7)]
}

fn top_line(token: &OutputToken) -> String {
    if token.top.is_empty() {
        return format!("{} {}  alternatives not seen", token.id, quote(&token.piece));
    }
    let top = token.top.iter().take(4);
    let top: Vec<String> = top
        .map(|t| format!("{} {} {:.1} %", t.id, quote(&t.piece), t.logprob.exp() * 100.0))
        .collect();
    top.join("   ")
}

fn response(response: &Response) -> Vec<String> {
    let mut lines = match &response.content {
        Some(content) => tail("content", content),
        None => vec!["content     none".to_owned()],
    };
    if let Some(reasoning) = &response.reasoning {
        lines.extend(tail("reasoning", reasoning));
    }
    for call in response.tool_calls.iter().take(3) {
        lines.push(format!("tool call   {} {}", printable(&call.name), printable(&call.arguments)));
    }
    if let Some(more) = response.tool_calls.len().checked_sub(3).filter(|more| *more > 0) {
        lines.push(format!("            … {more} more calls"));
    }
    let finish = response.finish_reason.as_deref().map_or_else(|| "none".to_owned(), quote);
    let usage = response.usage.map_or_else(
        || "no usage".to_owned(),
        |usage| {
            format!(
                "{} prompt and {} completion tokens",
                usage.prompt_tokens, usage.completion_tokens
            )
        },
    );
    lines.push(format!("finished    {finish}, {usage}"));
    lines
}

fn scores(findings: &[Finding]) -> Vec<String> {
    let scores = findings.iter().filter(|finding| finding.boundary == Boundary::Score).take(3);
    let line = |finding: &Finding| {
        let outcome = &finding.outcome;
        let (expected, actual) = (printable(&outcome.expected), printable(&outcome.actual));
        format!("{:<12}expected {expected}, got {actual}", finding.name)
    };
    scores.map(line).collect()
}

/// Whether the prompt of a turn begins with what the turn before it read and wrote.
fn carried(before: &Exchange, after: &Exchange) -> String {
    let parts = (before.prompt_tokens(), before.output_tokens(), after.prompt_tokens());
    let (Ok(old), Ok(out), Ok(new)) = parts else {
        return "carried     not known: a prompt or a generation is hidden".to_owned();
    };
    let mut ids: Vec<u32> = old.iter().map(|token| token.id).collect();
    ids.extend(out.iter().map(|token| token.id));
    let new: Vec<u32> = new.iter().map(|token| token.id).collect();
    let shared = ids.iter().zip(&new).take_while(|(a, b)| a == b).count();
    if shared == ids.len() {
        return format!("carried     all {shared} ids of the turn before start this prompt");
    }
    let show = |ids: &[u32]| ids.get(shared).map_or_else(|| "the end".to_owned(), u32::to_string);
    format!(
        "carried     {shared} of the {} ids of the turn before; at token {shared} {} became {}",
        ids.len(),
        show(&ids),
        show(&new)
    )
}

#[cfg(test)]
mod tests;
