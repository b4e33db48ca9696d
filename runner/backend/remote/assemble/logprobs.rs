//! Log-probabilities, in each of the shapes in which servers write them.

use serde_json::Value;

use super::take::{self, Object, as_id};
use crate::backend::remote::reply::TokenLogprob;

/// Reads `choices[].logprobs`; what is in no known shape is handed back.
pub(super) fn read(logprobs: Value) -> Result<Vec<TokenLogprob>, Value> {
    match logprobs {
        Value::Null => Ok(Vec::new()),
        // The chat API, llama.cpp's completions too.
        Value::Object(mut object)
            if object.contains_key("content") || object.contains_key("refusal") =>
        {
            let mut entries = entries(take::list(&mut object, "content"));
            entries.extend(self::entries(take::list(&mut object, "refusal")));
            Ok(entries)
        }
        Value::Object(object) if object.get("tokens").is_some_and(Value::is_array) => {
            Ok(parallel(object))
        }
        // mistral.rs in a stream: one entry without a list.
        Value::Object(object) if object.contains_key("token") => Ok(vec![entry(object)]),
        Value::Array(list) if list.iter().all(Value::is_object) => Ok(entries(Some(list))),
        other => Err(other),
    }
}

/// A list of entries in the chat shape.
pub(super) fn entries(list: Option<Vec<Value>>) -> Vec<TokenLogprob> {
    let objects = list.into_iter().flatten().filter_map(|item| match item {
        Value::Object(object) => Some(object),
        _ => None,
    });
    objects.map(entry).collect()
}

fn entry(mut object: Object) -> TokenLogprob {
    let top = ["top_logprobs", "top_probs"].iter().find_map(|key| take::list(&mut object, key));
    let id = ["id", "token_id", "token"].iter().find_map(|key| as_id(object.get(*key)?));
    // The alternatives of mistral.rs have the id in `token` and the text in `bytes`.
    let text = take::text(&mut object, "token").or_else(|| take::text(&mut object, "bytes"));
    let token = text.unwrap_or_default();
    let named = named_id(&token);
    let bytes = object.get("bytes").and_then(bytes);
    TokenLogprob {
        id: id.or(named),
        // vLLM then gives the bytes of the name, which are not the token's.
        bytes: bytes.filter(|bytes| named.is_none() || bytes != token.as_bytes()),
        token,
        logprob: logprob(&object),
        top: entries(top),
    }
}

/// `token_id:<n>`, as vLLM names tokens on request.
fn named_id(token: &str) -> Option<u32> {
    token.strip_prefix("token_id:")?.parse().ok()
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect()
}

fn logprob(object: &Object) -> f32 {
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    number("logprob").or_else(|| number("prob").map(f64::ln)).map_or(f32::NAN, as_f32)
}

#[expect(clippy::cast_possible_truncation, reason = "an f32 was printed, or the nearest will do")]
fn as_f32(number: f64) -> f32 {
    number as f32
}

/// The completions API: lists of equal length.
fn parallel(mut object: Object) -> Vec<TokenLogprob> {
    let tokens = take::list(&mut object, "tokens").unwrap_or_default();
    let logprobs = take::list(&mut object, "token_logprobs").unwrap_or_default();
    let tops = take::list(&mut object, "top_logprobs").unwrap_or_default();
    let mut logprobs = logprobs.into_iter();
    let mut tops = tops.into_iter();
    let read = tokens.into_iter().map(|token| {
        let logprob = logprobs.next().unwrap_or_default().as_f64().map_or(f32::NAN, as_f32);
        let top = alternatives(tops.next().unwrap_or_default());
        named(token.as_str().unwrap_or_default().to_owned(), logprob, top)
    });
    read.collect()
}

/// Alternatives by text. Two tokens with one text are one there; nothing can bring them back.
fn alternatives(top: Value) -> Vec<TokenLogprob> {
    match top {
        Value::Object(top) => top
            .into_iter()
            .map(|(token, logprob)| {
                named(token, logprob.as_f64().map_or(f32::NAN, as_f32), Vec::new())
            })
            .collect(),
        Value::Array(list) => entries(Some(list)),
        _ => Vec::new(),
    }
}

fn named(token: String, logprob: f32, top: Vec<TokenLogprob>) -> TokenLogprob {
    TokenLogprob { id: named_id(&token), token, bytes: None, logprob, top }
}

/// SGLang's `[[logprob, id, text or null], …]`, with `[[[logprob, id, text or null], …] or null, …]` beside it.
pub(super) fn triples(list: &[Value], tops: &[Value]) -> Option<Vec<TokenLogprob>> {
    let mut tops = tops.iter();
    let mut read: Vec<TokenLogprob> = list.iter().map(triple).collect::<Option<_>>()?;
    for entry in &mut read {
        let top = tops.next().and_then(Value::as_array);
        entry.top = top.into_iter().flatten().filter_map(triple).collect();
    }
    Some(read)
}

fn triple(item: &Value) -> Option<TokenLogprob> {
    let [logprob, id, text] = item.as_array()?.as_slice() else {
        return None;
    };
    Some(TokenLogprob {
        id: Some(as_id(id)?),
        token: text.as_str().unwrap_or_default().to_owned(),
        logprob: logprob.as_f64().map_or(f32::NAN, as_f32),
        ..TokenLogprob::default()
    })
}
