use std::fs;
use std::path::Path;

use super::*;
use crate::assertion::{View, sample};
use crate::error::Error;
use crate::finding::Status;

/// A project in a temporary folder: `targets.yaml` with the targets `a` and `b`, and the files given.
pub(super) fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let targets = "default: a\ntargets:\n  a: { candle: { model: ../model } }\n  b: { candle: { model: ../model, dtype: bf16 } }\n";
    let all = [("specs/targets.yaml", targets), ("model/config.json", "{}"), ("Cargo.toml", "")];
    for (path, text) in all.iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, text);
    }
    folder
}

#[expect(clippy::disallowed_methods, reason = "the test's own project")]
pub(super) fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

pub(super) fn select(folder: &tempfile::TempDir) -> Selection {
    Selection { paths: vec![folder.path().join("specs")], ..Selection::default() }
}

fn planned(spec: &str) -> Plan {
    let folder = project(&[("specs/topic.yaml", spec)]);
    plan(&select(&folder)).map_err(messages).unwrap()
}

pub(super) fn messages(error: Error) -> Vec<String> {
    match error {
        Error::Specs(problems) => problems.into_iter().map(|p| p.message).collect(),
        other => vec![other.to_string()],
    }
}

fn refused(spec: &str) -> Vec<String> {
    let folder = project(&[("specs/topic.yaml", spec)]);
    messages(plan(&select(&folder)).unwrap_err())
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cases.iter().map(|case| case.id.as_str()).collect()
}

const ONE: &str = "branch: stopping\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n    expect: [{ finish_reason: stop }]\n";

#[test]
fn a_case_is_laid_over_its_spec() {
    let plan = planned(
        "branch: stopping\nsystem: Be brief.\nsettings: { temperature: 0, seed: 1, max_tokens: 8 }\ntags: [slow]\nrepeat: 2\ntimeout: 2.5\ntemplate: { a: 1, b: 2 }\nallow: { input: fine }\nsnapshot: [response, input, input]\ncases:\n  - id: one\n    settings: { seed: 7, stop: [END] }\n    tags: [smoke, slow]\n    template: { b: 3 }\n    allow: { finish_agrees: fine }\n    turns: [{ user: Hello. }]\n  - id: two\n    system: Be long.\n    repeat: 5\n    snapshot: [generation]\n    turns: [{ user: Hello. }]\n",
    );
    let [one, two] = plan.cases.as_slice() else { panic!("two cases") };
    let settings = &one.settings;
    assert_eq!(
        (settings.temperature, settings.seed, settings.max_tokens),
        (Some(0.0), Some(7), Some(8))
    );
    assert_eq!(settings.stop.as_deref(), Some(&["END".to_owned()][..]));
    assert_eq!(two.settings.seed, Some(1));
    assert_eq!(one.tags, ["slow", "smoke"]);
    assert_eq!((one.repeat, two.repeat), (2, 5));
    assert_eq!(one.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(one.template["b"], 3);
    assert_eq!(one.allow.keys().collect::<Vec<_>>(), ["finish_agrees", "input"]);
    assert_eq!(one.snapshot, [Boundary::Input, Boundary::Response]);
    assert_eq!(two.snapshot, [Boundary::Generation]);
    assert_eq!(
        (one.system.as_deref(), two.system.as_deref()),
        (Some("Be brief."), Some("Be long."))
    );
    assert!(one.snapshot_stem.ends_with("snapshots/stopping/topic.one"));
    assert!(!one.snapshot_stem.to_string_lossy().contains("specs"));
    assert_eq!((one.location.line, one.location.column), (11, 5));
}

#[test]
fn turns_ask_unless_the_reply_is_given_or_results_are_not_complete() {
    let plan = planned(
        "branch: tool_call\ntools: [{ name: f }]\ncases:\n  - id: one\n    turns:\n      - user: a\n      - assistant: { tool_calls: [{ name: f, arguments: { é: [1, x] } }] }\n      - tool: { name: f, content: { celsius: 4, sky: rainy } }\n      - tool: { name: f, content: \"4\" }\n        expect: [{ finish_reason: stop }]\n      - user: b\n      - prefill: So\n      - user: c\n",
    );
    let case = &plan.cases[0];
    let asks: Vec<bool> = case.turns.iter().map(|turn| turn.asks).collect();
    assert_eq!(asks, [false, false, false, true, false, true, true]);
    let Say::Assistant(message) = &case.turns[1].say else { panic!("given") };
    assert_eq!(message.tool_calls[0].arguments, "{\"é\": [1, \"x\"]}");
    assert_eq!(message.content, None);
    let content = "{\"celsius\": 4, \"sky\": \"rainy\"}".to_owned();
    assert_eq!(case.turns[2].say, Say::Tool { name: "f".into(), content });
    assert_eq!(case.turns[3].expect.len(), 1);
    assert_eq!(case.tools[0]["type"], "function");
}

#[test]
fn documents_take_their_length_from_the_matrix() {
    let spec = "branch: long_context\nmatrix: { sentences: [1, 3] }\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    turns: [{ user: { document: ../text/filler.txt, sentences: 9, insert: X., depth: 0, ask: What? } }]\n";
    let folder = project(&[("specs/topic.yaml", spec), ("text/filler.txt", "A.\n\nB.\n")]);
    let plan = plan(&select(&folder)).unwrap();
    assert_eq!(
        ids(&plan),
        ["long_context/topic.one[sentences=1]", "long_context/topic.one[sentences=3]"]
    );
    assert_eq!(plan.cases[0].turns[0].say, Say::User("X. A.\n\nWhat?".into()));
    assert_eq!(plan.cases[1].turns[0].say, Say::User("X. A. B. A.\n\nWhat?".into()));
    assert!(plan.cases[1].snapshot_stem.ends_with("topic.one+sentences-3"));
}

#[test]
fn a_matrix_multiplies_and_its_settings_win() {
    let plan = planned(
        "branch: streaming\nmatrix: { stream: [true, false], settings: [{ seed: 1 }, { seed: 2 }], target: [a, b] }\nsettings: { seed: 9 }\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n",
    );
    assert_eq!(plan.cases.len(), 8);
    assert_eq!(plan.cases[3].id, "streaming/topic.one[stream=true,settings=1,target=b]");
    assert_eq!((plan.cases[3].settings.seed, plan.cases[3].stream), (Some(2), true));
    assert!(!plan.cases[4].stream);
    assert_eq!(plan.outline.targets.keys().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn rows_become_cases_and_the_data_set_is_hashed() {
    let spec = "branch: stopping\nexpect: [{ finish_reason: stop }]\ncases_from: { path: ../data/x.jsonl, id: name, user: q, reference: a, limit: 2 }\n";
    let rows = "{\"name\": \"a b\", \"q\": \"1+1?\", \"a\": 2}\n\n{\"name\": \"c\", \"q\": 3, \"a\": \"x\"}\n{\"name\": \"d\"}\n";
    let folder = project(&[("specs/topic.yaml", spec), ("data/x.jsonl", rows)]);
    let plan = plan(&select(&folder)).unwrap();
    assert_eq!(ids(&plan), ["stopping/topic.a-b", "stopping/topic.c"]);
    assert_eq!(plan.cases[1].turns[0].say, Say::User("3".into()));
    assert_eq!(plan.cases[1].turns[0].location.line, 3);
    assert_eq!(plan.cases[1].location.line, 3);
    let (file, hash) = plan.outline.datasets.iter().next().unwrap();
    assert!(file.ends_with("data/x.jsonl"), "{file}");
    assert_eq!(hash.len(), 64);
}

#[test]
fn a_score_over_a_spec_binds_every_row() {
    let spec = "branch: multi_turn\nexpect: [{ task_score: { extractor: last_number, scorer: number, min: 0.5 } }]\ncases_from: { path: ../data/x.jsonl, user: q, reference: a }\n";
    let rows =
        "{\"q\": [\"Hi.\", \"1+1?\"], \"a\": 2}\n{\"q\": [\"Hi.\", \"2+2?\"], \"a\": \"4\"}\n";
    let folder = project(&[("specs/topic.yaml", spec), ("data/x.jsonl", rows)]);
    let plan = plan(&select(&folder)).map_err(messages).unwrap();
    let [score] = plan.outline.scores.as_slice() else {
        panic!("one score: {:?}", plan.outline.scores)
    };
    assert_eq!((score.id.as_str(), score.cases.as_slice()), ("multi_turn/topic", &[0, 1][..]));
    assert_eq!(score.expectation.location.line, 2);
    let capture = sample::capture(vec![sample::exchange(&[1], &[2], "It is 2.")]);
    let value = |case: &Case| {
        let run = &capture.runs[0];
        let view =
            View { capture: &capture, run, exchange: &run.exchanges[0], index: 0, accepted: None };
        let assertion = &case.expect[0].assertion;
        // A row alone only records its score, so a wrong one passes too.
        assert_eq!(assertion.judge(&view).status, Status::Pass);
        let score = assertion.score(&view).unwrap();
        (score.reference, score.value)
    };
    let values: Vec<_> = plan.cases.iter().map(value).collect();
    assert_eq!(values, [("2".to_owned(), 1.0), ("4".to_owned(), 0.0)]);
    assert!(plan.cases.iter().all(|case| case.turns.len() == 2));
}

#[test]
fn cases_are_selected_by_id_branch_and_tag() {
    let spec = "branch: stopping\nmatrix: { stream: [true, false] }\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    tags: [smoke]\n    turns: [{ user: Hello. }]\n  - id: two\n    turns: [{ user: Hello. }]\n";
    let folder = project(&[("specs/topic.yaml", spec)]);
    let count = |change: &dyn Fn(&mut Selection)| {
        let mut selection = select(&folder);
        change(&mut selection);
        plan(&selection).map(|plan| plan.cases.len()).map_err(|error| error.exit_code())
    };
    assert_eq!(count(&|_| {}), Ok(4));
    for (glob, expected) in [
        ("topic.one", Ok(2)),
        ("stopping/topic.one", Ok(2)),
        ("*.o*", Ok(2)),
        ("topic.one[stream=true]", Ok(1)),
        ("*[stream=true]", Ok(2)),
        ("topic.[to]*", Ok(4)),
        ("three", Err(4)),
        ("{", Err(2)),
    ] {
        assert_eq!(count(&|s| s.case = vec![glob.into()]), expected, "{glob}");
    }
    assert_eq!(count(&|s| s.tag = vec!["smoke".into()]), Ok(2));
    assert_eq!(count(&|s| s.branch = vec!["stopping".into()]), Ok(4));
    assert_eq!(count(&|s| s.branch = vec!["streaming".into()]), Err(4));
    assert_eq!(count(&|s| s.branch = vec!["stoping".into()]), Err(2));
    assert_eq!(count(&|s| s.target = vec!["c".into()]), Err(2));
    assert_eq!(count(&|s| s.partition = Some((3, 2))), Err(2));
    assert_eq!(count(&|s| s.partition = Some((0, 0))), Err(2));
}

#[test]
fn partitions_are_everything_once() {
    let spec = "branch: stopping\nmatrix: { settings: [{ seed: 1 }, { seed: 2 }, { seed: 3 }, { seed: 4 }, { seed: 5 }] }\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n";
    let folder = project(&[("specs/topic.yaml", spec)]);
    let part = |n| plan(&Selection { partition: Some((n, 2)), ..select(&folder) }).unwrap();
    let (first, second) = (part(1), part(2));
    let mut all = [ids(&first), ids(&second)].concat();
    all.sort_unstable();
    assert_eq!((ids(&first).len(), ids(&second).len()), (3, 2));
    assert_eq!(all, ids(&plan(&select(&folder)).unwrap()));
    assert_eq!(first.outline.selection, "--partition 1/2");
}

#[test]
fn the_command_line_says_who_answers() {
    let folder = project(&[("specs/topic.yaml", ONE)]);
    let on = |names: &[&str]| {
        let target = names.iter().map(ToString::to_string).collect();
        plan(&Selection { target, ..select(&folder) }).unwrap()
    };
    let one = on(&["b"]);
    assert_eq!((ids(&one), one.cases[0].target.as_str()), (vec!["stopping/topic.one"], "b"));
    assert_eq!(
        ids(&on(&["a", "b"])),
        ["stopping/topic.one[target=a]", "stopping/topic.one[target=b]"]
    );
}

#[test]
fn nothing_selected_says_what_there_was() {
    let folder = project(&[("specs/topic.yaml", ONE)]);
    let selection = Selection { case: vec!["topic.oen".into()], ..select(&folder) };
    let error = plan(&selection).unwrap_err().to_string();
    assert!(error.contains("1 case in 1 spec file"), "{error}");
    assert!(error.contains("did you mean `topic.one`?"), "{error}");
}

#[test]
fn files_are_found_once_and_hidden_ones_never() {
    let hidden = "branch: nonsense\n";
    let folder = project(&[
        ("specs/b/topic.yml", ONE),
        ("specs/.old/x.yaml", hidden),
        ("specs/notes.txt", ""),
    ]);
    let root = folder.path().join("specs");
    let paths = vec![root.clone(), root.join("b/topic.yml"), root.join("./b/../b")];
    assert_eq!(plan(&Selection { paths, ..Selection::default() }).unwrap().cases.len(), 1);
}

#[test]
fn a_path_that_does_not_exist_is_an_error_with_a_proposal() {
    let folder = project(&[("specs/topic.yaml", ONE)]);
    let paths = vec![folder.path().join("specs/topci.yaml")];
    let error = plan(&Selection { paths, ..Selection::default() }).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("topic.yaml`?"), "{error}");
}

#[test]
fn a_spec_without_targets_is_told_so() {
    let folder = project(&[("elsewhere/topic.yaml", ONE)]);
    let paths = vec![folder.path().join("elsewhere")];
    let problems = messages(plan(&Selection { paths, ..Selection::default() }).unwrap_err());
    assert_eq!(problems, ["there is no `targets.yaml` for this spec"]);
}

#[cfg(unix)]
#[test]
fn links_that_loop_dangle_or_escape_are_reported() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join("tools.json"), "[]");
    let tools = |path: &str| format!("tools: {path}\n{}", ONE.replace("stopping", "tool_call"));
    let folder = project(&[
        ("specs/a.yaml", &tools("loop.json")),
        ("specs/b.yaml", &tools("nowhere.json")),
        ("specs/c.yaml", &tools("escape.json")),
    ]);
    let specs = folder.path().join("specs");
    symlink("loop.json", specs.join("loop.json")).unwrap();
    symlink("missing.json", specs.join("nowhere.json")).unwrap();
    symlink(outside.path().join("tools.json"), specs.join("escape.json")).unwrap();
    symlink("..", specs.join("up")).unwrap();
    let problems = messages(plan(&select(&folder)).unwrap_err());
    let has = |words: &str| problems.iter().any(|problem| problem.contains(words));
    assert!(has("loop.json` is a symbolic link that leads back to itself"), "{problems:?}");
    assert!(has("nowhere.json` is a symbolic link that leads nowhere"), "{problems:?}");
    assert!(has("`escape.json` leads out of the project through a symbolic link"), "{problems:?}");
    assert!(has("a symbolic link that leads back to"), "{problems:?}");
}

#[test]
fn a_file_that_is_not_utf8_names_the_line() {
    let folder = project(&[]);
    #[expect(clippy::disallowed_methods, reason = "the test's own project")]
    fs::write(folder.path().join("specs/x.yaml"), b"branch: stopping\n# \xff\n").unwrap();
    let problems = messages(plan(&select(&folder)).unwrap_err());
    assert_eq!(problems, ["it cannot be read: line 2 is not UTF-8"]);
}

#[test]
fn problems_of_all_files_come_in_order_and_once() {
    let spec = "branch: stopping\nrepeat: 0\nmatrix: { stream: [true, false] }\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n  - id: one\n    turns: [{ user: Hello. }]\n    known_failure: \"\"\n";
    let nothing = "nothing is judged in this case";
    let expected = [
        "a case that repeats 0 times never runs",
        nothing,
        nothing,
        "the id `stopping/topic.one` is already taken",
        "`known_failure` needs a reason",
    ];
    assert_eq!(refused(spec), expected);
}

#[test]
fn only_stop_strings_are_checked_for_backslashes() {
    let tool = "branch: tool_call\ntools: [{ name: f }]\nsettings: { stop: [\"\\\\n\", \"\\n\"] }\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    turns:\n      - user: 'a\\n'\n      - tool: { name: f, content: { stop: 'x\\n' } }\n";
    let plan = planned(tool);
    assert_eq!(
        plan.cases[0].settings.stop.as_deref(),
        Some(&["\\n".to_owned(), "\n".to_owned()][..])
    );
    assert_eq!(
        refused(&tool.replace("\"\\\\n\"", "'\\n'")),
        ["this stop string holds a backslash and a letter, `\\n`, not a control character"]
    );
}

#[test]
fn streaming_specs_stream_unless_they_say_otherwise() {
    let stream =
        |head: &str| planned(&format!("{head}{}", ONE.split_once('\n').unwrap().1)).cases[0].stream;
    assert!(stream("branch: streaming\n"));
    assert!(!stream("branch: streaming\nstream: false\n"));
    assert!(!stream("branch: stopping\n"));
}

#[test]
fn the_folder_of_the_snapshots_can_be_named() {
    let targets = "snapshots: ../kept\ntargets: { a: { candle: { model: ../model } } }\n";
    let folder = project(&[("specs/topic.yaml", ONE), ("specs/targets.yaml", targets)]);
    let plan = plan(&select(&folder)).unwrap();
    let stem = &plan.cases[0].snapshot_stem;
    assert!(stem.ends_with("kept/stopping/topic.one"), "{}", stem.display());
    assert_eq!(plan.cases[0].target, "a");
}

#[test]
fn the_nearest_targets_count() {
    let near = "targets: { near: { candle: { model: ../../model } } }\n";
    let folder = project(&[
        ("specs/topic.yaml", ONE),
        ("specs/deep/other.yaml", ONE),
        ("specs/deep/targets.yaml", near),
    ]);
    let plan = plan(&select(&folder)).unwrap();
    let targets: Vec<&str> = plan.cases.iter().map(|case| case.target.as_str()).collect();
    assert_eq!(targets, ["near", "a"]);
}
