//! The commands and exit codes, as a user meets them.

use crate::support::{Project, evalsuite, root};

const HELLO: &str = "\
branch: stopping
settings: { temperature: 0, max_tokens: 16 }
cases:
  - id: hello
    tags: [smoke]
    turns:
      - user: Hello
        expect: [{ content: Hello! How can I help? }]
  - id: bye
    turns:
      - user: Bye
        expect: [{ content: Goodbye! }]
";

fn project() -> Project {
    let project = Project::new();
    project.write("specs/stopping/hello.yaml", HELLO);
    project
}

#[test]
fn check_reads_the_suite_without_a_model() {
    let ran = evalsuite(root(), &["check", "specs"], &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("nothing wrong found"), "{}", ran.stdout);
}

#[test]
fn list_shows_what_a_selection_would_run() {
    let project = project();
    let ran = project.run(&["list"]);
    assert_eq!(ran.stdout, "stopping/hello.hello  [smoke]\nstopping/hello.bye\n");
    assert_eq!(project.run(&["list", "--tag", "smoke"]).stdout.lines().count(), 1);
    assert_eq!(project.run(&["list", "-k", "*.bye"]).stdout, "stopping/hello.bye\n");
    assert_eq!(project.run(&["list", "--partition", "2/2"]).stdout, "stopping/hello.bye\n");
}

#[test]
fn nothing_selected_is_exit_4() {
    let ran = project().run(&["run", "-k", "nothing.*"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("nothing.*"), "{}", ran.stderr);
}

#[test]
fn a_wrong_command_line_is_exit_2() {
    let project = project();
    assert_eq!(project.run(&["run", "--jobs", "0"]).code, 2);
    assert_eq!(project.run(&["run", "--branch", "stoping"]).code, 2);
    assert_eq!(project.run(&["run", "--report", "junitt=x"]).code, 2);
    assert_eq!(project.run(&["run", "nowhere"]).code, 2);
    assert_eq!(project.run(&["run", "--update", "sometimes"]).code, 2);
    assert_eq!(project.run(&["run", "--target", "tinny"]).code, 2);
}

#[test]
fn explain_knows_every_registered_word_and_suggests() {
    for info in evalsuite::assertion::ALL {
        let ran = evalsuite(root(), &["explain", info.name], &[]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains(info.summary), "{}", ran.stdout);
    }
    let ran = evalsuite(root(), &["explain", "finish_reasn"], &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `finish_reason`"), "{}", ran.stderr);
}

#[test]
fn schemas_are_json_and_name_every_assertion() {
    for of in ["spec", "targets"] {
        let ran = evalsuite(root(), &["schema", of], &[]);
        assert_eq!(ran.code, 0);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap();
    }
    let schema = evalsuite(root(), &["schema"], &[]).stdout;
    for info in evalsuite::assertion::ALL {
        assert!(schema.contains(&format!("\"{}\"", info.name)), "{}", info.name);
    }
    for of in ["spec", "targets"] {
        let schema = evalsuite(root(), &["schema", of], &[]).stdout;
        let file = format!("examples/{of}.schema.json");
        let committed = std::fs::read_to_string(root().join(&file)).unwrap();
        assert_eq!(schema, committed, "run `evalsuite schema {of} > {file}`");
    }
}

#[cfg(feature = "candle")]
mod in_process {
    use super::*;

    #[test]
    fn a_failed_case_is_exit_1_and_says_how_to_run_it_again() {
        let project = project();
        project.edit("specs/stopping/hello.yaml", "How can I help?", "How may I help?");
        let ran = project.run(&["run"]);
        assert_eq!(ran.code, 1);
        assert!(ran.stdout.contains("specs/stopping/hello.yaml:8:"), "{}", ran.stdout);
        assert!(ran.stdout.contains("--case stopping/hello.hello"), "{}", ran.stdout);
        let ran = project.run(&["run", "--fail-fast"]);
        assert!(ran.stdout.contains("1 not run"), "{}", ran.stdout);
    }

    #[test]
    fn a_reader_that_has_gone_changes_no_verdict() {
        let project = project();
        project.edit("specs/stopping/hello.yaml", "Goodbye!", "Farewell!");
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_evalsuite"))
            .args(["run", "--report", "human", "--report", "json=out.jsonl"])
            .current_dir(project.path(""))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert_eq!(project.read("out.jsonl").lines().count(), 4, "run, two cases, summary");
    }

    #[test]
    fn snapshots_that_match_nothing_are_said_so() {
        let project = project();
        project.edit("specs/stopping/hello.yaml", "cases:", "snapshot: [input]\ncases:");
        assert_eq!(project.run(&["run"]).code, 1);
        let ran = project.run(&["snapshots", "accept", "nothing*"]);
        assert_eq!(ran.code, 4);
        assert!(ran.stderr.contains("none of 2 pending snapshots"), "{}", ran.stderr);
    }

    #[test]
    fn inspect_shows_the_ladder_of_a_kept_run() {
        let project = project();
        assert_eq!(project.run(&["run"]).code, 0);
        let ran = project.run(&["inspect", "latest", "*.hello"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for word in ["input", "settings", "generation", "response", "<|im_start|>", "eos(1017)"] {
            assert!(ran.stdout.contains(word), "no {word} in\n{}", ran.stdout);
        }
        assert_eq!(project.run(&["inspect", "latest", "nothing"]).code, 2);
        assert_eq!(project.run(&["inspect", "no-such-run", "hello"]).code, 2);
    }

    #[test]
    fn a_known_failure_passes_until_it_is_fixed() {
        let project = project();
        let spec = "specs/stopping/hello.yaml";
        project.edit(spec, "  - id: bye\n", "  - id: bye\n    known_failure: says it otherwise\n");
        let ran = project.run(&["run"]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stdout.contains("no longer fails"), "{}", ran.stdout);
        project.edit(spec, "Goodbye!", "Farewell!");
        assert_eq!(project.run(&["run"]).code, 0);
    }

    #[test]
    fn init_writes_specs_that_run() {
        let project = Project::new();
        let ran = project.run(&["init", "--model", "model", "first"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let ran = project.run(&["check", "first"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let ran = project.run(&["run", "first", "--update", "always"]);
        assert!(ran.code <= 1, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(project.run(&["init", "--model", "model", "first"]).code, 2);
    }
}
