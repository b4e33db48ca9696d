//! Boundary 1 over HTTP: the prompt's ids, by the highest rung that the server grants.
//!
//! The render route, ids returned with the reply, tokenizing messages (or the applied template), our own rendering
//! confirmed by the server's count, the count alone. The rung is part of the evidence.

use serde_json::{Map, Value, json};

use super::Inquiry;
use super::dialect::PromptRoute;
use super::reply::Reply;
use crate::capture::{Input, Observed, Token};
use crate::model::{self, ModelDir};
use crate::request::Request;

/// Ids with what else a route told.
#[derive(Debug, Clone, Default)]
struct Found {
    ids: Vec<u32>,
    pieces: Vec<String>,
    text: Option<String>,
    rung: String,
}

/// Our own rendering of the request, where the target names a tokenizer.
struct Own {
    text: String,
    ids: Vec<u32>,
}

/// The prompt as the server read it.
pub(super) async fn observe(
    inquiry: &mut Inquiry<'_>,
    body: &Map<String, Value>,
    reply: &Reply,
) -> Observed<Input> {
    let counted = reply.usage.map(|usage| usage.prompt_tokens);
    let own = inquiry.remote.local.as_ref().map(|local| render(local, inquiry.ask.request));
    let found = by_routes(inquiry, body, reply).await;
    let count = found.as_ref().map(|found| found.ids.len()).or(counted);
    match (found, own) {
        (Some(found), own) => Observed::Seen(seen(inquiry, found, own.and_then(Result::ok)).await),
        (None, Some(Ok(own))) => Observed::Seen(rendered(inquiry, own, counted, reply)),
        (None, own) => {
            let why = match own {
                Some(Err(error)) => format!("our own rendering failed: {error}"),
                _ => format!(
                    "the dialect {} shows no prompt ids here; with `tokenizer` in the target they could be rendered",
                    inquiry.remote.known.dialect.name
                ),
            };
            if counted.is_none() && reply.prompt_text.is_none() {
                return Observed::Hidden(why);
            }
            let prompt = text(reply.prompt_text.clone(), &why);
            let rung = "count only".to_owned();
            Observed::Seen(Input {
                prompt,
                tokens: Observed::Hidden(why),
                count,
                rung,
                rendered: None,
            })
        }
    }
}

fn render(local: &ModelDir, request: &Request) -> Result<Own, String> {
    let text = model::render(local, request).map_err(|error| error.to_string())?;
    let ids = local.tokenizer.encode(&text).map_err(|error| error.to_string())?;
    Ok(Own { text, ids })
}

fn text(text: Option<String>, why: &str) -> Observed<String> {
    text.map_or_else(|| Observed::Hidden(why.to_owned()), Observed::Seen)
}

async fn by_routes(
    inquiry: &mut Inquiry<'_>,
    body: &Map<String, Value>,
    reply: &Reply,
) -> Option<Found> {
    let returned = reply.prompt_ids.clone();
    for route in inquiry.remote.known.dialect.prompt {
        let found = match route {
            PromptRoute::Render => render_route(inquiry, body, returned.as_deref()).await,
            PromptRoute::Returned => returned.clone().map(|ids| Found {
                ids,
                text: reply.prompt_text.clone(),
                rung: "returned with the reply".to_owned(),
                ..Found::default()
            }),
            PromptRoute::TokenizeMessages => tokenize_messages(inquiry, body).await,
            PromptRoute::ApplyTemplate => apply_template(inquiry, body).await,
            PromptRoute::ChatTokenize => chat_tokenize(inquiry, body).await,
            PromptRoute::DebugRender => debug_render(inquiry, body).await,
        };
        // A side route that counts otherwise than the reply did not see what the model read.
        let counted = reply.usage.map(|usage| usage.prompt_tokens).filter(|count| *count > 0);
        let fits = |found: &Found| {
            let length = found.ids.len();
            length > 0 && (*route == PromptRoute::Returned || counted.is_none_or(|n| n == length))
        };
        if let Some(found) = found.filter(fits) {
            return Some(found);
        }
    }
    None
}

/// What the generation read is the truth, so ids that came with the reply outrank the route where the two differ.
async fn render_route(
    inquiry: &mut Inquiry<'_>,
    body: &Map<String, Value>,
    returned: Option<&[u32]>,
) -> Option<Found> {
    let answer = inquiry.side("/v1/chat/completions/render", "prompt ids", body.clone()).await?;
    let ids = ids(answer.get("token_ids")?)?;
    inquiry.rendered = Some(answer);
    let (ids, rung) = match returned {
        None => (ids, "the render route".to_owned()),
        Some(same) if same == ids => {
            (ids, "the render route, as returned with the reply".to_owned())
        }
        Some(other) => {
            let at = ids.iter().zip(other).take_while(|(a, b)| a == b).count();
            let rung =
                format!("returned with the reply; the render route says otherwise at token {at}");
            (other.to_vec(), rung)
        }
    };
    Some(Found { ids, rung, ..Found::default() })
}

async fn tokenize_messages(inquiry: &mut Inquiry<'_>, body: &Map<String, Value>) -> Option<Found> {
    let mut asked = Map::new();
    for field in [
        "model",
        "messages",
        "tools",
        "chat_template_kwargs",
        "continue_final_message",
        "add_generation_prompt",
    ] {
        if let Some(value) = body.get(field) {
            asked.insert(field.to_owned(), value.clone());
        }
    }
    let answer = inquiry.side("/tokenize", "prompt ids", asked).await?;
    let ids = ids(answer.get("tokens")?)?;
    Some(Found { ids, rung: "tokenized messages".to_owned(), ..Found::default() })
}

async fn apply_template(inquiry: &mut Inquiry<'_>, body: &Map<String, Value>) -> Option<Found> {
    let answer = inquiry.side("/apply-template", "prompt text", body.clone()).await?;
    let text = answer.get("prompt")?.as_str()?.to_owned();
    let mut asked = Map::new();
    asked.insert("content".to_owned(), json!(text));
    for flag in ["add_special", "parse_special", "with_pieces"] {
        asked.insert(flag.to_owned(), json!(true));
    }
    let answer = inquiry.side("/tokenize", "prompt ids", asked).await?;
    let (mut ids, mut pieces) = (Vec::new(), Vec::new());
    for token in answer.get("tokens")?.as_array()? {
        ids.push(u32::try_from(token.get("id")?.as_u64()?).ok()?);
        pieces.push(piece(token.get("piece")?));
    }
    let rung = "applied template, tokenized".to_owned();
    Some(Found { ids, pieces, text: Some(text), rung })
}

/// A piece is text, or bytes where it is no text.
fn piece(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(bytes) => {
            let hex = |byte: &Value| format!("<0x{:02X}>", byte.as_u64().unwrap_or_default());
            bytes.iter().map(hex).collect()
        }
        _ => String::new(),
    }
}

async fn chat_tokenize(inquiry: &mut Inquiry<'_>, body: &Map<String, Value>) -> Option<Found> {
    let answer = inquiry.side("/chat_tokenize", "prompt ids", body.clone()).await?;
    let (mut ids, mut pieces) = (Vec::new(), Vec::new());
    for token in answer.get("tokenize_response")?.as_array()? {
        ids.push(u32::try_from(token.get("id")?.as_u64()?).ok()?);
        pieces.push(piece(token.get("text")?));
    }
    let text = answer.get("templated_text").and_then(Value::as_str).map(str::to_owned);
    inquiry.templated.clone_from(&text);
    Some(Found { ids, pieces, text, rung: "/chat_tokenize".to_owned() })
}

/// Only the text is shown; our tokenizer makes ids of it.
async fn debug_render(inquiry: &mut Inquiry<'_>, body: &Map<String, Value>) -> Option<Found> {
    let mut asked = body.clone();
    asked.insert("_debug_render_only".to_owned(), json!(true));
    asked.insert("stream".to_owned(), json!(false));
    asked.shift_remove("stream_options");
    let answer = inquiry.side("/v1/chat/completions", "prompt text", asked).await?;
    let text = answer.pointer("/_debug_info/rendered_template")?.as_str()?.to_owned();
    let local = inquiry.remote.local.as_ref()?;
    let ids = local.tokenizer.encode(&text).ok()?;
    let rung = "the server's rendering, tokenized by us".to_owned();
    Some(Found { ids, pieces: Vec::new(), text: Some(text), rung })
}

fn ids(value: &Value) -> Option<Vec<u32>> {
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    value.as_array()?.iter().map(number).collect()
}

/// The server's ids, with our own rendering held against them.
async fn seen(inquiry: &mut Inquiry<'_>, found: Found, own: Option<Own>) -> Input {
    let Found { ids, pieces, text: told, mut rung } = found;
    let same = own.as_ref().map(|own| own.ids == ids);
    if let Some(same) = same {
        rung += if same { ", equal to our own rendering" } else { ", not our own rendering" };
    }
    let prompt = match (told, &inquiry.remote.local) {
        (Some(text), _) => Some(text),
        (None, Some(local)) => Some(local.tokenizer.decode(&ids, false)),
        (None, None) => inquiry.detokenize(&ids).await,
    };
    let piece = |(index, id): (usize, &u32)| Token {
        id: *id,
        piece: match (&inquiry.remote.local, pieces.get(index)) {
            (Some(local), _) => local.tokenizer.piece(*id),
            (None, Some(piece)) => piece.clone(),
            (None, None) => String::new(),
        },
    };
    Input {
        prompt: text(prompt, "the server shows ids only, and the target names no tokenizer"),
        tokens: Observed::Seen(ids.iter().enumerate().map(piece).collect()),
        count: Some(ids.len()),
        rung,
        rendered: own.filter(|_| same == Some(false)).map(|own| own.ids),
    }
}

/// Our own rendering, which counts only when the server read as many tokens.
fn rendered(inquiry: &Inquiry<'_>, own: Own, counted: Option<usize>, reply: &Reply) -> Input {
    let length = own.ids.len();
    let (tokens, rung, kept) = match (counted, &inquiry.remote.local) {
        (Some(count), Some(local)) if count == length => {
            let token = |id: &u32| Token { id: *id, piece: local.tokenizer.piece(*id) };
            let tokens = Observed::Seen(own.ids.iter().map(token).collect());
            (tokens, "rendered by us, confirmed by the prompt token count".to_owned(), None)
        }
        (Some(count), _) => {
            let why = format!("our own rendering has {length} tokens, the server counted {count}");
            (Observed::Hidden(why), "count only".to_owned(), Some(own.ids))
        }
        (None, _) => {
            let why = "the server counts no prompt tokens that would confirm our own rendering";
            (Observed::Hidden(why.to_owned()), "none".to_owned(), Some(own.ids))
        }
    };
    let prompt = match (&reply.prompt_text, &tokens) {
        (Some(text), _) => Observed::Seen(text.clone()),
        (None, Observed::Seen(_)) => Observed::Seen(own.text),
        (None, Observed::Hidden(why)) => Observed::Hidden(why.clone()),
    };
    Input { prompt, tokens, count: counted, rung, rendered: kept }
}
