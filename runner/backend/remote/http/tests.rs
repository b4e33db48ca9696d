#[path = "../../../tests/server.rs"]
mod server;

mod hostile;
mod secrets;
mod tls;

use std::collections::BTreeMap;
use std::task::Poll;

use serde_json::json;

use super::*;
use crate::backend::Secret;
use crate::finding::Location;
use server::{Server, Step, chunk, stream, whole};

/// A target with short times to wait.
fn target(url: &str) -> RemoteTarget {
    RemoteTarget {
        url: url.to_owned(),
        model: "m".to_owned(),
        dialect: "auto".to_owned(),
        api_key_env: None,
        api_key_header: None,
        tokenizer: None,
        ca: None,
        connect_timeout: Duration::from_millis(2000),
        idle_timeout: Duration::from_millis(150),
        location: Location { file: "targets.yaml".into(), line: 1, column: 1, source: "".into() },
    }
}

fn opening(jobs: usize, retries: usize) -> Opening {
    Opening { jobs, retries, secrets: BTreeMap::new() }
}

/// A client that does not wait long between attempts.
fn hasty(target: &RemoteTarget, opening: &Opening) -> Http {
    let mut http = Http::open(target, opening).unwrap();
    http.policy.shortest = Duration::from_millis(1);
    http
}

fn chat() -> Call<'static> {
    Call {
        purpose: "chat",
        body: Some(json!({"model": "m"})),
        path: "/v1/chat/completions".to_owned(),
        timeout: Some(Duration::from_secs(5)),
        origin: None,
    }
}

fn block<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What comes of one call to a server, without further attempts.
fn ask(server: &Server) -> Received {
    let http = hasty(&target(&server.url()), &opening(1, 0));
    block(http.call(chat()))
}

fn outcomes(received: &Received) -> Vec<&str> {
    received.wire.attempts.iter().map(|attempt| attempt.outcome.as_str()).collect()
}

#[test]
fn a_json_answer_comes_back_and_is_recorded() {
    let body = br#"{"b": 1.0, "a": [2]}"#;
    let more = "Server: x\r\nSet-Cookie: session=1\r\nX-Request-Id: r7\r\n";
    let answer = whole("200 OK", more, "Application/JSON; charset=utf-8", body);
    let server = Server::always(vec![Step::Send(answer)]);
    let received = ask(&server);
    assert!(received.is_success());
    assert_eq!(received.content_type, "application/json");
    assert_eq!(received.body, body);
    let wire = serde_json::to_value(&received.wire).unwrap();
    let headers = json!({"content-type": "Application/JSON; charset=utf-8", "server": "x", "x-request-id": "r7"});
    assert_eq!(
        wire,
        json!({
            "purpose": "chat",
            "request": {"method": "POST", "path": "/v1/chat/completions", "body": {"model": "m"}},
            "response": {"status": 200, "headers": headers, "body": {"b": 1.0, "a": [2]}},
            "attempts": [{"outcome": "200", "waited_ms": 0.0}],
        })
    );
    let sent = server.requests().remove(0);
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"model\":\"m\"}"), "{sent}");
    assert!(sent.contains("content-type: application/json"), "{sent}");
}

#[test]
fn a_call_without_a_body_is_a_get() {
    let server =
        Server::always(vec![Step::Send(whole("404 Not Found", "", "text/plain", b"no\nwhere"))]);
    let http = hasty(&target(&server.url()), &opening(1, 0));
    let received =
        block(http.call(Call { body: None, path: "/props?model=m".to_owned(), ..chat() }));
    assert_eq!((received.status, &received.broke), (404, &None));
    assert_eq!(received.wire.request.method, "GET");
    assert_eq!(received.wire.request.path, "/props");
    assert_eq!(received.wire.response.unwrap().text.as_deref(), Some("no\nwhere"));
    assert!(server.requests().remove(0).starts_with("GET /props?model=m HTTP/1.1\r\n"));
}

#[test]
fn a_stream_comes_back_as_events_and_timed_lines() {
    let pause = Step::Pause(Duration::from_millis(20));
    let server = Server::always(vec![
        Step::Send(stream(b"data: a\n\nda")),
        pause,
        Step::Send(chunk(b"ta: [DONE]\n\n")),
        Step::Send(chunk(b"")),
    ]);
    let received = ask(&server);
    assert!(received.is_success() && received.is_stream());
    let data: Vec<_> = received.events.iter().map(|event| event.data.as_str()).collect();
    assert_eq!(data, ["a", "[DONE]"]);
    assert!(received.body.is_empty() && received.faults.is_empty());
    let lines = received.wire.response.unwrap().sse.unwrap();
    let texts: Vec<_> = lines.iter().map(crate::capture::Line::text).collect();
    assert_eq!(texts, ["data: a", "", "data: [DONE]", ""]);
    assert!(lines[0].at_ms() < lines[2].at_ms());
    assert_eq!(received.events[1].at_ms, lines[3].at_ms());
}

#[test]
fn connections_are_kept_and_are_no_more_than_jobs() {
    let short = vec![Step::Send(whole("200 OK", "", "application/json", b"{}"))];
    let streamed = vec![Step::Send(stream(b"data: a\n\n")), Step::Send(chunk(b""))];
    for (jobs, steps) in [(1, &short), (3, &short), (1, &streamed), (3, &streamed)] {
        let server = Server::always(steps.clone());
        let http = hasty(&target(&server.url()), &opening(jobs, 0));
        let mut calls: Vec<_> = (0..40).map(|_| http.call(chat())).collect();
        block(std::future::poll_fn(|context| {
            calls.retain_mut(|call| call.as_mut().poll(context).is_pending());
            if calls.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert_eq!(server.requests().len(), 40);
        assert!(server.connections() <= jobs, "{} connections", server.connections());
    }
}

#[test]
fn transient_statuses_are_tried_again_and_every_attempt_is_kept() {
    let server = Server::start(|number, _| {
        let status = ["503 Busy", "429 Slow down", "502 Bad", "504 Late", "200 OK"][number];
        vec![Step::Send(whole(status, "retry-after: 0\r\n", "application/json", b"{}"))]
    });
    let http = hasty(&target(&server.url()), &opening(1, 4));
    let received = block(http.call(chat()));
    assert!(received.is_success());
    assert_eq!(outcomes(&received), ["503", "429", "502", "504", "200"]);
    assert!(!received.wire.first_attempt());
    let waited: Vec<_> =
        received.wire.attempts.iter().map(|attempt| attempt.waited_ms > 0.0).collect();
    assert_eq!(waited, [false, true, true, true, true]);
}

#[test]
fn other_statuses_are_answers() {
    for status in [200, 400, 401, 404, 422, 500, 501] {
        let answer = whole(&format!("{status} X"), "", "application/json", b"{}");
        let server = Server::always(vec![Step::Send(answer)]);
        let http = hasty(&target(&server.url()), &opening(1, 3));
        let received = block(http.call(chat()));
        assert_eq!((received.status, received.wire.attempts.len()), (status, 1));
        assert_eq!(received.broke, None);
    }
}

#[test]
fn the_last_answer_is_what_is_left_of_a_storm() {
    let body = br#"{"error":{"message":"slow down"}}"#;
    let server = Server::always(vec![Step::Send(whole("429 No", "", "application/json", body))]);
    let http = hasty(&target(&server.url()), &opening(1, 2));
    let received = block(http.call(chat()));
    assert_eq!((received.status, &received.broke), (429, &None));
    assert_eq!(outcomes(&received), ["429", "429", "429"]);
    assert_eq!(received.body, body);
}

/// The server asks for more time than there is: nothing is gained by waiting.
#[test]
fn a_wait_beyond_the_deadline_gives_up_at_once() {
    let answer = whole("503 No", "Retry-After: 20\r\n", "text/plain", b"later");
    let server = Server::always(vec![Step::Send(answer)]);
    let http = hasty(&target(&server.url()), &opening(1, 5));
    let received = block(http.call(chat()));
    assert_eq!(outcomes(&received), ["503"]);
    assert_eq!(received.wire.response.unwrap().headers["retry-after"], "20");
}

#[test]
fn a_dead_server_costs_its_attempts_once() {
    let server = Server::always(vec![Step::Send(whole("200 OK", "", "application/json", b"{}"))]);
    let alive = server.url();
    let mut http = hasty(&target("http://127.0.0.1:1/v1"), &opening(1, 2));
    let first = block(http.call(chat()));
    assert_eq!(outcomes(&first), ["connection refused"; 3]);
    let text = "nobody answers at http://127.0.0.1:1: connection refused; is the server running?";
    assert_eq!(first.broke, Some(BackendError::Unreachable(text.to_owned())));
    assert_eq!(first.wire.broke.as_deref(), Some(text));
    assert!(first.status == 0 && first.wire.response.is_none());
    assert_eq!(outcomes(&block(http.call(chat()))), ["connection refused"]);

    let dead = std::mem::replace(&mut http.address, Address::new(&alive).unwrap());
    assert!(block(http.call(chat())).is_success());
    http.address = dead;
    assert_eq!(outcomes(&block(http.call(chat()))), ["connection refused"; 3]);
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let pem = tempfile::NamedTempFile::new().unwrap();
    let with = |change: &dyn Fn(&mut RemoteTarget)| {
        let mut changed = target("http://127.0.0.1:1/v1");
        change(&mut changed);
        let mut opening = opening(1, 0);
        opening.secrets.insert("KEY".to_owned(), Secret::new("two\nlines"));
        opening.secrets.insert("FINE".to_owned(), Secret::new("fine-key"));
        Http::open(&changed, &opening).unwrap_err().to_string()
    };
    let key = |name: &str| Some(name.to_owned());
    for (error, part) in [
        (with(&|t| t.url = "nowhere".to_owned()), "no `http` or `https` address"),
        (with(&|t| t.api_key_env = key("KEY")), "the key in KEY cannot be sent"),
        (with(&|t| t.api_key_env = key("ABSENT")), "ABSENT, which holds the key, is not set"),
        (
            with(&|t| {
                t.api_key_env = key("FINE");
                t.api_key_header = key("no header");
            }),
            "`no header` in `api_key_header`",
        ),
        (
            with(&|t| {
                t.api_key_env = key("FINE");
                t.url = "http://user:pass@h/v1".to_owned();
            }),
            "name another for the key with `api_key_header`",
        ),
        (with(&|t| t.ca = Some(pem.path().to_owned())), "no `BEGIN CERTIFICATE`"),
        (with(&|t| t.ca = Some("absent.pem".into())), "the certificates in absent.pem"),
    ] {
        assert!(error.contains(part), "{error:?} should say {part:?}");
        assert!(!error.contains("two\nlines") && !error.contains("pass@"), "{error}");
    }
}
