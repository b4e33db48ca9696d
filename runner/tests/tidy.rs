//! Invariants of the source that no compiler holds: size, direction of imports, hygiene.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::root;

fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("runner"), &mut found);
    found.sort();
    assert!(found.len() > 50);
    found
}

fn below(path: &Path) -> String {
    path.strip_prefix(root().join("runner")).unwrap().display().to_string()
}

#[test]
fn no_file_is_over_400_lines() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= 400,
            "{} has {lines} lines; split it where the design wants to move",
            below(&path)
        );
    }
}

#[test]
fn nothing_is_left_undone() {
    // Written in two parts, so that this file does not hold what it looks for.
    let banned = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[", "ignore"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
        concat!("FIX", "ME"),
    ];
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for word in banned {
            assert!(!text.contains(word), "{} holds `{word}`", below(&path));
        }
    }
}

/// What judging must not name: IO, clocks, and whoever calls it.
const PURE: &[&str] =
    &["std::fs", "std::io", "std::time", "tokio", "crate::plan", "crate::backend", "crate::event"];

/// What the modules of a folder must not name.
const FENCES: [(&str, &[&str]); 6] = [
    ("assertion/", PURE),
    ("score/", PURE),
    ("compare/", PURE),
    ("branch/", PURE),
    (
        "engine/",
        &["crate::assertion", "crate::event", "crate::spec", "crate::plan", "crate::capture"],
    ),
    (
        "report/",
        &[
            "crate::plan",
            "crate::backend",
            "crate::capture::Capture",
            "crate::spec",
            "crate::engine",
        ],
    ),
];

#[test]
fn imports_point_one_way() {
    for path in sources() {
        let name = below(&path);
        let text = fs::read_to_string(&path).unwrap();
        for (folder, banned) in FENCES {
            if !name.starts_with(folder) {
                continue;
            }
            for word in banned {
                assert!(
                    !text.contains(word),
                    "{name} names `{word}`, which {folder} must not know"
                );
            }
        }
    }
}

#[test]
fn only_the_program_knows_its_command_line() {
    for path in sources() {
        let name = below(&path);
        if name == "main.rs" || name.starts_with("cli/") || name.starts_with("tests/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("clap::"), "{name} knows the command line");
    }
}

#[test]
fn every_registered_word_is_used_by_a_spec() {
    let mut specs = String::new();
    for folder in ["multi_turn", "tool_call", "streaming", "long_context", "stopping"] {
        for entry in fs::read_dir(root().join("specs").join(folder)).unwrap() {
            specs += &fs::read_to_string(entry.unwrap().path()).unwrap();
        }
    }
    for info in evalsuite::assertion::ALL {
        assert!(specs.contains(&format!("{}:", info.name)), "no spec uses `{}`", info.name);
    }
    for branch in evalsuite::branch::Branch::ALL {
        assert!(
            specs.contains(&format!("branch: {}", branch.name())),
            "no spec for {}",
            branch.name()
        );
    }
}

#[test]
fn words_are_unique_and_explained() {
    let topics = evalsuite::explain::topics();
    for topic in &topics {
        assert!(
            !topic.summary.is_empty() && !topic.help.is_empty(),
            "{} is unexplained",
            topic.name
        );
        let same = topics.iter().filter(|t| t.kind == topic.kind && t.name == topic.name).count();
        assert_eq!(same, 1, "{} `{}` is there twice", topic.kind, topic.name);
    }
}
