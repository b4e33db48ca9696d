//! The engine in f32 against the reference runtime in f64: greedy ids are equal, logits are within 1e-4 at every
//! position.

use std::collections::HashMap;
use std::fs;

use candle_core::{DType, Device, Tensor};
use evalsuite::engine::{Cache, Model, argmax};
use serde_json::Value;

use crate::support::root;

#[test]
fn logits_and_greedy_ids_equal_the_reference() {
    let golden = root().join("fixtures/golden");
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(golden.join("cases.json")).unwrap()).unwrap();
    assert!(cases.len() >= 24, "{} prompts", cases.len());
    let tensors =
        candle_core::safetensors::load(golden.join("logits.safetensors"), &Device::Cpu).unwrap();
    let directory = root().join("fixtures/models/tiny-chat");
    let config = fs::read_to_string(directory.join("config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    let model = Model::load(&directory, &config, &Device::Cpu, DType::F32).unwrap();
    let (mut largest, mut positions) = (0f32, 0);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let prompt = ids(&case["prompt_ids"]);
        let output = ids(&case["output_ids"]);
        let all: Vec<u32> = prompt.iter().chain(&output).copied().collect();
        let logits = model.all_logits(&all).unwrap();
        let difference = largest_difference(&logits, &tensors, id);
        assert!(difference <= 1e-4, "{id}: logits differ by {difference}");
        largest = largest.max(difference);
        positions += all.len();
        assert_eq!(greedy(&model, &prompt, output.len()), output, "{id}: greedy ids");
    }
    println!("largest logit difference over {positions} positions: {largest:e}");
}

/// `count` tokens after `prompt`, each the most likely, decoded one by one on a cache.
fn greedy(model: &Model, prompt: &[u32], count: usize) -> Vec<u32> {
    let mut cache = Cache::new();
    let mut logits = model.forward(prompt, &mut cache).unwrap();
    let mut output = Vec::new();
    for n in 0..count {
        let token = argmax(&logits);
        output.push(token);
        if n + 1 < count {
            logits = model.forward(&[token], &mut cache).unwrap();
        }
    }
    output
}

fn largest_difference(rows: &[Vec<f32>], golden: &HashMap<String, Tensor>, id: &str) -> f32 {
    let top_ids = golden[&format!("{id}.top_ids")].to_dtype(DType::I64).unwrap();
    let top_ids = top_ids.to_vec2::<i64>().unwrap();
    let top_logits = golden[&format!("{id}.top_logits")].to_vec2::<f32>().unwrap();
    let lse = golden[&format!("{id}.lse")].to_vec1::<f32>().unwrap();
    assert_eq!(rows.len(), lse.len(), "{id}: positions");
    let mut largest = 0f32;
    for (n, row) in rows.iter().enumerate() {
        for (token, want) in top_ids[n].iter().zip(&top_logits[n]) {
            largest = largest.max((row[*token as usize] - want).abs());
        }
        let peak = row.iter().copied().fold(f32::MIN, f32::max);
        let sum: f64 = row.iter().map(|&x| f64::from(x - peak).exp()).sum();
        largest = largest.max((peak + sum.ln() as f32 - lse[n]).abs());
    }
    largest
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}
