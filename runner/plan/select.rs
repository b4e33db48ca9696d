//! Which cases of a suite run.

use std::path::PathBuf;

use globset::{Glob, GlobMatcher};

use super::Case;
use super::case::Draft;
use crate::branch::Branch;
use crate::diagnostic::{choices, count, suggest};
use crate::error::Error;

/// What the command line selects; an empty list leaves nothing out.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Spec files and folders of them; `specs` when empty.
    pub paths: Vec<PathBuf>,
    /// Who answers, instead of what the specs say; a case with a matrix over targets keeps those of them.
    pub target: Vec<String>,
    /// Whether the replies are there already, so that no target has to answer and none is looked at.
    pub answered: bool,
    /// Names of branches.
    pub branch: Vec<String>,
    /// Globs, matched against the id, the id without its matrix, and both behind the slash.
    pub case: Vec<String>,
    /// Labels; a case with any of them runs.
    pub tag: Vec<String>,
    /// `(2, 3)` is the second of three parts, which together are everything, each case once.
    pub partition: Option<(usize, usize)>,
}

/// A selection whose words were checked.
pub(super) struct Selector<'a> {
    selection: &'a Selection,
    branches: Vec<Branch>,
    cases: Vec<(&'a str, GlobMatcher)>,
    /// How many cases were taken that are dealt out to the parts of a partition; those scored together are one.
    units: usize,
    last: Option<(usize, String)>,
}

impl<'a> Selector<'a> {
    /// # Errors
    /// [`Error::Usage`] for an unknown branch, a broken glob or a partition out of range.
    pub(super) fn new(selection: &'a Selection) -> Result<Self, Error> {
        if let Some((part, parts)) = selection.partition
            && (part == 0 || part > parts)
        {
            let message = format!(
                "there is no part {part} of {parts}; `--partition` takes 1/{0} to {0}/{0}",
                parts.max(1)
            );
            return Err(Error::Usage(message));
        }
        let branches =
            selection.branch.iter().map(|name| branch(name)).collect::<Result<_, _>>()?;
        let cases = selection.case.iter().map(|glob| matcher(glob)).collect::<Result<_, _>>()?;
        Ok(Selector { selection, branches, cases, units: 0, last: None })
    }

    /// Whether the draft is selected; every draft is asked about once, in order.
    pub(super) fn picks(&mut self, draft: &Draft) -> bool {
        if !self.takes(&draft.case, &draft.base) {
            return false;
        }
        let Some((part, parts)) = self.selection.partition else { return true };
        // Cases that are scored together stay together, so that no part judges a share of a data set.
        if draft.group.is_none() || draft.group != self.last {
            self.units += 1;
        }
        self.last.clone_from(&draft.group);
        (self.units - 1) % parts == part - 1
    }

    fn takes(&self, case: &Case, base: &str) -> bool {
        let any_tag = |tags: &[String]| self.selection.tag.iter().any(|tag| tags.contains(tag));
        (self.branches.is_empty() || self.branches.contains(&case.branch))
            && (self.selection.tag.is_empty() || any_tag(&case.tags))
            && (self.cases.is_empty()
                || self.cases.iter().any(|c| matches(c, &case.id) || matches(c, base)))
    }

    /// The selection in words.
    pub(super) fn words(&self) -> String {
        let selection = self.selection;
        let mut words = Vec::new();
        let mut add = |flag: &str, values: &[String]| {
            words.extend(values.iter().map(|value| format!("{flag} {}", quoted(value))));
        };
        add("--target", &selection.target);
        add("--branch", &selection.branch);
        add("--case", &selection.case);
        add("--tag", &selection.tag);
        if let Some((part, parts)) = selection.partition {
            words.push(format!("--partition {part}/{parts}"));
        }
        words.join(" ")
    }

    /// Why nothing is left of `all`.
    pub(super) fn nothing(&self, all: &[(String, Vec<String>)], files: usize) -> Error {
        if files == 0 {
            let paths: Vec<String> =
                self.selection.paths.iter().map(|path| super::files::show(path)).collect();
            return Error::NothingSelected(format!(
                "no spec file (`*.yaml`) in {}",
                paths.join(", ")
            ));
        }
        let there = format!("{} in {}", count(all.len(), "case"), count(files, "spec file"));
        if all.is_empty() {
            return Error::NothingSelected(format!("there is no case: {there}"));
        }
        let mut message = format!("nothing of {there} matches {}", self.words());
        let mut tags: Vec<&str> =
            all.iter().flat_map(|(_, tags)| tags.iter().map(String::as_str)).collect();
        tags.sort_unstable();
        tags.dedup();
        if let Some(tag) = self.selection.tag.iter().find(|tag| !tags.contains(&tag.as_str())) {
            message.push_str(&format!("; no case is tagged `{tag}`: {}", choices(tag, &tags)));
        }
        let names = all.iter().flat_map(|(id, _)| [id.as_str(), short(id)]);
        let plain = self.selection.case.iter().find(|glob| !glob.contains(['*', '?', '{']));
        if let Some(meant) = plain.and_then(|glob| suggest(glob, names)) {
            message.push_str(&format!("; did you mean `{meant}`?"));
        }
        message.push_str("\n`evalsuite list` shows every case");
        Error::NothingSelected(message)
    }
}

fn branch(name: &str) -> Result<Branch, Error> {
    let names: Vec<&str> = Branch::ALL.iter().map(|branch| branch.name()).collect();
    let found = Branch::ALL.iter().copied().find(|branch| branch.name() == name);
    found.ok_or_else(|| Error::Usage(format!("unknown branch `{name}`: {}", choices(name, &names))))
}

/// The glob; the brackets of a matrix (`[stream=true]`) are taken literally, not as a class of characters.
fn matcher(glob: &str) -> Result<(&str, GlobMatcher), Error> {
    let escape = |c| match c {
        '[' => "[[]".to_owned(),
        ']' => "[]]".to_owned(),
        c => String::from(c),
    };
    let literal = match glob.contains('[') && glob.contains('=') {
        true => glob.chars().map(escape).collect(),
        false => glob.to_owned(),
    };
    match Glob::new(&literal) {
        Ok(compiled) => Ok((glob, compiled.compile_matcher())),
        Err(error) => Err(Error::Usage(format!("`--case {glob}`: {}", error.kind()))),
    }
}

fn matches((word, glob): &(&str, GlobMatcher), id: &str) -> bool {
    [id, short(id)].into_iter().any(|id| *word == id || glob.is_match(id))
}

/// The id behind the slash.
fn short(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, rest)| rest)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,=:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
