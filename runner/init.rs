//! `evalsuite init`: first specs for a model, one per branch, to be run, reviewed and then made one's own.

use std::path::{Component, Path, PathBuf};

use crate::error::Error;

/// The files, each with its path below the spec folder and its text.
const FILES: [(&str, &str); 6] = [
    ("multi_turn/first.yaml", MULTI_TURN),
    ("tool_call/first.yaml", TOOL_CALL),
    ("streaming/first.yaml", STREAMING),
    ("long_context/first.yaml", LONG_CONTEXT),
    ("long_context/text.txt", TEXT),
    ("stopping/first.yaml", STOPPING),
];

const MULTI_TURN: &str = "\
branch: multi_turn
summary: What was said earlier is still known later.
settings: { temperature: 0, seed: 7, max_tokens: 64 }
snapshot: [input, settings, generation, response]
cases:
  - id: recalls_a_name
    turns:
      - user: My name is Greta.
      - user: What is my name?
        expect:
          - content: { contains: Greta }
          - termination: eos
    expect:
      - carries: true
";

const TOOL_CALL: &str = "\
branch: tool_call
summary: One tool call with the right name and arguments.
settings: { temperature: 0, seed: 7, max_tokens: 128 }
tools:
  - type: function
    function:
      name: get_weather
      description: Get the weather in a city.
      parameters:
        type: object
        properties: { city: { type: string } }
        required: [city]
  - type: function
    function:
      name: get_time
      description: Get the time in a city.
      parameters:
        type: object
        properties: { city: { type: string } }
        required: [city]
snapshot: [input, generation, response]
cases:
  - id: weather
    turns:
      - user: What is the weather in Oslo?
        expect:
          - finish_reason: tool_calls
          - tool_calls: [{ name: get_weather, arguments: { city: Oslo } }]
";

const STREAMING: &str = "\
branch: streaming
summary: The pieces of a stream add up to the message that is returned whole.
settings: { temperature: 0, seed: 7, max_tokens: 64 }
snapshot: [generation]
cases:
  - id: same_as_whole
    turns:
      - user: Count from 3 to 9.
        expect:
          - stream: { equals_non_stream: true }
";

const LONG_CONTEXT: &str = "\
branch: long_context
summary: A sentence hidden in a long text is found.
settings: { temperature: 0, seed: 7, max_tokens: 64 }
cases:
  - id: hidden_code
    matrix: { sentences: [10, 40] }
    turns:
      - user:
          document: text.txt
          sentences: 10
          insert: The secret code is 4711.
          depth: 0.5
          ask: What is the secret code?
        expect:
          - content: { contains: \"4711\" }
";

const TEXT: &str = "\
The harbour is quiet in the morning.
Two boats wait near the old bridge.
The baker opens the shop at six.
A dog sleeps beside the market gate.
There are seven lamps on the long pier.
The train to the north leaves at noon.
Children count the gulls on the roof.
The mill behind the church is empty.
";

const STOPPING: &str = "\
branch: stopping
summary: A reply ends by itself, and at the cap.
settings: { temperature: 0, seed: 7 }
snapshot: [settings, generation]
cases:
  - id: by_itself
    settings: { max_tokens: 256 }
    turns:
      - user: Say hello.
        expect:
          - termination: eos
          - finish_reason: stop
  - id: at_the_cap
    settings: { max_tokens: 4 }
    turns:
      - user: Count from 1 to 20.
        expect:
          - termination: length(max_tokens)
          - finish_reason: length
          - length: { max: 4 }
";

/// Writes `targets.yaml` and one spec per branch below `dir`. Gives the files written.
///
/// # Errors
/// [`Error::Usage`] when the model directory has no `config.json` or a file is there already (then nothing is
/// written), [`Error::Io`] when a file cannot be written.
pub fn init(model: &Path, dir: &Path) -> Result<Vec<PathBuf>, Error> {
    if !model.join("config.json").is_file() {
        let message = format!(
            "{} is no model directory: it has no config.json; give a folder in Hugging Face form",
            model.display()
        );
        return Err(Error::Usage(message));
    }
    let mut files = vec![(dir.join("targets.yaml"), targets(model, dir)?)];
    files.extend(FILES.iter().map(|(path, text)| (dir.join(path), (*text).to_owned())));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        let message = format!("{} exists already; nothing was written", path.display());
        return Err(Error::Usage(message));
    }
    for (path, text) in &files {
        let fail = |source| Error::Io { action: "write", path: path.clone(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail)?;
        }
        write(path, text).map_err(fail)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

#[expect(clippy::disallowed_methods, reason = "these files are what the command is for")]
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(path, text)
}

fn targets(model: &Path, dir: &Path) -> Result<String, Error> {
    let fail = |source| Error::Io { action: "find", path: model.to_owned(), source };
    let name = model
        .canonicalize()
        .map_err(fail)?
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_else(|| "model".to_owned());
    let path = relative(model, dir).map_err(fail)?;
    Ok(format!(
        "default: {name:?}\ntargets:\n  {name:?}:\n    candle: {{ model: {path:?}, device: auto, dtype: f32 }}\n"
    ))
}

/// `model` as seen from `dir`, so that the specs can move with their repository.
fn relative(model: &Path, dir: &Path) -> std::io::Result<String> {
    let model = std::path::absolute(model)?;
    let dir = std::path::absolute(dir)?;
    let clean = |path: &Path| -> Vec<String> {
        let mut parts = Vec::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()),
                other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
            }
        }
        parts
    };
    let (model, dir) = (clean(&model), clean(&dir));
    let shared = model.iter().zip(&dir).take_while(|(a, b)| a == b).count();
    let mut parts = vec!["..".to_owned(); dir.len() - shared];
    parts.extend_from_slice(&model[shared..]);
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_spec_folder() {
        assert_eq!(relative(Path::new("/a/b/model"), Path::new("/a/specs")).unwrap(), "../b/model");
        assert_eq!(relative(Path::new("/a/specs/../m"), Path::new("/a/specs")).unwrap(), "../m");
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        std::fs::create_dir_all(&model).unwrap();
        let error = init(&model, &folder.path().join("specs")).unwrap_err().to_string();
        assert!(error.contains("no config.json"), "{error}");
        std::fs::File::create(model.join("config.json")).unwrap();
        let written = init(&model, &folder.path().join("specs")).unwrap();
        assert_eq!(written.len(), FILES.len() + 1);
        let error = init(&model, &folder.path().join("specs")).unwrap_err().to_string();
        assert!(error.contains("exists already"), "{error}");
    }
}
