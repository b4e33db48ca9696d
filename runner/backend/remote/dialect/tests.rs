use serde_json::json;

use super::super::reply::Reply;
use super::*;

#[test]
fn names_are_unique_and_found() {
    for dialect in ALL {
        assert!(std::ptr::eq(by_name(dialect.name).unwrap(), *dialect));
        assert!(!dialect.summary.is_empty() && !dialect.errors.is_empty());
        assert!(dialect.finishes.contains(&"stop") && dialect.finishes.contains(&"length"));
        for (ours, _) in dialect.settings {
            let known = serde_json::from_value::<crate::request::Settings>(json!({*ours: null}));
            assert!(known.is_ok(), "{}: `{ours}` is no setting", dialect.name);
        }
    }
    assert!(by_name("auto").is_none());
}

/// What one server answers must be taken for no other's.
#[test]
fn every_probe_recognises_its_own_server_and_no_other() {
    let answers = [
        ("llamacpp", 200, json!({"default_generation_settings": {"params": {}}, "total_slots": 1})),
        ("sglang", 200, json!({"model_path": "m", "is_generation": true})),
        ("tgi", 200, json!({"model_id": "m", "max_total_tokens": 2048})),
        ("ollama", 200, json!({"version": "0.33.0"})),
        ("vllm", 200, json!({"count": 1, "max_model_len": 2048, "tokens": [64]})),
        ("transformers", 422, json!({"detail": "Unexpected fields in the request: {'x'}"})),
        ("none", 404, json!({"error": {"message": "not found"}})),
        ("none", 200, json!("ok")),
        ("none", 500, Value::Null),
    ];
    for (name, status, answer) in &answers {
        for dialect in ALL {
            let Some(probe) = &dialect.probe else { continue };
            let found = (probe.recognise)(*status, answer).is_some();
            assert_eq!(found, dialect.name == *name, "{} on {answer}", dialect.name);
        }
    }
}

fn told(
    dialect: &str,
    answers: &[(&str, Value)],
    reply: &Reply,
    rendered: Option<&Value>,
) -> Vec<Told> {
    let facts = Facts::of(answers);
    let telling = Telling { facts: &facts, reply, rendered, local: None };
    (by_name(dialect).unwrap().resolve)(&telling)
}

fn value<'a>(told: &'a [Told], name: &str) -> (&'a Value, bool) {
    let told = told.iter().find(|told| told.name == name).unwrap();
    (&told.value, told.of_request)
}

#[test]
fn llamacpp_tells_the_settings_of_a_reply_or_its_defaults() {
    let settings = json!({"temperature": 0.0, "top_k": 40, "n_predict": -1, "seed": 4_294_967_295u32, "min_p": 0.05000000074505806});
    let mut reply = Reply::default();
    reply.native.insert("__verbose".to_owned(), json!({"generation_settings": settings}));
    let of_reply = told("llamacpp", &[], &reply, None);
    assert_eq!(value(&of_reply, "temperature"), (&json!(0.0), true));
    assert_eq!(value(&of_reply, "min_p"), (&json!(0.05), true));
    assert_eq!(value(&of_reply, "seed"), (&json!("random"), true));
    let props = json!({"default_generation_settings": {"params": {"temperature": 0.800000011920929, "top_k": 40}}});
    let defaults = told("llamacpp", &[("/props", props)], &Reply::default(), None);
    assert_eq!(value(&defaults, "temperature"), (&json!(0.8), false));
    assert_eq!(defaults.len(), 2);
    assert!(told("llamacpp", &[], &Reply::default(), None).is_empty());
}

#[test]
fn vllm_tells_what_its_render_route_resolved_and_what_it_left_at_its_default() {
    let rendered = json!({"sampling_params": {"temperature": 0.6, "top_k": 20, "max_tokens": 24}});
    let told = told("vllm", &[], &Reply::default(), Some(&rendered));
    assert_eq!(value(&told, "temperature"), (&json!(0.6), true));
    assert_eq!(value(&told, "top_p"), (&json!(1.0), true));
    let source = |name: &str| told.iter().find(|told| told.name == name).unwrap().source;
    assert_eq!(source("top_k"), "the render route");
    assert!(source("top_p").contains("default"));
}

#[test]
fn sglang_and_ollama_tell_by_their_rules() {
    let info = [("/server_info", json!({"sampling_defaults": "openai"}))];
    let sglang = told("sglang", &info, &Reply::default(), None);
    assert_eq!(value(&sglang, "temperature"), (&json!(1.0), false));
    // The model's own file is not at hand.
    let info = [("/server_info", json!({"sampling_defaults": "model"}))];
    assert!(told("sglang", &info, &Reply::default(), None).is_empty());
    let show = json!({"parameters": "stop                           \"<|im_end|>\"\ntop_k                          12\n"});
    let ollama = told("ollama", &[("/api/show", show)], &Reply::default(), None);
    assert_eq!(value(&ollama, "temperature"), (&json!(1.0), false));
    assert_eq!(value(&ollama, "top_k"), (&json!(12), false));
    assert_eq!(value(&ollama, "repetition_penalty"), (&json!(1.0), false));
}

#[test]
fn profiles_ask_for_evidence_without_what_the_server_refuses() {
    let mut request = crate::assertion::sample::request(&[(crate::request::Role::User, "hi")]);
    let fields = |name: &str, request: &Request| {
        let mut body = Map::new();
        (by_name(name).unwrap().profile)(request, &mut body);
        body.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fields("openai", &request), "logprobs top_logprobs");
    assert_eq!(fields("transformers", &request), "");
    assert!(fields("llamacpp", &request).ends_with("cache_prompt logprobs top_logprobs"));
    assert!(fields("sglang", &request).contains("return_token_ids"));
    request.stream = true;
    assert!(fields("sglang", &request).contains("return_output_ids_in_sglext"));
    request.tools = vec![json!({})];
    assert!(!fields("llamacpp", &request).contains("logprobs"));
}

#[test]
fn vllm_says_by_silence_that_the_first_end_id_ended_it() {
    let mend = by_name("vllm").unwrap().mend;
    let ended = |finish: &str, reason: Option<Value>| {
        let finish_reason = Some(finish.to_owned());
        let mut choice = Choice { finish_reason, stop_reason: reason, ..Choice::default() };
        mend(&mut choice);
        choice.stop_type
    };
    assert_eq!(ended("stop", None).as_deref(), Some("eos"));
    assert_eq!(ended("stop", Some(json!("plum"))), None);
    assert_eq!(ended("length", None), None);
}
