//! The decoder: token ids in, logits or hidden states out.

use std::path::Path;

use candle_core::{D, DType, Device, Tensor};
use serde_json::Value;

use super::Abort;
use super::cache::Cache;
use super::config::Config;
use super::error::EngineError;
use super::layer::{Layer, Loader, Norm, Positions, mask};
use super::rope::Tables;
use super::weights::Weights;

/// Prompts are read in pieces of this many positions, so that the scores of a long one fit into memory.
const CHUNK: usize = 512;
/// The head is applied to this many positions at a time.
const HEAD_CHUNK: usize = 64;

/// A loaded model. It holds no sequence: that is the [`Cache`].
pub struct Model {
    config: Config,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Norm,
    /// `[hidden, vocab]`.
    head: Tensor,
    dtype: DType,
    device: Device,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Model {
    /// Loads the weights of a Hugging Face directory whose parsed `config.json` is `config`.
    ///
    /// # Errors
    /// The configuration is not spoken, or a weight file or tensor is missing, damaged or of the wrong shape.
    pub fn load(
        dir: &Path,
        config: &Value,
        device: &Device,
        dtype: DType,
    ) -> Result<Model, EngineError> {
        let config = Config::parse(config)?;
        let weights = Weights::open(dir)?;
        let mut loader = Loader { weights: &weights, dtype, device, used: Vec::new() };
        let table = [config.vocab_size, config.hidden_size];
        let embedding = loader.get("model.embed_tokens.weight".to_owned(), &table)?;
        let layers = (0..config.layers)
            .map(|index| Layer::load(&mut loader, &config, index))
            .collect::<Result<Vec<_>, _>>()?;
        let norm = "model.norm.weight".to_owned();
        let norm = Norm::load(&mut loader, norm, config.hidden_size, config.norm_eps)?;
        let head = if config.tied {
            embedding.clone()
        } else {
            loader.get("lm_head.weight".to_owned(), &table)?
        };
        weights.refuse_unused(&loader.used, config.layers)?;
        let head = head.t()?;
        Ok(Model { config, embedding, layers, norm, head, dtype, device: device.clone() })
    }

    /// The model's shape.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Reads `ids` after what `cache` holds and gives the raw logits of the last position, `[vocab]` in f32.
    ///
    /// # Errors
    /// `ids` is empty, holds an id outside the vocabulary or does not fit into the context; a kernel fails.
    pub fn forward(&self, ids: &[u32], cache: &mut Cache) -> Result<Vec<f32>, EngineError> {
        self.forward_until(ids, cache, &|| None)
    }

    /// As [`Model::forward`], asking `interrupt` between pieces of a long prompt.
    ///
    /// # Errors
    /// As [`Model::forward`], and [`EngineError::Aborted`].
    pub fn forward_until(
        &self,
        ids: &[u32],
        cache: &mut Cache,
        interrupt: &dyn Fn() -> Option<Abort>,
    ) -> Result<Vec<f32>, EngineError> {
        self.check(ids, cache)?;
        let mut last = None;
        for piece in ids.chunks(CHUNK) {
            if let Some(abort) = interrupt() {
                return Err(EngineError::Aborted(abort));
            }
            let states = self.blocks(piece, cache, &mut |_, _| Ok(()))?;
            last = Some(states.narrow(0, piece.len() - 1, 1)?);
        }
        match last {
            Some(state) => Ok(self.logits(&state)?.squeeze(0)?.to_vec1()?),
            None => Err(EngineError::Refused("there is no token to read".to_owned())),
        }
    }

    /// The raw logits at every position of `ids`, read from an empty context: `[len, vocab]` in f32.
    ///
    /// # Errors
    /// As [`Model::forward`].
    pub fn all_logits(&self, ids: &[u32]) -> Result<Vec<Vec<f32>>, EngineError> {
        let mut rows = Vec::with_capacity(ids.len());
        self.each_piece(ids, &mut |logits| {
            rows.extend(logits.to_vec2::<f32>()?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Natural log-probabilities of `ids[1..]`, each given the ids before it.
    ///
    /// # Errors
    /// As [`Model::forward`]; `ids` has fewer than two entries.
    pub fn score(&self, ids: &[u32]) -> Result<Vec<f32>, EngineError> {
        let Some((_, targets)) = ids.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Err(EngineError::Refused("scoring needs two tokens or more".to_owned()));
        };
        let mut scores: Vec<f32> = Vec::with_capacity(targets.len());
        self.check(ids, &Cache::new())?;
        self.each_piece(&ids[..targets.len()], &mut |logits| {
            let rows = logits.dim(0)?;
            let next = targets[scores.len()..scores.len() + rows].to_vec();
            let next = Tensor::from_vec(next, (rows, 1), logits.device())?;
            let logprobs = candle_nn::ops::log_softmax(logits, D::Minus1)?.gather(&next, 1)?;
            scores.extend(logprobs.squeeze(1)?.to_vec1::<f32>()?);
            Ok(())
        })?;
        Ok(scores)
    }

    /// Hidden states after the chosen layers at every position, `[len, hidden]` in f32 for each of `layers`:
    /// 0 is the embedding, `n` the output of block `n`, counted from 1 and before the final norm.
    ///
    /// # Errors
    /// As [`Model::forward`]; a layer does not exist.
    pub fn hidden_states(
        &self,
        ids: &[u32],
        layers: &[usize],
    ) -> Result<Vec<Vec<Vec<f32>>>, EngineError> {
        if let Some(beyond) = layers.iter().find(|layer| **layer > self.config.layers) {
            let message = format!("there is no layer {beyond}: 0 to {}", self.config.layers);
            return Err(EngineError::Refused(message));
        }
        let mut cache = Cache::new();
        self.check(ids, &cache)?;
        let mut states = vec![Vec::new(); layers.len()];
        for piece in ids.chunks(CHUNK) {
            self.blocks(piece, &mut cache, &mut |layer, state| {
                for (slot, _) in layers.iter().enumerate().filter(|(_, wanted)| **wanted == layer) {
                    states[slot].extend(state.to_dtype(DType::F32)?.to_vec2::<f32>()?);
                }
                Ok(())
            })?;
        }
        Ok(states)
    }

    fn each_piece(
        &self,
        ids: &[u32],
        take: &mut dyn FnMut(&Tensor) -> candle_core::Result<()>,
    ) -> Result<(), EngineError> {
        let mut cache = Cache::new();
        self.check(ids, &cache)?;
        for piece in ids.chunks(CHUNK) {
            let states = self.blocks(piece, &mut cache, &mut |_, _| Ok(()))?;
            for start in (0..piece.len()).step_by(HEAD_CHUNK) {
                let count = HEAD_CHUNK.min(piece.len() - start);
                take(&self.logits(&states.narrow(0, start, count)?)?)?;
            }
        }
        Ok(())
    }

    fn logits(&self, states: &Tensor) -> candle_core::Result<Tensor> {
        self.norm.forward(states)?.matmul(&self.head)?.to_dtype(DType::F32)
    }

    /// Runs the blocks over `ids`; `see` is shown the states `[new, hidden]` before the first and after each.
    fn blocks(
        &self,
        ids: &[u32],
        cache: &mut Cache,
        see: &mut dyn FnMut(usize, &Tensor) -> candle_core::Result<()>,
    ) -> candle_core::Result<Tensor> {
        let positions = self.positions(cache.len(), ids.len())?;
        let mut x = self.embedding.index_select(&Tensor::new(ids, &self.device)?, 0)?;
        see(0, &x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(&x, &positions, cache)?;
            see(index + 1, &x)?;
        }
        cache.advance(ids.len());
        Ok(x)
    }

    fn positions(&self, past: usize, new: usize) -> candle_core::Result<Positions> {
        let scale = 1.0 / (self.config.head_dim as f32).sqrt();
        let tables: Tables = self.config.rope.tables(past, new, scale, self.dtype, &self.device)?;
        let mut positions = Positions { tables, full: None, windowed: Vec::new() };
        if new == 1 {
            return Ok(positions);
        }
        let group = self.config.heads / self.config.kv_heads;
        for window in &self.config.windows {
            match window {
                None if positions.full.is_none() => {
                    positions.full = Some(mask(past, new, group, None, &self.device)?);
                }
                Some(size) if !positions.windowed.iter().any(|(known, _)| known == size) => {
                    let mask = mask(past, new, group, *window, &self.device)?;
                    positions.windowed.push((*size, mask));
                }
                _ => {}
            }
        }
        Ok(positions)
    }

    fn check(&self, ids: &[u32], cache: &Cache) -> Result<(), EngineError> {
        if ids.is_empty() {
            return Err(EngineError::Refused("there is no token to read".to_owned()));
        }
        let (needed, context) = (cache.len() + ids.len(), self.config.context);
        if needed > context {
            return Err(EngineError::Refused(format!(
                "{needed} tokens do not fit into the context of {context}"
            )));
        }
        match ids.iter().find(|id| **id as usize >= self.config.vocab_size) {
            Some(id) => Err(EngineError::Refused(format!(
                "token id {id} is outside the vocabulary of {}",
                self.config.vocab_size
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
