//! Servers that misbehave: each case ends with its reason, in bounded time and memory.

use super::*;
use crate::backend::remote::sse::KEPT;

const EVENTS: &[u8] = b"data: {\"a\":1}\n\ndata: [DONE]\n\n";

fn kind(received: &Received) -> &'static str {
    received.broke.as_ref().map_or("none", BackendError::kind)
}

fn reason(received: &Received) -> String {
    received.broke.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn text(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

#[test]
fn what_takes_too_long_is_a_timeout() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let ping = [Step::Send(chunk(b": ping\n\n")), Step::Pause(Duration::from_millis(20))];
    let mut drip = vec![Step::Send(stream(b"data: a\n\n"))];
    drip.extend(ping.iter().cycle().take(100).cloned());
    for (steps, expected, events) in [
        (vec![Step::Hang], "no first byte within 300 ms", 0),
        (vec![text("HTTP/1.1 200 OK\r\n"), Step::Hang], "no first byte within 300 ms", 0),
        (vec![text(head), Step::Hang], "no first byte of the body within 300 ms", 0),
        (
            vec![Step::Send(stream(&EVENTS[..17])), Step::Hang],
            "nothing more came after 17 bytes within 150 ms",
            1,
        ),
        (drip, "no complete answer within 300 ms", 1),
    ] {
        let server = Server::always(steps);
        let http = hasty(&target(&server.url()), &opening(1, 3));
        let received =
            block(http.call(Call { timeout: Some(Duration::from_millis(300)), ..chat() }));
        assert_eq!((kind(&received), reason(&received).as_str()), ("timeout", expected));
        assert_eq!(received.events.len(), events, "{expected}");
        assert_eq!(received.wire.attempts.len(), 1, "a timeout is not tried again");
        assert_eq!(received.wire.broke.as_deref(), Some(expected));
    }
}

#[test]
fn a_call_without_a_time_ends_all_the_same() {
    let server = Server::always(vec![Step::Hang]);
    let http = hasty(&target(&server.url()), &opening(1, 3));
    let received = block(http.call(Call { timeout: None, ..chat() }));
    assert_eq!(reason(&received), "no first byte within 150 ms");
}

#[test]
fn a_slow_first_byte_is_no_idle_stream() {
    let server = Server::always(vec![
        Step::Pause(Duration::from_millis(200)),
        Step::Send(whole("200 OK", "", "application/json", b"{}")),
    ]);
    assert!(ask(&server).is_success());
}

/// Every byte of an answer can be the last; only the whole is a success.
#[test]
fn a_cut_at_any_byte_is_seen() {
    let answer = [stream(EVENTS), chunk(b"")].concat();
    let head = answer.len() - chunk(EVENTS).len() - chunk(b"").len();
    for cut in 0..=answer.len() {
        let server = Server::always(vec![Step::Send(answer[..cut].to_vec()), Step::Close]);
        let received = ask(&server);
        if cut == answer.len() {
            assert!(received.is_success(), "{}", reason(&received));
            continue;
        }
        assert_eq!(kind(&received), "incomplete", "cut at {cut}: {}", reason(&received));
        assert_eq!(received.status, if cut < head { 0 } else { 200 }, "cut at {cut}");
        assert!(received.events.len() <= 2);
        let expected = match cut < head {
            true => "the connection was closed before the headers of an answer were complete",
            false => "bytes, before the end of the answer",
        };
        assert!(reason(&received).ends_with(expected), "cut at {cut}: {}", reason(&received));
    }
}

#[test]
fn a_body_shorter_than_its_length_is_cut() {
    let mut answer = whole("200 OK", "", "application/json", br#"{"a":1}"#);
    answer.truncate(answer.len() - 3);
    let received = ask(&Server::always(vec![Step::Send(answer), Step::Close]));
    let expected = "the connection was closed after 4 bytes, before the end of the answer";
    assert_eq!((kind(&received), reason(&received).as_str()), ("incomplete", expected));
    assert_eq!(received.wire.response.unwrap().text.as_deref(), Some(r#"{"a""#));
}

/// Without a length the end of the connection is the end of the answer, which is not for the transport to judge.
#[test]
fn an_answer_that_ends_with_its_connection_is_whole() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: a\n\ndata: b";
    let received = ask(&Server::always(vec![text(head), Step::Close]));
    assert_eq!((received.broke, received.events.len()), (None, 2));
    assert_eq!(received.faults, ["the stream ends inside an event"]);
}

#[test]
fn what_is_too_large_is_refused() {
    let piece = chunk(&vec![b'x'; 1 << 20]);
    let endless = |head: Vec<u8>| {
        let pieces = std::iter::repeat_n(Step::Send(piece.clone()), 40);
        std::iter::once(Step::Send(head)).chain(pieces).collect::<Vec<_>>()
    };
    let json =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut lines = vec![Step::Send(stream(b"data: a\n\n"))];
    lines.extend(std::iter::repeat_n(Step::Send(chunk(&b": 16 bytes here\n".repeat(1 << 16))), 40));
    for (steps, expected, events) in [
        (endless(stream(b"data: a\n\ndata: ")), "line 3 of the event stream is over 4 MiB", 1),
        (endless(json.to_vec()), "the answer is over 32 MiB", 0),
        (lines, "the answer is over 32 MiB", 1),
    ] {
        let received = ask(&Server::always(steps));
        assert_eq!((kind(&received), reason(&received).as_str()), ("malformed", expected));
        assert_eq!(received.events.len(), events);
        let record = serde_json::to_string(&received.wire).unwrap();
        assert!(record.len() < 3 * KEPT, "{} bytes", record.len());
        assert!(received.wire.response.unwrap().cut_bytes > Some(1 << 20));
    }
}

#[test]
fn what_speaks_no_http_is_malformed() {
    for steps in [
        vec![text("SSH-2.0-OpenSSH_9.9\r\n\r\n"), Step::Close],
        vec![text("HTTP/1.1 2x0 OK\r\n\r\n"), Step::Close],
        vec![text("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), Step::Close],
    ] {
        let received = ask(&Server::always(steps));
        assert_eq!(kind(&received), "malformed", "{}", reason(&received));
    }
}

#[test]
fn plain_http_behind_https_is_said() {
    // The server of these tests waits for the end of a request, which a handshake has none of.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
    });
    let received = block(hasty(&target(&url), &opening(1, 3)).call(chat()));
    assert_eq!((kind(&received), received.wire.attempts.len()), ("unreachable", 1));
    assert!(
        reason(&received).ends_with("does the server speak `http://`?"),
        "{}",
        reason(&received)
    );
}

#[test]
fn a_connection_that_is_closed_unanswered_is_tried_again() {
    let server = Server::start(|number, _| match number {
        0 => vec![Step::Close],
        _ => vec![Step::Send(whole("200 OK", "", "application/json", b"{}"))],
    });
    let http = hasty(&target(&server.url()), &opening(1, 1));
    let received = block(http.call(chat()));
    assert!(received.is_success());
    assert_eq!(outcomes(&received), ["closed without an answer", "200"]);
}

#[test]
fn an_answer_that_began_is_not_asked_for_again() {
    let server = Server::always(vec![Step::Send(stream(b"data: a\n\n")), Step::Close]);
    let http = hasty(&target(&server.url()), &opening(1, 3));
    let received = block(http.call(chat()));
    assert_eq!((kind(&received), received.wire.attempts.len()), ("incomplete", 1));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere =
        Server::always(vec![Step::Send(whole("200 OK", "", "application/json", b"{}"))]);
    let place = elsewhere.url();
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let more = format!("Location: {place}/x?token=abcdefgh\r\n");
        let server = Server::always(vec![Step::Send(whole(status, &more, "text/html", b""))]);
        let received = ask(&server);
        assert_eq!(kind(&received), "rejected");
        assert!(reason(&received).contains(&format!("to {place}/x, which is not followed")));
        assert!(received.broke.is_some() && received.wire.broke.is_none());
        assert!(!serde_json::to_string(&received.wire).unwrap().contains("abcdefgh"));
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn bytes_that_are_no_text_are_recorded_as_they_are() {
    let received = ask(&Server::always(vec![
        Step::Send(stream(b"data: a\n\ndata: \xff\n\n")),
        Step::Send(chunk(b"")),
    ]));
    assert_eq!(received.faults, ["invalid UTF-8 in line 3"]);
    assert_eq!((received.broke, received.events.len()), (None, 2));
    let record = received.wire.response.unwrap();
    assert_eq!(record.sse, None);
    use base64::Engine as _;
    let decode = |text: &String| base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let bytes = record.chunks_base64.unwrap().iter().map(decode).collect::<Vec<_>>().concat();
    assert_eq!(bytes, b"data: a\n\ndata: \xff\n\n");

    let body = b"\x1f\x8b\xff\x00";
    let received =
        ask(&Server::always(vec![Step::Send(whole("200 OK", "", "application/json", body))]));
    assert_eq!(received.body, body);
    assert_eq!(received.wire.response.unwrap().chunks_base64.unwrap(), ["H4v/AA=="]);
}

/// What a body means is for others to judge: here it must only arrive as it is.
#[test]
fn odd_bodies_arrive_as_they_are() {
    for (content_type, body) in [
        ("application/json", ""),
        ("text/html", "<html>502</html>"),
        ("text/plain", "data: {}\n\n"),
        ("application/json", "{\"error\":{\"message\":\"no\"}}"),
        ("application/json", "{\n  \"a\": 1\n}"),
        ("", "{}"),
    ] {
        let answer = whole("200 OK", "", content_type, body.as_bytes());
        let received = ask(&Server::always(vec![Step::Send(answer)]));
        assert_eq!(received.broke, None);
        assert_eq!(received.body, body.as_bytes());
        assert_eq!(received.content_type, content_type);
        let record = received.wire.response.unwrap();
        let kept = record.body.map(|raw| raw.get().to_owned()).or(record.text);
        assert_eq!(kept.unwrap_or_default(), body);
    }
}
