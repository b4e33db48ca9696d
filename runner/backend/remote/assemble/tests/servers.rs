//! What servers say in their own ways.

use serde_json::{Value, json};

use super::{by_name, chunk, data, delta, finish, openai, streamed, whole, with};
use crate::backend::remote::assemble::chat;
use crate::backend::remote::assemble::logprobs::read as read_logprobs;
use crate::backend::remote::reply::{Choice, NoReply, Reply, TokenLogprob};
use crate::capture::Usage;

fn body(choice: Value, rest: Value) -> String {
    let mut body = json!({"id": "x", "object": "chat.completion", "model": "m", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a"}}
    ]});
    let merge = |into: &mut Value, from: Value| {
        let fields = from.as_object().unwrap().clone();
        into.as_object_mut().unwrap().extend(fields);
    };
    merge(&mut body["choices"][0], choice);
    merge(&mut body, rest);
    body.to_string()
}

fn read(dialect: &str, choice: Value, rest: Value) -> Reply {
    chat(by_name(dialect), &whole(&body(choice, rest))).unwrap()
}

fn only(reply: &Reply) -> &Choice {
    let [choice] = reply.choices.as_slice() else { panic!("{reply:?}") };
    choice
}

fn entry(id: Option<u32>, token: &str, logprob: f32, top: Vec<TokenLogprob>) -> TokenLogprob {
    TokenLogprob { id, token: token.to_owned(), bytes: None, logprob, top }
}

#[test]
fn log_probabilities_in_every_shape() {
    let content = |entry: Value| json!({"content": [entry]});
    let alone = |entry: Value| json!({"content": [], "refusal": [entry]});
    let bytes = |bytes: &[u8]| TokenLogprob {
        bytes: Some(bytes.to_vec()),
        ..entry(Some(7), "token_id:7", -1.0, Vec::new())
    };
    let table: [(Value, Vec<TokenLogprob>); 12] = [
        (Value::Null, vec![]),
        (json!({"content": null}), vec![]),
        (content(json!({"token": "a", "logprob": -0.5})), vec![entry(None, "a", -0.5, vec![])]),
        (alone(json!({"token": "a", "logprob": -0.5})), vec![entry(None, "a", -0.5, vec![])]),
        // llama.cpp, after sampling.
        (
            content(
                json!({"id": 3, "token": "a", "prob": 1.0, "top_probs": [{"id": 4, "token": "b", "prob": 1.0}]}),
            ),
            vec![entry(Some(3), "a", 0.0, vec![entry(Some(4), "b", 0.0, vec![])])],
        ),
        // vLLM: the bytes of the chosen token, and those of the name of an alternative.
        (
            content(json!({"token": "token_id:7", "logprob": -1.0, "bytes": [65]})),
            vec![bytes(b"A")],
        ),
        (
            content(json!({"token": "token_id:7", "logprob": -1.0, "bytes": b"token_id:7"})),
            vec![entry(Some(7), "token_id:7", -1.0, vec![])],
        ),
        // mistral.rs: one entry, whose alternatives have ids for tokens.
        (
            json!({"token": "a", "logprob": -0.5, "top_logprobs": [{"token": 9, "logprob": -0.5, "bytes": "a"}]}),
            vec![entry(None, "a", -0.5, vec![entry(Some(9), "a", -0.5, vec![])])],
        ),
        // The completions API.
        (
            json!({"tokens": ["a", "b"], "token_logprobs": [-0.5, -1.0], "text_offset": [0, 1], "top_logprobs": [{"a": -0.5, "c": -2.0}, null]}),
            vec![
                entry(
                    None,
                    "a",
                    -0.5,
                    vec![entry(None, "a", -0.5, vec![]), entry(None, "c", -2.0, vec![])],
                ),
                entry(None, "b", -1.0, vec![]),
            ],
        ),
        (
            json!({"tokens": ["token_id:7"], "token_logprobs": [-1.0], "top_logprobs": null}),
            vec![entry(Some(7), "token_id:7", -1.0, vec![])],
        ),
        (
            json!({"tokens": ["a"], "token_logprobs": [-1.0], "top_logprobs": [[{"token": "b", "logprob": -2.0}]]}),
            vec![entry(None, "a", -1.0, vec![entry(None, "b", -2.0, vec![])])],
        ),
        (json!([{"token": "a", "logprob": -0.5}]), vec![entry(None, "a", -0.5, vec![])]),
    ];
    for (value, expected) in table {
        assert_eq!(read_logprobs(value.clone()), Ok(expected), "{value}");
    }
    assert_eq!(read_logprobs(json!("x")), Err(json!("x")));
    let missing = read_logprobs(json!({"content": [{"token": "a", "logprob": null}]})).unwrap();
    assert!(missing[0].logprob.is_nan());
    let never = read_logprobs(json!({"content": [{"token": "a", "prob": 0.0}]})).unwrap();
    assert_eq!(never[0].logprob, f32::NEG_INFINITY);
}

#[test]
fn llamacpp_tells_ids_and_the_end_in_its_native_result() {
    let native = |stop: &str, word: &str| {
        json!({"__verbose": {
            "index": 0, "content": "raw", "tokens": [5, 6], "prompt": "<|a|>", "stop_type": stop,
            "stopping_word": word, "truncated": false,
            "completion_probabilities": [{"id": 5, "token": "a", "logprob": -0.5}],
        }, "timings": {"predicted_n": 2}})
    };
    let reply = read("llamacpp", json!({}), native("word", "END"));
    let choice = only(&reply);
    assert_eq!(reply.prompt_text.as_deref(), Some("<|a|>"));
    assert_eq!(choice.token_ids, Some(vec![5, 6]));
    assert_eq!(choice.stop_type.as_deref(), Some("word"));
    assert_eq!(choice.stop_reason, Some(json!("END")));
    assert_eq!(choice.logprobs, [entry(Some(5), "a", -0.5, vec![])]);
    let rest = json!({"index": 0, "content": "raw", "stop_type": "word", "stopping_word": "END", "truncated": false});
    assert_eq!(reply.native["__verbose"], rest);
    assert_eq!(reply.native["timings"], json!({"predicted_n": 2}));
    let reply = read("llamacpp", json!({}), native("eos", ""));
    assert_eq!(
        (&only(&reply).stop_reason, only(&reply).stop_type.as_deref()),
        (&None, Some("eos"))
    );
    // A stream ends with an empty list, whatever was generated.
    let empty = json!({"index": 0, "content": "", "tokens": [], "stop_type": "eos"});
    let stream = streamed(&data(&[
        delta(json!({"content": "a"})),
        with(finish("stop"), "__verbose", empty),
    ]));
    let reply = chat(by_name("llamacpp"), &stream).unwrap();
    assert_eq!((only(&reply).token_ids.clone(), reply.faults.len()), (None, 0));
}

#[test]
fn llamacpp_streams_a_completion_with_its_ids() {
    let event = |text: &str, finish: Value, native: Value| {
        json!({"id": "x", "object": "text_completion", "model": "m", "__verbose": native, "choices": [
            {"index": 0, "text": text, "logprobs": null, "finish_reason": finish}
        ]})
    };
    let token = |id: u32, text: &str| {
        let entry = json!({"id": id, "token": text, "bytes": text.as_bytes(), "logprob": -0.5});
        json!({"index": 0, "content": text, "tokens": [id], "completion_probabilities": [entry]})
    };
    let end = json!({"index": 0, "content": "", "tokens": [], "prompt": "p", "stop_type": "eos"});
    let stream = streamed(&data(&[
        event("a", Value::Null, token(5, "a")),
        event("b", Value::Null, token(6, "b")),
        event("", Value::Null, token(9, "")),
        event("", json!("stop"), end),
    ]));
    let reply = chat(by_name("llamacpp"), &stream).unwrap();
    let choice = only(&reply);
    assert_eq!((choice.token_ids.clone(), reply.faults.len()), (Some(vec![5, 6, 9]), 0));
    let ids: Vec<Option<u32>> = choice.logprobs.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [Some(5), Some(6), Some(9)]);
    assert_eq!(reply.native["__verbose"]["content"], "ab");
    assert_eq!(reply.prompt_text.as_deref(), Some("p"));
}

#[test]
fn sglang_tells_ids_in_three_places() {
    let of_choice = json!({
        "prompt_token_ids": [1, 2], "response_token_ids": [3, 4], "matched_stop": 4,
        "reasoning_content": null,
        "logprobs": {"content": [
            {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.0}]},
            {"token": "", "logprob": -0.25, "top_logprobs": []},
        ]},
        "meta_info": {
            "finish_reason": {"type": "stop", "matched": 4},
            "output_token_logprobs": [[-0.5, 3, "a"], [-0.25, 4, null]],
            "output_top_logprobs": [[[-0.5, 3, null], [-1.0, 8, null]], null],
            "weight_version": "default",
        },
    });
    let reply = read("sglang", of_choice, json!({"metadata": {"weight_version": "default"}}));
    let choice = only(&reply);
    assert_eq!(reply.prompt_ids, Some(vec![1, 2]));
    assert_eq!(choice.token_ids, Some(vec![3, 4]));
    assert_eq!((&choice.stop_reason, choice.stop_type.as_deref()), (&Some(json!(4)), Some("stop")));
    let top = vec![entry(Some(3), "a", -0.5, vec![]), entry(Some(8), "b", -1.0, vec![])];
    assert_eq!(
        choice.logprobs,
        [entry(Some(3), "a", -0.5, top), entry(Some(4), "", -0.25, vec![])]
    );
    let rest =
        json!({"finish_reason": {"type": "stop", "matched": 4}, "weight_version": "default"});
    assert_eq!(choice.native["meta_info"], rest);
    assert_eq!(reply.native["metadata"], json!({"weight_version": "default"}));

    let alone = json!({"meta_info": {"output_token_logprobs": [[-0.5, 3, "a"]]}});
    let reply = read("sglang", alone, json!({}));
    assert_eq!(only(&reply).logprobs, [entry(Some(3), "a", -0.5, vec![])]);

    let extra = json!({"input_ids": [1, 2], "output_ids": [[3, 4]], "spec_tokens_details": {"accepted": 1}});
    let extra = with(chunk(json!([])), "sglext", extra);
    let stream = streamed(&data(&[
        delta(json!({"role": "assistant", "content": "a"})),
        finish("stop"),
        extra,
    ]));
    let reply = chat(by_name("sglang"), &stream).unwrap();
    assert_eq!((reply.prompt_ids, reply.faults), (Some(vec![1, 2]), vec![]));
    assert_eq!(reply.choices[0].token_ids, Some(vec![3, 4]));
    assert_eq!(reply.native["sglext"], json!({"spec_tokens_details": {"accepted": 1}}));
}

#[test]
fn sglang_words_errors_flat() {
    let flat = json!({"object": "error", "message": "too long", "type": "BadRequestError", "param": "messages", "code": 400});
    let Err(NoReply::Refused(error)) = openai(&whole(&flat.to_string())) else { panic!() };
    assert_eq!((error.status, error.message.as_str()), (400, "too long"));
    assert_eq!(
        (error.kind.as_deref(), error.param.as_deref()),
        (Some("BadRequestError"), Some("messages"))
    );
}

#[test]
fn events_with_a_name_are_no_chunks() {
    let mut stream =
        streamed(&data(&[delta(json!({"content": "a"})), finish("stop"), json!({"ids": [1]})]));
    stream.events[2].name = "sglext_ids".to_owned();
    let reply = openai(&stream).unwrap();
    assert_eq!((&reply.native["sglext_ids"], reply.faults.len()), (&json!({"ids": [1]}), 0));
}

#[test]
fn tgi_has_empty_ids_and_finish_reasons_and_repeats_the_role() {
    let chunk = |text: &str, finish: Value| {
        json!({"id": "", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": {"role": "assistant", "content": text}, "logprobs": null, "finish_reason": finish}
        ]})
    };
    let stream = streamed(&data(&[chunk("a", json!("")), chunk("b", json!("stop_sequence"))]));
    let reply = chat(by_name("tgi"), &stream).unwrap();
    assert_eq!((reply.id.clone(), reply.faults.clone()), (None, vec![]));
    assert_eq!(only(&reply).finish_reason.as_deref(), Some("stop_sequence"));
    assert_eq!(only(&reply).deltas[0].finish_reason, None);
    assert_eq!(only(&reply).content.as_deref(), Some("ab"));
    let faults = openai(&stream).unwrap().faults;
    assert_eq!(faults.len(), 3, "{faults:?}");
    let never = streamed(&data(&[chunk("a", json!(""))]));
    assert!(matches!(chat(by_name("tgi"), &never), Err(NoReply::Incomplete(_))));
}

#[test]
fn ollama_puts_an_error_into_the_form_of_a_chunk() {
    let named = delta(json!({"role": "assistant", "content": "a"}));
    let error = with(delta(json!({"role": "assistant", "content": ""})), "model", json!(""));
    let read = |data: &[Value]| chat(by_name("ollama"), &streamed(data));
    let Err(NoReply::Refused(error_body)) = read(&[named.clone(), error]) else { panic!() };
    assert!(error_body.message.contains("event 2, the last one"), "{error_body:?}");
    // An empty chunk of a named model is none.
    let empty = delta(json!({"role": "assistant", "content": ""}));
    assert!(matches!(read(&[named, empty]), Err(NoReply::Incomplete(_))));
}

#[test]
fn mistralrs_has_usage_and_one_log_probability_on_content() {
    let mut last = chunk(
        json!([{"index": 0, "finish_reason": "stop", "delta": {"role": "assistant", "content": "b"},
        "logprobs": {"token": "b", "logprob": -0.5, "bytes": [98], "top_logprobs": []}}]),
    );
    last["usage"] = json!({"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6, "avg_tok_per_sec": 1.5});
    let reply =
        openai(&streamed(&data(&[delta(json!({"role": "assistant", "content": "a"})), last])))
            .unwrap();
    assert_eq!(reply.usage, Some(Usage { prompt_tokens: 4, completion_tokens: 2 }));
    assert_eq!(only(&reply).deltas[1].usage, reply.usage);
    assert_eq!(only(&reply).logprobs[0].bytes, Some(b"b".to_vec()));
    assert_eq!(reply.native["usage"], json!({"avg_tok_per_sec": 1.5}));
    assert_eq!(
        reply.faults,
        [
            "event 2: the role of choice 0 comes late or again",
            "event 2: it has usage that was not asked for"
        ]
    );
}

#[test]
fn tensorrt_llm_names_a_call_without_an_id_and_reasons_twice() {
    let call = json!({"tool_calls": [{"index": 0, "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let reasoning = json!({"reasoning": "r", "reasoning_content": "r"});
    let stream = streamed(&data(&[delta(reasoning), delta(call), finish("tool_calls")]));
    let reply = openai(&stream).unwrap();
    assert_eq!(only(&reply).tool_calls[0].name, "f");
    assert_eq!(only(&reply).reasoning.as_deref(), Some("r"));
    assert_eq!(reply.faults, ["call 0 has no id"]);
    let other = json!({"message": {"content": null, "reasoning": "r", "reasoning_content": "s", "refusal": "no"}});
    let reply = read("openai", other, json!({}));
    assert_eq!(only(&reply).reasoning.as_deref(), Some("s"));
    assert_eq!(only(&reply).native["reasoning"], json!("r"));
    assert_eq!(only(&reply).refusal.as_deref(), Some("no"));
}

#[test]
fn what_nobody_knows_is_kept() {
    let call = |text: &str| {
        json!({"mood": text, "tool_calls": [
            {"index": 0, "id": "a", "function": {"name": if text == "go" { "f" } else { "" }}, "extra_content": {"n": 1}}
        ]})
    };
    let last =
        with(with(finish("stop"), "obfuscation", json!("x1")), "service_tier", json!("flex"));
    let reply = openai(&streamed(&data(&[delta(call("go")), delta(call("od")), last]))).unwrap();
    let choice = only(&reply);
    assert_eq!(choice.native["mood"], "good");
    assert_eq!(
        choice.native["tool_calls"],
        json!([{"extra_content": {"n": 1}}, {"extra_content": {"n": 1}}])
    );
    assert_eq!(reply.native["service_tier"], "flex");
    assert_eq!(reply.faults, [""; 0]);
}
