//! Reading files of a model directory, with errors that name the place.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::error::ModelError;

/// The bytes of `path`, or `None` when there is no such file.
///
/// # Errors
/// The file is there but cannot be read.
pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, ModelError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ModelError::Unreadable { path: path.to_owned(), source }),
    }
}

/// The text of `path`, or `None` when there is no such file.
///
/// # Errors
/// The file cannot be read or is not UTF-8.
pub(super) fn text(path: &Path) -> Result<Option<String>, ModelError> {
    let Some(bytes) = bytes(path)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
        let message = format!("line {line} (byte {at}) is not UTF-8; download the file again");
        ModelError::Invalid { path: path.to_owned(), message }
    })
}

/// The JSON of `path`, or `None` when there is no such file.
///
/// # Errors
/// The file cannot be read, is not JSON or has not the shape of `T`.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    bytes(path)?.map(|bytes| parse(path, &bytes)).transpose()
}

/// `bytes` as JSON; a byte order mark is skipped, and a Git LFS pointer is named as one.
///
/// # Errors
/// The bytes are not JSON or have not the shape of `T`.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, ModelError> {
    refuse_lfs_pointer(path, bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| json_error(path, &error))
}

fn json_error(path: &Path, error: &serde_json::Error) -> ModelError {
    let text = error.to_string();
    let met = text.rfind(" at line ").map_or(text.as_str(), |cut| &text[..cut]);
    let message = if error.is_data() {
        format!("{met}; download the file again")
    } else if error.is_eof() {
        format!("not valid JSON: {met}; the file is cut off: download it again")
    } else {
        format!("not valid JSON: {met}")
    };
    // The parser gives column 0 for an empty text and for a value as a whole.
    let (line, column) = (error.line().max(1), error.column().max(1));
    ModelError::Json { path: path.to_owned(), line, column, message }
}

/// Refuses the small text that Git leaves in place of a large file that was not fetched.
///
/// # Errors
/// `head` is the start of such a pointer.
pub(super) fn refuse_lfs_pointer(path: &Path, head: &[u8]) -> Result<(), ModelError> {
    if !head.starts_with(b"version https://git-lfs") {
        return Ok(());
    }
    let message = "only a Git LFS pointer is here, not the file; run `git lfs pull`".to_owned();
    Err(ModelError::Invalid { path: path.to_owned(), message })
}

/// The SHA-256 of a file in hex, read in pieces.
///
/// # Errors
/// The file cannot be read.
pub(super) fn sha256_of_file(path: &Path) -> Result<String, ModelError> {
    let unreadable = |source| ModelError::Unreadable { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(unreadable(source)),
        }
    }
}

/// The SHA-256 of `bytes` in hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn json_errors_name_line_and_column() {
        let path = Path::new("config.json");
        let error = parse::<Value>(path, b"{\n  \"a\": 1,\n  b\n}").unwrap_err().to_string();
        assert!(error.starts_with("config.json:3:3: not valid JSON:"), "{error}");
        let error = parse::<Value>(path, b"{\n  \"a\": [1,").unwrap_err().to_string();
        assert!(error.contains("config.json:2:10") && error.contains("cut off"), "{error}");
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
        let error = parse::<Value>(path, pointer).unwrap_err().to_string();
        assert!(error.contains("git lfs pull"), "{error}");
    }

    #[test]
    fn hashes_agree() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, b"abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), expected);
        assert_eq!(sha256_of_file(file.path()).unwrap(), expected);
    }
}
