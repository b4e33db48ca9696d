//! Captures for tests: one good conversation that a test then breaks in one place.

use serde_json::{Value, json};

use super::{Assertion, View};
use crate::capture::{
    Accepted, AcceptedExchange, AcceptedInput, Capture, Delta, Exchange, Generation, Input,
    Observed, OutputToken, Response, Run, Setting, Termination, Token, TopToken, Usage,
};
use crate::finding::Outcome;
use crate::request::{Message, Request, Role, Settings, ToolCall};

/// The end id of the sample model.
pub(crate) const EOS: u32 = 2;

/// A token whose piece is `t<id>`.
pub(crate) fn token(id: u32) -> Token {
    Token { id, piece: if id == EOS { "<|im_end|>".to_owned() } else { format!("t{id}") } }
}

/// Tokens whose pieces are `t<id>`.
pub(crate) fn tokens(ids: &[u32]) -> Vec<Token> {
    ids.iter().map(|id| token(*id)).collect()
}

/// An output token chosen with probability 0.9, before a runner-up `id + 1000`.
pub(crate) fn output_token(id: u32) -> OutputToken {
    with_top(id, &[(id, -0.105_36), (id + 1000, -2.995_73)])
}

/// Output tokens as [`output_token`] makes them.
pub(crate) fn output(ids: &[u32]) -> Vec<OutputToken> {
    ids.iter().map(|id| output_token(*id)).collect()
}

/// An output token with this top list, ids with log-probabilities.
pub(crate) fn with_top(id: u32, top: &[(u32, f32)]) -> OutputToken {
    let logprob = top.iter().find(|(other, _)| *other == id).map(|(_, logprob)| *logprob);
    let top = top.iter().map(|(id, logprob)| TopToken {
        id: *id,
        piece: token(*id).piece,
        logprob: *logprob,
    });
    OutputToken { id, piece: token(id).piece, logprob, top: top.collect() }
}

/// A generation of these ids.
pub(crate) fn generation(ids: &[u32]) -> Generation {
    let tokens = output(ids);
    let text = tokens.iter().map(|token| token.piece.as_str()).collect();
    let termination =
        if ids.last() == Some(&EOS) { Termination::Eos(EOS) } else { Termination::LengthMaxTokens };
    let count = Some(tokens.len());
    let rung = "native".to_owned();
    Generation {
        tokens: Observed::Seen(tokens),
        count,
        text: Observed::Seen(text),
        termination,
        rung,
    }
}

/// A resolved setting; `provenance` is `request` or where the default comes from.
pub(crate) fn setting(name: &str, value: Value, provenance: &str) -> Setting {
    let requested = (provenance == "request").then(|| value.clone());
    let resolved = Observed::Seen(value);
    Setting { name: name.to_owned(), requested, resolved, provenance: provenance.to_owned() }
}

/// The request of `messages`, role by role.
pub(crate) fn request(messages: &[(Role, &str)]) -> Request {
    Request {
        messages: messages.iter().map(|(role, text)| Message::text(*role, *text)).collect(),
        tools: Vec::new(),
        tool_choice: None,
        settings: Settings { temperature: Some(0.0), ..Settings::default() },
        template: serde_json::Map::new(),
        stream: false,
        prefill: false,
        top_logprobs: 2,
        timeout: None,
    }
}

/// One exchange: prompt ids, output ids, and `content` as the reply.
pub(crate) fn exchange(prompt: &[u32], output: &[u32], content: &str) -> Exchange {
    let tokens = tokens(prompt);
    let text: String = tokens.iter().map(|token| token.piece.as_str()).collect();
    let usage = Usage { prompt_tokens: prompt.len(), completion_tokens: output.len() };
    Exchange {
        turn: 0,
        request: request(&[(Role::User, "hello")]),
        input: Observed::Seen(Input {
            prompt: Observed::Seen(text),
            count: Some(prompt.len()),
            tokens: Observed::Seen(tokens),
            rung: "native".to_owned(),
            rendered: None,
        }),
        settings: Observed::Seen(vec![
            setting("temperature", json!(0.0), "request"),
            setting("top_k", json!(20), "generation_config.json"),
            setting("max_tokens", json!(64), "request"),
        ]),
        generation: Observed::Seen(generation(output)),
        response: Observed::Seen(Response {
            content: Some(content.to_owned()),
            reasoning: None,
            tool_calls: Vec::new(),
            finish_reason: Some("stop".to_owned()),
            usage: Some(usage),
            stream: None,
            faults: Vec::new(),
        }),
        wire: Vec::new(),
        elapsed_ms: 1.0,
    }
}

/// The good one: prompt 10 to 13, output 20, 21 and the end id, content `It is 4 degrees.`.
pub(crate) fn good() -> Exchange {
    exchange(&[10, 11, 12, 13], &[20, 21, EOS], "It is 4 degrees.")
}

/// The good one with every boundary hidden.
pub(crate) fn hidden() -> Exchange {
    Exchange {
        input: Observed::Hidden("the server shows no prompt".to_owned()),
        settings: Observed::Hidden("the server shows no settings".to_owned()),
        generation: Observed::Hidden("the server shows no ids".to_owned()),
        response: Observed::Hidden("there is no response".to_owned()),
        ..good()
    }
}

/// A run of these exchanges, alone.
pub(crate) fn run(exchanges: Vec<Exchange>) -> Run {
    Run { load: 1, exchanges, error: None }
}

/// A capture of one run.
pub(crate) fn capture(exchanges: Vec<Exchange>) -> Capture {
    let case = "multi_turn/sample.case".to_owned();
    Capture { case, runs: vec![run(exchanges)], twin: None, scores: Vec::new() }
}

/// What was accepted when `exchange` was.
pub(crate) fn accepted(exchange: &Exchange) -> Accepted {
    let input = exchange.input.seen().ok();
    let output = exchange.generation.seen().ok();
    Accepted {
        exchanges: vec![AcceptedExchange {
            input: input
                .and_then(|input| input.tokens.seen().ok())
                .map(|tokens| tokens.iter().cloned().map(AcceptedInput::Token).collect()),
            output: output.and_then(|generation| generation.tokens.seen().ok()).cloned(),
        }],
    }
}

/// Changes the generation.
pub(crate) fn edit_generation(exchange: &mut Exchange, edit: impl FnOnce(&mut Generation)) {
    let Observed::Seen(generation) = &mut exchange.generation else { panic!("no generation") };
    edit(generation);
}

/// Changes the response.
pub(crate) fn edit_response(exchange: &mut Exchange, edit: impl FnOnce(&mut Response)) {
    let Observed::Seen(response) = &mut exchange.response else { panic!("no response") };
    edit(response);
}

/// The good one with these tool calls, name and arguments, instead of a text.
pub(crate) fn calling(calls: &[(&str, &str)]) -> Exchange {
    let mut exchange = good();
    edit_response(&mut exchange, |response| {
        response.content = None;
        response.finish_reason = Some("tool_calls".to_owned());
        let call = |(index, (name, arguments)): (usize, &(&str, &str))| ToolCall {
            id: format!("call_{index}"),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        response.tool_calls = calls.iter().enumerate().map(call).collect();
    });
    exchange
}

/// The good one as a stream: role, two pieces of content, the finish, the usage.
pub(crate) fn streamed() -> Exchange {
    let mut exchange = good();
    exchange.request.stream = true;
    edit_response(&mut exchange, |response| {
        let delta = |at_ms: f64| Delta { at_ms, ..Delta::default() };
        let piece =
            |at_ms: f64, text: &str| Delta { content: Some(text.to_owned()), ..delta(at_ms) };
        response.stream = Some(vec![
            Delta { role: Some("assistant".to_owned()), ..delta(1.0) },
            piece(2.0, "It is "),
            piece(3.0, "4 degrees."),
            Delta { finish_reason: Some("stop".to_owned()), ..delta(4.0) },
            Delta { usage: response.usage, ..delta(4.0) },
        ]);
    });
    exchange
}

/// Reads one `expect` entry as a spec would.
pub(crate) fn read(yaml: &str) -> Result<Assertion, serde_yaml::Error> {
    let options = serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
    };
    serde_yaml::from_str_with_options(yaml, options)
}

/// Reads one `expect` entry and asserts that its arguments are sound.
pub(crate) fn sound(yaml: &str) -> Assertion {
    let assertion = read(yaml).unwrap_or_else(|error| panic!("{yaml}\n{error}"));
    assert_eq!(assertion.problems(), Vec::<String>::new(), "{yaml}");
    assertion
}

/// Judges the last exchange of the first run of a capture.
pub(crate) fn judge_capture(yaml: &str, capture: &Capture, accepted: Option<&Accepted>) -> Outcome {
    let run = &capture.runs[0];
    let index = run.exchanges.len() - 1;
    let view = View { capture, run, exchange: &run.exchanges[index], index, accepted };
    sound(yaml).judge(&view)
}

/// Judges one exchange.
pub(crate) fn judge(yaml: &str, exchange: &Exchange) -> Outcome {
    judge_capture(yaml, &capture(vec![exchange.clone()]), None)
}

/// Judges one exchange against what was accepted when `before` was.
pub(crate) fn judge_against(yaml: &str, exchange: &Exchange, before: &Exchange) -> Outcome {
    judge_capture(yaml, &capture(vec![exchange.clone()]), Some(&accepted(before)))
}

/// The problems of an entry's arguments, one text.
pub(crate) fn problems(yaml: &str) -> String {
    read(yaml).unwrap_or_else(|error| panic!("{yaml}\n{error}")).problems().join("\n")
}
