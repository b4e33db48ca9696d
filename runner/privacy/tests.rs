use super::*;
use crate::capture::{
    Attempt, CHAT, Line, Observed, Termination, WireCall, WireRequest, WireResponse,
};
use crate::report::sample;

fn call() -> WireCall {
    let body = serde_json::value::to_raw_value("Oslo").unwrap();
    WireCall {
        purpose: CHAT.to_owned(),
        request: WireRequest {
            method: "POST".to_owned(),
            path: "/v1/x".to_owned(),
            body: Some(body),
        },
        response: Some(WireResponse {
            status: 200,
            headers: [("content-type".to_owned(), "text/event-stream".to_owned())].into(),
            body: None,
            text: None,
            sse: Some(vec![Line::Timed(1.0, "data: Oslo".to_owned())]),
            chunks_base64: None,
            cut_bytes: None,
        }),
        attempts: vec![Attempt { outcome: "200".to_owned(), waited_ms: 0.0 }; 2],
        broke: Some("after Oslo".to_owned()),
    }
}

#[test]
fn the_stricter_is_the_greater() {
    let mut sorted = Privacy::ALL;
    sorted.sort();
    assert_eq!(sorted, [Privacy::Full, Privacy::Hashed, Privacy::IdsOnly]);
}

#[test]
fn ids_counts_and_statuses_outlive_the_texts() {
    let mut seen = sample::exchange();
    seen.wire = vec![call()];
    assert_eq!(*exchange(Privacy::Full, &seen), seen);
    assert_eq!(withheld(&seen), None);
    for privacy in [Privacy::Hashed, Privacy::IdsOnly] {
        let masked = exchange(privacy, &seen).into_owned();
        let text = serde_json::to_string(&masked).unwrap();
        for word in ["Oslo", "degrees", "im_start", "get_weather", "city"] {
            assert!(!text.contains(word), "{privacy:?} holds {word} in {text}");
        }
        assert!(withheld(&masked).is_some());
        assert_eq!(masked.input.seen().unwrap().ids(), seen.input.seen().unwrap().ids());
        let (before, after) = (seen.generation.seen().unwrap(), masked.generation.seen().unwrap());
        assert_eq!((after.ids(), after.count), (before.ids(), before.count));
        assert_eq!(after.termination, Termination::Eos(2));
        assert_eq!(after.tokens.seen().unwrap()[0].logprob, Some(-0.105));
        assert_eq!(masked.settings, seen.settings);
        let response = masked.response.seen().unwrap();
        assert_eq!(response.finish_reason.as_deref(), Some("stop"));
        assert_eq!(response.tool_calls.len(), 1);
        let wire = &masked.wire[0];
        assert_eq!((wire.response.as_ref().unwrap().status, wire.attempts.len()), (200, 2));
        assert!(wire.response.as_ref().unwrap().sse.is_none());
        assert_eq!(wire.request.body.is_some(), privacy == Privacy::Hashed);
    }
}

#[test]
fn equal_texts_have_equal_hashes_and_others_have_not() {
    let masked = |text: &str| {
        let mut seen = sample::exchange();
        seen.request.messages[0].content = Some(text.to_owned());
        exchange(Privacy::Hashed, &seen).into_owned().request.messages[0].content.clone().unwrap()
    };
    assert_eq!(masked("Oslo?"), masked("Oslo?"));
    assert_ne!(masked("Oslo?"), masked("Oslo!"));
    assert!(masked("Oslo?").ends_with(", 5 characters]"));
}

#[test]
fn what_was_hidden_before_keeps_its_reason() {
    let mut seen = sample::exchange();
    seen.generation = Observed::Hidden("the server returns no ids".to_owned());
    assert_eq!(exchange(Privacy::IdsOnly, &seen).generation, seen.generation);
}

#[test]
fn a_verdict_keeps_its_statuses_and_its_places() {
    for case in sample::cases() {
        let event = Event::Case(Box::new(case.clone()));
        let masked = self::event(Privacy::IdsOnly, &event).into_owned();
        let Event::Case(masked) = masked else { panic!("another event") };
        assert_eq!(
            (&masked.id, masked.status, masked.boundary),
            (&case.id, case.status, case.boundary)
        );
        let text = serde_json::to_string(&masked).unwrap();
        for word in ["degrees", "Oslo", "assistant", "atol: 0.02, near", "parser drops"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        for (before, after) in case.findings.iter().zip(&masked.findings) {
            assert_eq!((&before.name, before.outcome.status), (&after.name, after.outcome.status));
            assert_eq!(
                before.outcome.at.as_deref().filter(|at| at.starts_with("token")),
                after.outcome.at.as_deref()
            );
        }
    }
}

#[test]
fn a_user_who_writes_of_what_is_withheld_is_judged_all_the_same() {
    let mut seen = sample::exchange();
    seen.request.messages[0].content = Some("[withheld] and more".to_owned());
    assert_eq!(withheld(&seen), None);
}
