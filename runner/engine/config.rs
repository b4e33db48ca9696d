//! The shape of a model, as `config.json` of transformers 4 and 5 gives it.

use serde_json::Value;

use super::error::EngineError;
use super::rope::Rope;

/// The architectures that this engine speaks, as `config.json` names them.
pub const ARCHITECTURES: [&str; 4] =
    ["LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"];

/// The shape of a dense decoder; the families differ only in these fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Entries of the embedding and rows of the head.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside the feed-forward part.
    pub intermediate_size: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of one head, an even number.
    pub head_dim: usize,
    /// Positions of the context, prompt and output together.
    pub context: usize,
    /// Added under the root in each RMS norm.
    pub norm_eps: f64,
    /// Rotary position embedding.
    pub rope: Rope,
    /// Whether the query, key and value projections have a bias.
    pub qkv_bias: bool,
    /// Whether the output projection of the attention has a bias.
    pub output_bias: bool,
    /// Whether the feed-forward projections have a bias.
    pub mlp_bias: bool,
    /// Whether queries and keys are normed per head.
    pub qk_norm: bool,
    /// Whether the head is the embedding.
    pub tied: bool,
    /// Per layer, how many positions back it sees, itself included; `None` is all.
    pub windows: Vec<Option<usize>>,
}

/// No field of a real model is larger, and products of two that are not stay within range.
const MOST: usize = 1 << 30;
const MOST_LAYERS: usize = 10_000;

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Llama,
    Mistral,
    Qwen2,
    Qwen3,
}

impl Config {
    /// Reads a parsed `config.json`; absent fields take transformers' defaults for the family.
    ///
    /// # Errors
    /// The architecture, its activation, its RoPE type or its quantization is not one that this engine
    /// speaks, or a field is missing, of the wrong type or contradicts another.
    pub fn parse(config: &Value) -> Result<Config, EngineError> {
        let family = family(config)?;
        refuse_unspoken(config)?;
        let heads = required(config, "num_attention_heads")?;
        let hidden_size = required(config, "hidden_size")?;
        let default_kv_heads = match family {
            Family::Llama => heads,
            Family::Mistral => 8,
            Family::Qwen2 | Family::Qwen3 => 32,
        };
        let head_dim = match optional(config, "head_dim")? {
            Some(width) => width,
            None if family == Family::Qwen3 => 128,
            None => hidden_size / heads,
        };
        let kv_heads = match config.get("num_key_value_heads") {
            Some(Value::Null) => heads,
            _ => optional(config, "num_key_value_heads")?.unwrap_or(default_kv_heads),
        };
        if heads % kv_heads != 0 {
            return Err(EngineError::Config(format!(
                "`num_key_value_heads` is {kv_heads}, which does not divide `num_attention_heads`, {heads}"
            )));
        }
        if head_dim % 2 != 0 {
            return Err(EngineError::Config(format!("`head_dim` is {head_dim}; it must be even")));
        }
        let attention_bias = flag(config, "attention_bias")?;
        let layers = required(config, "num_hidden_layers")?;
        if layers > MOST_LAYERS {
            let message =
                format!("`num_hidden_layers` is {layers}; at most {MOST_LAYERS} are read");
            return Err(EngineError::Config(message));
        }
        Ok(Config {
            vocab_size: required(config, "vocab_size")?,
            hidden_size,
            intermediate_size: required(config, "intermediate_size")?,
            layers,
            heads,
            kv_heads,
            head_dim,
            context: required(config, "max_position_embeddings")?,
            norm_eps: number(config, "rms_norm_eps")?.unwrap_or(1e-6),
            rope: Rope::parse(config, head_dim)?,
            qkv_bias: match family {
                Family::Qwen2 => true,
                Family::Mistral => false,
                Family::Llama | Family::Qwen3 => attention_bias,
            },
            output_bias: matches!(family, Family::Llama | Family::Qwen3) && attention_bias,
            mlp_bias: family == Family::Llama && flag(config, "mlp_bias")?,
            qk_norm: family == Family::Qwen3,
            tied: flag(config, "tie_word_embeddings")?,
            windows: windows(config, family, layers)?,
        })
    }
}

fn family(config: &Value) -> Result<Family, EngineError> {
    let listed = config.get("architectures").and_then(Value::as_array);
    let names: Vec<&str> = listed.into_iter().flatten().filter_map(Value::as_str).collect();
    match names.as_slice() {
        ["LlamaForCausalLM"] => Ok(Family::Llama),
        ["MistralForCausalLM"] => Ok(Family::Mistral),
        ["Qwen2ForCausalLM"] => Ok(Family::Qwen2),
        ["Qwen3ForCausalLM"] => Ok(Family::Qwen3),
        found => Err(EngineError::Config(format!(
            "`architectures` is [{}]; the in-process engine speaks {}",
            found.join(", "),
            ARCHITECTURES.join(", ")
        ))),
    }
}

/// Refuses what would load but compute something else.
fn refuse_unspoken(config: &Value) -> Result<(), EngineError> {
    if config.get("quantization_config").is_some_and(|value| !value.is_null()) {
        let message = "`quantization_config` is set, and the in-process engine reads unquantized \
                       weights only; use the unquantized model";
        return Err(EngineError::Config(message.to_owned()));
    }
    match config.get("hidden_act").and_then(Value::as_str) {
        None | Some("silu" | "swish") => {}
        Some(other) => {
            let message = format!("`hidden_act` is `{other}`; the in-process engine speaks `silu`");
            return Err(EngineError::Config(message));
        }
    }
    match number(config, "partial_rotary_factor")? {
        None | Some(1.0) => Ok(()),
        Some(factor) => Err(EngineError::Config(format!(
            "`partial_rotary_factor` is {factor}; the in-process engine rotates whole heads only"
        ))),
    }
}

/// Which layers look back only so far; the rules are those of each family's config class.
fn windows(
    config: &Value,
    family: Family,
    layers: usize,
) -> Result<Vec<Option<usize>>, EngineError> {
    let window = match config.get("sliding_window") {
        Some(Value::Null) => None,
        _ => Some(optional(config, "sliding_window")?.unwrap_or(4096)),
    };
    match family {
        Family::Llama => Ok(vec![None; layers]),
        Family::Mistral => Ok(vec![window; layers]),
        Family::Qwen2 | Family::Qwen3 if !flag(config, "use_sliding_window")? => {
            Ok(vec![None; layers])
        }
        Family::Qwen2 | Family::Qwen3 => match config.get("layer_types") {
            None | Some(Value::Null) => {
                let first = optional(config, "max_window_layers")?.unwrap_or(28);
                Ok((0..layers).map(|layer| window.filter(|_| layer >= first)).collect())
            }
            Some(types) => listed_windows(types, window, layers),
        },
    }
}

fn listed_windows(
    types: &Value,
    window: Option<usize>,
    layers: usize,
) -> Result<Vec<Option<usize>>, EngineError> {
    let types = types.as_array().map(Vec::as_slice).unwrap_or_default();
    if types.len() != layers {
        return Err(EngineError::Config(format!(
            "`layer_types` has {} entries, but `num_hidden_layers` is {layers}",
            types.len()
        )));
    }
    let one = |kind: &Value| match kind.as_str() {
        Some("full_attention") => Ok(None),
        Some("sliding_attention") => Ok(window),
        _ => Err(EngineError::Config(format!(
            "`layer_types` holds {kind}; the in-process engine speaks \"full_attention\" and \
             \"sliding_attention\""
        ))),
    };
    types.iter().map(one).collect()
}

fn required(config: &Value, field: &str) -> Result<usize, EngineError> {
    optional(config, field)?
        .ok_or_else(|| EngineError::Config(format!("`{field}` is missing; it must be a number")))
}

fn optional(config: &Value, field: &str) -> Result<Option<usize>, EngineError> {
    match config.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().and_then(|number| usize::try_from(number).ok()) {
            Some(number) if (1..=MOST).contains(&number) => Ok(Some(number)),
            // Only this one may be zero: then every layer has a window.
            Some(0) if field == "max_window_layers" => Ok(Some(0)),
            _ => Err(EngineError::Config(format!(
                "`{field}` is {value}; it must be a whole number from 1 to {MOST}"
            ))),
        },
    }
}

/// A number, whole or not.
pub(super) fn number(config: &Value, field: &str) -> Result<Option<f64>, EngineError> {
    match config.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(EngineError::Config(format!("`{field}` is {value}; it must be a number"))),
        },
    }
}

fn flag(config: &Value, field: &str) -> Result<bool, EngineError> {
    match config.get(field) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(set)) => Ok(*set),
        Some(other) => {
            Err(EngineError::Config(format!("`{field}` is {other}; it must be true or false")))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base(architecture: &str) -> Value {
        json!({
            "architectures": [architecture], "vocab_size": 64, "hidden_size": 32,
            "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
            "num_key_value_heads": 2, "max_position_embeddings": 128,
        })
    }

    fn with(architecture: &str, fields: Value) -> Value {
        let mut config = base(architecture);
        for (name, value) in fields.as_object().unwrap() {
            config[name] = value.clone();
        }
        config
    }

    fn message(config: &Value) -> String {
        Config::parse(config).unwrap_err().to_string()
    }

    #[test]
    fn families_differ_in_bias_norm_and_head_width() {
        let llama = Config::parse(&base("LlamaForCausalLM")).unwrap();
        assert_eq!((llama.head_dim, llama.qkv_bias, llama.qk_norm), (8, false, false));
        let qwen2 = Config::parse(&base("Qwen2ForCausalLM")).unwrap();
        assert!(qwen2.qkv_bias && !qwen2.output_bias && !qwen2.qk_norm);
        let qwen3 = Config::parse(&base("Qwen3ForCausalLM")).unwrap();
        assert_eq!((qwen3.head_dim, qwen3.qkv_bias, qwen3.qk_norm), (128, false, true));
        let biased = with("LlamaForCausalLM", json!({"attention_bias": true, "mlp_bias": true}));
        let biased = Config::parse(&biased).unwrap();
        assert!(biased.qkv_bias && biased.output_bias && biased.mlp_bias);
    }

    #[test]
    fn windows_follow_each_family() {
        let parse =
            |architecture, fields| Config::parse(&with(architecture, fields)).unwrap().windows;
        let mistral = parse("MistralForCausalLM", json!({"sliding_window": 16}));
        assert_eq!(mistral, [Some(16); 3]);
        let without = parse("MistralForCausalLM", json!({"sliding_window": null}));
        assert_eq!(without, [None; 3]);
        let off = json!({"sliding_window": 16, "use_sliding_window": false});
        assert_eq!(parse("Qwen2ForCausalLM", off), [None; 3]);
        let on = json!({"sliding_window": 16, "use_sliding_window": true, "max_window_layers": 2});
        assert_eq!(parse("Qwen2ForCausalLM", on), [None, None, Some(16)]);
        let listed = json!({
            "sliding_window": 16, "use_sliding_window": true,
            "layer_types": ["sliding_attention", "full_attention", "full_attention"],
        });
        assert_eq!(parse("Qwen3ForCausalLM", listed), [Some(16), None, None]);
    }

    #[test]
    fn what_is_not_spoken_is_refused_with_what_is() {
        let text = message(&base("GptOssForCausalLM"));
        assert!(
            text.contains("[GptOssForCausalLM]") && text.contains("Qwen3ForCausalLM"),
            "{text}"
        );
        let text = message(&json!({}));
        assert!(text.contains("`architectures` is []"), "{text}");
        let text = message(&with("LlamaForCausalLM", json!({"hidden_act": "gelu"})));
        assert!(text.contains("`hidden_act` is `gelu`"), "{text}");
        let text = message(&with("LlamaForCausalLM", json!({"quantization_config": {"bits": 4}})));
        assert!(text.contains("unquantized"), "{text}");
        let text = message(&with("LlamaForCausalLM", json!({"num_key_value_heads": 3})));
        assert!(text.contains("does not divide"), "{text}");
        let text = message(&with("LlamaForCausalLM", json!({"hidden_size": "big"})));
        assert!(text.contains("`hidden_size` is \"big\""), "{text}");
        for number in [json!(0), json!(-1), json!(1.5), json!(u64::MAX)] {
            let text = message(&with("LlamaForCausalLM", json!({"num_hidden_layers": number})));
            assert!(text.contains("`num_hidden_layers` is"), "{text}");
        }
        let text = message(&with("LlamaForCausalLM", json!({"num_hidden_layers": 1_000_000})));
        assert!(text.contains("at most 10000"), "{text}");
        let text = message(&with("LlamaForCausalLM", json!({"vocab_size": null})));
        assert!(text.contains("`vocab_size` is missing"), "{text}");
        let text = message(&with(
            "Qwen3ForCausalLM",
            json!({"use_sliding_window": true, "layer_types": ["full_attention"]}),
        ));
        assert!(text.contains("`layer_types` has 1 entries"), "{text}");
    }
}
