//! One block of the decoder: attention and feed-forward, each behind its norm.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops::{rms_norm, rms_norm_slow, softmax_last_dim};

use super::cache::Cache;
use super::config::Config;
use super::error::EngineError;
use super::rope::Tables;
use super::weights::Weights;

/// Loads tensors of one model and remembers which.
pub(super) struct Loader<'a> {
    pub(super) weights: &'a Weights,
    pub(super) dtype: DType,
    pub(super) device: &'a Device,
    pub(super) used: Vec<String>,
}

impl Loader<'_> {
    pub(super) fn get(
        &mut self,
        name: String,
        shape: &[usize],
    ) -> std::result::Result<Tensor, EngineError> {
        let tensor = self.weights.load(&name, shape, self.dtype, self.device)?;
        self.used.push(name);
        Ok(tensor)
    }

    /// Projections that read the same input, stacked into one product: fewer and larger kernels.
    fn stacked(
        &mut self,
        prefix: &str,
        parts: &[(&str, usize)],
        inputs: usize,
        bias: bool,
    ) -> std::result::Result<Projection, EngineError> {
        let mut weights = Vec::new();
        let mut biases = Vec::new();
        for (name, outputs) in parts {
            weights.push(self.get(format!("{prefix}.{name}.weight"), &[*outputs, inputs])?);
            if bias {
                biases.push(self.get(format!("{prefix}.{name}.bias"), &[*outputs])?);
            }
        }
        let bias = if bias { Some(Tensor::cat(&biases, 0)?) } else { None };
        Ok(Projection { weight: Tensor::cat(&weights, 0)?.t()?, bias })
    }
}

/// `x · weight + bias`, the weight kept transposed, `[inputs, outputs]`.
struct Projection {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Projection {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let product = x.matmul(&self.weight)?;
        match &self.bias {
            Some(bias) => product.broadcast_add(bias),
            None => Ok(product),
        }
    }
}

/// Root-mean-square norm over the last dimension.
pub(super) struct Norm {
    weight: Tensor,
    eps: f32,
}

impl Norm {
    pub(super) fn load(
        loader: &mut Loader<'_>,
        name: String,
        width: usize,
        eps: f64,
    ) -> std::result::Result<Norm, EngineError> {
        Ok(Norm { weight: loader.get(name, &[width])?, eps: eps as f32 })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        // The fused CPU kernel rounds the root to half precision; the plain one keeps it in f32.
        if x.dtype() != DType::F32 && x.device().is_cpu() {
            return rms_norm_slow(x, &self.weight, self.eps);
        }
        rms_norm(x, &self.weight, self.eps)
    }
}

/// What every layer needs to know about the positions at hand.
pub(super) struct Positions {
    pub(super) tables: Tables,
    /// Added to the scores, `[group · new, all]` in f32; `None` where everything is visible.
    pub(super) full: Option<Tensor>,
    /// The same for layers with a window, by its size.
    pub(super) windowed: Vec<(usize, Tensor)>,
}

/// One block.
pub(super) struct Layer {
    index: usize,
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    window: Option<usize>,
    attention_norm: Norm,
    qkv: Projection,
    qk_norm: Option<(Norm, Norm)>,
    output: Projection,
    mlp_norm: Norm,
    gate_up: Projection,
    down: Projection,
    intermediate: usize,
}

impl Layer {
    pub(super) fn load(
        loader: &mut Loader<'_>,
        config: &Config,
        index: usize,
    ) -> std::result::Result<Layer, EngineError> {
        let (hidden, eps) = (config.hidden_size, config.norm_eps);
        let queries = config.heads * config.head_dim;
        let keys = config.kv_heads * config.head_dim;
        let layer = format!("model.layers.{index}");
        let attention = format!("{layer}.self_attn");
        let mlp = format!("{layer}.mlp");
        let inner = config.intermediate_size;
        let parts = [("q_proj", queries), ("k_proj", keys), ("v_proj", keys)];
        let norm = |loader: &mut Loader<'_>, name: &str, width| {
            Norm::load(loader, format!("{layer}.{name}.weight"), width, eps)
        };
        let qk_norm = if config.qk_norm {
            let width = config.head_dim;
            let q = norm(loader, "self_attn.q_norm", width)?;
            Some((q, norm(loader, "self_attn.k_norm", width)?))
        } else {
            None
        };
        let gate_up = [("gate_proj", inner), ("up_proj", inner)];
        Ok(Layer {
            index,
            heads: config.heads,
            kv_heads: config.kv_heads,
            head_dim: config.head_dim,
            window: config.windows.get(index).copied().flatten(),
            attention_norm: norm(loader, "input_layernorm", hidden)?,
            qkv: loader.stacked(&attention, &parts, hidden, config.qkv_bias)?,
            qk_norm,
            output: loader.stacked(
                &attention,
                &[("o_proj", hidden)],
                queries,
                config.output_bias,
            )?,
            mlp_norm: norm(loader, "post_attention_layernorm", hidden)?,
            gate_up: loader.stacked(&mlp, &gate_up, hidden, config.mlp_bias)?,
            down: loader.stacked(&mlp, &[("down_proj", hidden)], inner, config.mlp_bias)?,
            intermediate: inner,
        })
    }

    /// `[new, hidden]` to `[new, hidden]`.
    pub(super) fn forward(
        &self,
        x: &Tensor,
        positions: &Positions,
        cache: &mut Cache,
    ) -> Result<Tensor> {
        let x = (x + self.attention(&self.attention_norm.forward(x)?, positions, cache)?)?;
        let both = self.gate_up.forward(&self.mlp_norm.forward(&x)?)?;
        let gate = both.narrow(1, 0, self.intermediate)?.silu()?;
        let up = both.narrow(1, self.intermediate, self.intermediate)?;
        x + self.down.forward(&(gate * up)?)?
    }

    fn attention(&self, x: &Tensor, positions: &Positions, cache: &mut Cache) -> Result<Tensor> {
        let (new, width) = (x.dim(0)?, self.head_dim);
        let rows = self.heads + 2 * self.kv_heads;
        let qkv = self.qkv.forward(x)?.reshape((1, new, rows, width))?.transpose(1, 2)?;
        let part = |from, count| qkv.narrow(1, from, count)?.contiguous();
        let mut q = part(0, self.heads)?;
        let mut k = part(self.heads, self.kv_heads)?;
        let v = part(self.heads + self.kv_heads, self.kv_heads)?;
        if let Some((q_norm, k_norm)) = &self.qk_norm {
            q = q_norm.forward(&q)?;
            k = k_norm.forward(&k)?;
        }
        let tables = &positions.tables;
        let q = candle_nn::rotary_emb::rope(&q, &tables.scaled_cos, &tables.scaled_sin)?;
        let k = candle_nn::rotary_emb::rope(&k, &tables.cos, &tables.sin)?;
        let (k, v) = cache.append(self.index, &k, &v)?;
        let (k, v) = self.visible(new, k, v)?;
        // The query heads that share a key head are further rows of one product, so keys are never copied.
        let group = self.heads / self.kv_heads;
        let q = q.reshape((1, self.kv_heads, group * new, width))?;
        let mut scores = q.matmul(&k.t()?)?;
        if scores.dtype() != DType::F32 {
            scores = scores.to_dtype(DType::F32)?;
        }
        if let Some(mask) = self.mask(positions) {
            scores = scores.broadcast_add(mask)?;
        }
        let shares = softmax_last_dim(&scores)?;
        let shares = if v.dtype() == DType::F32 { shares } else { shares.to_dtype(v.dtype())? };
        let mixed = shares.matmul(&v)?.reshape((self.heads, new, width))?;
        self.output.forward(&mixed.transpose(0, 1)?.reshape((new, self.heads * width))?)
    }

    /// For one new position a window needs no mask: the positions before it are left out.
    fn visible(&self, new: usize, k: Tensor, v: Tensor) -> Result<(Tensor, Tensor)> {
        let all = k.dim(2)?;
        match self.window {
            Some(window) if new == 1 && all > window => {
                Ok((k.narrow(2, all - window, window)?, v.narrow(2, all - window, window)?))
            }
            _ => Ok((k, v)),
        }
    }

    fn mask<'a>(&self, positions: &'a Positions) -> Option<&'a Tensor> {
        match self.window {
            Some(window) => {
                positions.windowed.iter().find(|(size, _)| *size == window).map(|(_, mask)| mask)
            }
            None => positions.full.as_ref(),
        }
    }
}

/// The additive mask for `new` positions after `past` ones, repeated for each query head of a group.
pub(super) fn mask(
    past: usize,
    new: usize,
    group: usize,
    window: Option<usize>,
    device: &Device,
) -> Result<Tensor> {
    let all = past + new;
    let mut values = vec![0f32; group * new * all];
    for (row, scores) in values.chunks_mut(all).enumerate() {
        let own = past + row % new;
        let first = window.map_or(0, |window| (own + 1).saturating_sub(window));
        scores[own + 1..].fill(f32::NEG_INFINITY);
        scores[..first].fill(f32::NEG_INFINITY);
    }
    Tensor::from_vec(values, (group * new, all), device)
}
