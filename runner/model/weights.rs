//! The weight files of a directory: which they are, whether they are whole, and their hash.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::error::ModelError;
use super::files;

const INDEX: &str = "model.safetensors.index.json";
const SINGLE: &str = "model.safetensors";
/// The format's own limit, in bytes.
const LARGEST_HEADER: u64 = 100_000_000;

/// The weight files of `dir` in the order of their names; empty when the directory holds none.
///
/// # Errors
/// The index is broken or names a file that is missing, or a file is cut off.
pub(super) fn find(dir: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let single = dir.join(SINGLE);
    let found = match files::json::<Map<String, Value>>(&dir.join(INDEX))? {
        Some(index) => shards(dir, &index)?,
        None if single.exists() => vec![single],
        None => Vec::new(),
    };
    for path in &found {
        check_whole(path)?;
    }
    Ok(found)
}

/// The error for a directory without weights, for those that need them.
pub(super) fn missing(dir: &Path) -> ModelError {
    let help =
        format!("download it, or its parts and `{INDEX}`; other weight formats are not read");
    ModelError::Missing { path: dir.join(SINGLE), help }
}

fn shards(dir: &Path, index: &Map<String, Value>) -> Result<Vec<PathBuf>, ModelError> {
    let invalid =
        |message: &str| ModelError::Invalid { path: dir.join(INDEX), message: message.to_owned() };
    let map = index.get("weight_map").and_then(Value::as_object);
    let map = map.ok_or_else(|| invalid("has no `weight_map` object; download it again"))?;
    let names: Option<BTreeSet<&str>> = map.values().map(Value::as_str).collect();
    let names = names.ok_or_else(|| invalid("`weight_map` has a value that is not a file name"))?;
    if names.iter().any(|name| Path::new(name).components().count() != 1 || *name == "..") {
        return Err(invalid("`weight_map` names a file outside its directory"));
    }
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

/// Compares the length of a safetensors file with what its header promises.
fn check_whole(path: &Path) -> Result<(), ModelError> {
    let unreadable = |source| ModelError::Unreadable { path: path.to_owned(), source };
    let invalid = |message: String| ModelError::Invalid { path: path.to_owned(), message };
    let mut file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ModelError::Missing {
            path: path.to_owned(),
            help: format!("`{INDEX}` names it; download it"),
        },
        _ => unreadable(source),
    })?;
    let actual = file.metadata().map_err(unreadable)?.len();
    let cut = || invalid(format!("cut off: only {actual} bytes; download it again"));
    let head = read(&mut file, 8).map_err(unreadable)?;
    if head == *b"version " {
        return Err(invalid(
            "only a Git LFS pointer is here, not the file; run `git lfs pull`".to_owned(),
        ));
    }
    let length = head.try_into().map(u64::from_le_bytes).map_err(|_| cut())?;
    if length > LARGEST_HEADER {
        return Err(invalid("not a safetensors file; download it again".to_owned()));
    }
    let header = read(&mut file, length).map_err(unreadable)?;
    if (header.len() as u64) < length {
        return Err(cut());
    }
    let header: Map<String, Value> = serde_json::from_slice(&header)
        .map_err(|error| invalid(format!("its header is not JSON ({error}); download it again")))?;
    let ends = header.values().filter_map(|tensor| tensor.pointer("/data_offsets/1")?.as_u64());
    let expected = (8 + length).saturating_add(ends.max().unwrap_or(0));
    if actual < expected {
        return Err(invalid(format!("cut off: {actual} of {expected} bytes; download it again")));
    }
    Ok(())
}

/// Up to `limit` bytes; fewer at the end of the file.
fn read(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.by_ref().take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// One hash over all weight files: the file's own when there is one, else over names and hashes.
///
/// # Errors
/// A file cannot be read.
pub(super) fn hash(paths: &[PathBuf]) -> Result<Option<String>, ModelError> {
    match paths {
        [] => Ok(None),
        [single] => files::sha256_of_file(single).map(Some),
        many => {
            let mut lines = String::new();
            for path in many {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                lines.push_str(&format!("{}  {name}\n", files::sha256_of_file(path)?));
            }
            Ok(Some(files::sha256(lines.as_bytes())))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(dir: &Path, name: &str, bytes: &[u8]) {
        File::create(dir.join(name)).and_then(|mut file| file.write_all(bytes)).unwrap();
    }

    fn safetensors() -> Vec<u8> {
        let header = br#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn whole_and_cut_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        assert!(find(dir.path()).unwrap().is_empty());
        let whole = safetensors();
        for (length, message) in
            [(3, "only 3 bytes"), (20, "only 20 bytes"), (whole.len() - 1, "69 of 70 bytes")]
        {
            write(dir.path(), SINGLE, &whole[..length]);
            let error = find(dir.path()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        write(dir.path(), SINGLE, &whole);
        assert_eq!(find(dir.path()).unwrap().len(), 1);
        write(dir.path(), SINGLE, b"version https://git-lfs.github.com/spec/v1\n");
        assert!(find(dir.path()).unwrap_err().to_string().contains("git lfs pull"));
    }

    #[test]
    fn an_index_names_the_parts() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            INDEX,
            br#"{"weight_map": {"a": "m-2.safetensors", "b": "m-1.safetensors"}}"#,
        );
        write(dir.path(), "m-1.safetensors", &safetensors());
        let error = find(dir.path()).unwrap_err().to_string();
        assert!(error.contains("m-2.safetensors is missing"), "{error}");
        write(dir.path(), "m-2.safetensors", &safetensors());
        let found = find(dir.path()).unwrap();
        assert!(found[0].ends_with("m-1.safetensors") && found.len() == 2);
        assert_eq!(hash(&found).unwrap().unwrap().len(), 64);
        write(dir.path(), INDEX, br#"{"weight_map": {"a": "../x.safetensors"}}"#);
        assert!(find(dir.path()).unwrap_err().to_string().contains("outside"));
    }
}
