//! One run with a case of every kind, shared by the tests of reporters, ladder, snapshots and evidence.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use serde_json::json;

use crate::capture::{
    Boundary, Capture, Exchange, Generation, Input, Observed, OutputToken, Response, Run, Score,
    Setting, Termination, Token, TopToken, Usage,
};
use crate::event::{
    BoundaryStatus, CaseReport, CaseStatus, Event, RunStarted, SCHEMA, Summary, TargetIdentity,
};
use crate::finding::{Difference, Finding, Kind, Location, Outcome, Status};
use crate::ladder;
use crate::report::{Options, open};
use crate::request::{Message, Request, Role, Settings, ToolCall};

pub(crate) fn tokens(pieces: &[(u32, &str)]) -> Vec<Token> {
    pieces.iter().map(|(id, piece)| Token { id: *id, piece: (*piece).to_owned() }).collect()
}

pub(crate) fn top(others: &[(u32, &str, f32)]) -> Vec<TopToken> {
    let top = others.iter();
    top.map(|(id, piece, logprob)| TopToken {
        id: *id,
        piece: (*piece).to_owned(),
        logprob: *logprob,
    })
    .collect()
}

fn output(id: u32, piece: &str, logprob: f32, others: &[(u32, &str, f32)]) -> OutputToken {
    OutputToken { id, piece: piece.to_owned(), logprob: Some(logprob), top: top(others) }
}

fn setting(name: &str, pinned: bool, value: serde_json::Value, from: &str) -> Setting {
    let requested = pinned.then(|| value.clone());
    let resolved = Observed::Seen(value);
    Setting { name: name.to_owned(), requested, resolved, provenance: from.to_owned() }
}

/// The first turn of a conversation about the weather: the model calls a tool.
pub(crate) fn exchange() -> Exchange {
    let prompt = "<|im_start|>user\nOslo? \n<|im_end|>\n<|im_start|>assistant\n";
    Exchange {
        turn: 0,
        request: Request {
            messages: vec![Message::text(Role::User, "Oslo? \n")],
            tools: Vec::new(),
            tool_choice: None,
            settings: Settings {
                temperature: Some(0.0),
                max_tokens: Some(8),
                ..Settings::default()
            },
            template: serde_json::Map::new(),
            stream: false,
            prefill: false,
            top_logprobs: 4,
            timeout: None,
        },
        input: Observed::Seen(Input {
            prompt: Observed::Seen(prompt.to_owned()),
            count: Some(10),
            tokens: Observed::Seen(tokens(&[
                (1, "<|im_start|>"),
                (872, "user"),
                (10, "\n"),
                (61, "Oslo?"),
                (5, " \n"),
                (2, "<|im_end|>"),
                (10, "\n"),
                (1, "<|im_start|>"),
                (77, "assistant"),
                (10, "\n"),
            ])),
            rung: "native".to_owned(),
            rendered: None,
        }),
        settings: Observed::Seen(vec![
            setting("temperature", true, json!(0.0), "request"),
            setting("max_tokens", true, json!(8), "request"),
            setting("top_k", false, json!(20), "generation_config.json"),
        ]),
        generation: Observed::Seen(Generation {
            count: Some(3),
            tokens: Observed::Seen(vec![
                output(40, "4", -0.105, &[(40, "4", -0.105), (41, "5", -2.303)]),
                output(50, " degrees", -0.01, &[(50, " degrees", -0.01)]),
                output(2, "<|im_end|>", -0.0000001, &[(2, "<|im_end|>", -0.0000001)]),
            ]),
            text: Observed::Seen("4 degrees<|im_end|>".to_owned()),
            termination: Termination::Eos(2),
            rung: "native".to_owned(),
        }),
        response: Observed::Seen(Response {
            content: Some("4 degrees".to_owned()),
            reasoning: None,
            tool_calls: vec![ToolCall {
                id: "call-1".to_owned(),
                name: "get_weather".to_owned(),
                arguments: "{\"city\": \"Oslo\"}".to_owned(),
            }],
            finish_reason: Some("stop".to_owned()),
            usage: Some(Usage { prompt_tokens: 10, completion_tokens: 3 }),
            stream: None,
            faults: Vec::new(),
        }),
        wire: Vec::new(),
        elapsed_ms: 12.5,
    }
}

/// A case of one exchange and one score.
pub(crate) fn capture() -> Capture {
    Capture {
        case: "tool_call/weather.oslo".to_owned(),
        runs: vec![Run { load: 1, exchanges: vec![exchange()], error: None }],
        twin: None,
        scores: vec![Score {
            scorer: "exact".to_owned(),
            extractor: "first_number".to_owned(),
            extracted: Some("4".to_owned()),
            reference: "4".to_owned(),
            value: 1.0,
        }],
    }
}

pub(crate) fn location(line: usize) -> Location {
    Location {
        file: "specs/tool_call/weather.yaml".to_owned(),
        line,
        column: 11,
        source: "        - logits: { against: accepted, atol: 0.02 }".to_owned(),
    }
}

pub(crate) fn finding(name: &str, kind: Kind, boundary: Boundary, outcome: Outcome) -> Finding {
    Finding {
        name: name.to_owned(),
        kind,
        boundary,
        turn: Some(1),
        run: None,
        outcome,
        spec: location(12),
    }
}

fn boundaries(first: Option<Boundary>) -> BTreeMap<Boundary, BoundaryStatus> {
    let status = |boundary: Boundary| match first {
        Some(first) if boundary == first => BoundaryStatus::Changed,
        _ if boundary == Boundary::Score => BoundaryStatus::NotExercised,
        Some(first) if boundary > first => BoundaryStatus::NotComparable,
        _ => BoundaryStatus::Held,
    };
    Boundary::ALL.map(|boundary| (boundary, status(boundary))).into_iter().collect()
}

/// A case of that status whose findings are one pass and what is given.
pub(crate) fn case(id: &str, status: CaseStatus, findings: Vec<Finding>) -> CaseReport {
    let failed = findings.iter().find(|finding| finding.outcome.status == Status::Fail);
    let boundary = failed.map(|finding| finding.boundary);
    let mut boundaries = boundaries(boundary);
    if let Some(hidden) = findings.iter().find(|f| f.outcome.status == Status::NotEvaluated) {
        boundaries.insert(hidden.boundary, BoundaryStatus::Hidden);
    }
    let run = &capture().runs[0];
    let ladder = match boundary {
        Some(_) => ladder::ladder(run, &findings, &boundaries),
        None => Vec::new(),
    };
    let held = Outcome::pass("\"stop\"", "\"stop\"");
    let mut all = vec![finding("finish_reason", Kind::Assertion, Boundary::Response, held)];
    all.extend(findings);
    CaseReport {
        id: id.to_owned(),
        branch: id.split('/').next().unwrap_or_default().to_owned(),
        target: "tiny-chat".to_owned(),
        status,
        boundary,
        reason: None,
        findings: all,
        boundaries,
        attempts: 1,
        ladder,
        reproduce: format!("evalsuite run specs/tool_call/weather.yaml --case '{id}'"),
        spec: location(8),
        elapsed_ms: 12.5,
    }
}

pub(crate) fn fork() -> Difference {
    let shared = [(1, "<|im_start|>"), (77, "assistant"), (10, "\n")];
    let expected: Vec<(u32, &str)> =
        shared.iter().copied().chain([(41, "5"), (50, " degrees")]).collect();
    let actual: Vec<(u32, &str)> =
        shared.iter().copied().chain([(40, "4"), (50, " degrees")]).collect();
    Difference {
        index: 17,
        start: 14,
        expected: tokens(&expected),
        actual: tokens(&actual),
        top: top(&[(40, "4", -0.105), (41, "5", -2.303), (42, "6", -6.9)]),
    }
}

fn failing(boundary: Boundary) -> Finding {
    let (name, kind) = match boundary {
        Boundary::Input => ("double_bos", Kind::Seam),
        Boundary::Settings => ("settings", Kind::Assertion),
        Boundary::Generation => ("logits", Kind::Assertion),
        Boundary::Response => ("content", Kind::Assertion),
        Boundary::Score => ("task_score", Kind::Assertion),
    };
    let message = format!("the {boundary} is not what was expected");
    let mut outcome = Outcome::fail("5 degrees", "4 degrees", message).at("token 17");
    if boundary == Boundary::Generation {
        outcome = outcome.within("atol 0.02 (spread of 20 runs)").differing(fork());
    }
    finding(name, kind, boundary, outcome)
}

/// Every status, and a failure at every boundary.
pub(crate) fn cases() -> Vec<CaseReport> {
    let mut cases = vec![case("multi_turn/recall.remembers_name", CaseStatus::Passed, Vec::new())];
    for boundary in Boundary::ALL {
        let id = format!("tool_call/weather.{boundary}");
        cases.push(case(&id, CaseStatus::Failed, vec![failing(boundary)]));
    }
    let mut errored = case("streaming/plain.cut", CaseStatus::Errored, Vec::new());
    errored.reason = Some("turn 2: no complete answer within 500 ms".to_owned());
    cases.push(errored);
    let hidden = Outcome::hidden("atol 0.02", "the server returns no logprobs");
    let hidden = finding("logits", Kind::Assertion, Boundary::Generation, hidden);
    let mut unseen = case("stopping/eos.unseen", CaseStatus::NotEvaluated, vec![hidden]);
    unseen.reason = Some("the server returns no logprobs".to_owned());
    cases.push(unseen);
    let fail = failing(Boundary::Response);
    let mut known = case("tool_call/weather.known", CaseStatus::KnownFailure, vec![fail]);
    known.reason = Some("the parser drops the second call".to_owned());
    cases.push(known);
    let mut fixed = case("tool_call/weather.fixed", CaseStatus::Fixed, Vec::new());
    fixed.reason = Some("the parser drops the third call".to_owned());
    cases.push(fixed);
    cases
}

pub(crate) fn started() -> RunStarted {
    let facts =
        [("model", "fixtures/models/tiny-chat"), ("weights", "9f86d081884c7d65"), ("dtype", "f32")];
    RunStarted {
        schema: SCHEMA,
        version: "0.1.0".to_owned(),
        manifest: "2c26b46b68ffc68f".to_owned(),
        targets: vec![TargetIdentity {
            name: "tiny-chat".to_owned(),
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        }],
        branches: ["multi_turn", "tool_call", "long_context"].map(str::to_owned).to_vec(),
        selection: "--tag smoke".to_owned(),
        cases: 10,
        time: "2026-12-01T00:48:26Z".to_owned(),
    }
}

pub(crate) fn summary() -> Summary {
    let mut summary =
        Summary { exit: 1, elapsed_ms: 1250.0, pending_snapshots: 2, ..Summary::default() };
    for case in cases() {
        *summary.by_status.entry(case.status.name().to_owned()).or_default() += 1;
        if let (Some(boundary), CaseStatus::Failed) = (case.boundary, case.status) {
            *summary.by_boundary.entry(boundary).or_default() += 1;
        }
    }
    summary.unpinned.insert("top_k".to_owned(), 10);
    summary
}

/// The whole run.
pub(crate) fn events() -> Vec<Event> {
    let mut events = vec![Event::Run(started())];
    events.extend(cases().into_iter().map(|case| Event::Case(Box::new(case))));
    events.push(Event::Summary(summary()));
    events
}

/// Text that breaks careless writers: terminal escapes, controls, ends of CDATA, noncharacters, lone surrogates
/// as JSON writes them, and markup.
pub(crate) const HOSTILE: &str = "a\u{1b}[31mred\u{0}\u{7}\r\n]]>\u{fffe}\u{ffff}\\ud800 <b a='x'>&amp;\"</b> | `c` %0A ::error::\u{200b}\u{85}z";

/// A failed case with [`HOSTILE`] in every field that a model or a user can fill.
pub(crate) fn hostile() -> CaseReport {
    let mut outcome = Outcome::fail(HOSTILE, HOSTILE, HOSTILE).at(HOSTILE).within(HOSTILE);
    let mut fork = fork();
    for token in fork.expected.iter_mut().chain(fork.actual.iter_mut()) {
        token.piece = HOSTILE.to_owned();
    }
    for token in &mut fork.top {
        token.piece = HOSTILE.to_owned();
    }
    outcome = outcome.differing(fork);
    let mut finding = finding(HOSTILE, Kind::Assertion, Boundary::Generation, outcome);
    finding.spec.file = HOSTILE.to_owned();
    finding.spec.source = HOSTILE.to_owned();
    let mut case = case(&format!("tool_call/{HOSTILE}"), CaseStatus::Failed, vec![finding]);
    case.reason = Some(HOSTILE.to_owned());
    case.branch = HOSTILE.to_owned();
    case.target = HOSTILE.to_owned();
    case.reproduce = HOSTILE.to_owned();
    case.spec.file = HOSTILE.to_owned();
    for step in &mut case.ladder {
        step.lines.push(HOSTILE.to_owned());
    }
    case
}

/// A sink that can be read after the reporter took it.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the reporter of that name makes of these events.
pub(crate) fn written(name: &str, options: Options, events: &[Event]) -> String {
    let sink = Shared::default();
    let mut reporter = open(name, Box::new(sink.clone()), options).unwrap();
    for event in events {
        reporter.event(event).unwrap();
    }
    drop(reporter);
    String::from_utf8(sink.0.take()).unwrap()
}
