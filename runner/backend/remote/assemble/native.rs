//! What servers say beside the API, moved to the fields that mean the same.

use serde_json::Value;

use super::gather::Gather;
use super::logprobs;
use super::take::{self, Object};
use crate::backend::remote::reply::{Choice, TokenLogprob};

/// llama.cpp's native result: `tokens` and `prompt` are moved, and the end is read; the rest stays.
///
/// A streamed completion has one for every token, whose texts are joined; a streamed chat has one at its end, with
/// neither text nor ids.
pub(super) fn verbose(chunk: &mut Object, gather: &mut Gather<'_>) {
    let Some(mut verbose) = take::object(chunk, "__verbose") else {
        return;
    };
    if let Some(prompt) = take::text(&mut verbose, "prompt") {
        gather.reply.prompt_text = Some(prompt);
    }
    let index = verbose.get("index").and_then(Value::as_u64).unwrap_or(0);
    let growing = gather.choice(usize::try_from(index).unwrap_or(0));
    match take::ids(&mut verbose, "tokens") {
        Some(ids) if !ids.is_empty() => growing.read.token_ids.get_or_insert_default().extend(ids),
        _ => {}
    }
    let text = |key: &str| verbose.get(key).and_then(Value::as_str).map(str::to_owned);
    growing.read.stop_type = text("stop_type");
    if growing.read.stop_type.as_deref() == Some("word") {
        growing.read.stop_reason = text("stopping_word").map(Value::String);
    }
    // The same as the API's, which leaves some out.
    let entries = logprobs::entries(take::list(&mut verbose, "completion_probabilities"));
    let fresh = std::mem::take(&mut growing.fresh);
    if entries.len() > fresh {
        let known = &mut growing.read.logprobs;
        known.truncate(known.len().saturating_sub(fresh));
        known.extend(entries);
    }
    let native = &mut gather.reply.native;
    if let Some(mut before) = take::object(native, "__verbose")
        && before.get("index") == verbose.get("index")
        && let Some(mut content) = take::text(&mut before, "content")
    {
        content.push_str(verbose.get("content").and_then(Value::as_str).unwrap_or_default());
        verbose.insert("content".to_owned(), Value::String(content));
    }
    native.insert("__verbose".to_owned(), Value::Object(verbose));
}

/// SGLang's extension: the prompt's ids and, by choice, the output's.
pub(super) fn sglext(chunk: &mut Object, gather: &mut Gather<'_>) {
    let Some(mut extension) = take::object(chunk, "sglext") else {
        return;
    };
    if let Some(ids) = take::ids(&mut extension, "input_ids") {
        gather.reply.prompt_ids = Some(ids);
    }
    if let Some(ids) = take::ids(&mut extension, "output_ids") {
        gather.choice(0).read.token_ids = Some(ids);
    } else if let Some(lists) = take::list(&mut extension, "output_ids") {
        for (index, ids) in lists.iter().enumerate() {
            gather.choice(index).read.token_ids = take::as_ids(ids);
        }
    }
    extension.retain(|_, value| !value.is_null());
    if !extension.is_empty() {
        gather.reply.native.insert("sglext".to_owned(), Value::Object(extension));
    }
}

/// SGLang's `meta_info` of a choice: its log-probabilities have the ids that those of the API lack.
pub(super) fn meta_info(object: &mut Object, choice: &mut Choice) {
    let Some(mut meta) = take::object(object, "meta_info") else {
        return;
    };
    let list = |key: &str| meta.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let triples = logprobs::triples(list("output_token_logprobs"), list("output_top_logprobs"));
    if let Some(triples) = triples
        && (choice.logprobs.is_empty() || choice.logprobs.len() == triples.len())
    {
        if choice.logprobs.is_empty() {
            choice.logprobs = triples;
        } else {
            choice
                .logprobs
                .iter_mut()
                .zip(triples)
                .for_each(|(entry, other)| identify(entry, other));
        }
        meta.shift_remove("output_token_logprobs");
        meta.shift_remove("output_top_logprobs");
    }
    if let Some(finish) = meta.get("finish_reason") {
        choice.stop_type = finish.get("type").and_then(Value::as_str).map(str::to_owned);
        if choice.stop_reason.is_none() {
            choice.stop_reason = finish.get("matched").filter(|v| !v.is_null()).cloned();
        }
    }
    choice.native.insert("meta_info".to_owned(), Value::Object(meta));
}

/// Adds the ids of the same entry in another form.
fn identify(entry: &mut TokenLogprob, other: TokenLogprob) {
    entry.id = entry.id.or(other.id);
    for (entry, other) in entry.top.iter_mut().zip(other.top) {
        if (entry.logprob - other.logprob).abs() < 1e-4 {
            entry.id = entry.id.or(other.id);
        }
    }
}
