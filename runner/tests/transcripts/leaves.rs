//! Nothing of a reply is lost: whichever value of it is another, what is read is another.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Recorded, read, recorded};

/// What is left out, and why.
const IGNORED: [(&str, &str); 2] = [
    ("choices/*/logprobs/text_offset/*", "follows from the texts of the tokens"),
    ("created", "the server's clock"),
];

/// What a later event says anew, by which the earlier one is lost.
const REPLACED: [&str; 2] = ["/timings/", "/prompt_progress/"];

/// How many events of a long stream are changed at its beginning, and at its end.
const ENDS: usize = 4;

/// The places of all values in a JSON text, as JSON pointers.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                // A value that misses in a list has no meaning of its own.
                if !value.is_null() {
                    pointers(value, &format!("{at}/{index}"), found);
                }
            }
        }
        _ => found.push(at.to_owned()),
    }
}

fn change(value: &mut Value) {
    *value = match &*value {
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Number(number) if number.is_u64() => Value::from(number.as_u64().unwrap() + 1),
        Value::Number(number) => Value::from(number.as_f64().unwrap() * 0.5 - 0.25),
        Value::String(text) => Value::from(format!("{text}\u{2603}")),
        _ => Value::from("\u{2603}"),
    };
}

/// The bodies that make up a reply.
fn documents(call: &Recorded) -> Vec<Value> {
    let received = &call.received;
    if received.is_stream() {
        let data = received.events.iter().map(|event| event.data.as_str());
        return data.filter_map(|data| serde_json::from_str(data).ok()).collect();
    }
    serde_json::from_slice(&received.body).into_iter().collect()
}

fn with(call: &Recorded, number: usize, document: &Value) -> Recorded {
    let mut received = call.received.clone();
    if received.is_stream() {
        received.events[number].data = document.to_string();
    } else {
        received.body = document.to_string().into_bytes();
    }
    Recorded { server: call.server, case: call.case.clone(), received }
}

#[test]
fn every_value_of_every_reply_matters() {
    let mut lost = BTreeSet::new();
    let mut changed = 0;
    for call in recorded() {
        let Ok(reply) = read(&call) else { continue };
        // Not by `==`, as a missing log-probability is not a number.
        let before = format!("{reply:?}");
        let documents = documents(&call);
        for (number, document) in documents.iter().enumerate() {
            if number >= ENDS && number + ENDS < documents.len() {
                continue;
            }
            let mut places = Vec::new();
            pointers(document, "", &mut places);
            for place in places {
                let mut document = document.clone();
                change(document.pointer_mut(&place).unwrap());
                changed += 1;
                let after = read(&with(&call, number, &document));
                let same = after.is_ok_and(|after| format!("{after:?}") == before);
                let mut later = documents.iter().skip(number + 1);
                let replaced = REPLACED.iter().any(|part| place.starts_with(part))
                    && later.any(|later| later.pointer(&place).is_some());
                if same && !replaced {
                    lost.insert(shape(&place));
                }
            }
        }
    }
    assert!(changed > 5_000, "{changed}");
    let ignored: BTreeSet<String> = IGNORED.iter().map(|(place, _)| (*place).to_owned()).collect();
    assert_eq!(lost, ignored);
}

/// A place without the numbers in it.
fn shape(place: &str) -> String {
    let steps = place.split('/').skip(1);
    steps
        .map(|step| if step.parse::<usize>().is_ok() { "*" } else { step })
        .collect::<Vec<_>>()
        .join("/")
}
