//! `targets.yaml`: who can answer, and where snapshots lie.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::files::{TARGETS, absolute, relative, show};
use super::fixture::project;
use super::ledger::Ledger;
use super::{CandleTarget, Target, TargetKind};
use crate::diagnostic::{Diagnostic, choices};
use crate::finding::Location;
use crate::spec::{self, NodeId, Spanned, Targets, Tree, yaml};

/// A target file that could be read.
#[derive(Debug)]
pub(super) struct TargetFile {
    /// Its path, absolute.
    pub(super) path: PathBuf,
    tree: Tree,
    typed: Targets,
}

const DTYPES: &[&str] = &["auto", "f32", "bf16", "f16"];
const DEVICES: &[&str] = &["auto", "cpu", "cuda", "cuda:0", "metal"];

/// The target file at or above a spec file, inside its project.
pub(super) fn nearest(spec: &Path, ledger: &mut Ledger) -> Option<Rc<TargetFile>> {
    let folder = absolute(spec).parent()?.to_path_buf();
    let top = project(&folder);
    let inside = |folder: &&Path| top.as_ref().is_none_or(|top| folder.starts_with(top));
    let path =
        folder.ancestors().take_while(inside).map(|f| f.join(TARGETS)).find(|p| p.is_file())?;
    if let Some(known) = ledger.targets.get(&path) {
        return known.clone();
    }
    let file = load(&path, ledger).map(Rc::new);
    ledger.targets.insert(path, file.clone());
    file
}

fn load(path: &Path, ledger: &mut Ledger) -> Option<TargetFile> {
    let text = ledger.text(path, None)?;
    let tree = match yaml::parse(&show(path), &text) {
        Ok(tree) => tree,
        Err(problem) => {
            ledger.problems.push(problem);
            return None;
        }
    };
    let typed: Targets = spec::read(&tree, &mut ledger.problems)?;
    let file = TargetFile { path: path.to_path_buf(), tree, typed };
    file.check(&mut ledger.problems);
    Some(file)
}

impl TargetFile {
    fn check(&self, problems: &mut Vec<Diagnostic>) {
        let mut report = |node: NodeId, message: String, help: String| {
            problems.push(Diagnostic::new(self.tree.location(node), message).help(help));
        };
        if let Some(Spanned { value, node }) = &self.typed.default
            && !self.typed.targets.contains_key(value)
        {
            report(*node, format!("there is no target `{value}`"), choices(value, &self.names()));
        }
        for (name, target) in &self.typed.targets {
            if !is_plain(name) {
                let help = "use letters, digits, `-`, `_` and `.`".to_owned();
                report(target.node, format!("`{name}` cannot be the name of a target"), help);
            }
            let spec::Target::Candle(candle) = &target.value else { continue };
            if let Some(Spanned { value, node }) = &candle.dtype
                && !DTYPES.contains(&value.as_str())
            {
                report(*node, format!("unknown dtype `{value}`"), choices(value, DTYPES));
            }
            if let Some(Spanned { value, node }) = &candle.device
                && !is_device(value)
            {
                report(*node, format!("unknown device `{value}`"), choices(value, DEVICES));
            }
        }
    }

    /// The names of its targets, sorted.
    pub(super) fn names(&self) -> Vec<&str> {
        self.typed.targets.keys().map(String::as_str).collect()
    }

    /// The target of cases that name none.
    pub(super) fn default_name(&self) -> Option<&str> {
        match (&self.typed.default, self.names().as_slice()) {
            (Some(name), _) => Some(&name.value),
            (None, [only]) => {
                self.typed.targets.get_key_value(*only).map(|(name, _)| name.as_str())
            }
            (None, _) => None,
        }
    }

    /// Whether it has a target of that name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.typed.targets.contains_key(name)
    }

    /// The target ready for a backend.
    ///
    /// # Errors
    /// It is of a kind that is not built yet, or its model directory is missing.
    pub(super) fn open(&self, name: &str) -> Result<Target, Diagnostic> {
        let Some(target) = self.typed.targets.get(name) else {
            let message = format!("there is no target `{name}`");
            return Err(Diagnostic::new(self.place(), message).help(choices(name, &self.names())));
        };
        let candle = match &target.value {
            spec::Target::Candle(candle) => candle,
            spec::Target::Remote(_) => return Err(self.not_built(target.node, "remote")),
            spec::Target::Replay(_) => return Err(self.not_built(target.node, "replay")),
        };
        let location = self.tree.location(candle.model.node);
        let model = relative(&self.folder().join(&candle.model.value));
        if !model.is_dir() {
            return Err(no_model(&model, location));
        }
        let or_auto = |word: &Option<Spanned<String>>| {
            word.as_ref().map_or_else(|| "auto".to_owned(), |word| word.value.clone())
        };
        let (device, dtype) = (or_auto(&candle.device), or_auto(&candle.dtype));
        let kind = TargetKind::Candle(CandleTarget { model, device, dtype, location });
        Ok(Target { name: name.to_owned(), kind })
    }

    fn not_built(&self, node: NodeId, word: &str) -> Diagnostic {
        let message = format!("`{word}` is a known kind of target, but it is not built yet");
        Diagnostic::new(self.tree.location(node), message)
            .help("use a `candle` target, which runs a model directory in process")
    }

    fn place(&self) -> Location {
        self.tree
            .entry(0, "targets")
            .map_or(self.tree.location(0), |(key, _)| self.tree.location(key))
    }

    fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// The folder of the snapshots, relative to the working directory.
    pub(super) fn snapshots(&self) -> PathBuf {
        let folder = self.folder();
        relative(&match &self.typed.snapshots {
            Some(path) => folder.join(&path.value),
            None if folder.ends_with("specs") => folder.join("../snapshots"),
            None => folder.join("snapshots"),
        })
    }
}

fn no_model(model: &Path, location: Location) -> Diagnostic {
    let (message, help) = match model.exists() {
        true => (
            "is no directory",
            "name the Hugging Face directory that holds `config.json`".to_owned(),
        ),
        false => (
            "does not exist",
            match super::files::sibling(model) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("the path is relative to the folder of `{TARGETS}`"),
            },
        ),
    };
    Diagnostic::new(location, format!("the model directory `{}` {message}", show(model))).help(help)
}

fn is_device(word: &str) -> bool {
    let number = word.strip_prefix("cuda:").is_some_and(|n| n.parse::<usize>().is_ok());
    number || DEVICES.contains(&word)
}

/// Whether a name can be part of an id and of a file name.
pub(super) fn is_plain(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(legal)
}
