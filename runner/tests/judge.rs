//! `judge` on the evidence of a run: the same verdicts, without a model.

use std::fs;

use serde_json::Value;

use crate::support::{Project, evalsuite, root};

const TALK: &str = "\
branch: multi_turn
settings: { temperature: 0, max_tokens: 16 }
cases:
  - id: hello
    turns:
      - user: Hello
        expect: [{ content: Hello! How can I help? }]
      - user: Bye
        expect: [{ content: Goodbye! }]
  - id: bye
    turns:
      - user: Hello
      - user: Bye
        expect: [{ content: Goodbye! }]
";

fn project() -> Project {
    let project = Project::new();
    project.write("specs/multi_turn/talk.yaml", TALK);
    project
}

/// The events of a JSON report without what may differ.
fn events(text: &str) -> Vec<Value> {
    fn strip(value: &mut Value) {
        let Value::Object(map) = value else { return };
        for name in ["time", "elapsed_ms", "reproduce"] {
            map.remove(name);
        }
    }
    let mut events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.iter_mut().for_each(strip);
    events
}

fn summary(text: &str) -> Value {
    events(text).pop().unwrap()
}

#[test]
fn the_whole_suite_is_judged_again_as_it_was_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (evidence, before, after) = (path("runs"), path("before.jsonl"), path("after.jsonl"));
    let [to_before, to_after] = [&before, &after].map(|path| format!("json={path}"));
    let common = ["specs", "--evidence", &evidence, "-q", "--report"];
    let run = [&["run", "--update", "no"][..], &common, &[to_before.as_str()]].concat();
    let ran = evalsuite(root(), &run, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let judge = [&["judge", "latest"][..], &common, &[to_after.as_str()]].concat();
    let judged = evalsuite(root(), &judge, &[]);
    assert_eq!(judged.code, 0, "{}{}", judged.stdout, judged.stderr);
    let (before, after) = (fs::read_to_string(before).unwrap(), fs::read_to_string(after).unwrap());
    let (before, after) = (events(&before), events(&after));
    assert!(
        before.iter().any(|event| event["id"].as_str().is_some_and(|id| id.ends_with("#score")))
    );
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
}

#[test]
fn neither_the_model_nor_the_target_needs_to_be_there() {
    let project = project();
    assert_eq!(project.run(&["run"]).code, 0);
    fs::remove_dir_all(project.path("model")).unwrap();
    let targets = "default: other\ntargets:\n  other: { remote: { url: http://127.0.0.1:9/v1, model: m, api_key_env: NO_SUCH_KEY } }\n";
    project.write("specs/targets.yaml", targets);
    let judged = project.run(&["judge", "latest", "--report", "json=out.jsonl"]);
    assert_eq!(judged.code, 0, "{}{}", judged.stdout, judged.stderr);
    assert_eq!(events(&project.read("out.jsonl"))[1]["target"], "tiny");
}

#[test]
fn a_changed_spec_changes_the_verdict_and_nothing_is_written() {
    let project = project();
    assert_eq!(project.run(&["run"]).code, 0);
    let spec = "specs/multi_turn/talk.yaml";
    project.edit(spec, "How can I help?", "How may I help?");
    project.edit(spec, "  - id: bye", "    snapshot: [input]\n  - id: bye");
    let judged = project.run(&["judge", "latest"]);
    assert_eq!(judged.code, 1, "{}{}", judged.stdout, judged.stderr);
    let again = "evalsuite judge latest specs --target tiny --case multi_turn/talk.hello";
    assert!(judged.stdout.contains(again), "{}", judged.stdout);
    assert!(!project.path("snapshots").exists());
    assert_eq!(fs::read_dir(project.path(".evalsuite/runs")).unwrap().count(), 1);
}

#[test]
fn what_is_in_one_of_the_two_only_is_counted() {
    let project = project();
    assert_eq!(project.run(&["run", "-k", "talk.bye"]).code, 0);
    let judge = ["judge", "latest", "--report", "json=out.jsonl"];
    assert_eq!(project.run(&judge).code, 0);
    let notes = |project: &Project| summary(&project.read("out.jsonl"))["notes"].clone();
    assert_eq!(notes(&project), serde_json::json!(["1 case of the specs is not in this run"]));
    project.edit("specs/multi_turn/talk.yaml", "id: bye", "id: new");
    let none = project.run(&judge);
    assert_eq!(none.code, 4, "{}", none.stderr);
    assert!(
        none.stderr.contains("none of them is among the 2 cases of the specs"),
        "{}",
        none.stderr
    );
    project.edit("specs/multi_turn/talk.yaml", "id: hello", "id: bye");
    assert_eq!(project.run(&judge).code, 0);
}

#[test]
fn a_run_that_was_killed_is_judged_as_far_as_it_got() {
    let project = project();
    assert_eq!(project.run(&["run"]).code, 0);
    let run = fs::read_dir(project.path(".evalsuite/runs")).unwrap().next().unwrap().unwrap();
    for (file, kept) in [("evidence.jsonl", 4), ("results.jsonl", 2)] {
        let path = run.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').take(kept).collect();
        fs::write(path, lines.concat() + "{\"exchange\":{\"ca").unwrap();
    }
    let judged = project.run(&["judge", "latest", "--report", "json=out.jsonl"]);
    assert_eq!(judged.code, 3, "{}{}", judged.stdout, judged.stderr);
    let text = project.read("out.jsonl");
    let statuses: Vec<_> = events(&text)
        .into_iter()
        .filter_map(|mut e| e.get_mut("status").map(Value::take))
        .collect();
    assert_eq!(statuses, ["passed", "errored"]);
    let shown = project.run(&["inspect", "latest", "talk.bye"]).stdout;
    assert!(shown.contains("broke off at turn 2, interrupted"), "{shown}");
    project.edit("specs/multi_turn/talk.yaml", "  - id: bye", "  - id: third\n    turns: [{ user: Hi }, { user: Hi }]\n    expect: [{ length: { max: 99 } }]\n  - id: bye");
    project.run(&["judge", "latest", "--report", "json=out.jsonl"]);
    let summary = summary(&project.read("out.jsonl"));
    assert!(summary["stopped"].as_str().unwrap().starts_with("interrupted"), "{summary}");
}

#[test]
fn a_kill_in_the_middle_of_a_case_keeps_its_exchanges() {
    let project = Project::new();
    let turn = "      - user: Tell me a long story, please.\n";
    let case = format!("cases:\n  - id: long\n    turns:\n{}", turn.repeat(200));
    let head = "branch: multi_turn\nsettings: { temperature: 0, min_tokens: 64, max_tokens: 64 }\n";
    let expect = "    expect: [{ length: { max: 64 } }]\n";
    project.write("specs/multi_turn/long.yaml", &format!("{head}{case}{expect}"));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_evalsuite"))
        .arg("run")
        .current_dir(project.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lines = || {
        let runs = fs::read_dir(project.path(".evalsuite/runs")).ok()?;
        let evidence = runs.flatten().next()?.path().join("evidence.jsonl");
        Some(fs::read_to_string(evidence).ok()?.lines().count())
    };
    while lines().unwrap_or_default() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = project.run(&["inspect", "latest", "long"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("turn 2") && shown.stdout.contains("interrupted"),
        "{}",
        shown.stdout
    );
    let judged = project.run(&["judge", "latest"]);
    assert_eq!(judged.code, 3, "{}{}", judged.stdout, judged.stderr);
}
