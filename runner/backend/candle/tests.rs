use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::capture::{Generation, Response, Setting, Termination};
use crate::finding::Location;
use crate::request::{Message, Role, Settings};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/models/tiny-chat")
}

fn target(model: PathBuf) -> CandleTarget {
    let location = Location::default();
    CandleTarget { model, device: "cpu".into(), dtype: "f32".into(), location }
}

fn open() -> Candle {
    Candle::open(&target(fixture())).unwrap()
}

fn request(text: &str, settings: Value) -> Request {
    Request {
        messages: vec![Message::text(Role::User, text)],
        tools: vec![],
        tool_choice: None,
        settings: serde_json::from_value::<Settings>(settings).unwrap(),
        template: serde_json::Map::new(),
        stream: false,
        prefill: false,
        top_logprobs: 3,
        timeout: None,
    }
}

fn wait<T>(answer: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(answer)
}

fn ask(candle: &Candle, request: &Request) -> Result<Exchange, BackendError> {
    let asked = Ask { request, case: "stopping/a.b", turn: 0 };
    wait(candle.exchange(asked)).map_err(|failed| failed.error)
}

fn parts(exchange: &Exchange) -> (&Vec<Setting>, &Generation, &Response) {
    (
        exchange.settings.seen().unwrap(),
        exchange.generation.seen().unwrap(),
        exchange.response.seen().unwrap(),
    )
}

/// The fixture with some files written anew or, where there is no text, left out.
fn changed(files: &[(&str, Option<&str>)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fixture().read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if !files.iter().any(|(changed, _)| *changed == name) {
            std::fs::copy(entry.path(), dir.path().join(name)).unwrap();
        }
    }
    for (name, text) in files.iter().filter_map(|(name, text)| Some((name, (*text)?))) {
        File::create(dir.path().join(name)).unwrap().write_all(text.as_bytes()).unwrap();
    }
    dir
}

#[test]
fn every_boundary_is_seen_and_they_agree() {
    let candle = open();
    let request = request("My name is Ada.", json!({"temperature": 0.0, "max_tokens": 200}));
    let exchange = ask(&candle, &request).unwrap();
    let files = ModelDir::open(&fixture()).unwrap();
    let input = exchange.input.seen().unwrap();
    let prompt = input.prompt.seen().unwrap();
    assert!(prompt.ends_with("<|im_start|>assistant\n"), "{prompt}");
    assert_eq!(input.ids().unwrap(), files.tokenizer.encode(prompt).unwrap());
    assert_eq!(input.tokens.seen().unwrap()[0].piece, "<|im_start|>");
    let (settings, generation, response) = parts(&exchange);
    assert_eq!(settings[0].provenance, "request");
    let Termination::Eos(end) = generation.termination else { panic!("{generation:?}") };
    assert_eq!(generation.ids().unwrap().last(), Some(&end));
    assert_eq!(
        exchange.raw_text().unwrap(),
        files.tokenizer.decode(&generation.ids().unwrap(), false)
    );
    let content = response.content.as_deref().unwrap();
    assert_eq!(format!("{content}{}", files.tokenizer.piece(end)), exchange.raw_text().unwrap());
    assert_eq!(response.finish_reason.as_deref(), Some("stop"));
    let usage = response.usage.unwrap();
    assert_eq!(usage.prompt_tokens, exchange.prompt_tokens().unwrap().len());
    assert_eq!(usage.completion_tokens, exchange.output_count().unwrap());
    for token in exchange.output_tokens().unwrap() {
        assert_eq!((token.top.len(), token.top[0].id), (3, token.id));
        assert_eq!(token.logprob, Some(token.top[0].logprob));
    }
}

#[test]
fn a_stream_says_what_the_whole_says() {
    let candle = open();
    let mut asked = request("My name is Ada. Say hello.", json!({"seed": 5, "max_tokens": 30}));
    let whole = ask(&candle, &asked).unwrap();
    asked.stream = true;
    let streamed = ask(&candle, &asked).unwrap();
    let (_, generation, response) = parts(&streamed);
    assert_eq!(generation, parts(&whole).1);
    let mut unstreamed = response.clone();
    let deltas = unstreamed.stream.take().unwrap();
    assert_eq!(&unstreamed, parts(&whole).2);
    assert_eq!(deltas[0].role.as_deref(), Some("assistant"));
    assert_eq!(deltas[deltas.len() - 2].finish_reason, response.finish_reason);
    assert_eq!(deltas[deltas.len() - 1].usage, response.usage);
    assert!(deltas.is_sorted_by(|a, b| a.at_ms <= b.at_ms));
    assert!(deltas.len() > 5 && deltas[1].at_ms < deltas[deltas.len() - 1].at_ms, "{deltas:?}");
}

#[test]
fn the_same_request_gives_the_same_answer_whatever_ran_before() {
    let candle = open();
    let asked = request("Tell me something.", json!({"seed": 11, "max_tokens": 20}));
    let first = ask(&candle, &asked).unwrap();
    ask(&candle, &request("Something else.", json!({"max_tokens": 5}))).unwrap();
    let again = ask(&candle, &asked).unwrap();
    assert_eq!(first.generation, again.generation);
    let fresh = ask(&open(), &asked).unwrap();
    assert_eq!(first.generation, fresh.generation);
}

#[test]
fn lengths_and_stops_are_classified() {
    let candle = open();
    let run = |settings: Value| {
        let mut all = json!({"temperature": 0.0});
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        ask(&candle, &request("Count from 1 to 9.", all)).unwrap()
    };
    let capped = run(json!({"max_tokens": 3}));
    let (_, generation, response) = parts(&capped);
    assert_eq!(generation.termination, Termination::LengthMaxTokens);
    assert_eq!(
        (capped.output_count().unwrap(), response.finish_reason.as_deref()),
        (3, Some("length"))
    );
    let second = &capped.output_tokens().unwrap()[1];
    let stopped = run(json!({"stop_token_ids": [second.id]}));
    assert_eq!(parts(&stopped).1.termination, Termination::StopToken(second.id));
    let by_text = run(json!({"stop": [second.piece]}));
    let (_, generation, response) = parts(&by_text);
    assert_eq!(generation.termination, Termination::StopString(second.piece.clone()));
    assert!(!response.content.as_ref().unwrap().contains(&second.piece));
    assert!(by_text.raw_text().unwrap().contains(&second.piece));
    let endless = run(json!({"ignore_eos": true}));
    let (_, generation, _) = parts(&endless);
    assert_eq!(generation.termination, Termination::LengthContext);
    let total = endless.prompt_tokens().unwrap().len() + endless.output_count().unwrap();
    assert_eq!(total, 2048);
}

#[test]
fn a_tool_call_is_taken_out_of_the_text() {
    let candle = open();
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = |name: &str, text: &str| {
        json!({"type": "function",
            "function": {"name": name, "description": text, "parameters": schema}})
    };
    let mut asked =
        request("What is the weather in Oslo?", json!({"temperature": 0.0, "max_tokens": 64}));
    asked.tools = vec![
        tool("get_weather", "Get the weather in a city."),
        tool("get_time", "Get the time in a city."),
    ];
    for stream in [false, true] {
        asked.stream = stream;
        let exchange = ask(&candle, &asked).unwrap();
        let (_, generation, response) = parts(&exchange);
        assert_eq!(response.finish_reason.as_deref(), Some("tool_calls"), "{:?}", generation.text);
        assert_eq!(response.tool_calls.len(), 1);
        assert_eq!(response.tool_calls[0].name, "get_weather");
        assert_eq!(response.content, None);
    }
    // Cut off inside the call there is no call, and the length is the reason.
    asked.settings.max_tokens = Some(8);
    let exchange = ask(&candle, &asked).unwrap();
    let (_, _, response) = parts(&exchange);
    assert_eq!((response.finish_reason.as_deref(), response.tool_calls.len()), (Some("length"), 0));
    asked.tool_choice = Some(json!("required"));
    let text = ask(&candle, &asked).unwrap_err().to_string();
    assert!(text.contains("\"required\"") && text.contains("auto or none"), "{text}");
}

#[test]
fn a_prompt_beyond_the_context_is_rejected_with_both_numbers() {
    let candle = open();
    let asked = request(&"one two three ".repeat(900), json!({"min_tokens": 2}));
    let error = ask(&candle, &asked).unwrap_err();
    assert!(matches!(error, BackendError::Rejected(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("context is 2048") && text.contains("shorten"), "{text}");
    // The backend goes on.
    ask(&candle, &request("Hi", json!({"max_tokens": 1}))).unwrap();
}

#[test]
fn bad_settings_and_a_raising_template_reject_one_request() {
    let candle = open();
    let error = ask(&candle, &request("Hi", json!({"top_p": 0.0}))).unwrap_err();
    assert!(matches!(&error, BackendError::Rejected(text) if text.contains("`top_p` is 0")));
    let raising = "{{ raise_exception('only whispering is allowed') }}";
    let dir = changed(&[("chat_template.jinja", Some(raising))]);
    let candle = Candle::open(&target(dir.path().to_owned())).unwrap();
    let error = ask(&candle, &request("Hi", json!({}))).unwrap_err();
    assert!(
        matches!(&error, BackendError::Rejected(text) if text.contains("only whispering is allowed")),
        "{error:?}"
    );
}

#[test]
fn a_deadline_and_a_dropped_request_end_the_work() {
    let candle = open();
    let mut asked = request("Hi", json!({"ignore_eos": true}));
    asked.timeout = Some(Duration::ZERO);
    let error = ask(&candle, &asked).unwrap_err();
    assert!(matches!(error, BackendError::Timeout(_, 0)), "{error:?}");
    asked.timeout = None;
    wait(async {
        let mut endless = candle.exchange(Ask { request: &asked, case: "a/b.c", turn: 0 });
        // Polled once, it is in the queue.
        let once = std::future::poll_fn(|context| {
            std::task::Poll::Ready(endless.as_mut().poll(context).is_pending())
        });
        assert!(once.await);
    });
    ask(&candle, &request("Hi", json!({"max_tokens": 1}))).unwrap();
}

#[test]
fn a_model_that_cannot_be_opened_is_broken_by_name() {
    let broken = |dir: &Path| match Candle::open(&target(dir.to_owned())).unwrap_err() {
        BackendError::Broken(text) => text,
        other => panic!("{other:?}"),
    };
    let text = broken(Path::new("no/such/model"));
    assert!(text.contains("no/such/model"), "{text}");
    let dir = changed(&[("model.safetensors", None)]);
    let text = broken(dir.path());
    assert!(text.contains("model.safetensors"), "{text}");
    let dir = changed(&[]);
    let weights = dir.path().join("model.safetensors");
    File::options().write(true).open(&weights).unwrap().set_len(50_000).unwrap();
    let text = broken(dir.path());
    assert!(text.contains("model.safetensors") && text.contains("cut off"), "{text}");
    let dir = changed(&[("config.json", Some(r#"{"architectures": ["MambaForCausalLM"]}"#))]);
    let text = broken(dir.path());
    assert!(text.contains("MambaForCausalLM") && text.contains("Qwen3ForCausalLM"), "{text}");
}

#[test]
fn identity_is_in_a_fixed_order_and_names_the_engine() {
    let identity = open().identity();
    let names: Vec<&str> = identity.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "model",
            "weights",
            "tokenizer",
            "template",
            "generation_config",
            "engine",
            "dtype",
            "device",
        ]
    );
    let lock = include_str!("../../../Cargo.lock");
    let version = ENGINE.rsplit_once(' ').unwrap().1;
    assert!(lock.contains(&format!("name = \"candle-core\"\nversion = \"{version}\"")), "{ENGINE}");
}
