//! What real servers answered, judged again from recordings.

use std::path::Path;

use serde_json::Value;

use crate::support::{evalsuite, root};

/// The cases of a run of `specs` in `folder` on `target`, by id.
fn cases(folder: &Path, target: &str) -> (i32, Vec<Value>) {
    let out = tempfile::tempdir().unwrap();
    let report = format!("json={}", out.path().join("out.jsonl").display());
    let args = [
        "run",
        "specs",
        "--target",
        target,
        "--no-evidence",
        "--update",
        "no",
        "--report",
        &report,
    ];
    let ran = evalsuite(folder, &args, &[]);
    let lines = std::fs::read_to_string(out.path().join("out.jsonl")).unwrap_or_default();
    assert!(!lines.is_empty(), "{}{}", ran.stdout, ran.stderr);
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    (ran.code, events.filter(|event| event["event"] == "case").collect())
}

#[test]
fn vllm_as_recorded_holds_what_was_accepted_in_process() {
    let (code, cases) = cases(&root().join("examples/vllm"), "recorded");
    assert_eq!((code, cases.len()), (0, 17));
    let find = |id: &str| cases.iter().find(|case| case["id"] == id).unwrap();
    // Prompt ids, output ids and settings were seen and held, streamed and not.
    for id in ["tool_call/choices.auto[stream=true]", "tool_call/choices.auto[stream=false]"] {
        assert_eq!(find(id)["boundaries"]["input"], "held", "{id}");
        assert_eq!(find(id)["boundaries"]["generation"], "held", "{id}");
    }
    assert_eq!(find("stopping/defaults.from_the_file")["boundaries"]["settings"], "held");
    for id in ["tool_call/choices.required[stream=true]", "tool_call/choices.named[stream=false]"] {
        assert_eq!(find(id)["status"], "passed", "{id}");
    }
}
