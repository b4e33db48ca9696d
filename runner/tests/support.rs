//! A throw-away project with a copy of the fixture model, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[cfg(feature = "candle")]
use serde_json::Value;
use tempfile::TempDir;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a run of the program left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A folder with `specs/` and, where asked for, a model of its own.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// A project whose only target is a copy of the fixture model.
    pub(crate) fn new() -> Self {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(project.path("specs")).unwrap();
        // The project root is where fixtures may lie.
        fs::create_dir_all(project.path(".git")).unwrap();
        copy_folder(&root().join("fixtures/models/tiny-chat"), &project.path("model"));
        project.write(
            "specs/targets.yaml",
            "default: tiny\ntargets:\n  tiny: { candle: { model: ../model, device: cpu, dtype: f32 } }\n",
        );
        project
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(feature = "candle")]
    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// Replaces `from`, which must be there, in a file.
    #[cfg(feature = "candle")]
    pub(crate) fn edit(&self, below: &str, from: &str, to: &str) {
        let text = self.read(below);
        assert!(text.contains(from), "{below} does not hold {from:?}");
        fs::write(self.path(below), text.replacen(from, to, 1)).unwrap();
    }

    /// Runs the program in the project, as outside CI.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        evalsuite(self.folder.path(), args, &[])
    }

    /// The events of a run with a JSON report beside its exit code.
    #[cfg(feature = "candle")]
    pub(crate) fn events(&self, args: &[&str]) -> (i32, Vec<Value>) {
        let mut all = vec!["run", "specs", "--no-evidence", "--report", "json=out.jsonl"];
        all.extend(args);
        let ran = self.run(&all);
        assert!(ran.code <= 1, "{}{}", ran.stdout, ran.stderr);
        let lines = self.read("out.jsonl");
        (ran.code, lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

/// Runs the program in a folder.
pub(crate) fn evalsuite(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Ran {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_evalsuite"))
        .args(args)
        .current_dir(folder)
        .env_remove("CI")
        .env_remove("INSTA_UPDATE")
        .env("NO_COLOR", "1")
        .envs(env.iter().copied())
        .output()
        .unwrap();
    Ran {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
