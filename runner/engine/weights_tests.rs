use std::io::Write;

use serde_json::json;

use super::super::config::Config;
use super::super::decoder::Model;
use super::super::testing;
use super::*;

/// A directory with a good model in one file.
fn good() -> (tempfile::TempDir, Value) {
    let config = testing::config("Qwen3ForCausalLM", json!({}));
    let dir = tempfile::tempdir().unwrap();
    let tensors = testing::tensors(&Config::parse(&config).unwrap());
    testing::write(&dir.path().join(SINGLE), &tensors, 1);
    (dir, config)
}

fn refusal(dir: &Path, config: &Value) -> String {
    Model::load(dir, config, &Device::Cpu, DType::F32).unwrap_err().to_string()
}

fn put(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_good_model_loads_from_one_file_and_from_shards_alike() {
    let (dir, config) = good();
    let whole = Model::load(dir.path(), &config, &Device::Cpu, DType::F32).unwrap();
    let bytes_of = |path: &Path| {
        let mut bytes = Vec::new();
        File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    // The same tensors, the second shard a copy of the first under another name.
    let shards = tempfile::tempdir().unwrap();
    let bytes = bytes_of(&dir.path().join(SINGLE));
    put(&shards.path().join("a.safetensors"), &bytes);
    put(&shards.path().join("b.safetensors"), &bytes);
    let index = json!({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}});
    put(&shards.path().join(INDEX), index.to_string().as_bytes());
    let parts = Model::load(shards.path(), &config, &Device::Cpu, DType::F32).unwrap();
    assert_eq!(whole.all_logits(&[1, 2, 3]).unwrap(), parts.all_logits(&[1, 2, 3]).unwrap());
}

#[test]
fn missing_files_are_named() {
    let (_, config) = good();
    let empty = tempfile::tempdir().unwrap();
    let text = refusal(empty.path(), &config);
    assert!(text.contains("model.safetensors is missing"), "{text}");
    put(&empty.path().join("pytorch_model.bin"), b"");
    let text = refusal(empty.path(), &config);
    assert!(text.contains("save_pretrained"), "{text}");
    let index = json!({"weight_map": {"x": "model-00001-of-00002.safetensors"}});
    put(&empty.path().join(INDEX), index.to_string().as_bytes());
    let text = refusal(empty.path(), &config);
    assert!(text.contains("model-00001-of-00002.safetensors is missing"), "{text}");
}

#[test]
fn an_index_stays_in_its_folder() {
    let (_, config) = good();
    let dir = tempfile::tempdir().unwrap();
    let index = json!({"weight_map": {"x": "../secret.safetensors"}});
    put(&dir.path().join(INDEX), index.to_string().as_bytes());
    let text = refusal(dir.path(), &config);
    assert!(text.contains("same folder"), "{text}");
    put(&dir.path().join(INDEX), b"{}");
    assert!(refusal(dir.path(), &config).contains("`weight_map` is missing"));
    put(&dir.path().join(INDEX), b"{");
    assert!(refusal(dir.path(), &config).contains("not valid JSON"));
}

#[test]
fn a_file_that_was_cut_off_is_named_with_its_size() {
    let (dir, config) = good();
    let path = dir.path().join(SINGLE);
    let whole = path.metadata().unwrap().len();
    for length in [whole - 1, 2000, 100, 5, 0] {
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(length).unwrap();
        let text = refusal(dir.path(), &config);
        assert!(text.contains("model.safetensors: the file is cut off"), "{text}");
        assert!(text.contains(&format!("it has {length} bytes")), "{text}");
    }
}

#[test]
fn what_is_no_safetensors_file_is_said() {
    let (dir, config) = good();
    let path = dir.path().join(SINGLE);
    put(&path, b"PK\x03\x04 this is a zip archive");
    assert!(refusal(dir.path(), &config).contains("not a safetensors file"));
    put(&path, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    assert!(refusal(dir.path(), &config).contains("git lfs pull"));
    put(&path, b"\x02\0\0\0\0\0\0\0[]");
    assert!(refusal(dir.path(), &config).contains("header is not valid JSON"));
}

#[test]
fn wrong_entries_name_the_tensor() {
    let (dir, config) = good();
    let header = |entry: &Value| {
        let text = json!({"model.norm.weight": entry}).to_string();
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes.extend([0; 64]);
        put(&dir.path().join(SINGLE), &bytes);
        let text = refusal(dir.path(), &config);
        assert!(text.contains("tensor `model.norm.weight`"), "{text}");
        text
    };
    let text = header(&json!({"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}));
    assert!(text.contains("type F8_E4M3"), "{text}");
    let text = header(&json!({"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}));
    assert!(text.contains("needs 16 bytes"), "{text}");
    header(&json!({"dtype": "F32", "shape": [4], "data_offsets": [8, 0]}));
    header(&json!({"dtype": "F32", "shape": [u64::MAX, 2], "data_offsets": [0, 8]}));
    header(&json!({"dtype": "F32", "shape": "x", "data_offsets": [0, 8]}));
    header(&json!({"dtype": "F32", "shape": [2]}));
}

#[test]
fn tensors_that_do_not_fit_the_configuration_are_named() {
    let (dir, config) = good();
    let changed = |field: &str, value: Value| {
        let mut config = config.clone();
        config[field] = value;
        refusal(dir.path(), &config)
    };
    let text = changed("vocab_size", json!(51));
    assert!(text.contains("`model.embed_tokens.weight` has shape [50, 32]"), "{text}");
    assert!(text.contains("[51, 32]"), "{text}");
    let text = changed("num_hidden_layers", json!(3));
    assert!(text.contains("`model.layers.2.self_attn.q_norm.weight` is missing"), "{text}");
    // Weights that would be left out of the sum are as wrong as missing ones.
    let text = changed("architectures", json!(["LlamaForCausalLM"]));
    assert!(text.contains("k_norm.weight` is in the file"), "{text}");
}
