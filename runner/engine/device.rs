//! Which device and number type a target names.

use candle_core::utils::{cuda_is_available, metal_is_available};
use candle_core::{DType, Device};

use super::error::EngineError;

/// `auto`, `cpu`, `cuda`, `cuda:1`, `metal`; `auto` is the first GPU that this build can use, else the CPU.
///
/// # Errors
/// The word is unknown, or this build or this machine has no such device.
pub fn device(name: &str) -> Result<Device, EngineError> {
    let unavailable =
        |reason: String| EngineError::Unavailable(format!("device `{name}`: {reason}"));
    let (kind, ordinal) = name.split_once(':').unwrap_or((name, "0"));
    let number = ordinal
        .parse::<usize>()
        .map_err(|_| unavailable(format!("`{ordinal}` is not a number; write `cuda:1`")))?;
    let built = |feature: &str, has: bool| {
        let message =
            format!("this build has no {feature} support; build with `--features {feature}`");
        if has { Ok(()) } else { Err(unavailable(message)) }
    };
    let open = |device: candle_core::Result<Device>| {
        device.map_err(|error| unavailable(format!("cannot be opened: {error}")))
    };
    match kind {
        "auto" if cuda_is_available() => open(Device::new_cuda(number)),
        "auto" if metal_is_available() => open(Device::new_metal(number)),
        "auto" | "cpu" => Ok(Device::Cpu),
        "cuda" => built("cuda", cuda_is_available()).and_then(|()| open(Device::new_cuda(number))),
        "metal" => {
            built("metal", metal_is_available()).and_then(|()| open(Device::new_metal(number)))
        }
        _ => Err(unavailable("write auto, cpu, cuda, cuda:1 or metal".to_owned())),
    }
}

/// `f32`, `bf16`, `f16`; `auto` is f32 on the CPU and bf16 elsewhere.
///
/// # Errors
/// The word is unknown.
pub fn dtype(name: &str, device: &Device) -> Result<DType, EngineError> {
    match name {
        "auto" if device.is_cpu() => Ok(DType::F32),
        "auto" | "bf16" => Ok(DType::BF16),
        "f32" => Ok(DType::F32),
        "f16" => Ok(DType::F16),
        _ => Err(EngineError::Unavailable(format!("dtype `{name}`: write auto, f32, bf16 or f16"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_checked() {
        assert!(device("cpu").unwrap().is_cpu());
        let text = device("gpu").unwrap_err().to_string();
        assert!(text.contains("`gpu`") && text.contains("auto, cpu, cuda"), "{text}");
        let text = device("cuda:x").unwrap_err().to_string();
        assert!(text.contains("`x` is not a number"), "{text}");
        assert_eq!(dtype("auto", &Device::Cpu).unwrap(), DType::F32);
        assert_eq!(dtype("f16", &Device::Cpu).unwrap(), DType::F16);
        assert!(dtype("int8", &Device::Cpu).unwrap_err().to_string().contains("f32, bf16"));
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_device_that_was_not_built_in_is_named() {
        let text = device("cuda").unwrap_err().to_string();
        assert!(text.contains("--features cuda"), "{text}");
    }
}
