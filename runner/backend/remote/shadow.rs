//! A second call for what the first cannot show without changing its answer.
//!
//! It counts only when it must answer the same, and did.

use serde_json::{Map, Value, json};

use super::dialect::Shadow;
use super::reply::{Choice, TokenLogprob};
use super::{Inquiry, assemble, body, output};

/// The same answer, with its ids.
///
/// # Errors
/// Why there is none.
pub(super) async fn ask(
    inquiry: &mut Inquiry<'_>,
    seen: &Choice,
    counted: Option<usize>,
) -> Result<Choice, String> {
    let dialect = inquiry.remote.known.dialect;
    let alone = format!("the dialect {} shows no output ids here", dialect.name);
    if dialect.shadow == Shadow::None {
        return Err(alone);
    }
    if !output::is_repeatable(inquiry.ask.request) {
        return Err(format!(
            "{alone}, and a second call would sample anew: pin `seed`, or `temperature: 0`"
        ));
    }
    let (shadow, count) = match dialect.shadow {
        Shadow::None => return Err(alone),
        Shadow::NotStreamed if !inquiry.ask.request.stream => return Err(alone),
        Shadow::NotStreamed => not_streamed(inquiry).await?,
        Shadow::Generate => generate(inquiry).await?,
    };
    let same = count.zip(counted).is_none_or(|(shadow, seen)| shadow == seen)
        && text(&shadow) == text(seen)
        && calls(&shadow) == calls(seen)
        && shadow.finish_reason == seen.finish_reason;
    if same { Ok(shadow) } else { Err(format!("{alone}, and a shadow call answered otherwise")) }
}

fn text(choice: &Choice) -> (&str, &str) {
    let (content, reasoning) = (choice.content.as_deref(), choice.reasoning.as_deref());
    (content.unwrap_or_default(), reasoning.unwrap_or_default())
}

fn calls(choice: &Choice) -> Vec<(&str, &str)> {
    choice.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

async fn not_streamed(inquiry: &mut Inquiry<'_>) -> Result<(Choice, Option<usize>), String> {
    let mut request = inquiry.ask.request.clone();
    request.stream = false;
    let remote = inquiry.remote;
    let refused = remote.refused(&request);
    let asked = body::body(remote.known.dialect, &remote.model, &request, &refused)?;
    let received = inquiry.send("/v1/chat/completions", "shadow", Some(asked.fields)).await;
    let reply = assemble::chat(remote.known.dialect, &received);
    inquiry.wire.push(received.wire);
    let reply = reply.map_err(|_| "a shadow call for the output ids failed".to_owned())?;
    let count = reply.usage.map(|usage| usage.completion_tokens);
    let first = reply.choices.into_iter().next();
    Ok((first.ok_or_else(|| "a shadow call came back empty".to_owned())?, count))
}

/// TGI's own route tells ids and special tokens of what it generates for a rendered prompt.
async fn generate(inquiry: &mut Inquiry<'_>) -> Result<(Choice, Option<usize>), String> {
    let failed = || "`/generate` did not show the output ids".to_owned();
    // What boundary 1 was told is what the model is asked to go on from.
    let prompt = inquiry.templated.clone().ok_or_else(failed)?;
    let mut asked = Map::new();
    asked.insert("inputs".to_owned(), Value::String(prompt));
    asked.insert("parameters".to_owned(), parameters(inquiry));
    let answer = inquiry.side("/generate", "shadow", asked).await.ok_or_else(failed)?;
    let details = answer.get("details").ok_or_else(failed)?;
    let tokens = details.get("tokens").and_then(Value::as_array).ok_or_else(failed)?;
    let token = |token: &Value| {
        Some(TokenLogprob {
            id: u32::try_from(token.get("id")?.as_u64()?).ok(),
            token: token.get("text")?.as_str()?.to_owned(),
            logprob: token.get("logprob")?.as_f64()? as f32,
            ..TokenLogprob::default()
        })
    };
    let logprobs: Vec<TokenLogprob> =
        tokens.iter().map(token).collect::<Option<_>>().ok_or_else(failed)?;
    let finish = match details.get("finish_reason").and_then(Value::as_str) {
        Some("eos_token") => Some("stop".to_owned()),
        other => other.map(str::to_owned),
    };
    let choice = Choice {
        content: answer.get("generated_text").and_then(Value::as_str).map(str::to_owned),
        finish_reason: finish,
        token_ids: logprobs.iter().map(|token| token.id).collect(),
        logprobs,
        ..Choice::default()
    };
    let count = choice.token_ids.as_ref().map(Vec::len);
    Ok((choice, count))
}

fn parameters(inquiry: &Inquiry<'_>) -> Value {
    let settings = &inquiry.ask.request.settings;
    let mut parameters = Map::new();
    for flag in ["details", "decoder_input_details"] {
        parameters.insert(flag.to_owned(), json!(true));
    }
    let greedy = settings.temperature == Some(0.0);
    parameters.insert("do_sample".to_owned(), json!(!greedy));
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            parameters.insert(name.to_owned(), value);
        }
    };
    add("max_new_tokens", settings.max_tokens.map(Value::from));
    add("temperature", settings.temperature.filter(|_| !greedy).map(Value::from));
    add("top_p", settings.top_p.filter(|_| !greedy).map(Value::from));
    add("seed", settings.seed.map(Value::from));
    add("stop", settings.stop.as_ref().map(|stop| json!(stop)));
    Value::Object(parameters)
}
