//! From raw logits to the next token: bias, penalties, temperature and filters, in this order.
//!
//! The order is vLLM's: logit bias, penalties, temperature, min-p, top-k, top-p. Ties are broken by the lowest
//! id. The random stream is ChaCha8's, named here so that a seed keeps its meaning.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// How the next token is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f64,
    /// Keep only the k most likely; 0 keeps all.
    pub top_k: usize,
    /// Keep the smallest set with at least this mass; 1 keeps all.
    pub top_p: f64,
    /// Keep tokens with at least this share of the highest probability; 0 keeps all.
    pub min_p: f64,
    /// Seed of the random stream.
    pub seed: u64,
    /// Over prompt and output; 1 is neutral.
    pub repetition_penalty: f64,
    /// Over the output; 0 is neutral.
    pub presence_penalty: f64,
    /// Over the output, for each occurrence; 0 is neutral.
    pub frequency_penalty: f64,
    /// Added to the logit of an id.
    pub logit_bias: BTreeMap<u32, f64>,
}

impl Default for Sampling {
    /// Plain sampling from the model's own distribution, seed 0.
    fn default() -> Self {
        Sampling {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            seed: 0,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            logit_bias: BTreeMap::new(),
        }
    }
}

impl Sampling {
    /// Says which setting is out of its range and what the range is.
    ///
    /// # Errors
    /// One of them is.
    pub fn check(&self, vocab_size: usize) -> Result<(), String> {
        let out =
            |name: &str, value: f64, range: &str| Err(format!("`{name}` is {value}; {range}"));
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            return out("temperature", self.temperature, "it must be 0 (greedy) or more");
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return out("top_p", self.top_p, "it must be above 0 and at most 1 (all tokens)");
        }
        if !(0.0..=1.0).contains(&self.min_p) {
            return out("min_p", self.min_p, "it must be between 0 (all tokens) and 1");
        }
        if !(self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite()) {
            return out(
                "repetition_penalty",
                self.repetition_penalty,
                "it must be above 0; 1 is neutral",
            );
        }
        for (name, value) in [
            ("presence_penalty", self.presence_penalty),
            ("frequency_penalty", self.frequency_penalty),
        ] {
            if !value.is_finite() {
                return out(name, value, "it must be a finite number; 0 is neutral");
            }
        }
        for (id, bias) in &self.logit_bias {
            if *id as usize >= vocab_size || bias.is_nan() {
                return Err(format!(
                    "`logit_bias` gives id {id} the bias {bias}; ids run from 0 to {}",
                    vocab_size.saturating_sub(1)
                ));
            }
        }
        Ok(())
    }
}

/// Chooses the tokens of one sequence.
#[derive(Debug)]
pub struct Sampler {
    sampling: Sampling,
    random: ChaCha8Rng,
    in_prompt: BTreeMap<u32, u32>,
    in_output: BTreeMap<u32, u32>,
}

impl Sampler {
    /// A sampler for a sequence that begins with `prompt`.
    pub fn new(sampling: Sampling, prompt: &[u32]) -> Sampler {
        let random = ChaCha8Rng::seed_from_u64(sampling.seed);
        let mut in_prompt = BTreeMap::new();
        for id in prompt {
            *in_prompt.entry(*id).or_insert(0) += 1;
        }
        Sampler { sampling, random, in_prompt, in_output: BTreeMap::new() }
    }

    /// Chooses an id from raw `logits` (finite, `[vocab]`) that is not in `banned`, and remembers it.
    pub fn next(&mut self, logits: &[f32], banned: &[u32]) -> u32 {
        let mut logits = logits.to_vec();
        for id in banned {
            if let Some(logit) = logits.get_mut(*id as usize) {
                *logit = f32::NEG_INFINITY;
            }
        }
        self.adjust(&mut logits);
        let id =
            if self.sampling.temperature == 0.0 { argmax(&logits) } else { self.draw(&logits) };
        *self.in_output.entry(id).or_insert(0) += 1;
        id
    }

    /// Bias and penalties, in place.
    fn adjust(&self, logits: &mut [f32]) {
        let sampling = &self.sampling;
        for (id, bias) in &sampling.logit_bias {
            if let Some(logit) = logits.get_mut(*id as usize) {
                *logit += *bias as f32;
            }
        }
        if sampling.repetition_penalty != 1.0 {
            let penalty = sampling.repetition_penalty as f32;
            let once = self.in_prompt.keys().filter(|id| !self.in_output.contains_key(id));
            for id in once.chain(self.in_output.keys()) {
                if let Some(logit) = logits.get_mut(*id as usize) {
                    *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
                }
            }
        }
        for (id, count) in &self.in_output {
            if let Some(logit) = logits.get_mut(*id as usize) {
                let often = sampling.frequency_penalty * f64::from(*count);
                *logit -= (sampling.presence_penalty + often) as f32;
            }
        }
    }

    fn draw(&mut self, logits: &[f32]) -> u32 {
        let kept = self.candidates(logits);
        let total: f64 = kept.iter().map(|(_, share)| share).sum();
        // 53 random bits: the doubles in [0, 1) at equal distances.
        let point = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * total;
        let mut sum = 0.0;
        for (id, share) in &kept {
            sum += share;
            if point < sum {
                return *id;
            }
        }
        kept.last().map_or_else(|| argmax(logits), |(id, _)| *id)
    }

    /// The ids that may be drawn with their shares, most likely first; the shares need not sum to 1.
    fn candidates(&self, logits: &[f32]) -> Vec<(u32, f64)> {
        let sampling = &self.sampling;
        let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // A bias of +inf leaves nothing else to draw.
        if highest == f32::INFINITY {
            return vec![(argmax(logits), 1.0)];
        }
        let share = |logit: f32| (f64::from(logit - highest) / sampling.temperature).exp();
        let mut kept: Vec<(u32, f64)> = (0u32..)
            .zip(logits)
            .map(|(id, logit)| (id, share(*logit)))
            .filter(|(_, share)| *share > 0.0 && *share >= sampling.min_p)
            .collect();
        let k = if sampling.top_k == 0 { kept.len() } else { sampling.top_k };
        if k < kept.len() {
            kept.select_nth_unstable_by(k, by_share);
            kept.truncate(k);
        }
        kept.sort_unstable_by(by_share);
        if sampling.top_p < 1.0 {
            let total: f64 = kept.iter().map(|(_, share)| share).sum();
            let mut sum = 0.0;
            let needed = kept.iter().position(|(_, share)| {
                sum += share;
                sum >= sampling.top_p * total
            });
            kept.truncate(needed.map_or(kept.len(), |last| last + 1));
        }
        kept
    }
}

fn by_share(a: &(u32, f64), b: &(u32, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// The lowest id with the highest logit.
pub fn argmax(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, logit) in (0u32..).zip(logits) {
        if *logit > best.1 {
            best = (id, *logit);
        }
    }
    best.0
}

/// The natural log-probability of `id` under raw `logits`, and the `count` most likely ids, highest first and
/// ties by id. `None` if a logit is not finite.
pub fn confidence(logits: &[f32], id: u32, count: usize) -> Option<(f32, Vec<(u32, f32)>)> {
    let mut highest = f32::NEG_INFINITY;
    for logit in logits {
        if !logit.is_finite() {
            return None;
        }
        highest = highest.max(*logit);
    }
    let chosen = *logits.get(id as usize)?;
    let sum: f64 = logits.iter().map(|logit| f64::from((logit - highest).exp())).sum();
    let norm = f64::from(highest) + sum.ln();
    let logprob = |logit: f32| (f64::from(logit) - norm) as f32;
    let mut top: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    for (id, logit) in (0u32..).zip(logits) {
        if top.len() == count && top.last().is_none_or(|(_, lowest)| logit <= lowest) {
            continue;
        }
        let place = top.partition_point(|(_, held)| held >= logit);
        top.insert(place, (id, *logit));
        top.truncate(count);
    }
    Some((logprob(chosen), top.into_iter().map(|(id, logit)| (id, logprob(logit))).collect()))
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
