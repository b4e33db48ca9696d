//! The decode loop: one sequence, token by token, until something ends it.

use super::Abort;
use super::cache::Cache;
use super::decoder::Model;
use super::detokenize::Detokenizer;
use super::error::EngineError;
use super::sampler::{Sampler, Sampling, confidence};
use super::stop::StopStrings;

/// What to generate and when to end.
#[derive(Debug, Clone, Default)]
pub struct Job<'a> {
    /// The ids to continue, at least one.
    pub prompt: &'a [u32],
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// The most tokens, the end token included; `None` is as many as the context holds.
    pub max_tokens: Option<usize>,
    /// How many tokens come before an end id, a stop id or a stop string counts.
    pub min_tokens: usize,
    /// The model's end ids.
    pub end_ids: &'a [u32],
    /// Go on past end ids.
    pub ignore_eos: bool,
    /// Further ids that end the sequence.
    pub stop_ids: &'a [u32],
    /// Strings that end the sequence.
    pub stop_strings: &'a [String],
    /// How many alternatives are kept for each token.
    pub top: usize,
}

/// A generated token.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The id.
    pub id: u32,
    /// Its natural log-probability in the raw distribution.
    pub logprob: f32,
    /// The most likely ids with theirs, highest first, ties by id.
    pub top: Vec<(u32, f32)>,
}

/// One turn of the loop, as it happens.
#[derive(Debug)]
pub struct Step<'a> {
    /// The token.
    pub token: &'a Sampled,
    /// Text that became certain with it; often empty.
    pub text: &'a str,
}

/// Why a sequence ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// One of the model's end ids.
    EndId(u32),
    /// One of the job's stop ids.
    StopId(u32),
    /// One of the job's stop strings.
    StopString(String),
    /// As many tokens as the job allows.
    MaxTokens,
    /// The context is full.
    Context,
    /// Cancelled or out of time.
    Aborted(Abort),
    /// A logit was not a finite number.
    NumericalFault,
}

/// A finished sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// Every token, the end token included.
    pub tokens: Vec<Sampled>,
    /// The text before an end token or a stop string.
    pub text: String,
    /// Why it ended.
    pub ending: Ending,
}

/// Continues `job.prompt`; `decode` turns ids into text, `interrupt` is asked before each token, `on_step` sees
/// each token as it comes.
///
/// # Errors
/// The prompt is empty, does not leave room for a token or holds an unknown id; a setting is out of range; a
/// kernel fails. Being interrupted is an [`Ending`], not an error.
pub fn generate(
    model: &Model,
    job: &Job<'_>,
    decode: &dyn Fn(&[u32]) -> String,
    interrupt: &dyn Fn() -> Option<Abort>,
    on_step: &mut dyn FnMut(&Step<'_>),
) -> Result<Generated, EngineError> {
    job.sampling.check(model.config().vocab_size).map_err(EngineError::Refused)?;
    let mut cache = Cache::new();
    let mut source = |ids: &[u32]| model.forward_until(ids, &mut cache, interrupt);
    run(&mut source, model.config().context, job, decode, interrupt, on_step)
}

/// Raw logits after the given further ids.
type Source<'a> = dyn FnMut(&[u32]) -> Result<Vec<f32>, EngineError> + 'a;

fn run(
    source: &mut Source<'_>,
    context: usize,
    job: &Job<'_>,
    decode: &dyn Fn(&[u32]) -> String,
    interrupt: &dyn Fn() -> Option<Abort>,
    on_step: &mut dyn FnMut(&Step<'_>),
) -> Result<Generated, EngineError> {
    let room = context.saturating_sub(job.prompt.len());
    if room == 0 {
        return Err(EngineError::Refused(format!(
            "the prompt has {} tokens and the model's context is {context}, which leaves no room for an \
             answer; shorten the conversation or take a model with a longer context",
            job.prompt.len()
        )));
    }
    let mut sequence = Sequence::new(job, room, decode);
    let mut ahead: Vec<u32> = job.prompt.to_vec();
    while sequence.ending.is_none() {
        if let Some(abort) = interrupt() {
            sequence.end(Ending::Aborted(abort));
            break;
        }
        let logits = match source(&ahead) {
            Ok(logits) => logits,
            Err(EngineError::Aborted(abort)) => {
                sequence.end(Ending::Aborted(abort));
                break;
            }
            Err(error) => return Err(error),
        };
        let Some(id) = sequence.step(&logits, on_step) else { break };
        ahead.clear();
        ahead.push(id);
    }
    Ok(Generated {
        tokens: sequence.tokens,
        text: sequence.text,
        ending: sequence.ending.unwrap_or(Ending::Context),
    })
}

struct Sequence<'a> {
    job: &'a Job<'a>,
    /// How many tokens fit into the context.
    room: usize,
    sampler: Sampler,
    detokenizer: Detokenizer<'a>,
    stops: StopStrings<'a>,
    tokens: Vec<Sampled>,
    text: String,
    ending: Option<Ending>,
}

impl<'a> Sequence<'a> {
    fn new(job: &'a Job<'a>, room: usize, decode: &'a dyn Fn(&[u32]) -> String) -> Self {
        Sequence {
            job,
            room,
            sampler: Sampler::new(job.sampling.clone(), job.prompt),
            detokenizer: Detokenizer::new(decode),
            stops: StopStrings::new(job.stop_strings),
            tokens: Vec::new(),
            text: String::new(),
            ending: (job.max_tokens == Some(0)).then_some(Ending::MaxTokens),
        }
    }

    /// Chooses and takes in one token; `None` when there is none to choose.
    fn step(&mut self, logits: &[f32], on_step: &mut dyn FnMut(&Step<'_>)) -> Option<u32> {
        if logits.iter().any(|logit| !logit.is_finite()) {
            self.end(Ending::NumericalFault);
            return None;
        }
        let id = self.sampler.next(logits, &self.banned());
        let (logprob, top) = confidence(logits, id, self.job.top)?;
        let token = Sampled { id, logprob, top };
        self.tokens.push(token.clone());
        let before = self.text.len();
        self.take(id);
        on_step(&Step { token: &token, text: &self.text[before..] });
        Some(id)
    }

    /// Ids that must not be chosen yet.
    fn banned(&self) -> Vec<u32> {
        if self.tokens.len() >= self.job.min_tokens {
            return Vec::new();
        }
        let end_ids = if self.job.ignore_eos { &[] } else { self.job.end_ids };
        end_ids.iter().chain(self.job.stop_ids).copied().collect()
    }

    /// Takes in the text of `id` and decides whether it ends the sequence. A stop string outranks an id, an id
    /// outranks a length.
    fn take(&mut self, id: u32) {
        let job = self.job;
        if job.stop_ids.contains(&id) {
            return self.end(Ending::StopId(id));
        }
        if !job.ignore_eos && job.end_ids.contains(&id) {
            return self.end(Ending::EndId(id));
        }
        let piece = self.detokenizer.push(id);
        let released = self.stops.push(&piece, self.tokens.len() > job.min_tokens);
        self.text.push_str(&released.text);
        if let Some(stop) = released.stop {
            self.ending = Some(Ending::StopString(stop));
        } else if job.max_tokens.is_some_and(|most| self.tokens.len() >= most) {
            self.end(Ending::MaxTokens);
        } else if self.tokens.len() >= self.room {
            self.end(Ending::Context);
        }
    }

    /// Ends the sequence and gives out what was held back.
    fn end(&mut self, ending: Ending) {
        self.text.push_str(&self.stops.finish());
        self.text.push_str(&self.detokenizer.finish());
        self.ending = Some(ending);
    }
}

#[cfg(test)]
#[path = "generate_tests.rs"]
mod tests;
