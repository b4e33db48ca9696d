//! Random models, written from a seed.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use candle_core::{DType, Device};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::{Map, Value, json};

use super::config::Config;
use super::decoder::Model;

/// A `config.json` of two layers with `fields` laid over it.
pub(super) fn config(architecture: &str, fields: Value) -> Value {
    let mut config = json!({
        "architectures": [architecture], "vocab_size": 50, "hidden_size": 32, "head_dim": 16,
        "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 1200, "sliding_window": null,
    });
    for (name, value) in fields.as_object().unwrap() {
        config[name] = value.clone();
    }
    config
}

/// The names and shapes of every tensor that `config` asks for.
pub(super) fn tensors(config: &Config) -> Vec<(String, Vec<usize>)> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);
    let (q, kv) = (config.heads * config.head_dim, config.kv_heads * config.head_dim);
    let mut all = vec![
        ("model.embed_tokens.weight".to_owned(), vec![config.vocab_size, hidden]),
        ("model.norm.weight".to_owned(), vec![hidden]),
    ];
    if !config.tied {
        all.push(("lm_head.weight".to_owned(), vec![config.vocab_size, hidden]));
    }
    for layer in 0..config.layers {
        let mut add = |name: &str, shape: &[usize]| {
            all.push((format!("model.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("input_layernorm.weight", &[hidden]);
        add("post_attention_layernorm.weight", &[hidden]);
        if config.qk_norm {
            add("self_attn.q_norm.weight", &[config.head_dim]);
            add("self_attn.k_norm.weight", &[config.head_dim]);
        }
        for (name, rows, columns, bias) in [
            ("self_attn.q_proj", q, hidden, config.qkv_bias),
            ("self_attn.k_proj", kv, hidden, config.qkv_bias),
            ("self_attn.v_proj", kv, hidden, config.qkv_bias),
            ("self_attn.o_proj", hidden, q, config.output_bias),
            ("mlp.gate_proj", inner, hidden, config.mlp_bias),
            ("mlp.up_proj", inner, hidden, config.mlp_bias),
            ("mlp.down_proj", hidden, inner, config.mlp_bias),
        ] {
            add(&format!("{name}.weight"), &[rows, columns]);
            if bias {
                add(&format!("{name}.bias"), &[rows]);
            }
        }
    }
    all
}

/// Writes `tensors` with random f32 values to a safetensors file.
pub(super) fn write(path: &Path, tensors: &[(String, Vec<usize>)], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({"format": "pt"}));
    let mut data = Vec::new();
    for (name, shape) in tensors {
        let start = data.len();
        for _ in 0..shape.iter().product::<usize>() {
            let unit = random.next_u32() as f32 / u32::MAX as f32 - 0.5;
            let value = if name.contains("norm") { 1.0 + 0.2 * unit } else { 0.5 * unit };
            data.extend(value.to_le_bytes());
        }
        let entry = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    let mut file = File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.write_all(&data).unwrap();
}

/// A random model of that configuration.
pub(super) fn model(config: &Value, dtype: DType) -> Model {
    let dir = tempfile::tempdir().unwrap();
    let parsed = Config::parse(config).unwrap();
    write(&dir.path().join("model.safetensors"), &tensors(&parsed), 1);
    Model::load(dir.path(), config, &Device::Cpu, dtype).unwrap()
}
