use serde_json::json;

use super::super::sampler::confidence;
use super::super::testing;
use super::*;

fn ids(count: u32) -> Vec<u32> {
    (0..count).map(|n| (n * 7 + n * n) % 50).collect()
}

fn furthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// One configuration for each flag of the block.
fn families() -> Vec<Value> {
    let llama3 = json!({"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32});
    vec![
        testing::config("Qwen3ForCausalLM", json!({"tie_word_embeddings": true})),
        testing::config(
            "Qwen2ForCausalLM",
            json!({"rope_scaling": {"type": "linear", "factor": 2}}),
        ),
        testing::config("LlamaForCausalLM", json!({"rope_parameters": llama3, "mlp_bias": true})),
        testing::config("MistralForCausalLM", json!({"sliding_window": 9})),
        testing::config(
            "Qwen2ForCausalLM",
            json!({"sliding_window": 5, "use_sliding_window": true, "max_window_layers": 1}),
        ),
    ]
}

/// Logits that transformers 5.19 on torch gives for the same files: the first four at position 199, and the
/// log-sum-exp there and at position 20.
const REFERENCE: [[f32; 6]; 5] = [
    [0.62471, 0.31893, 0.2559, 1.17339, 4.0589, 3.93281],
    [0.58644, -0.79117, 0.77042, 0.17507, 4.18705, 4.1219],
    [0.75076, -0.47655, 0.14243, -1.03649, 4.06416, 4.11532],
    [-2.01825, 0.95549, -0.42278, -0.91978, 4.21462, 4.05261],
    [0.53219, -0.95782, 0.85757, 0.55421, 4.20328, 4.13661],
];

#[test]
fn every_family_agrees_with_the_reference_runtime() {
    for (config, reference) in families().iter().zip(REFERENCE) {
        let logits = testing::model(config, DType::F32).all_logits(&ids(200)).unwrap();
        let log_sum = |row: &[f32]| row.iter().map(|logit| logit.exp()).sum::<f32>().ln();
        let mut found = logits[199][..4].to_vec();
        found.extend([log_sum(&logits[199]), log_sum(&logits[20])]);
        let distance = furthest(&found, &reference);
        assert!(distance < 1e-4, "{distance}: {found:?} against {reference:?} of {config}");
    }
}

#[test]
fn all_positions_at_once_equal_one_after_the_other() {
    for config in families() {
        let model = testing::model(&config, DType::F32);
        let ids = ids(40);
        let at_once = model.all_logits(&ids).unwrap();
        let mut cache = Cache::new();
        for (position, id) in ids.iter().enumerate() {
            let step = model.forward(&[*id], &mut cache).unwrap();
            let distance = furthest(&step, &at_once[position]);
            assert!(distance < 1e-4, "{distance} at {position} of {config}");
        }
        assert_eq!(cache.len(), 40);
    }
}

#[test]
fn pieces_of_a_long_prompt_equal_the_whole() {
    for config in families() {
        let model = testing::model(&config, DType::F32);
        let long = ids(CHUNK as u32 + 90);
        let all = model.all_logits(&long).unwrap();
        let mut cache = Cache::new();
        model.forward(&long[..300], &mut cache).unwrap();
        let last = model.forward(&long[300..], &mut cache).unwrap();
        let distance = furthest(&last, &all[long.len() - 1]);
        assert!(distance < 1e-4, "{distance} of {config}");
    }
}

#[test]
fn cutting_back_and_reading_again_is_exact() {
    for config in families() {
        let model = testing::model(&config, DType::F32);
        let ids = ids(30);
        let mut cache = Cache::new();
        model.forward(&ids[..20], &mut cache).unwrap();
        let first = model.forward(&ids[20..], &mut cache).unwrap();
        cache.truncate(20);
        model.forward(&[3, 1, 4, 1, 5], &mut cache).unwrap();
        cache.truncate(20);
        assert_eq!(model.forward(&ids[20..], &mut cache).unwrap(), first);
        // A fork is a sequence of its own.
        cache.truncate(20);
        let mut fork = cache.fork().unwrap();
        model.forward(&[9, 9, 9], &mut fork).unwrap();
        assert_eq!(model.forward(&ids[20..], &mut cache).unwrap(), first);
    }
}

#[test]
fn a_window_hides_what_is_further_back() {
    let windowed = testing::config("MistralForCausalLM", json!({"sliding_window": 3}));
    let last = |config: &Value, first: u32| {
        let mut ids = ids(12);
        ids[0] = first;
        testing::model(config, DType::F32).all_logits(&ids).unwrap().pop().unwrap()
    };
    // Two layers of window 3 reach back four positions.
    assert_eq!(last(&windowed, 1), last(&windowed, 2));
    let full = testing::config("MistralForCausalLM", json!({}));
    assert_ne!(last(&full, 1), last(&full, 2));
}

#[test]
fn teacher_forcing_is_the_log_softmax_of_all_logits() {
    let model = testing::model(&families()[0], DType::F32);
    let ids = ids(100);
    let scores = model.score(&ids).unwrap();
    let logits = model.all_logits(&ids).unwrap();
    assert_eq!(scores.len(), 99);
    for (position, score) in scores.iter().enumerate() {
        let (logprob, _) = confidence(&logits[position], ids[position + 1], 0).unwrap();
        assert!((logprob - score).abs() < 1e-4, "{logprob} {score} at {position}");
    }
    assert!(model.score(&[1]).is_err());
}

#[test]
fn hidden_states_are_those_of_the_chosen_layers() {
    let model = testing::model(&families()[0], DType::F32);
    let ids = ids(5);
    let states = model.hidden_states(&ids, &[2, 0]).unwrap();
    assert_eq!((states.len(), states[0].len(), states[0][0].len()), (2, 5, 32));
    let embedding = model.embedding.to_vec2::<f32>().unwrap();
    assert_eq!(states[1][4], embedding[ids[4] as usize]);
    // The head on the last layer's states gives the logits.
    let state = Tensor::new(&states[0][4][..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
    let logits = model.logits(&state).unwrap().squeeze(0).unwrap().to_vec1::<f32>().unwrap();
    assert!(furthest(&logits, &model.all_logits(&ids).unwrap()[4]) < 1e-5);
    let text = model.hidden_states(&ids, &[3]).unwrap_err().to_string();
    assert!(text.contains("no layer 3"), "{text}");
}

#[test]
fn half_precision_stays_near() {
    let config = testing::config("Qwen2ForCausalLM", json!({}));
    let exact = testing::model(&config, DType::F32).all_logits(&ids(600)).unwrap();
    for (dtype, bound) in [(DType::F16, 0.02), (DType::BF16, 0.15)] {
        let half = testing::model(&config, dtype).all_logits(&ids(600)).unwrap();
        let distance = furthest(&half[599], &exact[599]);
        assert!(distance > 0.0 && distance < bound, "{distance} in {dtype:?}");
    }
}

#[test]
fn ids_and_lengths_are_checked() {
    let model = testing::model(&families()[0], DType::F32);
    let refused = |ids: &[u32]| model.forward(ids, &mut Cache::new()).unwrap_err().to_string();
    assert!(refused(&[]).contains("no token"));
    assert!(refused(&[50]).contains("token id 50 is outside the vocabulary of 50"));
    assert!(refused(&[0; 1201]).contains("1201 tokens do not fit into the context of 1200"));
    let interrupt = || Some(Abort::Cancelled);
    let error = model.forward_until(&[1], &mut Cache::new(), &interrupt).unwrap_err();
    assert_eq!(error.to_string(), "cancelled");
}
