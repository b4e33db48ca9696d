//! A request as the body of a chat completion, in a server's dialect.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Prefill};
use crate::request::{Message, Request, Role, ToolCall};

/// A body, and what of the request is not in it.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) fields: Map<String, Value>,
    /// Fields that are not sent, each with the reason.
    pub(super) left_out: Vec<Deviation>,
}

/// A field of the request that did not reach the server as asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Deviation {
    /// Its name in the request.
    pub(super) name: String,
    /// What was asked.
    pub(super) requested: Value,
    /// Why it was not sent.
    pub(super) why: String,
}

/// What a server is known to refuse: the field and its words.
pub(super) type Refused = BTreeMap<String, String>;

/// The fields without which there is no request.
const NEEDED: [&str; 4] = ["model", "messages", "stream", "tools"];

/// The body for `request`.
///
/// # Errors
/// The request needs what the dialect cannot ask for.
pub(super) fn body(
    dialect: &Dialect,
    model: &str,
    request: &Request,
    refused: &Refused,
) -> Result<Body, String> {
    let mut fields = Map::new();
    fields.insert("model".to_owned(), json!(model));
    let messages = request.messages.iter().map(message).collect();
    fields.insert("messages".to_owned(), Value::Array(messages));
    fields.insert("stream".to_owned(), json!(request.stream));
    if request.stream {
        fields.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if !request.tools.is_empty() {
        fields.insert("tools".to_owned(), Value::Array(request.tools.clone()));
        if let Some(choice) = &request.tool_choice {
            fields.insert("tool_choice".to_owned(), choice.clone());
        }
    }
    let mut left_out = Vec::new();
    settings(dialect, request, &mut fields, &mut left_out);
    template(dialect, request, &mut fields, &mut left_out);
    prefill(dialect, request, &mut fields)?;
    (dialect.profile)(request, &mut fields);
    for (name, why) in refused {
        if let Some(requested) = fields.shift_remove(name) {
            // Without it, the other asks for nothing.
            if name == "logprobs" {
                fields.shift_remove("top_logprobs");
            }
            left_out.push(Deviation { name: name.clone(), requested, why: why.clone() });
        }
    }
    Ok(Body { fields, left_out })
}

fn settings(
    dialect: &Dialect,
    request: &Request,
    fields: &mut Map<String, Value>,
    left_out: &mut Vec<Deviation>,
) {
    for (name, value) in request.settings.pinned() {
        match dialect.settings.iter().find(|(ours, _)| *ours == name) {
            Some((_, theirs)) => {
                fields.insert((*theirs).to_owned(), value);
            }
            None => {
                let why = format!("not sent: the dialect {} has no such field", dialect.name);
                left_out.push(Deviation { name, requested: value, why });
            }
        }
    }
}

fn template(
    dialect: &Dialect,
    request: &Request,
    fields: &mut Map<String, Value>,
    left_out: &mut Vec<Deviation>,
) {
    if request.template.is_empty() {
        return;
    }
    match dialect.template {
        Some(field) => {
            fields.insert(field.to_owned(), Value::Object(request.template.clone()));
        }
        None => {
            let why = format!("not sent: the dialect {} has no template variables", dialect.name);
            let requested = Value::Object(request.template.clone());
            left_out.push(Deviation { name: "template".to_owned(), requested, why });
        }
    }
}

fn prefill(
    dialect: &Dialect,
    request: &Request,
    fields: &mut Map<String, Value>,
) -> Result<(), String> {
    if !request.prefill {
        return Ok(());
    }
    match dialect.prefill {
        Prefill::Refused => Err(format!(
            "a message cannot be continued in the dialect {}: the server would answer it instead",
            dialect.name
        )),
        Prefill::Flags => {
            fields.insert("continue_final_message".to_owned(), json!(true));
            fields.insert("add_generation_prompt".to_owned(), json!(false));
            Ok(())
        }
        Prefill::LastMessageEchoed => Ok(()),
    }
}

/// A message as the API has it.
fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut fields = Map::new();
    fields.insert("role".to_owned(), json!(role));
    // An assistant message that only calls tools has a null here.
    fields.insert("content".to_owned(), json!(message.content));
    if let Some(reasoning) = &message.reasoning {
        fields.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if let Some(id) = &message.tool_call_id {
        fields.insert("tool_call_id".to_owned(), json!(id));
    }
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(tool_call).collect();
        fields.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(fields)
}

fn tool_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

/// Whether the spec pinned what is sent under this name.
pub(super) fn is_pinned(request: &Request, field: &str) -> bool {
    let theirs = |ours: &str| {
        let names = super::dialect::ALL.iter().flat_map(|dialect| dialect.settings);
        names.filter(|(name, _)| *name == ours).any(|(_, theirs)| *theirs == field)
    };
    let pinned = request.settings.pinned();
    pinned.contains_key(field)
        || pinned.keys().any(|name| theirs(name))
        || (field == "tool_choice" && request.tool_choice.is_some())
        || matches!(
            field,
            "chat_template_kwargs" | "continue_final_message" | "add_generation_prompt"
        )
}

/// The field that a refusal names, if it is one that can be left out.
pub(super) fn named_field(
    body: &Map<String, Value>,
    message: &str,
    param: Option<&str>,
) -> Option<String> {
    let whole = |name: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        message.match_indices(name).any(|(at, _)| {
            let before = message.get(..at).and_then(|text| text.chars().next_back());
            let after = message.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(letter) && !after.is_some_and(letter)
        })
    };
    let optional = body.keys().filter(|name| !NEEDED.contains(&name.as_str()));
    let named =
        |name: &&String| param.is_some_and(|param| param == name.as_str()) || whole(name.as_str());
    // Of `logprobs` and `top_logprobs` the longer name is meant where it stands.
    optional.filter(named).max_by_key(|name| name.len()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::remote::dialect::{by_name, strict};
    use crate::request::Settings;

    fn request() -> Request {
        let settings = json!({"temperature": 0, "top_k": 5, "max_tokens": 7, "stop": ["x"]});
        Request {
            messages: vec![Message::text(Role::User, "hi")],
            tools: Vec::new(),
            tool_choice: None,
            settings: serde_json::from_value::<Settings>(settings).unwrap(),
            template: Map::new(),
            stream: true,
            prefill: false,
            top_logprobs: 8,
            timeout: None,
        }
    }

    #[test]
    fn a_strict_body_holds_nothing_outside_the_api_and_says_what_it_lacks() {
        let mut asked = request();
        asked.template.insert("enable_thinking".to_owned(), json!(false));
        let body = body(strict(), "m", &asked, &Refused::new()).unwrap();
        let names: Vec<&str> = body.fields.keys().map(String::as_str).collect();
        let legal = [
            "model",
            "messages",
            "stream",
            "stream_options",
            "temperature",
            "max_completion_tokens",
            "stop",
            "logprobs",
            "top_logprobs",
        ];
        assert_eq!(names, legal);
        let lacks: Vec<&str> = body.left_out.iter().map(|left| left.name.as_str()).collect();
        assert_eq!(lacks, ["top_k", "template"]);
    }

    #[test]
    fn a_refused_field_is_left_out_and_recorded() {
        let vllm = by_name("vllm").unwrap();
        let refused = Refused::from([("logprobs".to_owned(), "no such thing".to_owned())]);
        let body = body(vllm, "m", &request(), &refused).unwrap();
        assert!(!body.fields.contains_key("logprobs") && !body.fields.contains_key("top_logprobs"));
        assert_eq!(body.left_out[0].name, "logprobs");
        assert_eq!(body.left_out[0].why, "no such thing");
    }

    #[test]
    fn the_field_that_a_refusal_names_is_found_as_a_whole_word() {
        let body = body(by_name("vllm").unwrap(), "m", &request(), &Refused::new()).unwrap().fields;
        let found = |message: &str, param: Option<&str>| named_field(&body, message, param);
        assert_eq!(found("Unexpected fields: {'top_k'}", None).as_deref(), Some("top_k"));
        assert_eq!(found("`top_logprobs` needs `logprobs`", None).as_deref(), Some("top_logprobs"));
        assert_eq!(found("bad value", Some("temperature")).as_deref(), Some("temperature"));
        assert_eq!(found("messages is empty; model unknown", None), None);
        assert_eq!(found("the temperatures are off", None), None);
    }

    #[test]
    fn a_continued_message_needs_a_dialect_that_continues() {
        let mut asked = request();
        asked.prefill = true;
        assert!(body(strict(), "m", &asked, &Refused::new()).is_err());
        let fields = body(by_name("sglang").unwrap(), "m", &asked, &Refused::new()).unwrap().fields;
        assert_eq!(fields["continue_final_message"], json!(true));
    }
}
