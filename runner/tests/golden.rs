//! The engine against the reference runtime: greedy ids are equal, logits are within 1e-4 at every position.

use std::collections::HashMap;
use std::fs;

use candle_core::{DType, Device, Tensor};
use evalsuite::engine;
use serde_json::Value;

use crate::support::root;

#[test]
fn logits_and_greedy_ids_equal_the_reference() {
    let golden = root().join("fixtures/golden");
    let cases: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(golden.join("cases.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 24);
    let tensors =
        candle_core::safetensors::load(golden.join("logits.safetensors"), &Device::Cpu).unwrap();
    let directory = root().join("fixtures/models/tiny-chat");
    let model = engine::Model::load(&directory, &Device::Cpu, DType::F32).unwrap();
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
        // Greedy decoding is the argmax at each position before an output token.
        for (n, &token) in output.iter().enumerate() {
            let row: Vec<f32> = logits.get(prompt.len() + n - 1).unwrap().to_vec1().unwrap();
            let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
            assert_eq!(best, Some(token as usize), "{id}: output token {n}");
        }
    }
    println!("largest logit difference over {positions} positions: {largest:e}");
}

fn largest_difference(logits: &Tensor, golden: &HashMap<String, Tensor>, id: &str) -> f32 {
    let top_ids = golden[&format!("{id}.top_ids")].to_dtype(DType::I64).unwrap();
    let top_ids = top_ids.to_vec2::<i64>().unwrap();
    let top_logits = golden[&format!("{id}.top_logits")].to_vec2::<f32>().unwrap();
    let lse = golden[&format!("{id}.lse")].to_vec1::<f32>().unwrap();
    let rows = logits.to_vec2::<f32>().unwrap();
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
