//! Errors, in each of the forms in which servers word them.

use serde_json::{Map, Value};

use super::reply::ErrorBody;
use crate::text::{clip, printable};

/// Reads the body of an answer that is no success. Whatever it is, there is something to say.
pub fn read(status: u16, content_type: &str, body: &[u8]) -> ErrorBody {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => ErrorBody { status, ..object_error(&object) },
        Ok(Value::String(message)) => ErrorBody { status, message, ..ErrorBody::default() },
        _ => ErrorBody { status, message: plain(content_type, &text), ..ErrorBody::default() },
    }
}

/// The error in a body or in an event whose status says success; `None` when it is none.
pub fn inside(object: &Map<String, Value>) -> Option<ErrorBody> {
    let wrapped = object.get("error").is_some_and(|error| !error.is_null());
    let flat = object.get("object").is_some_and(|kind| kind == "error");
    if !wrapped && !flat {
        return None;
    }
    let holder = object.get("error").and_then(Value::as_object).unwrap_or(object);
    let code = ["code", "http_status_code"].iter().find_map(|key| number(holder.get(*key)?));
    Some(ErrorBody { status: code.unwrap_or(200), ..object_error(object) })
}

/// An HTTP status of an error, as a number or as digits.
fn number(value: &Value) -> Option<u16> {
    let number = match value {
        Value::String(digits) => digits.parse().ok(),
        other => other.as_u64().and_then(|number| u16::try_from(number).ok()),
    };
    number.filter(|status| (400..600).contains(status))
}

fn object_error(object: &Map<String, Value>) -> ErrorBody {
    match (object.get("error"), object.get("detail")) {
        (Some(Value::Object(error)), _) => fields(error),
        (Some(error), _) if !error.is_null() => {
            ErrorBody { message: said(error), ..fields(object) }
        }
        (_, Some(Value::Array(problems))) => detail(problems),
        (_, Some(Value::Object(detail))) => fields(detail),
        (_, Some(detail)) if !detail.is_null() => {
            ErrorBody { message: said(detail), ..fields(object) }
        }
        _ => fields(object),
    }
}

/// `message`, `type`, `param` and `code`, whichever are there; without a message everything that is there is one.
fn fields(error: &Map<String, Value>) -> ErrorBody {
    let some = |keys: &[&str]| {
        keys.iter().find_map(|key| error.get(*key).filter(|value| !value.is_null()).map(said))
    };
    let message = some(&["message", "msg"]);
    ErrorBody {
        status: 0,
        message: message.unwrap_or_else(|| Value::Object(error.clone()).to_string()),
        kind: some(&["type", "error_type", "code"]),
        param: some(&["param"]),
    }
}

/// A list of problems as FastAPI words it: `{"loc": ["body", "messages"], "msg": …, "type": …}`.
fn detail(problems: &[Value]) -> ErrorBody {
    let place = |problem: &Value| {
        let loc = problem.get("loc")?.as_array()?;
        Some(loc.iter().filter(|part| *part != "body").map(said).collect::<Vec<_>>().join("."))
    };
    let sentence = |problem: &Value| {
        let message = problem.get("msg").map_or_else(|| said(problem), said);
        match place(problem).filter(|place| !place.is_empty()) {
            Some(place) => format!("{place}: {message}"),
            None => message,
        }
    };
    let first = problems.first();
    ErrorBody {
        status: 0,
        message: problems.iter().map(sentence).collect::<Vec<_>>().join("; "),
        kind: first.and_then(|problem| problem.get("type")).map(said),
        param: first.and_then(place).filter(|place| !place.is_empty()),
    }
}

/// A text as it is, anything else as JSON.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn plain(content_type: &str, text: &str) -> String {
    let text = printable(text.trim());
    if text.is_empty() {
        return "the answer has no body".to_owned();
    }
    let text = clip(&text, 400);
    if content_type == "text/html" { format!("an HTML page: {text}") } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(message: &str, kind: Option<&str>, param: Option<&str>) -> ErrorBody {
        let some = |text: Option<&str>| text.map(str::to_owned);
        ErrorBody { status: 400, message: message.to_owned(), kind: some(kind), param: some(param) }
    }

    #[test]
    fn every_form_of_an_error() {
        let table = [
            (
                json!({"error": {"message": "no", "type": "invalid", "param": "n", "code": "c"}}),
                error("no", Some("invalid"), Some("n")),
            ),
            (
                json!({"error": {"message": "no", "type": null, "code": 7}}),
                error("no", Some("7"), None),
            ),
            (
                json!({"object": "error", "message": "no", "type": "Bad", "param": null}),
                error("no", Some("Bad"), None),
            ),
            (json!({"error": "no"}), error("no", None, None)),
            (
                json!({"error": "no", "error_type": "validation"}),
                error("no", Some("validation"), None),
            ),
            (json!({"detail": "Not Found"}), error("Not Found", None, None)),
            (
                json!({"detail": [
                    {"type": "missing", "loc": ["body", "messages", 0], "msg": "Field required"},
                    {"loc": ["body"], "msg": "bad"},
                    "odd",
                ]}),
                error("messages.0: Field required; bad; odd", Some("missing"), Some("messages.0")),
            ),
            (json!({"detail": {"msg": "no", "code": 3}}), error("no", Some("3"), None)),
            (json!({"status": "down"}), error(r#"{"status":"down"}"#, None, None)),
            (json!("no"), error("no", None, None)),
        ];
        for (body, expected) in table {
            let read = read(400, "application/json", body.to_string().as_bytes());
            assert_eq!(read, expected, "{body}");
        }
    }

    #[test]
    fn a_body_that_is_no_json_is_shown() {
        let message = |kind: &str, body: &[u8]| read(502, kind, body).message;
        assert_eq!(message("text/plain", b"Internal Server Error\n"), "Internal Server Error");
        assert_eq!(
            message("text/html", b"<b>\n\x1b[31m</b>"),
            "an HTML page: <b>\\n\\u001b[31m</b>"
        );
        assert_eq!(message("", b" \n"), "the answer has no body");
        assert_eq!(message("", b"\xff"), "\u{fffd}");
        assert!(message("", "a".repeat(1000).as_bytes()).chars().count() <= 400);
    }

    #[test]
    fn an_error_in_a_success_has_the_status_that_it_names() {
        let inside = |value: Value| inside(value.as_object().unwrap()).map(|error| error.status);
        assert_eq!(inside(json!({"error": {"message": "no"}})), Some(200));
        assert_eq!(inside(json!({"error": {"message": "no", "code": 429}})), Some(429));
        assert_eq!(inside(json!({"error": {"message": "no", "code": "503"}})), Some(503));
        assert_eq!(inside(json!({"error": {"message": "no", "code": "full"}})), Some(200));
        assert_eq!(inside(json!({"error": {"message": "no", "http_status_code": 422}})), Some(422));
        assert_eq!(inside(json!({"object": "error", "message": "no", "code": 400})), Some(400));
        assert_eq!(inside(json!({"error": "no"})), Some(200));
        assert_eq!(inside(json!({"error": null, "choices": []})), None);
        assert_eq!(inside(json!({"object": "chat.completion"})), None);
    }
}
