//! Rotary position embedding: inverse frequencies and, per call, the tables of the positions at hand.

use candle_core::{DType, Device, Result, Tensor};
use serde_json::Value;

use super::config::number;
use super::error::EngineError;

/// The inverse frequencies of a head, one for each pair of its elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    inverse: Vec<f32>,
}

/// Cosines and sines of some positions, each `[positions, head_dim / 2]`.
pub(super) struct Tables {
    pub(super) cos: Tensor,
    pub(super) sin: Tensor,
    /// The same times the attention scale: rotating a query with them scales it at no further cost.
    pub(super) scaled_cos: Tensor,
    pub(super) scaled_sin: Tensor,
}

impl Rope {
    /// Reads `rope_parameters` (transformers 5) or `rope_theta` and `rope_scaling` (4).
    ///
    /// # Errors
    /// The RoPE type is not `default`, `linear` or `llama3`, or one of its numbers is missing.
    pub fn parse(config: &Value, head_dim: usize) -> std::result::Result<Rope, EngineError> {
        let none = Value::Null;
        let set = |field| config.get(field).filter(|value| value.is_object());
        let scaling = set("rope_parameters").or_else(|| set("rope_scaling")).unwrap_or(&none);
        let kind_of = |map: &Value| {
            map.get("rope_type")
                .or_else(|| map.get("type"))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if let (Some(five), Some(four)) = (set("rope_parameters"), set("rope_scaling"))
            && kind_of(five) != kind_of(four)
        {
            let message =
                "`rope_parameters` and `rope_scaling` name different RoPE types; keep one";
            return Err(EngineError::Config(message.to_owned()));
        }
        let theta = match number(scaling, "rope_theta")? {
            Some(theta) => theta,
            None => number(config, "rope_theta")?.unwrap_or(10_000.0),
        };
        if theta <= 0.0 {
            return Err(EngineError::Config(format!(
                "`rope_theta` is {theta}; it must be positive"
            )));
        }
        let kind = scaling.get("rope_type").or_else(|| scaling.get("type"));
        let kind = kind.and_then(Value::as_str).unwrap_or("default");
        if scaling.get("full_attention").is_some() || scaling.get("sliding_attention").is_some() {
            let message =
                "`rope_parameters` differ by layer type, which this engine does not speak";
            return Err(EngineError::Config(message.to_owned()));
        }
        if let Some(factor) =
            number(scaling, "partial_rotary_factor")?.filter(|factor| *factor != 1.0)
        {
            return Err(EngineError::Config(format!(
                "`partial_rotary_factor` is {factor}; the in-process engine rotates whole heads only"
            )));
        }
        let mut rope = Rope { inverse: inverse_frequencies(theta, head_dim) };
        match kind {
            "default" => {}
            "linear" => rope.divide(needed(scaling, kind, "factor")?),
            "llama3" => rope.stretch(&Llama3 {
                factor: needed(scaling, kind, "factor")?,
                low: needed(scaling, kind, "low_freq_factor")?,
                high: needed(scaling, kind, "high_freq_factor")?,
                original: needed(scaling, kind, "original_max_position_embeddings")?,
            }),
            other => {
                return Err(EngineError::Config(format!(
                    "the RoPE type is `{other}`; the in-process engine speaks default, linear, llama3"
                )));
            }
        }
        Ok(rope)
    }

    fn divide(&mut self, factor: f32) {
        self.inverse.iter_mut().for_each(|frequency| *frequency /= factor);
    }

    /// Llama 3.1: long waves are slowed by `factor`, short ones kept, those between are blended.
    fn stretch(&mut self, by: &Llama3) {
        for frequency in &mut self.inverse {
            let wavelength = std::f32::consts::TAU / *frequency;
            if wavelength > by.original / by.low {
                *frequency /= by.factor;
            } else if wavelength >= by.original / by.high {
                let smooth = (by.original / wavelength - by.low) / (by.high - by.low);
                *frequency = (1.0 - smooth) * *frequency / by.factor + smooth * *frequency;
            }
        }
    }

    /// The tables of positions `start..start + count`, computed in f32 whatever `dtype` is: angles in
    /// half precision are wrong by whole radians after some hundred positions.
    pub(super) fn tables(
        &self,
        start: usize,
        count: usize,
        scale: f32,
        dtype: DType,
        device: &Device,
    ) -> Result<Tables> {
        let half = self.inverse.len();
        let mut values: [Vec<f32>; 4] = std::array::from_fn(|_| Vec::with_capacity(count * half));
        for position in start..start + count {
            for frequency in &self.inverse {
                let (sin, cos) = f64::from(position as f32 * frequency).sin_cos();
                let (sin, cos) = (sin as f32, cos as f32);
                let row = [cos, sin, cos * scale, sin * scale];
                values.iter_mut().zip(row).for_each(|(table, value)| table.push(value));
            }
        }
        let [cos, sin, scaled_cos, scaled_sin] = values;
        let tensor =
            |table: Vec<f32>| Tensor::from_vec(table, (count, half), device)?.to_dtype(dtype);
        Ok(Tables {
            cos: tensor(cos)?,
            sin: tensor(sin)?,
            scaled_cos: tensor(scaled_cos)?,
            scaled_sin: tensor(scaled_sin)?,
        })
    }
}

struct Llama3 {
    factor: f32,
    low: f32,
    high: f32,
    original: f32,
}

/// `theta^(-2i/d)`, rounded at the same places as in torch's f32, so that far positions agree too.
fn inverse_frequencies(theta: f64, head_dim: usize) -> Vec<f32> {
    let exponent = |i: usize| (2 * i) as f32 / head_dim as f32;
    (0..head_dim / 2).map(|i| 1.0 / (theta.powf(f64::from(exponent(i))) as f32)).collect()
}

fn needed(scaling: &Value, kind: &str, field: &str) -> std::result::Result<f32, EngineError> {
    match number(scaling, field)? {
        Some(number) if number > 0.0 => Ok(number as f32),
        _ => Err(EngineError::Config(format!(
            "RoPE type `{kind}` needs a positive `{field}` beside it"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_generations_of_config_say_the_same() {
        let four = json!({
            "rope_theta": 500000.0, "max_position_embeddings": 131072,
            "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
        });
        let five = json!({
            "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0,
                "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192},
        });
        let rope = Rope::parse(&four, 64).unwrap();
        assert_eq!(rope, Rope::parse(&five, 64).unwrap());
        let plain = Rope::parse(&json!({"rope_theta": 500000.0}), 64).unwrap();
        assert_eq!(rope.inverse[0], plain.inverse[0]);
        assert_eq!(rope.inverse[31], plain.inverse[31] / 8.0);
        let mut both = five.clone();
        both["rope_scaling"] = four["rope_scaling"].clone();
        assert_eq!(Rope::parse(&both, 64).unwrap(), rope);
        both["rope_scaling"] = json!({"rope_type": "yarn", "factor": 4.0});
        assert!(Rope::parse(&both, 64).is_err());
        let old = json!({"rope_theta": 500000.0, "rope_scaling": {"type": "linear", "factor": 2}});
        assert_eq!(Rope::parse(&old, 64).unwrap().inverse[3], plain.inverse[3] / 2.0);
    }

    #[test]
    fn unknown_types_and_missing_numbers_are_refused() {
        let parse = |value| Rope::parse(&value, 64).unwrap_err().to_string();
        let text = parse(json!({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}));
        assert!(text.contains("`yarn`") && text.contains("default, linear, llama3"), "{text}");
        let text = parse(json!({"rope_parameters": {"rope_type": "linear"}}));
        assert!(text.contains("needs a positive `factor`"), "{text}");
        let text = parse(json!({"rope_theta": -1.0}));
        assert!(text.contains("`rope_theta` is -1"), "{text}");
        let text = parse(json!({"rope_parameters": {"partial_rotary_factor": 0.5}}));
        assert!(text.contains("whole heads"), "{text}");
    }

    #[test]
    fn angles_are_exact_far_out() {
        let rope = Rope::parse(&json!({}), 32).unwrap();
        let tables = rope.tables(2000, 1, 0.5, DType::F32, &Device::Cpu).unwrap();
        let cos = tables.cos.to_vec2::<f32>().unwrap();
        assert!((f64::from(cos[0][0]) - 2000f64.cos()).abs() < 1e-7);
        let scaled = tables.scaled_cos.to_vec2::<f32>().unwrap();
        assert_eq!(scaled[0][0], cos[0][0] * 0.5);
    }
}
