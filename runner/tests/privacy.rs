//! No text of a prompt or a reply is in a run folder that must not hold it, and what is left can be judged.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Project;

/// Everything that a spec and a model can say, with a word of its own in each place.
const SPEC: &str = r#"
branch: tool_call
settings: { temperature: 0, max_tokens: 24 }
stream: true
system: You are Canarysystem.
template: { note: Canaryvariable }
tools:
  - { type: function, function: { name: canarytool, description: Canarydescription, parameters: { type: object, properties: { canaryfield: { type: string } } } } }
cases:
  - id: all
    repeat: 2
    turns:
      - user: What is Canaryuser?
      - assistant:
          reasoning: Canaryreasoning
          tool_calls: [{ name: canarytool, arguments: { canaryfield: Canaryargument } }]
      - tool: { name: canarytool, content: { sky: Canaryresult } }
        expect:
          - content: { contains: Canaryexpectation }
          - length: { max: 24 }
      - user: Thank you, Canaryagain.
        expect:
          - content: { not_contains: Canaryexpectation }
          - termination: eos
    expect:
      - stream: { equals_non_stream: true }
      - input_ids: { count: { min: 5 } }
"#;

const WORDS: [&str; 3] = ["Canary", "canary", "You are"];

fn project(top: &str) -> Project {
    let project = Project::new();
    let targets = project.read("specs/targets.yaml");
    project.write("specs/targets.yaml", &format!("{top}{targets}"));
    project.write("specs/tool_call/all.yaml", SPEC);
    project
}

/// The files of the newest run, and the replies that a run without privacy saw.
fn files(project: &Project) -> Vec<(String, String)> {
    let mut runs: Vec<_> = fs::read_dir(project.path(".evalsuite/runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    let read = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    let files = fs::read_dir(runs.last().unwrap()).unwrap();
    files.map(|entry| read(&entry.unwrap().path())).collect()
}

/// The replies of the model, and pieces of its tokens, as a run with everything keeps them.
fn replies(files: &[(String, String)]) -> Vec<String> {
    let (_, evidence) = files.iter().find(|(name, _)| name == "evidence.jsonl").unwrap();
    let mut texts = Vec::new();
    for line in evidence.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let seen = &line["exchange"]["seen"];
        let found = [
            seen.pointer("/generation/seen/text/seen"),
            seen.pointer("/response/seen/content"),
            seen.pointer("/input/seen/prompt/seen"),
        ];
        texts.extend(found.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    }
    texts.retain(|text| text.len() > 3);
    assert!(texts.len() > 3, "{texts:?}");
    texts
}

#[test]
fn no_text_is_in_a_folder_that_must_not_hold_it() {
    let project = project("");
    let full = project.run(&["run"]);
    assert_eq!(full.code, 1, "{}{}", full.stdout, full.stderr);
    let kept = files(&project);
    assert!(kept.iter().any(|(_, text)| text.contains("Canaryuser")));
    let replies = replies(&kept);
    for mode in ["hashed", "ids_only"] {
        let ran = project.run(&["run", "--privacy", mode]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        for (name, text) in files(&project) {
            for word in WORDS {
                assert!(!text.contains(word), "{mode}: {name} holds {word}");
            }
            for reply in &replies {
                let quoted = serde_json::to_string(reply).unwrap();
                let inner = &quoted[1..quoted.len() - 1];
                assert!(!text.contains(inner), "{mode}: {name} holds {inner}");
            }
            assert_eq!(
                text.contains("sha256:"),
                mode == "hashed" && name != "manifest.json",
                "{name}"
            );
        }
    }
}

#[test]
fn what_is_left_is_judged_and_the_rest_is_not() {
    for mode in ["hashed", "ids_only"] {
        let project = project("");
        project.run(&["run", "--privacy", mode]);
        let judged = project.run(&["judge", "latest", "--report", "json=out.jsonl"]);
        assert_eq!(judged.code, 0, "{}{}", judged.stdout, judged.stderr);
        let report = project.read("out.jsonl");
        let case: Value = serde_json::from_str(report.lines().nth(1).unwrap()).unwrap();
        assert_eq!(case["status"], "not_evaluated");
        let status = |name: &str| {
            let findings = case["findings"].as_array().unwrap().iter();
            let of: Vec<_> =
                findings.filter(|f| f["name"] == name).map(|f| f["status"].clone()).collect();
            assert!(!of.is_empty(), "no {name} in {case:#}");
            of
        };
        assert_eq!(status("content"), ["not_evaluated", "not_evaluated"]);
        for name in ["stream", "tools_in_prompt"] {
            assert_eq!(status(name), ["not_evaluated"], "{name}");
        }
        for name in ["length", "termination", "input_ids"] {
            assert_eq!(status(name), ["pass"], "{name}");
        }
        let shown = project.run(&["inspect", "latest", "all"]).stdout;
        assert!(shown.contains("withheld by `privacy: ") && shown.contains(mode), "{shown}");
    }
}

#[test]
fn the_stricter_of_targets_and_command_line_counts() {
    let kept = |top: &str, args: &[&str]| {
        let project = project(top);
        project.run(&[&["run"], args].concat());
        let files = files(&project);
        let (_, manifest) = files.iter().find(|(name, _)| name == "manifest.json").unwrap().clone();
        serde_json::from_str::<Value>(&manifest).unwrap()["privacy"].clone()
    };
    assert_eq!(kept("", &[]), "full");
    assert_eq!(kept("privacy: hashed\n", &[]), "hashed");
    assert_eq!(kept("privacy: hashed\n", &["--privacy", "ids_only"]), "ids_only");
    assert_eq!(kept("privacy: ids_only\n", &["--privacy", "full"]), "ids_only");
}
