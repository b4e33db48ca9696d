//! Reports of one run: complete, well-formed, and the same every time.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Project, evalsuite, root};

/// The repository's own specs, run in a scratch folder's name so that nothing is left behind.
fn suite(folder: &std::path::Path, args: &[&str]) -> i32 {
    let mut all = vec!["run", "specs", "--no-evidence", "--update", "no", "--quiet"];
    let reports: Vec<String> = ["junit=out.xml", "json=out.jsonl", "checklist=onboarding.md"]
        .iter()
        .map(|report| {
            let (name, file) = report.split_once('=').unwrap();
            format!("{name}={}", folder.join(file).display())
        })
        .collect();
    for report in &reports {
        all.extend(["--report", report]);
    }
    all.extend(args);
    let ran = evalsuite(root(), &all, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.code
}

fn events(folder: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("out.jsonl")).unwrap();
    text.lines().map(|line| untimed(serde_json::from_str(line).unwrap())).collect()
}

/// The event without what is measured in time.
fn untimed(mut event: Value) -> Value {
    if let Some(map) = event.as_object_mut() {
        map.remove("elapsed_ms");
        map.remove("time");
    }
    event
}

#[test]
fn the_suite_holds_and_every_report_has_every_case_once() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path(), &[]);
    let events = events(folder.path());
    let ids: Vec<&str> = events.iter().filter_map(|event| event["id"].as_str()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "ids are unique");
    let branches: BTreeSet<&str> =
        events.iter().filter_map(|event| event["branch"].as_str()).collect();
    assert_eq!(branches.len(), 5);
    assert!(ids.len() >= 30, "{} cases", ids.len());

    let xml = std::fs::File::open(folder.path().join("out.xml")).unwrap();
    let suites = junit_parser::from_reader(std::io::BufReader::new(xml)).unwrap();
    let mut names: Vec<&str> = suites
        .suites
        .iter()
        .flat_map(|suite| &suite.cases)
        .map(|case| case.original_name.as_str())
        .collect();
    names.sort_unstable();
    let mut wanted = ids.clone();
    wanted.sort_unstable();
    assert_eq!(names, wanted);

    let checklist = std::fs::read_to_string(folder.path().join("onboarding.md")).unwrap();
    for word in
        ["multi_turn", "tool_call", "streaming", "long_context", "stopping", "not exercised"]
    {
        assert!(checklist.contains(word), "the checklist names {word}");
    }
}

#[test]
fn two_runs_and_any_number_of_jobs_say_the_same() {
    let (one, four) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    suite(one.path(), &["-j1"]);
    suite(four.path(), &["-j4"]);
    assert_eq!(events(one.path()), events(four.path()));
}

#[test]
fn a_prompt_longer_than_the_context_is_the_fault_of_its_case_only() {
    let project = Project::new();
    project.write("text.txt", &"The harbour is quiet. ".repeat(20));
    project.write(
        "specs/long_context/too_long.yaml",
        "\
branch: long_context
settings: { temperature: 0, max_tokens: 8 }
cases:
  - id: too_long
    turns:
      - user: { document: ../../text.txt, sentences: 40, insert: The code is 1., depth: 0.5, ask: \"What is the code?\" }
        expect: [{ finish_reason: stop }]
  - id: short
    turns:
      - user: Hello
        expect: [{ content: Hello! How can I help? }]
",
    );
    let ran = project.run(&["run", "--report", "json=out.jsonl"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let lines = project.read("out.jsonl");
    let find = |id: &str| -> Value {
        let line = lines.lines().find(|line| line.contains(id)).unwrap();
        serde_json::from_str(line).unwrap()
    };
    let long = find("too_long.too_long");
    assert_eq!(long["status"], "errored");
    let reason = long["reason"].as_str().unwrap();
    assert!(reason.contains("2048"), "{reason}");
    assert_eq!(find("too_long.short")["status"], "passed");
}

#[test]
fn a_template_that_raises_is_named() {
    let project = Project::new();
    project.edit(
        "model/chat_template.jinja",
        "{%- if add_generation_prompt -%}",
        "{{- raise_exception('no such mode') -}}{%- if add_generation_prompt -%}",
    );
    project.write(
        "specs/stopping/x.yaml",
        "branch: stopping\ncases:\n  - id: a\n    turns: [{ user: Hello, expect: [{ finish_reason: stop }] }]\n",
    );
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("no such mode"), "{}", ran.stdout);
}

#[test]
fn a_truncated_weight_file_is_named() {
    let project = Project::new();
    let path = project.path("model/model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    project.write(
        "specs/stopping/x.yaml",
        "branch: stopping\ncases:\n  - id: a\n    turns: [{ user: Hello, expect: [{ finish_reason: stop }] }]\n",
    );
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("model.safetensors"), "{}", ran.stderr);
    std::fs::remove_file(&path).unwrap();
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("specs/targets.yaml:3:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("model.safetensors"), "{}", ran.stderr);
}
