//! Boundary 3 over HTTP: output ids, raw text and log-probabilities, by the best route.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::dialect::LogprobStage;
use super::reply::{Choice, TokenLogprob};
use super::{Inquiry, shadow};
use crate::capture::{Observed, OutputToken, TopToken};
use crate::model::ModelDir;
use crate::request::{Request, Settings};

/// What was generated, but for why it ended.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) tokens: Observed<Vec<OutputToken>>,
    pub(super) count: Option<usize>,
    pub(super) text: Observed<String>,
    pub(super) rung: String,
}

impl Output {
    /// The ids, where they are known.
    pub(super) fn ids(&self) -> Option<Vec<u32>> {
        Some(self.tokens.seen().ok()?.iter().map(|token| token.id).collect())
    }
}

/// Token bytes to ids, built when first needed; bytes that several ids share have none.
#[derive(Debug, Default)]
pub(super) struct ByBytes(OnceLock<HashMap<Vec<u8>, Option<u32>>>);

impl ByBytes {
    fn id(&self, local: &ModelDir, bytes: &[u8]) -> Option<u32> {
        let map = self.0.get_or_init(|| {
            let mut map = HashMap::new();
            for id in 0..u32::try_from(local.tokenizer.vocab_size()).unwrap_or(u32::MAX) {
                let bytes = local.tokenizer.token_bytes(id);
                map.entry(bytes).and_modify(|known| *known = None).or_insert(Some(id));
            }
            map
        });
        map.get(bytes).copied().flatten()
    }
}

/// What the reply, or a shadow of it, shows.
pub(super) async fn observe(
    inquiry: &mut Inquiry<'_>,
    choice: &Choice,
    counted: Option<usize>,
) -> Output {
    if let Some((ids, rung)) = ids(inquiry, choice, counted) {
        return known(inquiry, choice, ids, rung).await;
    }
    let why = match shadow::ask(inquiry, choice, counted).await {
        Ok(shadow) => {
            let counted = counted.or(shadow.token_ids.as_ref().map(Vec::len));
            match ids(inquiry, &shadow, counted) {
                Some((ids, rung)) => {
                    return known(inquiry, &shadow, ids, format!("shadow call: {rung}")).await;
                }
                None => "neither the reply nor a shadow call holds output ids".to_owned(),
            }
        }
        Err(why) => why,
    };
    let text = Observed::Hidden(why.clone());
    Output { tokens: Observed::Hidden(why), count: counted, text, rung: "none".to_owned() }
}

/// The ids with the rung they stand on. A list that is not as long as the counted one has gaps: servers leave out
/// tokens that made no text.
fn ids(
    inquiry: &Inquiry<'_>,
    choice: &Choice,
    counted: Option<usize>,
) -> Option<(Vec<u32>, &'static str)> {
    let complete = |ids: &Vec<u32>| counted.is_none_or(|counted| counted == ids.len());
    let returned = choice.token_ids.clone().filter(|ids| !ids.is_empty() || counted == Some(0));
    let scored: Option<Vec<u32>> = choice.logprobs.iter().map(|token| token.id).collect();
    let scored = scored.filter(|ids| !ids.is_empty());
    let told = [(returned, "returned ids"), (scored, "ids of the log-probabilities")];
    let told = told.into_iter().find_map(|(ids, rung)| Some((ids.filter(complete)?, rung)));
    // The table of bytes is as long as the vocabulary, and is made only where nobody tells ids.
    told.or_else(|| {
        let ids = looked_up(inquiry, choice).filter(complete)?;
        Some((ids, "bytes of the log-probabilities, looked up in the tokenizer"))
    })
}

/// The bytes of a token are an identity where one id alone has them; its text is none.
fn looked_up(inquiry: &Inquiry<'_>, choice: &Choice) -> Option<Vec<u32>> {
    let local = inquiry.remote.local.as_ref()?;
    if choice.logprobs.is_empty() {
        return None;
    }
    let id = |token: &TokenLogprob| {
        let bytes = token.bytes.as_deref().filter(|bytes| !bytes.is_empty())?;
        inquiry.remote.by_bytes.id(local, bytes)
    };
    choice.logprobs.iter().map(id).collect()
}

async fn known(
    inquiry: &mut Inquiry<'_>,
    choice: &Choice,
    ids: Vec<u32>,
    rung: impl Into<String>,
) -> Output {
    let local = inquiry.remote.local.as_ref();
    let raw = is_raw(inquiry.remote.known.dialect.logprobs, &inquiry.ask.request.settings);
    let mut scores = scores(inquiry, choice, &ids);
    let mut tokens = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        let score = scores.get_mut(index).and_then(Option::take);
        let piece = match (local, &score) {
            (Some(local), _) => local.tokenizer.piece(*id),
            (None, Some(score)) => score.token.clone(),
            (None, None) => String::new(),
        };
        let score = score.filter(|_| raw);
        // A server that says `null` or a word has told nothing.
        let logprob = score.as_ref().map(|score| score.logprob).filter(|value| !value.is_nan());
        let top = score.map(|score| top(inquiry, score)).unwrap_or_default();
        tokens.push(OutputToken { id: *id, piece, logprob, top });
    }
    let text = match local {
        Some(local) => Some(local.tokenizer.decode(&ids, false)),
        None => inquiry.detokenize(&ids).await,
    };
    let text = text.map_or_else(
        || {
            Observed::Hidden(
                "the server shows ids only, and the target names no tokenizer".to_owned(),
            )
        },
        Observed::Seen,
    );
    let count = Some(tokens.len());
    Output { tokens: Observed::Seen(tokens), count, text, rung: rung.into() }
}

/// The log-probabilities by position, as far as they belong to these ids.
fn scores(inquiry: &Inquiry<'_>, choice: &Choice, ids: &[u32]) -> Vec<Option<TokenLogprob>> {
    let mut agree = true;
    let scored = choice.logprobs.iter().zip(ids).map(|(score, id)| {
        agree &= identity(inquiry, score).is_none_or(|scored| scored == *id);
        agree.then(|| score.clone())
    });
    scored.collect()
}

fn identity(inquiry: &Inquiry<'_>, token: &TokenLogprob) -> Option<u32> {
    token.id.or_else(|| {
        let bytes = token.bytes.as_deref().filter(|bytes| !bytes.is_empty())?;
        inquiry.remote.by_bytes.id(inquiry.remote.local.as_ref()?, bytes)
    })
}

/// Alternatives, highest first; no server's own order means anything.
fn top(inquiry: &Inquiry<'_>, score: TokenLogprob) -> Vec<TopToken> {
    let local = inquiry.remote.local.as_ref();
    let mut top: Vec<TopToken> = score
        .top
        .into_iter()
        .filter_map(|other| {
            let id = identity(inquiry, &other)?;
            let piece = local.map_or(other.token, |local| local.tokenizer.piece(id));
            Some(TopToken { id, piece, logprob: other.logprob })
        })
        .collect();
    top.sort_by(|a, b| b.logprob.total_cmp(&a.logprob).then(a.id.cmp(&b.id)));
    top.truncate(inquiry.ask.request.top_logprobs);
    top
}

/// Whether log-probabilities of that stage are those of the raw distribution.
fn is_raw(stage: LogprobStage, settings: &Settings) -> bool {
    let neutral = |value: Option<f64>, neutral: f64| value.is_none_or(|value| value == neutral);
    let unpenalised = neutral(settings.repetition_penalty, 1.0)
        && neutral(settings.presence_penalty, 0.0)
        && neutral(settings.frequency_penalty, 0.0)
        && settings.logit_bias.as_ref().is_none_or(|bias| bias.is_empty());
    let greedy = settings.temperature == Some(0.0);
    match stage {
        LogprobStage::Raw => true,
        LogprobStage::AfterTemperature => {
            unpenalised && (greedy || settings.temperature == Some(1.0))
        }
        LogprobStage::AfterTruncation | LogprobStage::Unknown => unpenalised && greedy,
        LogprobStage::None => false,
    }
}

/// Whether the same request would give the same output again.
pub(super) fn is_repeatable(request: &Request) -> bool {
    request.settings.temperature == Some(0.0) || request.settings.seed.is_some()
}

/// The end ids to judge by: those that are told, else those of the same model's directory.
pub(super) fn end_ids(told: Option<Vec<u32>>, local: Option<&ModelDir>) -> Vec<u32> {
    told.or_else(|| local.map(|local| local.eos.effective())).unwrap_or_default()
}
