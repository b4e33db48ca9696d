//! A request as the text that the model reads, rendered as transformers' `apply_chat_template` does.

use serde_json::{Map, Value, json};

use super::clock::Clock;
use super::error::ModelError;
use super::jinja::{self, python};
use super::{ModelDir, Template};
use crate::request::{Message, Request, Role, ToolCall};

/// Appended to the message to continue, so that its end is found in the rendering.
const CONTINUE: &str = "CONTINUE_FINAL_MESSAGE_TAG ";

/// Renders the chat template of `model` for `request`.
///
/// Every entry of [`Request::template`] is a variable of the template and outranks the special tokens
/// and `add_generation_prompt`, which is true unless the request continues a message. One entry is
/// read here: `strftime_now` pins the clock (`2026-01-02` or `2026-01-02 03:04:05`).
///
/// # Errors
/// The model has no chat template, the template fails or raises, or the request has nothing to continue.
pub fn render(model: &ModelDir, request: &Request) -> Result<String, ModelError> {
    let template = model.templates.select(!request.tools.is_empty()).ok_or_else(|| ModelError::Missing {
        path: model.path.join("chat_template.jinja"),
        help: "this model has no chat template named `default`; copy the one of its instruct version".to_owned(),
    })?;
    let mut messages: Vec<Value> = request.messages.iter().map(message).collect();
    if messages.is_empty() {
        return Err(ModelError::Request("there is no message to render".to_owned()));
    }
    let continued =
        if request.prefill { Some(mark_last(&mut messages, &template.source)?) } else { None };
    let mut clock = model.clock;
    let mut context = variables(model, request, messages);
    if let Some(pinned) = context.remove("strftime_now") {
        clock = Clock::parse(&pinned).ok_or_else(|| {
            ModelError::Request(format!(
                "template variable `strftime_now` is {pinned}; {}",
                Clock::HELP
            ))
        })?;
    }
    if request.prefill
        && context.get("add_generation_prompt").is_some_and(|value| *value != json!(false))
    {
        let message = "a continued message excludes a generation prompt; drop `add_generation_prompt` or the prefill";
        return Err(ModelError::Request(message.to_owned()));
    }
    let context = jinja::context(&Value::Object(context), clock);
    let rendered = model
        .templates
        .compiled(template)?
        .render(context)
        .map_err(|error| template.error(&error))?;
    match continued {
        Some(text) => cut_at_mark(rendered, &text),
        None => Ok(rendered),
    }
}

fn variables(model: &ModelDir, request: &Request, messages: Vec<Value>) -> Map<String, Value> {
    let mut context = Map::new();
    context.insert("messages".to_owned(), Value::Array(messages));
    let tools =
        if request.tools.is_empty() { Value::Null } else { Value::Array(request.tools.clone()) };
    context.insert("tools".to_owned(), tools);
    context.insert("documents".to_owned(), Value::Null);
    context.insert("add_generation_prompt".to_owned(), json!(!request.prefill));
    for (name, text) in &model.special_tokens.named {
        context.insert(name.clone(), json!(text));
    }
    context.extend(request.template.clone());
    context
}

/// A message as templates see it: fields without a value are left out, as transformers 5 does.
fn message(message: &Message) -> Value {
    let mut fields = Map::new();
    fields.insert("role".to_owned(), json!(role(message.role)));
    let mut optional = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            fields.insert(name.to_owned(), json!(text));
        }
    };
    optional("content", &message.content);
    // Templates call it by three names.
    for name in ["reasoning_content", "reasoning", "thinking"] {
        optional(name, &message.reasoning);
    }
    optional("tool_call_id", &message.tool_call_id);
    optional("name", &message.name);
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(tool_call).collect();
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(fields)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Templates print arguments with `tojson`, so that JSON text must reach them as a value.
fn tool_call(call: &ToolCall) -> Value {
    let arguments = match call.arguments.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(call.arguments)),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn mark_last(messages: &mut [Value], template: &str) -> Result<String, ModelError> {
    let problem = |message: &str| ModelError::Request(message.to_owned());
    let content = messages.last_mut().and_then(|last| last.get_mut("content"));
    let Some(Value::String(content)) = content else {
        return Err(problem("the last message has no content to continue"));
    };
    if !template.contains("content") {
        return Err(problem(
            "the chat template does not use `content`, so that no message can be continued",
        ));
    }
    let text = content.clone();
    content.push_str(CONTINUE);
    Ok(text)
}

/// Cuts the rendering where the continued text ends, with transformers' rule for trimmed spaces.
fn cut_at_mark(mut rendered: String, text: &str) -> Result<String, ModelError> {
    let at = rendered.rfind(CONTINUE.trim_end());
    let Some(at) = at.filter(|_| rendered.contains(python::strip(text))) else {
        let message = "the chat template drops or changes the message to continue, so that it cannot be continued";
        return Err(ModelError::Request(message.to_owned()));
    };
    let spacing_kept = rendered[at..].starts_with(CONTINUE);
    rendered.truncate(at);
    if !spacing_kept {
        rendered.truncate(python::rstrip(&rendered).len());
    }
    Ok(rendered)
}

/// Renders a template's text with `variables`, an object, as [`render`] would.
///
/// # Errors
/// The template does not compile, fails or raises.
pub fn render_source(source: &str, variables: &Value, clock: Clock) -> Result<String, ModelError> {
    let template =
        Template { name: "default".to_owned(), path: "template".into(), source: source.to_owned() };
    let mut environment = jinja::environment();
    environment
        .add_template_owned("default", jinja::prepare(source))
        .and_then(|()| {
            environment.get_template("default")?.render(jinja::context(variables, clock))
        })
        .map_err(|error| template.error(&error))
}
