//! Keys and values of the positions a model has read, kept outside the model.

use candle_core::{Result, Tensor};

/// How many positions a buffer grows by at least.
const CHUNK: usize = 256;

/// The state of one sequence. It can be cut back and forked; a fork shares nothing with its origin.
#[derive(Debug, Default)]
pub struct Cache {
    layers: Vec<Layer>,
    len: usize,
}

/// Keys and values `[1, kv_heads, capacity, head_dim]`, filled up to the cache's length.
#[derive(Debug)]
struct Layer {
    keys: Tensor,
    values: Tensor,
}

impl Cache {
    /// An empty cache.
    pub fn new() -> Cache {
        Cache::default()
    }

    /// How many positions it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets every position from `len` on; a longer `len` changes nothing.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// An independent copy.
    ///
    /// # Errors
    /// The copy cannot be allocated.
    pub fn fork(&self) -> Result<Cache> {
        let copy =
            |layer: &Layer| Ok(Layer { keys: layer.keys.copy()?, values: layer.values.copy()? });
        Ok(Cache { layers: self.layers.iter().map(copy).collect::<Result<_>>()?, len: self.len })
    }

    /// Writes the keys and values of new positions behind the ones held, and gives all of them as views
    /// `[1, kv_heads, positions, head_dim]`. [`Cache::advance`] counts them once every layer has written.
    pub(super) fn append(
        &mut self,
        layer: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let end = self.len + keys.dim(2)?;
        if self.layers.len() == layer {
            let capacity = end.next_multiple_of(CHUNK);
            let (keys, values) = (empty(keys, capacity)?, empty(values, capacity)?);
            self.layers.push(Layer { keys, values });
        }
        let held = &mut self.layers[layer];
        if held.keys.dim(2)? < end {
            // Doubling keeps the copying linear in the length.
            let capacity = end.max(2 * self.len).next_multiple_of(CHUNK);
            held.keys = grown(&held.keys, self.len, capacity)?;
            held.values = grown(&held.values, self.len, capacity)?;
        }
        held.keys.slice_set(keys, 2, self.len)?;
        held.values.slice_set(values, 2, self.len)?;
        Ok((held.keys.narrow(2, 0, end)?, held.values.narrow(2, 0, end)?))
    }

    /// Counts `count` positions that every layer has appended.
    pub(super) fn advance(&mut self, count: usize) {
        self.len += count;
    }
}

fn empty(like: &Tensor, capacity: usize) -> Result<Tensor> {
    let (batch, heads, _, width) = like.dims4()?;
    Tensor::zeros((batch, heads, capacity, width), like.dtype(), like.device())
}

fn grown(old: &Tensor, len: usize, capacity: usize) -> Result<Tensor> {
    let new = empty(old, capacity)?;
    if len > 0 {
        new.slice_set(&old.narrow(2, 0, len)?.contiguous()?, 2, 0)?;
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};

    use super::*;

    fn positions(from: usize, count: usize) -> Tensor {
        let values: Vec<f32> = (from..from + count).map(|n| n as f32).collect();
        Tensor::from_vec(values, (1, 1, count, 1), &Device::Cpu).unwrap()
    }

    fn append(cache: &mut Cache, from: usize, count: usize) -> Vec<f32> {
        let new = positions(from, count);
        let (keys, _) = cache.append(0, &new, &new).unwrap();
        cache.advance(count);
        keys.flatten_all().unwrap().to_dtype(DType::F32).unwrap().to_vec1().unwrap()
    }

    #[test]
    fn growth_keeps_what_is_held() {
        let mut cache = Cache::new();
        append(&mut cache, 0, 200);
        let all = append(&mut cache, 200, 400);
        assert_eq!(all.len(), 600);
        assert!(all.iter().enumerate().all(|(i, value)| *value == i as f32));
    }

    #[test]
    fn forks_are_independent_and_cutting_back_forgets() {
        let mut cache = Cache::new();
        append(&mut cache, 1, 1);
        let mut fork = cache.fork().unwrap();
        append(&mut cache, 2, 2);
        append(&mut fork, 7, 3);
        assert_eq!(append(&mut cache, 4, 1), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(append(&mut fork, 10, 1), [1.0, 7.0, 8.0, 9.0, 10.0]);
        fork.truncate(2);
        fork.truncate(50);
        assert_eq!(fork.len(), 2);
        assert_eq!(append(&mut fork, 5, 1), [1.0, 7.0, 5.0]);
    }
}
