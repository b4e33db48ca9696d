//! Recordings as targets: the same judging as for a server, without one.

use serde_json::Value;

use crate::support::{Project, Ran, root};

/// A project with one spec, whose only target is a recording of the repository.
fn project(recording: &str, file: &str, spec: &str) -> Project {
    let project = Project::new();
    replay(&project, &root().join(recording).display().to_string());
    project.write(file, spec);
    project
}

/// Makes a recording the only target.
fn replay(project: &Project, path: &str) {
    project.write("specs/targets.yaml", &format!("targets: {{ old: {{ replay: {path:?} }} }}\n"));
}

fn run(project: &Project) -> (Ran, Vec<Value>) {
    let ran = project.run(&["run", "--report", "json=out.jsonl"]);
    let text = std::fs::read_to_string(project.path("out.jsonl")).unwrap();
    let events = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (ran, events.filter(|event: &Value| event["event"] == "case").collect())
}

fn finding<'a>(case: &'a Value, name: &str) -> &'a Value {
    let mut findings = case["findings"].as_array().unwrap().iter();
    findings
        .find(|finding| finding["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {case:#}"))
}

const WEATHER: &str = "\
branch: tool_call
settings: { temperature: 0, max_tokens: 64 }
tools: [{ type: function, function: { name: get_weather, parameters: { type: object, properties: { city: { type: string } } } } }]
cases:
  - id: oslo
    turns:
      - user: What is the weather in Oslo?
        expect: [{ tool_calls: [{ name: get_weather, arguments: { city: Oslo } }] }]
      - tool: { name: get_weather, content: { celsius: 4 } }
        expect: [{ content: { contains: 4 degrees } }]
";

#[test]
fn an_incident_is_judged_at_the_boundary_that_was_wrong() {
    let project =
        project("examples/recordings/incident.jsonl", "specs/tool_call/weather.yaml", WEATHER);
    let (ran, cases) = run(&project);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        (&cases[0]["status"], &cases[0]["boundary"]),
        (&"failed".into(), &"response".into())
    );
    assert_eq!(finding(&cases[0], "tool_calls")["actual"], "get_weather({\"city\":\"Bergen\"})");
    assert_eq!(finding(&cases[0], "content")["status"], "pass");
}

#[test]
fn a_delimiter_that_is_split_makes_the_stream_differ() {
    let spec = WEATHER.split("      - tool:").next().unwrap();
    let expect = "    stream: true\n    expect: [{ stream: { equals_non_stream: true } }]\n";
    let spec = format!("{spec}{expect}");
    let file = "specs/tool_call/weather.yaml";
    let project = project("fixtures/recordings/split-delimiter.jsonl", file, &spec);
    let (ran, cases) = run(&project);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(finding(&cases[0], "stream")["status"], "fail");
    assert_eq!(finding(&cases[0], "tool_calls")["status"], "fail");
}

#[test]
fn a_stream_that_breaks_is_an_error_and_its_evidence_breaks_in_the_same_way() {
    let spec = "\
branch: streaming
settings: { temperature: 0 }
cases:
  - { id: cut, turns: [{ user: Hello, expect: [{ content: Hello! }] }] }
  - { id: stall, turns: [{ user: Hello, expect: [{ content: Hello! }] }] }
  - { id: silent, turns: [{ user: Hello, expect: [{ content: Hello! }] }] }
";
    let project =
        project("fixtures/recordings/cut-stream.jsonl", "specs/streaming/plain.yaml", spec);
    let reasons = |cases: &[Value]| -> Vec<String> {
        cases.iter().map(|case| case["reason"].as_str().unwrap().to_owned()).collect()
    };
    let (ran, cases) = run(&project);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let first = reasons(&cases);
    for (reason, kind) in first.iter().zip(["incomplete", "timeout", "timeout"]) {
        assert!(reason.starts_with(&format!("turn 1: {kind}: ")), "{reason}");
    }
    let kept = std::fs::read_dir(project.path(".evalsuite/runs")).unwrap().next().unwrap().unwrap();
    replay(&project, &kept.path().display().to_string());
    let (ran, cases) = run(&project);
    assert_eq!((ran.code, reasons(&cases)), (3, first), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_error_inside_a_stream_is_what_the_server_said() {
    let spec = "branch: streaming\ncases: [{ id: error, turns: [{ user: Hello, expect: [{ content: Hello! }] }] }]\n";
    let project =
        project("fixtures/recordings/error-in-stream.jsonl", "specs/streaming/plain.yaml", spec);
    let (ran, cases) = run(&project);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(cases[0]["reason"].as_str().unwrap().contains("CUDA out of memory"), "{}", cases[0]);
}

#[test]
fn a_recording_without_an_answer_or_with_a_mistake_says_so() {
    let project = project(
        "examples/recordings/incident.jsonl",
        "specs/stopping/bye.yaml",
        "branch: stopping\ncases: [{ id: bye, turns: [{ user: Bye, expect: [{ termination: eos }] }] }]\n",
    );
    let (ran, cases) = run(&project);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let reason = cases[0]["reason"].as_str().unwrap();
    assert!(reason.contains("no answer to case `stopping/bye.bye`, turn 0"), "{reason}");
    project.write("old.jsonl", "{\"response\":{\"boddy\":{}}}\n");
    replay(&project, "../old.jsonl");
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 3);
    let said = "old.jsonl:1: `response` has no field `boddy`: did you mean `body`?";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn what_vllm_answered_is_judged_as_when_it_answered() {
    let folder = tempfile::tempdir().unwrap();
    let report = format!("json={}", folder.path().join("out.jsonl").display());
    let common = ["examples/vllm/specs", "-q", "--report", &report];
    let run =
        [&["run", "--target", "recorded", "--no-evidence", "--update", "no"][..], &common].concat();
    let judge = [&["judge", "fixtures/recordings/vllm-0.32.0"][..], &common].concat();
    let mut verdicts = Vec::new();
    for args in [run, judge] {
        let ran = crate::support::evalsuite(root(), &args, &[]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let text = std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap();
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let cases = events.filter(|event| event["event"] == "case");
        verdicts.push(
            cases
                .map(|c| (c["id"].clone(), c["status"].clone(), c["boundaries"].clone()))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(verdicts[0], verdicts[1]);
    assert!(verdicts[0].len() > 10);
}
