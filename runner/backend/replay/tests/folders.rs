//! Run folders that answer.

use std::path::PathBuf;

use chrono::DateTime;

use super::*;
use crate::backend::Ask;
use crate::capture::{Attempt, Capture, Exchange, Failure, WireCall, WireRequest, WireResponse};
use crate::evidence::{Place, RunFolder};
use crate::finding::Location;
use crate::manifest::Manifest;
use crate::privacy::Privacy;
use crate::report::sample;

/// A run folder that holds these captures.
fn folder(root: &Path, captures: &[Capture], privacy: Privacy) -> PathBuf {
    let mut manifest = Manifest::new("0.1.0", "2026-12-01T00:48:00Z");
    manifest.targets = sample::started().targets;
    manifest.privacy = privacy;
    let run = RunFolder::create(root, &manifest, DateTime::UNIX_EPOCH).unwrap();
    for capture in captures {
        for (n, run_of) in capture.runs.iter().enumerate() {
            for exchange in &run_of.exchanges {
                run.log().exchange(&capture.case, Place::Run(n), 1, exchange);
            }
        }
        run.log().close(capture).unwrap();
    }
    run.path().to_owned()
}

fn target(recording: PathBuf) -> ReplayTarget {
    let location = Location::default();
    ReplayTarget { recording, dialect: "auto".to_owned(), tokenizer: None, location }
}

/// A case whose second turn timed out.
fn failing() -> Capture {
    let mut capture = sample::capture();
    capture.runs[0].error = Some(Failure {
        kind: "timeout".to_owned(),
        turn: 1,
        message: "no complete answer within 500 ms".to_owned(),
        wire: Vec::new(),
    });
    capture
}

#[tokio::test]
async fn a_run_in_process_answers_the_requests_it_was_asked() {
    let root = tempfile::tempdir().unwrap();
    let path = folder(root.path(), &[failing()], Privacy::Full);
    let backend = open(&target(path.clone())).await.unwrap();
    assert!(backend.identity().contains(&("dtype".to_owned(), "f32".to_owned())));
    let kept = sample::exchange();
    let case = "tool_call/weather.oslo";
    let ask = |case: &'static str, turn, request| {
        let backend = Arc::clone(&backend);
        async move {
            let answer = backend.exchange(Ask { request: &request, case, turn }).await;
            answer.map_err(|failed| failed.error)
        }
    };
    for _ in 0..2 {
        assert_eq!(ask(case, 0, kept.request.clone()).await.unwrap(), kept);
    }
    let timeout = BackendError::Timeout("no complete answer".to_owned(), 500);
    assert_eq!(ask(case, 1, kept.request.clone()).await.unwrap_err(), timeout);
    let mut hotter = kept.request.clone();
    hotter.settings.temperature = Some(0.7);
    let mut longer = kept.request.clone();
    longer.tools.push(json!({"type": "function"}));
    let mut waiting = kept.request.clone();
    (waiting.timeout, waiting.top_logprobs) = (Some(Duration::from_secs(1)), 0);
    assert!(ask(case, 0, waiting).await.is_ok());
    let table = [
        (
            case,
            0,
            hotter,
            "turn 0 of `tool_call/weather.oslo` was asked otherwise: `request.settings.temperature` is 0.7, and 0.0 is recorded",
        ),
        (
            case,
            0,
            longer,
            "turn 0 of `tool_call/weather.oslo` was asked otherwise: `request.tools` has 1 entries, and 0 are recorded",
        ),
        (case, 2, kept.request.clone(), "`tool_call/weather.oslo` has no answer at turn 2"),
        (
            "a/b.c",
            0,
            kept.request.clone(),
            "there is no case `a/b.c`; there is tool_call/weather.oslo …",
        ),
    ];
    for (case, turn, request, why) in table {
        let error = ask(case, turn, request).await.unwrap_err();
        assert_eq!(error, BackendError::Rejected(format!("{}: {why}", path.display())));
    }
}

#[tokio::test]
async fn evidence_without_its_texts_cannot_answer() {
    for privacy in [Privacy::Hashed, Privacy::IdsOnly] {
        let root = tempfile::tempdir().unwrap();
        let path = folder(root.path(), &[sample::capture()], privacy);
        let error = open(&target(path)).await.err().unwrap().error.to_string();
        assert!(
            error.ends_with("cannot answer: the text was withheld from the evidence by `privacy`"),
            "{error}"
        );
    }
}

fn call(turn: usize, asked: &Value, answer: &Value, attempts: usize) -> WireCall {
    let raw = |value: &Value| Some(serde_json::value::to_raw_value(value).unwrap());
    WireCall {
        purpose: CHAT.to_owned(),
        request: WireRequest {
            method: "POST".to_owned(),
            path: "/v1/chat/completions".to_owned(),
            body: raw(asked),
        },
        response: Some(WireResponse {
            status: 200,
            headers: [("content-type".to_owned(), "application/json".to_owned())].into(),
            body: raw(answer),
            text: None,
            sse: None,
            chunks_base64: None,
            cut_bytes: (turn == 1).then_some(9),
        }),
        attempts: vec![Attempt { outcome: "200".to_owned(), waited_ms: 0.0 }; attempts],
        broke: None,
    }
}

#[tokio::test]
async fn the_calls_of_a_run_on_a_server_answer_by_case_and_turn() {
    let asked = |text: &str, logprobs: bool| json!({"messages": [{"content": text}], "temperature": 0.0, "logprobs": logprobs});
    let mut capture = sample::capture();
    let first = &mut capture.runs[0].exchanges[0];
    first.wire = vec![call(0, &asked("Hello", true), &json!({"n": 1}), 3)];
    let second = Exchange {
        turn: 1,
        wire: vec![call(1, &asked("Bye", true), &json!({"n": 2}), 1)],
        ..first.clone()
    };
    capture.runs[0].exchanges.push(second);
    capture.runs[0].error = Some(Failure {
        kind: "unavailable".to_owned(),
        turn: 2,
        message: "HTTP 503".to_owned(),
        wire: vec![WireCall {
            broke: Some("HTTP 503".to_owned()),
            response: None,
            ..call(2, &asked("Third", true), &json!({}), 3)
        }],
    });
    let entries = folder::entries(&capture);
    let recorded = Recorded::new(Path::new("run"), None, entries);
    let case = "tool_call/weather.oslo";
    // How evidence is asked for may change; what is asked may not.
    let received = ask(&recorded, case, 0, asked("Hello", false)).await;
    assert_eq!((word(&received).as_str(), received.wire.attempts.len()), ("{\"n\":1}", 3));
    let received = ask(&recorded, case, 1, asked("Bye", true)).await;
    assert_eq!(word(&received), "incomplete: the record ends here: 9 bytes more were not kept");
    let received = ask(&recorded, case, 2, asked("Third", true)).await;
    assert_eq!(word(&received), "unavailable: HTTP 503");
    let received = ask(&recorded, case, 0, asked("Hallo", true)).await;
    assert!(
        word(&received).contains("`body.messages[0].content` is \"Hallo\""),
        "{}",
        word(&received)
    );
    let mut hotter = asked("Hello", true);
    hotter["temperature"] = json!(0.7);
    let received = ask(&recorded, case, 0, hotter).await;
    assert!(word(&received).contains("`body.temperature` is 0.7"), "{}", word(&received));
}

#[test]
fn the_manifest_of_a_run_says_what_the_server_was() {
    let mut manifest = Manifest::new("0.1.0", "2026-12-01T00:48:00Z");
    let facts = [("model", "m"), ("server", "http://h:1"), ("dialect", "vllm, as the target says")];
    let mut targets = sample::started().targets;
    targets[0].facts = facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).to_vec();
    manifest.targets = targets;
    let head = folder::head(&StoredRun { path: PathBuf::new(), manifest });
    let text = |text: &str| Some(text.to_owned());
    assert_eq!((head.url, head.dialect, head.model), (text("http://h:1"), text("vllm"), text("m")));
}
