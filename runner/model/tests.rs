use std::fs::File;
use std::io::Write;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::request::{Message, Request, Role, Settings, ToolCall};

const TEMPLATE: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";

fn write(dir: &TempDir, name: &str, text: &str) {
    let path = dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).and_then(|mut file| file.write_all(text.as_bytes())).unwrap();
}

/// A directory with everything but weights and a template.
fn directory() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let token = |id: u32, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": true})
    };
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null,
        "added_tokens": [token(1, "<s>"), token(2, "</s>")],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    });
    write(&dir, "tokenizer.json", &tokenizer.to_string());
    write(
        &dir,
        "tokenizer_config.json",
        r#"{"bos_token": "<s>", "eos_token": {"content": "</s>"}}"#,
    );
    write(&dir, "config.json", r#"{"eos_token_id": 2}"#);
    dir
}

fn with_template(source: &str) -> ModelDir {
    let dir = directory();
    write(&dir, "chat_template.jinja", source);
    ModelDir::open(dir.path()).unwrap()
}

fn error(dir: &TempDir) -> String {
    let message = ModelDir::open(dir.path()).unwrap_err().to_string();
    message.replace(&format!("{}/", dir.path().display()), "")
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        messages,
        tools: Vec::new(),
        tool_choice: None,
        settings: Settings::default(),
        template: Map::new(),
        stream: false,
        prefill: false,
        top_logprobs: 0,
        timeout: None,
    }
}

fn hello() -> Request {
    request(vec![Message::text(Role::User, "Hi")])
}

#[test]
fn templates_are_found_in_transformers_order() {
    let dir = directory();
    let render_hello = |tools: bool| {
        let mut request = hello();
        request.tools = if tools { vec![json!({})] } else { Vec::new() };
        render(&ModelDir::open(dir.path()).unwrap(), &request)
    };
    let missing = render_hello(false).unwrap_err().to_string();
    assert!(missing.contains("chat_template.jinja is missing"), "{missing}");
    write(&dir, "chat_template.json", r#"{"chat_template": "processor"}"#);
    assert_eq!(render_hello(false).unwrap(), "processor");
    let named = json!({"chat_template": [
        {"name": "tool_use", "template": "config tools"}, {"name": "default", "template": "config"}]});
    write(&dir, "tokenizer_config.json", &named.to_string());
    assert_eq!(
        (render_hello(false).unwrap(), render_hello(true).unwrap()),
        ("config".into(), "config tools".into())
    );
    write(&dir, "chat_template.jinja", "file");
    assert_eq!(
        (render_hello(false).unwrap(), render_hello(true).unwrap()),
        ("file".into(), "file".into())
    );
    write(&dir, "additional_chat_templates/tool_use.jinja", "file tools");
    assert_eq!(
        (render_hello(false).unwrap(), render_hello(true).unwrap()),
        ("file".into(), "file tools".into())
    );
}

#[test]
fn a_continued_message_is_cut_where_it_ends() {
    // The expected texts are those of transformers' `continue_final_message`.
    for (source, expected) in [
        (TEMPLATE, Some("<user>q</s><assistant>Your name  ")),
        (
            "{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}</s>{% endfor %}",
            Some("<user>q</s><assistant>Your name"),
        ),
        (
            "{% for m in messages %}{{ m['content'].strip() + '\n' }}{% endfor %}!",
            Some("q\nYour name"),
        ),
        ("{% for m in messages %}{{ m.content[:4] }}{% endfor %}", None),
        ("{% for m in messages %}{{ m.role }}{% endfor %}", None),
    ] {
        let mut request = request(vec![
            Message::text(Role::User, "q"),
            Message::text(Role::Assistant, "Your name  "),
        ]);
        request.prefill = true;
        let rendered = render(&with_template(source), &request);
        assert_eq!(rendered.as_deref().ok(), expected, "{source}: {rendered:?}");
        request.template.insert("add_generation_prompt".to_owned(), json!(true));
        assert!(render(&with_template(source), &request).is_err(), "{source}");
    }
    let mut empty = request(vec![Message { content: None, ..Message::text(Role::Assistant, "") }]);
    empty.prefill = true;
    let message = render(&with_template(TEMPLATE), &empty).unwrap_err().to_string();
    assert_eq!(message, "the last message has no content to continue");
}

#[test]
fn messages_reach_the_template_as_transformers_gives_them() {
    let mut message = Message { content: None, ..Message::text(Role::Assistant, "") };
    message.reasoning = Some("Hm".to_owned());
    for (index, arguments) in ["{\"b\": 1.0, \"a\": [null]}", "", "{cut"].into_iter().enumerate() {
        let id = format!("call_{index}");
        message.tool_calls.push(ToolCall {
            id,
            name: "f".to_owned(),
            arguments: arguments.to_owned(),
        });
    }
    let model = with_template(
        "{% set m = messages[0] %}{{ m.content is defined }} {{ m.reasoning_content }} {{ m.thinking }} \
         {% for c in m.tool_calls %}{{ c.id }} {{ c.type }} {{ c.function.arguments }} {% endfor %}\
         {{ tools }} {{ documents }} {{ add_generation_prompt }} {{ bos_token }} {{ pad_token is defined }}",
    );
    let expected = "False Hm Hm call_0 function {'b': 1.0, 'a': [None]} call_1 function {} \
                    call_2 function {cut None None True <s> False";
    assert_eq!(render(&model, &request(vec![message])).unwrap(), expected);
    assert_eq!(
        render(&model, &request(Vec::new())).unwrap_err().to_string(),
        "there is no message to render"
    );
}

#[test]
fn template_variables_outrank_the_rest_and_pin_the_clock() {
    let mut model =
        with_template("{{ strftime_now('%d %b %Y') }} {{ bos_token }} {{ add_generation_prompt }}");
    assert_eq!(render(&model, &hello()).unwrap(), "01 Jan 2026 <s> True");
    model.clock = Clock::parse(&json!("2027-02-03")).unwrap();
    let mut request = hello();
    request.template.insert("bos_token".to_owned(), json!("B"));
    request.template.insert("add_generation_prompt".to_owned(), json!(false));
    assert_eq!(render(&model, &request).unwrap(), "03 Feb 2027 B False");
    request.template.insert("strftime_now".to_owned(), json!("2028-12-31 10:00:00"));
    assert_eq!(render(&model, &request).unwrap(), "31 Dec 2028 B False");
    request.template.insert("strftime_now".to_owned(), json!("now"));
    let message = render(&model, &request).unwrap_err().to_string();
    assert!(message.contains("`strftime_now` is \"now\"; write a date"), "{message}");
}

#[test]
fn a_template_that_fails_names_its_line() {
    let model =
        with_template("a\n{% if true %}\n{{ raise_exception('roles must alternate') }}{% endif %}");
    let message = render(&model, &hello()).unwrap_err().to_string();
    assert!(
        message.ends_with("chat_template.jinja:3: chat template: roles must alternate"),
        "{message}"
    );
    let dir = directory();
    write(&dir, "chat_template.jinja", "a\r\nb\r\n{% if %}");
    assert!(
        error(&dir).starts_with("chat_template.jinja:3: chat template: syntax error"),
        "{}",
        error(&dir)
    );
}

#[test]
fn broken_directories_are_named_with_what_to_do() {
    for (name, text, expected) in [
        ("config.json", "{\"a\": 1", "config.json:1:7: not valid JSON"),
        ("config.json", "[]", "config.json: not a JSON object"),
        (
            "config.json",
            "{\"eos_token_id\": \"x\"}",
            "config.json: `eos_token_id` is \"x\"; write a token id",
        ),
        ("generation_config.json", "{\n\n,", "generation_config.json:3:1: not valid JSON"),
        ("tokenizer_config.json", "", "tokenizer_config.json:1:1: not valid JSON"),
        (
            "tokenizer_config.json",
            "{\"chat_template\": 3}",
            "tokenizer_config.json: `chat_template` is neither",
        ),
        ("tokenizer.json", "{}", "tokenizer.json: not a tokenizer"),
        (
            "special_tokens_map.json",
            "[]",
            "special_tokens_map.json:1:1: invalid type: sequence, expected a map",
        ),
        ("chat_template.json", "nope", "chat_template.json:1:2: not valid JSON"),
        ("model.safetensors", "abc", "model.safetensors: cut off: only 3 bytes"),
        ("model.safetensors.index.json", "{}", "model.safetensors.index.json: has no `weight_map`"),
    ] {
        let dir = directory();
        write(&dir, name, text);
        assert!(error(&dir).starts_with(expected), "{name}: {}", error(&dir));
    }
    for name in ["config.json", "tokenizer.json"] {
        let dir = directory();
        std::fs::remove_file(dir.path().join(name)).unwrap();
        assert!(error(&dir).starts_with(&format!("{name} is missing: ")), "{}", error(&dir));
    }
    let nowhere = ModelDir::open(Path::new("no/such")).unwrap_err().to_string();
    assert!(nowhere.starts_with("no/such is missing: give the directory"), "{nowhere}");
}

#[test]
fn a_directory_tells_what_identifies_it() {
    let dir = directory();
    write(&dir, "chat_template.jinja", "{{ bos_token }}");
    write(&dir, "generation_config.json", "{\"eos_token_id\": [2, 1]}");
    let model = ModelDir::open(dir.path()).unwrap();
    let facts = model.facts();
    let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["model", "weights", "tokenizer", "template", "generation_config"]);
    assert_eq!(facts[1].1, "none");
    assert!(facts.iter().filter(|(name, _)| name != "weights").all(|(_, hash)| hash.len() == 16));
    assert!(model.weights().unwrap_err().to_string().contains("model.safetensors is missing"));
    assert_eq!(
        (model.eos.effective(), model.eos.provenance(1)),
        (vec![1, 2], vec!["generation_config.json"])
    );
    assert!(model.warnings[0].starts_with("the tokenizer adds <s>"), "{:?}", model.warnings);
    assert!(model.warnings[1].starts_with("the end ids differ"), "{:?}", model.warnings);
    assert!(with_template("{{ messages }}").warnings.is_empty());
}

#[test]
fn a_model_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&with_template(TEMPLATE));
}
