//! A key in a header, the URL, a body, a stream and an error text leaves no trace.

use super::*;

const KEY: &str = "sk-topsecret/1+2";
const URL_WORDS: [&str; 3] = ["us3r-name", "p4ssw0rd", "query-key-0123456789"];

fn secretive(server: &Server, header: Option<&str>, user: bool) -> (Http, RemoteTarget) {
    let mut target = target(&server.url());
    let [name, password, value] = URL_WORDS;
    if user {
        target.url = target.url.replace("http://", &format!("http://{name}:{password}@"));
    }
    target.url += &format!("?key={value}&v=2");
    target.api_key_env = Some("KEY".to_owned());
    target.api_key_header = header.map(str::to_owned);
    let mut opening = opening(1, 0);
    opening.secrets.insert("KEY".to_owned(), Secret::new(KEY));
    (hasty(&target, &opening), target)
}

/// Everything that a call leaves, as text.
fn trace(http: &Http, received: &Received) -> String {
    let body = String::from_utf8_lossy(&received.body).into_owned();
    let record = serde_json::to_string(&received.wire).unwrap();
    format!("{received:?}\n{body}\n{record}\n{http:?}\n{}", http.address())
}

fn assert_clean(trace: &str) {
    use base64::Engine as _;
    let [name, password, value] = URL_WORDS;
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
    for secret in [KEY, "sk-topsecret", "topsecret", name, password, value, &basic] {
        assert!(!trace.contains(secret), "{secret} is in {trace}");
    }
}

#[test]
fn keys_are_sent_where_they_belong() {
    let server = Server::always(vec![Step::Send(whole("200 OK", "", "application/json", b"{}"))]);
    let (http, _) = secretive(&server, None, false);
    block(http.call(chat()));
    let (http, _) = secretive(&server, Some("api-key"), true);
    block(http.call(chat()));
    let sent = server.requests();
    assert!(sent[0].contains(&format!("authorization: Bearer {KEY}\r\n")), "{}", sent[0]);
    assert!(sent[0].starts_with("POST /v1/chat/completions?key=query-key-0123456789&v=2 "));
    assert!(sent[1].contains(&format!("api-key: {KEY}\r\n")), "{}", sent[1]);
    assert!(sent[1].contains("authorization: Basic dXMzci1uYW1lOnA0c3N3MHJk\r\n"), "{}", sent[1]);
}

/// The server repeats everything it was sent, in every kind of answer.
#[test]
fn no_answer_leaves_a_trace() {
    type Answer = fn(&str) -> Vec<u8>;
    let answers: [Answer; 6] = [
        |said| {
            whole("401 No", "", "application/json", json!({"error": said}).to_string().as_bytes())
        },
        |said| whole("500 No", "", "text/plain", said.as_bytes()),
        |said| whole("200 OK", "", "text/plain", &[said.as_bytes(), b"\xff"].concat()),
        |said| {
            let line = said.replace("\r\n", " ");
            let location = line.replace(' ', "/");
            whole("302 Go", &format!("location: /{location}\r\nserver: {line}\r\n"), "a/b", b"")
        },
        |said| {
            let lines = said.replace("\r\n", "\r\ndata: ");
            [stream(format!("data: {lines}\n\n").as_bytes()), chunk(b"")].concat()
        },
        |said| [stream(&[b"data: \xff ", said.as_bytes()].concat()), chunk(b"")].concat(),
    ];
    for (number, answer) in answers.into_iter().enumerate() {
        let server = Server::start(move |_, request| vec![Step::Send(answer(request))]);
        let (http, _) = secretive(&server, Some("api-key"), true);
        let received = block(http.call(chat()));
        assert!(received.status > 0, "{received:?}");
        let trace = trace(&http, &received);
        assert!(trace.contains("[redacted]"), "answer {number}: {trace}");
        assert_clean(&trace);
    }
}

#[test]
fn no_request_body_and_no_error_leaves_a_trace() {
    let server = Server::always(vec![Step::Close]);
    let (http, target) = secretive(&server, Some("api-key"), true);
    let body = Some(json!({"messages": [{"role": "user", "content": format!("my key is {KEY}")}]}));
    let received = block(http.call(Call { body, ..chat() }));
    assert!(server.requests()[0].contains(KEY), "what is sent is not changed");
    assert!(received.broke.is_some());
    assert_clean(&trace(&http, &received));

    drop(server);
    let received = block(http.call(chat()));
    assert_eq!(received.broke.as_ref().map(BackendError::kind), Some("unreachable"));
    assert_clean(&trace(&http, &received));
    assert_eq!(http.scrub(format!("x {KEY} {}", target.url)).matches("[redacted]").count(), 4);
}
