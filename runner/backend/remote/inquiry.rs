//! One request to a server: the chat call, the side calls, and what they show at each boundary.

use serde_json::{Map, Value};

use super::body::{self, Body};
use super::dialect::{Prefill, Telling};
use super::ending::{self, Evidence};
use super::output;
use super::reply::{Choice, ErrorBody, NoReply, Reply};
use super::transport::{Call, Received};
use super::{Remote, assemble, prompt, settings};
use crate::backend::{Ask, BackendError};
use crate::capture::{CHAT, Delta, Generation, Input, Observed, Response, Setting, WireCall};
use crate::request::Request;

/// In place of what holds a key.
const WITHHELD: &str = "[redacted: a key came in pieces]";

/// How many refused fields are dropped before a request is given up.
const MOST_REFUSALS: usize = 6;

/// A request on its way.
pub(super) struct Inquiry<'a> {
    pub(super) remote: &'a Remote,
    pub(super) ask: Ask<'a>,
    /// The calls so far.
    pub(super) wire: Vec<WireCall>,
    /// The answer of the render route.
    pub(super) rendered: Option<Value>,
    /// The prompt's text as a side route told it.
    pub(super) templated: Option<String>,
}

/// The four boundaries of an exchange.
pub(super) struct Parts {
    pub(super) input: Observed<Input>,
    pub(super) settings: Observed<Vec<Setting>>,
    pub(super) generation: Observed<Generation>,
    pub(super) response: Observed<Response>,
}

impl<'a> Inquiry<'a> {
    pub(super) fn new(remote: &'a Remote, ask: Ask<'a>) -> Self {
        Inquiry { remote, ask, wire: Vec::new(), rendered: None, templated: None }
    }

    /// Makes the calls and reads what they show.
    pub(super) async fn run(&mut self) -> Result<Parts, BackendError> {
        let (sent, mut reply, streamed) = self.chat().await?;
        let input = prompt::observe(self, &sent.fields, &reply).await;
        let settings = self.settings(&sent, &reply);
        let Some(first) = reply.choices.iter().position(|choice| choice.index == 0) else {
            return Err(BackendError::Malformed("the reply has no choice 0".to_owned()));
        };
        let mut choice = reply.choices.swap_remove(first);
        self.unecho(&mut choice);
        self.scrub(&mut choice, &mut reply);
        let mut generation = self.generation(&choice, &reply, &settings, &input).await;
        self.scrub_tokens(&mut generation, &choice);
        let response = response(choice, &mut reply, streamed);
        Ok(Parts {
            input,
            settings: Observed::Seen(settings),
            generation: Observed::Seen(generation),
            response: Observed::Seen(response),
        })
    }

    /// The chat call, again without a field that the server refuses to know.
    async fn chat(&mut self) -> Result<(Body, Reply, bool), BackendError> {
        let dialect = self.remote.known.dialect;
        for _ in 0..=MOST_REFUSALS {
            let refused = self.remote.refused(self.ask.request);
            let asked = body::body(dialect, &self.remote.model, self.ask.request, &refused)
                .map_err(BackendError::Rejected)?;
            let received =
                self.send("/v1/chat/completions", CHAT, Some(asked.fields.clone())).await;
            let answer = assemble::chat(dialect, &received);
            let streamed = received.is_stream();
            self.wire.push(received.wire);
            // What broke off is no answer, however much of one it looks like.
            if let Some(broke) = received.broke {
                return Err(broke);
            }
            match answer {
                Ok(reply) => return Ok((asked, reply, streamed)),
                Err(NoReply::Refused(error)) => {
                    match refused_field(self.ask.request, &asked, &error) {
                        Some(field) => {
                            let why = format!("dropped: the server refuses it ({})", error.message);
                            self.remote.refuse(self.ask.request, field, why);
                        }
                        None => return Err(worded(error, self.remote.transport.address())),
                    }
                }
                Err(NoReply::Malformed(why)) => return Err(BackendError::Malformed(why)),
                Err(NoReply::Incomplete(why)) => return Err(BackendError::Incomplete(why)),
            }
        }
        Err(BackendError::Rejected(format!(
            "the server refused more than {MOST_REFUSALS} fields of the request one after another"
        )))
    }

    /// Makes a call and leaves its record to the caller.
    pub(super) async fn send(
        &self,
        path: &str,
        purpose: &'static str,
        body: Option<Map<String, Value>>,
    ) -> Received {
        let call = Call {
            purpose,
            body: body.map(Value::Object),
            path: path.to_owned(),
            timeout: self.ask.request.timeout,
            origin: Some((self.ask.case, self.ask.turn)),
        };
        self.remote.transport.call(call).await
    }

    /// A side call; `None` where the server does not grant it, which is remembered.
    pub(super) async fn side(
        &mut self,
        path: &str,
        purpose: &'static str,
        body: Map<String, Value>,
    ) -> Option<Value> {
        if self.remote.is_missing(path) {
            return None;
        }
        let received = self.send(path, purpose, Some(body)).await;
        if matches!(received.status, 403 | 404 | 405 | 501) {
            self.remote.miss(path);
        }
        let answer = received.json();
        self.wire.push(received.wire);
        answer
    }

    /// The text of ids, by the server.
    pub(super) async fn detokenize(&mut self, ids: &[u32]) -> Option<String> {
        let (path, field) = self.remote.known.dialect.detokenize?;
        let mut asked = Map::new();
        asked.insert("model".to_owned(), Value::from(self.remote.model.as_str()));
        asked.insert("tokens".to_owned(), Value::from(ids));
        asked.insert("skip_special_tokens".to_owned(), Value::Bool(false));
        let answer = self.side(path, "text", asked).await?;
        answer.get(field)?.as_str().map(str::to_owned)
    }

    fn settings(&self, sent: &Body, reply: &Reply) -> Vec<Setting> {
        let dialect = self.remote.known.dialect;
        let telling = Telling {
            facts: &self.remote.known.facts,
            reply,
            rendered: self.rendered.as_ref(),
            local: self.remote.local.as_ref(),
        };
        let told = (dialect.resolve)(&telling);
        settings::observe(dialect, self.ask.request, &sent.left_out, &told)
    }

    async fn generation(
        &mut self,
        choice: &Choice,
        reply: &Reply,
        settings: &[Setting],
        input: &Observed<Input>,
    ) -> Generation {
        // With several choices the count is theirs together.
        let alone = reply.choices.is_empty();
        let counted = reply.usage.filter(|_| alone).map(|usage| usage.completion_tokens);
        let output = output::observe(self, choice, counted).await;
        let told = |name: &str| {
            let setting = settings.iter().find(|setting| setting.name == name)?;
            setting.resolved.seen().ok().cloned()
        };
        let end_ids = told("eos_token_ids").and_then(|ids| serde_json::from_value(ids).ok());
        let end_ids = output::end_ids(end_ids, self.remote.local.as_ref());
        let asked = self.ask.request.settings.max_tokens.map(u64::from);
        let cap = told("max_tokens").and_then(|cap| cap.as_u64()).or(asked);
        let read = input.seen().ok().and_then(|input| input.count);
        let ids = output.ids();
        let termination = ending::classify(&Evidence {
            choice,
            settings: &self.ask.request.settings,
            ids: ids.as_deref(),
            completion: output.count.or(counted),
            prompt: read.or(reply.usage.map(|usage| usage.prompt_tokens)),
            end_ids: &end_ids,
            cap: cap.and_then(|cap| usize::try_from(cap).ok()),
            context: self.remote.known.facts.context(self.remote.known.dialect),
            native: choice.stop_type.as_deref(),
        });
        let count = output.count.or(counted);
        Generation {
            tokens: output.tokens,
            count,
            text: output.text,
            termination,
            rung: output.rung,
        }
    }

    /// What arrives is free of secrets, but a key may come in pieces that only together are one.
    fn scrub(&mut self, choice: &mut Choice, reply: &mut Reply) {
        let transport = &self.remote.transport;
        let mut found = false;
        let mut clean = |text: &mut String| {
            let scrubbed = transport.scrub(text.clone());
            found |= scrubbed != *text;
            *text = scrubbed;
        };
        [&mut choice.content, &mut choice.reasoning, &mut choice.refusal, &mut reply.prompt_text]
            .into_iter()
            .flatten()
            .for_each(&mut clean);
        choice.tool_calls.iter_mut().for_each(|call| clean(&mut call.arguments));
        if found {
            choice.deltas = vec![Delta { content: Some(WITHHELD.to_owned()), ..Delta::default() }];
            self.withhold();
        }
    }

    /// A key that tokens spell is as readable as one in the text.
    fn scrub_tokens(&mut self, generation: &mut Generation, choice: &Choice) {
        let transport = &self.remote.transport;
        let spells = |text: String| transport.scrub(text.clone()) != text;
        let scored = choice.logprobs.iter().map(|token| token.token.as_str()).collect();
        let told = generation.text.seen().is_ok_and(|text| spells(text.clone()));
        let pieces = generation
            .tokens
            .seen()
            .is_ok_and(|tokens| spells(tokens.iter().map(|token| token.piece.as_str()).collect()));
        if told || pieces || spells(scored) {
            generation.text = Observed::Hidden(WITHHELD.to_owned());
            generation.tokens = Observed::Hidden(WITHHELD.to_owned());
            self.withhold();
        }
    }

    /// Keeps what was received out of the record.
    fn withhold(&mut self) {
        for response in self.wire.iter_mut().filter_map(|call| call.response.as_mut()) {
            response.sse = None;
            response.body = None;
            response.text = Some(WITHHELD.to_owned());
        }
    }

    /// Some servers repeat the message that they continue; the reply is what comes after it.
    fn unecho(&self, choice: &mut Choice) {
        let request = self.ask.request;
        if !request.prefill || self.remote.known.dialect.prefill != Prefill::LastMessageEchoed {
            return;
        }
        let begun = request.messages.last().and_then(|message| message.content.as_deref());
        let (Some(begun), Some(content)) = (begun, &choice.content) else { return };
        let Some(rest) = content.strip_prefix(begun) else { return };
        choice.content = Some(rest.to_owned());
        let mut echoed = begun.len();
        for delta in &mut choice.deltas {
            let Some(piece) = &mut delta.content else { continue };
            let cut = echoed.min(piece.len());
            // The echo ends with a character, and so does each piece.
            *piece = piece.get(cut..).unwrap_or_default().to_owned();
            echoed -= cut;
        }
    }
}

fn response(choice: Choice, reply: &mut Reply, streamed: bool) -> Response {
    Response {
        content: choice.content.or(choice.refusal),
        reasoning: choice.reasoning,
        tool_calls: choice.tool_calls,
        finish_reason: choice.finish_reason,
        usage: reply.usage,
        stream: streamed.then_some(choice.deltas),
        faults: std::mem::take(&mut reply.faults),
    }
}

/// The field that the server says it does not know, or does not support here.
fn refused_field(request: &Request, sent: &Body, error: &ErrorBody) -> Option<String> {
    const UNKNOWN: [&str; 6] =
        ["unrecognized", "unrecognised", "unexpected", "unknown", "extra inputs", "not permitted"];
    const UNSUPPORTED: [&str; 3] = ["not supported", "unsupported", "does not support"];
    if !matches!(error.status, 400 | 422) {
        return None;
    }
    let message = error.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let field = body::named_field(&sent.fields, &error.message, error.param.as_deref())?;
    // A refused value names its field, too. Leaving out what the spec pinned would ask something else, so of that only
    // what the server does not know at all is dropped.
    let refused = match body::is_pinned(request, &field) {
        true => says(&UNKNOWN) && !message.contains("value"),
        false => says(&UNKNOWN) || says(&UNSUPPORTED),
    };
    refused.then_some(field)
}

/// A refusal in the words of the server.
fn worded(error: ErrorBody, address: &str) -> BackendError {
    let ErrorBody { status, message, .. } = error;
    let told = match status {
        200..300 => format!("the server reports an error inside the reply: {message}"),
        401 | 403 => format!(
            "the server refuses the key, or wants one (HTTP {status}): {message}; `api_key_env` names the variable that holds it"
        ),
        404 | 405 => format!(
            "HTTP {status}: {message}; {address}/v1/chat/completions was asked: is `url` the API's root?"
        ),
        _ => format!("HTTP {status}: {message}"),
    };
    match status {
        200..300 | 429 | 500.. => BackendError::Unavailable(told),
        _ => BackendError::Rejected(told),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::backend::remote::dialect::by_name;

    fn refused(pinned: Value, message: &str) -> Option<String> {
        let mut request = crate::assertion::sample::request(&[(crate::request::Role::User, "hi")]);
        request.settings = serde_json::from_value(pinned).unwrap();
        let sent = body::body(by_name("vllm").unwrap(), "m", &request, &body::Refused::new());
        let error = ErrorBody { status: 400, message: message.to_owned(), ..ErrorBody::default() };
        refused_field(&request, &sent.unwrap(), &error)
    }

    #[test]
    fn what_was_asked_for_as_evidence_is_dropped_and_what_was_pinned_only_where_it_is_unknown() {
        let none = json!({});
        let logprobs = Some("logprobs".to_owned());
        assert_eq!(refused(none.clone(), "logprobs is not supported with tools"), logprobs);
        let ids = Some("return_token_ids".to_owned());
        assert_eq!(refused(none, "Unexpected fields: {'return_token_ids'}"), ids);
        let cold = json!({"temperature": 0.0, "top_k": 3});
        let value = "Unsupported value: 'temperature' does not support 0 with this model.";
        assert_eq!(refused(cold.clone(), value), None);
        assert_eq!(refused(cold.clone(), "temperature must be at least 0.1"), None);
        let top_k = Some("top_k".to_owned());
        assert_eq!(refused(cold, "Unrecognized request argument supplied: top_k"), top_k);
    }
}
