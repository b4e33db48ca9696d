//! The program against servers that misbehave: every case ends as errored with its reason, none as passed or failed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, Step, chunk, stream, whole};
use crate::support::{Project, evalsuite};

const JSON: &str = "application/json";

/// What the server does with the chat request of a case, and what the report must say.
struct Row {
    id: &'static str,
    stream: bool,
    steps: Vec<Step>,
    reason: &'static str,
}

fn row(id: &'static str, stream: bool, steps: Vec<Step>, reason: &'static str) -> Row {
    Row { id, stream, steps, reason }
}

fn send(bytes: Vec<u8>) -> Vec<Step> {
    vec![Step::Send(bytes)]
}

/// A stream that is whole.
fn good_stream() -> Vec<u8> {
    let piece = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({
            "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]
        });
        format!("data: {chunk}\n\n")
    };
    let mut text = piece(json!({"role": "assistant", "content": "Hi"}), Value::Null);
    text += &piece(json!({}), json!("stop"));
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let last = json!({
        "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage
    });
    text += &format!("data: {last}\n\n");
    text += "data: [DONE]\n\n";
    [stream(text.as_bytes()), chunk(b"")].concat()
}

fn good_answer() -> Vec<u8> {
    let message = json!({"role": "assistant", "content": "Hi"});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let body = json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage
    });
    whole("200 OK", "", JSON, body.to_string().as_bytes())
}

fn error_body(message: &str) -> String {
    json!({"error": {"message": message, "type": "server_error"}}).to_string()
}

fn rows() -> Vec<Row> {
    let first = &good_stream()[..good_stream().len() / 2];
    let hang = |bytes: &[u8]| vec![Step::Send(bytes.to_vec()), Step::Hang];
    let cut = |bytes: &[u8]| vec![Step::Send(bytes.to_vec()), Step::Close];
    let storm = whole("429 No", "retry-after: 0\r\n", JSON, error_body("slow down").as_bytes());
    let away = "location: http://127.0.0.1:1/v1?token=abcdefghij\r\n";
    let failed = format!("data: {}\n\ndata: [DONE]\n\n", error_body("out of memory"));
    let sse_as_text = whole("200 OK", "", "text/plain", b"data: {}\n\ndata: [DONE]\n\n");
    let broken_text = good_answer()
        .iter()
        .map(|b| if *b == b'H' { 0xff } else { *b })
        .skip(16)
        .collect::<Vec<_>>();
    let broken_text = [&b"HTTP/1.1 200 OK\r"[..], &broken_text].concat();
    let mut rows = vec![
        row("slow_first_byte", false, vec![Step::Hang], "no first byte within 1500 ms"),
        row("stall", true, hang(first), "nothing more came after"),
        row("cut_stream", true, cut(first), "the connection was closed after"),
        row(
            "cut_unanswered",
            false,
            vec![Step::Close],
            "the connection was closed before the headers",
        ),
        row(
            "long_line",
            true,
            send(stream(&vec![b'x'; 10 << 20])),
            "line 1 of the event stream is over 4 MiB",
        ),
        row("invalid_utf8", false, send(broken_text), "unicode"),
        row("wrong_type", true, send(sse_as_text), "text/plain"),
        row(
            "html",
            false,
            send(whole("200 OK", "", "text/html", b"<html>hello</html>")),
            "text/html",
        ),
        row("storm", false, send(storm), "slow down"),
        row(
            "redirect",
            false,
            send(whole("307 Go", away, "text/html", b"")),
            "which is not followed",
        ),
        row(
            "error_in_200",
            false,
            send(whole("200 OK", "", JSON, error_body("oops").as_bytes())),
            "oops",
        ),
        row(
            "error_in_stream",
            true,
            send([stream(failed.as_bytes()), chunk(b"")].concat()),
            "out of memory",
        ),
        row("empty", false, send(whole("200 OK", "", JSON, b"")), "JSON"),
        row("empty_stream", true, send([stream(b": hello\n\n"), chunk(b"")].concat()), "[DONE]"),
        row("no_http", false, cut(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), "does not speak HTTP"),
        row(
            "server_error",
            false,
            send(whole("500 No", "", "text/plain", b"CUDA error")),
            "CUDA error",
        ),
    ];
    let too_large = [
        &b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            [..],
        &chunk(&vec![b' '; 33 << 20]),
    ];
    rows.push(row("too_large", false, send(too_large.concat()), "the answer is over 32 MiB"));
    rows
}

/// A project with one case for each, by id and whether it streams; a server finds its answer by the id in the prompt.
fn project(server: &Server, cases: &[(String, bool)]) -> Project {
    let project = Project::new();
    let url = server.url();
    project.write(
        "specs/targets.yaml",
        &format!(
            "targets:\n  s: {{ remote: {{ url: '{url}', model: m, dialect: openai, idle_timeout: 0.2, \
             connect_timeout: 2 }} }}\n"
        ),
    );
    let mut spec =
        "branch: streaming\nsettings: { temperature: 0, max_tokens: 8 }\ntimeout: 1.5\ncases:\n"
            .to_owned();
    for (id, stream) in cases {
        write!(
            spec,
            "  - id: {id}\n    stream: {stream}\n    turns:\n      - user: <{id}>\n        \
             expect:\n          - content: Hi\n"
        )
        .unwrap();
    }
    project.write("specs/streaming/hostile.yaml", &spec);
    project
}

/// What a probe gets.
fn models() -> Vec<Step> {
    let body = json!({"object": "list", "data": [{"id": "m", "object": "model"}]}).to_string();
    send(whole("200 OK", "", JSON, body.as_bytes()))
}

/// A server whose chat route answers by the id that the prompt names.
fn serve(answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Server {
    Server::start(move |_, request| match request.split_once("\r\n\r\n") {
        Some((_, body)) if request.starts_with("POST /v1/chat/completions") => {
            let id = body.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
            answer(id.map_or("", |(id, _)| id))
        }
        _ if request.starts_with("GET /v1/models") => models(),
        _ => send(whole("404 Not Found", "", JSON, error_body("not found").as_bytes())),
    })
}

/// The exit code and the case reports of a run.
fn run(project: &Project) -> (i32, Vec<Value>) {
    let args = ["run", "specs", "-j", "8", "--retries", "1", "--report", "json=out.jsonl"];
    let ran = project.run(&args);
    let report = std::fs::read_to_string(project.path("out.jsonl")).unwrap_or_default();
    let events = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cases: Vec<Value> = events.filter(|event| event["event"] == "case").collect();
    assert!(!cases.is_empty(), "{}{}", ran.stdout, ran.stderr);
    (ran.code, cases)
}

fn find<'a>(cases: &'a [Value], id: &str) -> &'a Value {
    let id = format!("streaming/hostile.{id}");
    cases.iter().find(|case| case["id"] == id).unwrap()
}

#[test]
fn every_hostile_answer_is_errored_with_its_reason() {
    let mut cases: Vec<_> = rows().iter().map(|row| (row.id.to_owned(), row.stream)).collect();
    cases.extend([("good".to_owned(), false), ("good_stream".to_owned(), true)]);
    let mut answers: BTreeMap<_, _> = rows().into_iter().map(|row| (row.id, row.steps)).collect();
    let late = vec![Step::Pause(Duration::from_millis(50)), Step::Send(good_answer())];
    answers.extend([("good", late), ("good_stream", send(good_stream()))]);
    let server = serve(move |id| answers[id].clone());
    let project = project(&server, &cases);
    let (code, cases) = run(&project);
    let mut wrong = String::new();
    for row in rows() {
        let case = find(&cases, row.id);
        let reason = case["reason"].as_str().unwrap_or_default();
        if case["status"] != "errored" || !reason.contains(row.reason) {
            writeln!(wrong, "{}: {} {reason:?}, not {:?}", row.id, case["status"], row.reason)
                .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for id in ["good", "good_stream"] {
        let case = find(&cases, id);
        assert_eq!(case["status"], "passed", "{case}");
    }
    assert_eq!(find(&cases, "storm")["attempts"], 2);
    assert_eq!(code, 3);
}

/// Whatever byte of a stream is the last: only the whole is taken for an answer.
#[test]
fn a_stream_cut_at_any_byte_is_errored() {
    let answer = good_stream();
    let size = answer.len();
    let cases: Vec<_> = (0..=size).map(|cut| (format!("cut_{cut}"), true)).collect();
    let server = serve(move |id| {
        let cut: usize = id.trim_start_matches("cut_").parse().unwrap();
        vec![Step::Send(answer[..cut].to_vec()), Step::Close]
    });
    let (code, reports) = run(&project(&server, &cases));
    assert_eq!((code, reports.len()), (3, cases.len()));
    for (cut, (id, _)) in cases.iter().enumerate() {
        let case = find(&reports, id);
        let expected = if cut < size { "errored" } else { "passed" };
        assert_eq!(case["status"], expected, "{case}");
    }
}

/// A server that cannot even be asked what it is ends the run at once.
#[test]
fn what_cannot_be_opened_ends_the_run() {
    let away = "location: http://127.0.0.1:1/v1/models?token=abcdefghij\r\n";
    for (steps, expected) in [
        (vec![Step::Hang], "no first byte within 200 ms"),
        (vec![Step::Close], "the connection was closed before the headers"),
        (send(whole("302 Go", away, "text/html", b"")), "which is not followed"),
        (send(whole("401 No", "", JSON, error_body("bad key").as_bytes())), "bad key"),
    ] {
        let server = Server::always(steps);
        let project = project(&server, &[("any".to_owned(), false)]);
        let ran = project.run(&["run", "specs", "--retries", "0"]);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(server.connections(), 1, "nothing is asked a second time");
        assert!(ran.stderr.contains(expected), "{:?} should say {expected:?}", ran.stderr);
        assert!(!ran.stderr.contains("abcdefghij"), "{}", ran.stderr);
    }
}

/// The key goes to the server and nowhere else, although the server repeats all it was sent.
#[test]
fn no_file_holds_a_key() {
    const KEY: &str = "sk-topsecret-0123";
    let server = Server::start(|_, request| {
        let said = error_body(&format!("you said: {request}"));
        match request.starts_with("GET /v1/models") {
            true => models(),
            false => send(whole("400 No", "", JSON, said.as_bytes())),
        }
    });
    let project = project(&server, &[("any".to_owned(), false)]);
    let url = server.url().replace("http://", "http://user-name:pass-word@");
    let target = format!(
        "targets:\n  s: {{ remote: {{ url: '{url}?code=url-secret-77', model: m, dialect: openai, \
         api_key_env: TEST_KEY, api_key_header: api-key }} }}\n"
    );
    project.write("specs/targets.yaml", &target);
    let args = ["run", "specs", "--report", "json=out.jsonl", "--report", "junit=out.xml"];
    let ran = evalsuite(&project.path(""), &args, &[("TEST_KEY", KEY)]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(server.requests().iter().all(|request| request.contains(KEY)));
    assert!(ran.stdout.contains("you said"), "{}", ran.stdout);

    let mut left = format!("{}{}", ran.stdout, ran.stderr);
    let mut folders = vec![project.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                // The target file is where its owner wrote them.
                false if path.ends_with("targets.yaml") => {}
                false => left += &String::from_utf8_lossy(&std::fs::read(path).unwrap()),
            }
        }
    }
    assert!(left.contains("[redacted]"));
    for secret in [KEY, "user-name", "pass-word", "url-secret-77", "dXNlci1uYW1lOnBhc3Mtd29yZA=="] {
        assert!(!left.contains(secret), "{secret} was left");
    }
}

/// A proxy is honoured, but never for a server on this machine.
#[test]
fn proxies_are_honoured() {
    let server = serve(|_| send(good_answer()));
    let project = project(&server, &[("any".to_owned(), false)]);
    let proxy = server.url().replace("/v1", "");
    let dead = [("HTTP_PROXY", "http://127.0.0.1:1"), ("http_proxy", "http://127.0.0.1:1")];
    let ran = evalsuite(&project.path(""), &["run", "specs"], &dead);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);

    let url = server.url();
    let far = "targets:\n  s: { remote: { url: 'http://model.invalid/v1', model: m, dialect: openai } }\n";
    project.write("specs/targets.yaml", far);
    let through =
        [("HTTP_PROXY", proxy.as_str()), ("http_proxy", proxy.as_str()), ("NO_PROXY", "")];
    let before = server.requests().len();
    let ran = evalsuite(&project.path(""), &["run", "specs", "--retries", "0"], &through);
    assert!(server.requests().len() > before, "nobody asked {url}: {}{}", ran.stdout, ran.stderr);
    assert!(server.requests()[before].contains("http://model.invalid/v1/models"));
}
