//! Weights in safetensors files, read tensor by tensor: one file, or several behind an index.
//!
//! Every header is checked against its file's length before a tensor is read, so a file that was cut off is
//! found at once and by name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use serde_json::{Map, Value};

use super::error::EngineError;

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// The limit that the format's own reader sets.
const MAX_HEADER: u64 = 100_000_000;

/// Where each tensor of a model lies.
#[derive(Debug)]
pub(super) struct Weights {
    files: Vec<PathBuf>,
    tensors: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    file: usize,
    dtype: DType,
    shape: Vec<usize>,
    /// Counted from the start of the file.
    start: u64,
    bytes: usize,
}

impl Weights {
    /// Reads the headers of a model directory.
    ///
    /// # Errors
    /// A file is missing, unreadable, cut off or otherwise damaged.
    pub(super) fn open(dir: &Path) -> Result<Weights, EngineError> {
        let index = dir.join(INDEX);
        let files = if dir.join(SINGLE).exists() {
            vec![dir.join(SINGLE)]
        } else if index.exists() {
            shards(dir, &index)?
        } else {
            return Err(no_weights(dir));
        };
        let mut tensors = BTreeMap::new();
        for (number, path) in files.iter().enumerate() {
            tensors.extend(read_header(path, number)?);
        }
        Ok(Weights { files, tensors })
    }

    /// One tensor in `dtype` on `device`.
    ///
    /// # Errors
    /// There is no such tensor, its shape is not `shape`, or its bytes cannot be read.
    pub(super) fn load(
        &self,
        name: &str,
        shape: &[usize],
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor, EngineError> {
        let Some(entry) = self.tensors.get(name) else {
            let message = "is missing, but config.json asks for it; is the download complete, and \
                           is config.json that of these weights?";
            return Err(self.wrong(name, 0, message.to_owned()));
        };
        if entry.shape != shape {
            let message = format!(
                "has shape {:?}, but by config.json it is {shape:?}; is config.json that of these weights?",
                entry.shape
            );
            return Err(self.wrong(name, entry.file, message));
        }
        let bytes = self.read(entry)?;
        let tensor = Tensor::from_raw_buffer(&bytes, entry.dtype, shape, &Device::Cpu)?;
        Ok(tensor.to_dtype(dtype)?.to_device(device)?)
    }

    /// Refuses tensors of the blocks that were not loaded: they would change the result.
    ///
    /// # Errors
    /// There is one that is not among `used`.
    pub(super) fn refuse_unused(&self, used: &[String], layers: usize) -> Result<(), EngineError> {
        for (name, entry) in &self.tensors {
            let layer = name.strip_prefix("model.layers.").and_then(|rest| rest.split('.').next());
            let layer = layer.and_then(|number| number.parse::<usize>().ok());
            let ours = layer.is_some_and(|layer| layer < layers);
            if ours && !name.ends_with("rotary_emb.inv_freq") && !used.contains(name) {
                let message = "is in the file, but by config.json there is none; is config.json that \
                               of these weights?";
                return Err(self.wrong(name, entry.file, message.to_owned()));
            }
        }
        Ok(())
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>, EngineError> {
        let path = &self.files[entry.file];
        let unreadable = |source| EngineError::Unreadable { path: path.clone(), source };
        let mut file = File::open(path).map_err(unreadable)?;
        file.seek(SeekFrom::Start(entry.start)).map_err(unreadable)?;
        let mut bytes = vec![0; entry.bytes];
        file.read_exact(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }

    fn wrong(&self, tensor: &str, file: usize, message: String) -> EngineError {
        let path = match self.files.as_slice() {
            [only] => only.clone(),
            many => many.get(file).cloned().unwrap_or_default(),
        };
        EngineError::Tensor { path, tensor: tensor.to_owned(), message }
    }
}

fn no_weights(dir: &Path) -> EngineError {
    let other = ["pytorch_model.bin", "pytorch_model.bin.index.json", "consolidated.safetensors"];
    let help = match other.iter().find(|name| dir.join(name).exists()) {
        Some(name) => format!(
            "the engine reads Hugging Face safetensors, and here is only {name}; save the model \
             again with `save_pretrained`"
        ),
        None => {
            format!("the engine reads the weights from it, or from the files that {INDEX} lists")
        }
    };
    EngineError::Missing { path: dir.join(SINGLE), help }
}

/// The files that the index names, each once, in order.
fn shards(dir: &Path, index: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let damaged = |message: String| EngineError::Damaged { path: index.to_owned(), message };
    let mut bytes = Vec::new();
    File::open(index)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|source| EngineError::Unreadable { path: index.to_owned(), source })?;
    refuse_pointer(index, &bytes)?;
    let parsed: Value = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("not valid JSON: {error}; download it again")))?;
    let map = parsed.get("weight_map").and_then(Value::as_object);
    let map = map.ok_or_else(|| damaged("`weight_map` is missing".to_owned()))?;
    let mut names = Vec::new();
    for (tensor, file) in map {
        match file.as_str() {
            Some(name) if !name.is_empty() && !name.contains(['/', '\\']) && name != ".." => {
                names.push(name);
            }
            _ => {
                return Err(damaged(format!(
                    "`{tensor}` lies in {file}; it must be a file name in the same folder"
                )));
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

fn refuse_pointer(path: &Path, head: &[u8]) -> Result<(), EngineError> {
    if !head.starts_with(b"version https://git-lfs") {
        return Ok(());
    }
    let message = "only a Git LFS pointer is here, not the file; run `git lfs pull`".to_owned();
    Err(EngineError::Damaged { path: path.to_owned(), message })
}

/// A safetensors file is the header's length in eight little-endian bytes, the header in JSON, the data.
fn read_header(path: &Path, number: usize) -> Result<Vec<(String, Entry)>, EngineError> {
    let damaged = |message: String| EngineError::Damaged { path: path.to_owned(), message };
    let unreadable = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => EngineError::Missing {
            path: path.to_owned(),
            help: format!("{INDEX} lists it; download the model again"),
        },
        _ => EngineError::Unreadable { path: path.to_owned(), source },
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut head = Vec::new();
    file.by_ref().take(8).read_to_end(&mut head).map_err(unreadable)?;
    let cut = |needs: u64| {
        damaged(format!(
            "the file is cut off: it has {length} bytes and needs {needs}; download it again"
        ))
    };
    let size = <[u8; 8]>::try_from(head.as_slice()).map_err(|_| cut(8))?;
    if head == b"version " {
        refuse_pointer(path, b"version https://git-lfs")?;
    }
    let size = u64::from_le_bytes(size);
    if size > MAX_HEADER {
        return Err(damaged(format!(
            "not a safetensors file: it gives its header a length of {size} bytes"
        )));
    }
    let data = 8 + size;
    if data > length {
        return Err(cut(data));
    }
    let mut header = Vec::new();
    file.take(size).read_to_end(&mut header).map_err(unreadable)?;
    let header: Map<String, Value> = serde_json::from_slice(&header)
        .map_err(|error| damaged(format!("its header is not valid JSON: {error}")))?;
    let mut entries = Vec::with_capacity(header.len());
    let mut end = data;
    for (name, value) in header.into_iter().filter(|(name, _)| name != "__metadata__") {
        let entry = entry(&value, number, data).map_err(|message| EngineError::Tensor {
            path: path.to_owned(),
            tensor: name.clone(),
            message,
        })?;
        end = end.max(entry.start.saturating_add(entry.bytes as u64));
        entries.push((name, entry));
    }
    if end > length {
        return Err(cut(end));
    }
    Ok(entries)
}

fn entry(value: &Value, file: usize, data: u64) -> Result<Entry, String> {
    let numbers = |field: &str| -> Option<Vec<u64>> {
        value.get(field)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    let dtype = value.get("dtype").and_then(Value::as_str).unwrap_or("none");
    let dtype = match dtype {
        "F64" => DType::F64,
        "F32" => DType::F32,
        "F16" => DType::F16,
        "BF16" => DType::BF16,
        "I64" => DType::I64,
        "I32" => DType::I32,
        "U32" => DType::U32,
        "U8" => DType::U8,
        other => {
            return Err(format!("is of type {other}; the engine reads F64, F32, F16 and BF16"));
        }
    };
    let shape = numbers("shape").ok_or("has no valid `shape` in the header")?;
    let offsets = numbers("data_offsets").filter(|offsets| offsets.len() == 2);
    let offsets = offsets.ok_or("has no valid `data_offsets` in the header")?;
    let elements = shape.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    let wanted = elements.and_then(|count| count.checked_mul(dtype.size_in_bytes() as u64));
    let given = offsets[1].checked_sub(offsets[0]);
    let (Some(wanted), Some(given)) = (wanted, given) else {
        return Err("has impossible sizes in the header".to_owned());
    };
    if wanted != given {
        return Err(format!("needs {wanted} bytes for its shape, but the header gives it {given}"));
    }
    let start = data.checked_add(offsets[0]).ok_or("has impossible sizes in the header")?;
    let shape = shape.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
    let (Ok(shape), Ok(bytes)) = (shape, usize::try_from(given)) else {
        return Err("is too large for this machine".to_owned());
    };
    Ok(Entry { file, dtype, shape, start, bytes })
}

#[cfg(test)]
#[path = "weights_tests.rs"]
mod tests;
