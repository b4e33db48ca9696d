use std::collections::BTreeSet;

use super::sample::read;
use super::{ALL, Assertion};
use crate::capture::Boundary;

/// The examples of a help text: the lines indented by four, one list of entries.
fn examples(help: &str) -> Vec<Assertion> {
    let lines: Vec<_> = help.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let mut entries: Vec<String> = Vec::new();
    for line in lines {
        match line.strip_prefix("- ") {
            Some(first) => entries.push(first.to_owned()),
            None => {
                *entries.last_mut().expect("an example begins with a dash") += &format!("\n{line}")
            }
        }
    }
    entries
        .iter()
        .map(|entry| read(entry).unwrap_or_else(|error| panic!("{entry}\n{error}")))
        .collect()
}

#[test]
fn every_assertion_is_documented_by_examples_that_parse() {
    let mut names = BTreeSet::new();
    for info in ALL {
        assert!(names.insert(info.name), "{} is there twice", info.name);
        assert!(!info.summary.is_empty() && !info.summary.ends_with('.'), "{}", info.name);
        let examples = examples(info.help);
        assert!(!examples.is_empty(), "{} has no example", info.name);
        for example in examples {
            assert_eq!(example.info().name, info.name);
            assert_eq!(example.problems(), Vec::<String>::new(), "{}", info.name);
        }
        for line in info.help.lines() {
            assert!(line.len() <= 100, "{}: {line}", info.name);
        }
    }
}

#[test]
fn the_registry_is_in_the_order_of_the_boundaries_and_complete() {
    let boundaries: Vec<_> = ALL.iter().map(|info| info.boundary).collect();
    assert!(boundaries.is_sorted());
    let named = |boundary| -> Vec<_> {
        ALL.iter().filter(|info| info.boundary == boundary).map(|info| info.name).collect()
    };
    assert_eq!(named(Boundary::Input), ["input_ids", "prompt", "carries"]);
    assert_eq!(named(Boundary::Settings), ["settings"]);
    let generation = [
        "output_ids",
        "termination",
        "length",
        "length_ratio",
        "logits",
        "confidence",
        "deterministic",
    ];
    assert_eq!(named(Boundary::Generation), generation);
    let response = ["finish_reason", "content", "reasoning", "tool_calls", "json_schema", "stream"];
    assert_eq!(named(Boundary::Response), response);
    assert_eq!(named(Boundary::Score), ["task_score"]);
}

#[test]
fn the_json_schema_names_every_assertion() {
    let schema = serde_json::to_string(&schemars::schema_for!(Assertion)).unwrap();
    for info in ALL {
        assert!(schema.contains(&format!("\"{}\"", info.name)), "{}", info.name);
    }
}

#[test]
fn an_unknown_assertion_lists_the_legal_ones() {
    let error = read("contents: hello").unwrap_err().to_string();
    assert!(error.contains("contents") && error.contains("task_score"), "{error}");
}
