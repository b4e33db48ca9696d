//! Rendering and encoding against what transformers itself made of the same inputs.

#![cfg(test)]

use std::path::{Path, PathBuf};

use evalsuite::model::{Clock, ModelDir, template};
use evalsuite::parse::Family;
use evalsuite::request::{Message, Request, Role, Settings, ToolCall};
use serde_json::{Map, Value, json};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn golden(name: &str) -> Vec<Value> {
    let file = std::fs::File::open(fixtures().join("golden").join(name)).unwrap();
    serde_json::from_reader(std::io::BufReader::new(file)).unwrap()
}

fn tiny_chat() -> ModelDir {
    ModelDir::open(&fixtures().join("models/tiny-chat")).unwrap()
}

/// Fails with every entry that differs, not only the first.
fn assert_none(differences: &[String], of: usize) {
    assert!(of > 20, "only {of} entries");
    assert!(
        differences.is_empty(),
        "{} of {of} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn snippets_render_as_in_transformers() {
    let clock = Clock::parse(&json!("2026-01-02 03:04:05")).unwrap();
    let snippets = golden("templates.json");
    let mut differences = Vec::new();
    for snippet in &snippets {
        let source = snippet["template"].as_str().unwrap();
        let rendered = template::render_source(source, &snippet["context"], clock);
        let same = match (&rendered, snippet["expected"].as_str()) {
            (Ok(rendered), Some(expected)) => rendered == expected,
            (Err(error), None) => {
                !raises(source) || error.to_string().ends_with(snippet["error"].as_str().unwrap())
            }
            _ => false,
        };
        if !same {
            differences.push(format!(
                "{}: {rendered:?}\n  expected {}",
                snippet["name"], snippet["expected"]
            ));
        }
    }
    assert_none(&differences, snippets.len());
}

/// Only a template's own words are given back word for word; the engine words its errors itself.
fn raises(source: &str) -> bool {
    source.contains("raise_exception")
}

#[test]
fn texts_encode_as_in_transformers() {
    let model = tiny_chat();
    let texts = golden("encode.json");
    let mut differences = Vec::new();
    for entry in &texts {
        let text = entry["text"].as_str().unwrap();
        let ids = model.tokenizer.encode(text).unwrap();
        if json!(ids) != entry["ids"] {
            differences.push(format!("{text:?}: {ids:?}\n  expected {}", entry["ids"]));
        }
        let bytes: Vec<u8> = ids.iter().flat_map(|id| model.tokenizer.token_bytes(*id)).collect();
        let decoded = model.tokenizer.decode(&ids, false);
        if bytes != text.as_bytes() || decoded != text {
            differences.push(format!("{text:?}: decodes to {decoded:?}, bytes {bytes:?}"));
        }
    }
    assert_none(&differences, texts.len());
}

#[test]
fn conversations_render_and_encode_as_in_transformers() {
    let model = tiny_chat();
    let cases = golden("cases.json");
    let mut differences = Vec::new();
    for case in &cases {
        let text = template::render(&model, &request(case)).unwrap();
        if json!(text) != case["prompt_text"] {
            differences
                .push(format!("{}: {text:?}\n  expected {}", case["id"], case["prompt_text"]));
        }
        let ids = model.tokenizer.encode(&text).unwrap();
        if json!(ids) != case["prompt_ids"] {
            differences.push(format!("{}: {ids:?}\n  expected {}", case["id"], case["prompt_ids"]));
        }
    }
    assert_none(&differences, cases.len());
}

#[test]
fn the_fixture_template_teaches_hermes_calls() {
    let model = tiny_chat();
    let template = model.templates.select(true).unwrap();
    assert_eq!(Family::detect(&template.source).tool_format(), Some("hermes"));
    assert_eq!(model.eos.effective().len(), 2);
    assert_eq!(model.weights().unwrap().len(), 1);
}

fn request(case: &Value) -> Request {
    let mut template: Map<String, Value> = case["template_kwargs"].as_object().unwrap().clone();
    let prefill = case["continue_final_message"] == json!(true);
    if !prefill {
        template.insert("add_generation_prompt".to_owned(), case["add_generation_prompt"].clone());
    }
    Request {
        messages: case["messages"].as_array().unwrap().iter().map(message).collect(),
        tools: case["tools"].as_array().cloned().unwrap_or_default(),
        tool_choice: None,
        settings: Settings::default(),
        template,
        stream: false,
        prefill,
        top_logprobs: 0,
        timeout: None,
    }
}

fn message(value: &Value) -> Message {
    let role: Role = serde_json::from_value(value["role"].clone()).unwrap();
    let mut message = Message::text(role, text_of(&value["content"]));
    message.reasoning = value["reasoning_content"].as_str().map(str::to_owned);
    for call in value["tool_calls"].as_array().into_iter().flatten() {
        let arguments = &call["function"]["arguments"];
        message.tool_calls.push(ToolCall {
            id: "call_0".to_owned(),
            name: call["function"]["name"].as_str().unwrap().to_owned(),
            arguments: arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned),
        });
    }
    message
}

/// A tool's result that is not a text is sent as JSON, as the template writes it.
fn text_of(content: &Value) -> String {
    match content.as_str() {
        Some(text) => text.to_owned(),
        None => {
            template::render_source("{{ v | tojson }}", &json!({"v": content}), Clock::default())
                .unwrap()
        }
    }
}
