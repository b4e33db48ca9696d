//! Wrong specs: each folder of `fixtures/bad` with the message it must give, in `NAME.err` beside it.
//!
//! With `BLESS=1` in the environment the messages are written anew; read the difference before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::diagnostic::render;
use evalsuite::error::Error;
use evalsuite::plan::{Selection, plan};

const FOLDER: &str = "fixtures/bad";

fn message(folder: &Path) -> String {
    let selection = Selection { paths: vec![folder.to_path_buf()], ..Selection::default() };
    match plan(&selection) {
        Ok(plan) => format!("no problem in {} cases\n", plan.cases.len()),
        Err(Error::Specs(problems)) => problems
            .iter()
            .map(|problem| render(problem, false) + "\n")
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => format!("error: {error}\n"),
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the expected messages are files")]
fn every_wrong_spec_gives_its_message() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(FOLDER).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    assert!(folders.len() >= 30, "the table is complete");
    let mut wrong = Vec::new();
    for folder in folders {
        let actual = message(&folder);
        let file = folder.with_extension("err");
        if bless {
            fs::write(&file, &actual).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("--- {}\n{expected}+++ actual\n{actual}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_message_belongs_to_a_folder() {
    for entry in fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "err") {
            assert!(path.with_extension("").is_dir(), "{} has no folder", path.display());
        }
    }
}
