//! `targets.yaml`: who can answer, and where snapshots lie.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::files::{TARGETS, absolute, relative, show};
use super::fixture::project;
use super::ledger::Ledger;
use super::{CandleTarget, RemoteTarget, ReplayTarget, Target, TargetKind};
use crate::diagnostic::{Diagnostic, choices};
use crate::finding::Location;
use crate::privacy::Privacy;
use crate::spec::{self, NodeId, Spanned, Targets, TextOr, Tree, yaml};

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

const NO_NAME: &str = "this is no name of a variable or a header";
const NO_ADDRESS: &str = "this is no `http` or `https` address";

/// Takes a problem: where, what, and the fix.
type Report<'a> = &'a mut dyn FnMut(NodeId, String, String);

fn check_candle(candle: &spec::Candle, report: Report<'_>) {
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

fn check_remote(remote: &spec::Remote, report: Report<'_>) {
    let url = reqwest::Url::parse(&remote.url.value);
    let legal = url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !legal {
        let help = "write the API's root, such as `http://127.0.0.1:8000/v1`".to_owned();
        report(remote.url.node, NO_ADDRESS.to_owned(), help);
    }
    if remote.url.value.trim_end_matches('/').ends_with("/completions") {
        let help =
            "leave out `/chat/completions`; evalsuite adds it, and asks other routes as well";
        report(remote.url.node, "this is a route, not the API's root".to_owned(), help.to_owned());
    }
    if remote.model.value.is_empty() {
        let help = "`GET /v1/models` of the server lists the names".to_owned();
        report(remote.model.node, "the model has no name".to_owned(), help);
    }
    if let Some(dialect) = &remote.dialect {
        check_dialect(dialect, report);
    }
    for name in [&remote.api_key_env, &remote.api_key_header].into_iter().flatten() {
        let env = std::ptr::eq(name, remote.api_key_env.as_ref().unwrap_or(name));
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '-' && !env);
        if !name.value.chars().all(legal) || name.value.is_empty() {
            let help = "name the variable that holds the key, such as `STAGING_KEY`".to_owned();
            report(name.node, NO_NAME.to_owned(), help);
        }
    }
    for timeout in [&remote.connect_timeout, &remote.idle_timeout].into_iter().flatten() {
        if !(timeout.value > 0.0 && timeout.value <= 86_400.0) {
            let help = "write seconds, more than 0 and at most 86400".to_owned();
            report(timeout.node, "this is no time to wait".to_owned(), help);
        }
    }
}

fn check_dialect(dialect: &Spanned<String>, report: Report<'_>) {
    let names = crate::backend::remote::dialect_names();
    if !names.contains(&dialect.value.as_str()) {
        let message = format!("unknown dialect `{}`", dialect.value);
        report(dialect.node, message, choices(&dialect.value, &names));
    }
}

fn or_auto(word: Option<&Spanned<String>>) -> String {
    word.map_or_else(|| "auto".to_owned(), |word| word.value.clone())
}

impl TargetFile {
    fn check(&self, problems: &mut Vec<Diagnostic>) {
        let mut report = |node: NodeId, message: String, help: String| {
            let mut location = self.tree.location(node);
            // A key that was pasted here must not be shown once more.
            if message == NO_NAME || message == NO_ADDRESS {
                let before = location.column.saturating_sub(1);
                location.source = location.source.chars().take(before).chain(['…']).collect();
            }
            problems.push(Diagnostic::new(location, message).help(help));
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
            match &target.value {
                spec::Target::Candle(candle) => check_candle(candle, &mut report),
                spec::Target::Remote(remote) => check_remote(remote, &mut report),
                spec::Target::Replay(replay) => {
                    if let TextOr::Other(spec::Replay { dialect: Some(dialect), .. }) =
                        &replay.value
                    {
                        check_dialect(dialect, &mut report);
                    }
                }
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

    /// Which texts the evidence of a run on its targets may hold.
    pub(super) fn privacy(&self) -> Privacy {
        self.typed.privacy.unwrap_or_default()
    }

    /// Whether it has a target of that name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.typed.targets.contains_key(name)
    }

    /// The target ready for a backend.
    ///
    /// # Errors
    /// A file or a model directory that it names is missing.
    pub(super) fn open(&self, name: &str) -> Result<Target, Diagnostic> {
        let Some(target) = self.typed.targets.get(name) else {
            let message = format!("there is no target `{name}`");
            return Err(Diagnostic::new(self.place(), message).help(choices(name, &self.names())));
        };
        let kind = match &target.value {
            spec::Target::Candle(candle) => self.candle(candle)?,
            spec::Target::Remote(remote) => self.remote(remote)?,
            spec::Target::Replay(replay) => self.replay(replay)?,
        };
        Ok(Target { name: name.to_owned(), kind })
    }

    fn candle(&self, candle: &spec::Candle) -> Result<TargetKind, Diagnostic> {
        let model = self.model_folder(&candle.model)?;
        let (device, dtype) = (or_auto(candle.device.as_ref()), or_auto(candle.dtype.as_ref()));
        let location = self.tree.location(candle.model.node);
        Ok(TargetKind::Candle(CandleTarget { model, device, dtype, location }))
    }

    fn remote(&self, remote: &spec::Remote) -> Result<TargetKind, Diagnostic> {
        let tokenizer =
            remote.tokenizer.as_ref().map(|path| self.model_folder(path)).transpose()?;
        let ca = remote.ca.as_ref().map(|path| self.file(path, "certificate file")).transpose()?;
        let seconds = |given: &Option<Spanned<f64>>, default: f64| {
            Duration::from_secs_f64(given.as_ref().map_or(default, |seconds| seconds.value))
        };
        let text = |given: &Option<Spanned<String>>| given.as_ref().map(|text| text.value.clone());
        Ok(TargetKind::Remote(RemoteTarget {
            url: remote.url.value.trim_end_matches('/').to_owned(),
            model: remote.model.value.clone(),
            dialect: or_auto(remote.dialect.as_ref()),
            api_key_env: text(&remote.api_key_env),
            api_key_header: text(&remote.api_key_header),
            tokenizer,
            ca,
            connect_timeout: seconds(&remote.connect_timeout, 10.0),
            idle_timeout: seconds(&remote.idle_timeout, 60.0),
            location: self.tree.location(remote.url.node),
        }))
    }

    fn replay(&self, replay: &Spanned<TextOr<spec::Replay>>) -> Result<TargetKind, Diagnostic> {
        let short;
        let (recording, dialect, tokenizer) = match &replay.value {
            TextOr::Text(path) => {
                short = Spanned { value: path.clone(), node: replay.node };
                (&short, None, None)
            }
            TextOr::Other(long) => {
                (&long.recording, long.dialect.as_ref(), long.tokenizer.as_ref())
            }
        };
        let location = self.tree.location(recording.node);
        let path = relative(&self.folder().join(&recording.value));
        let recording = match path.is_dir() {
            true => path,
            false => self.file(recording, "recording")?,
        };
        let tokenizer = tokenizer.map(|path| self.model_folder(path)).transpose()?;
        let dialect = or_auto(dialect);
        Ok(TargetKind::Replay(ReplayTarget { recording, dialect, tokenizer, location }))
    }

    fn model_folder(&self, path: &Spanned<String>) -> Result<PathBuf, Diagnostic> {
        let model = relative(&self.folder().join(&path.value));
        if model.is_dir() {
            Ok(model)
        } else {
            Err(no_model(&model, self.tree.location(path.node)))
        }
    }

    fn file(&self, path: &Spanned<String>, what: &str) -> Result<PathBuf, Diagnostic> {
        let file = relative(&self.folder().join(&path.value));
        if file.is_file() {
            return Ok(file);
        }
        let help = match super::files::sibling(&file) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("the path is relative to the folder of `{TARGETS}`"),
        };
        let message = format!("the {what} `{}` does not exist", show(&file));
        Err(Diagnostic::new(self.tree.location(path.node), message).help(help))
    }

    fn place(&self) -> Location {
        self.tree
            .entry(self.tree.root(), "targets")
            .map_or(self.tree.location(self.tree.root()), |(key, _)| self.tree.location(key))
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
