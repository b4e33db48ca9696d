//! Snapshots as a reviewer meets them: pending, accepted, rejected; nothing is written in CI.

use crate::support::{Project, evalsuite};

const SPEC: &str = "\
branch: stopping
settings: { temperature: 0, seed: 7, max_tokens: 48 }
snapshot: [input, generation]
cases:
  - id: hello
    turns:
      - user: Hello
";

fn project() -> Project {
    let project = Project::new();
    project.write("specs/stopping/hello.yaml", SPEC);
    project
}

#[test]
fn a_new_snapshot_waits_for_review_and_is_accepted() {
    let project = project();
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(project.path("snapshots/stopping/hello.hello@input.snap.new").is_file());
    let listed = project.run(&["snapshots", "list"]);
    assert_eq!(listed.code, 1);
    assert!(listed.stdout.contains("hello.hello@generation"), "{}", listed.stdout);
    assert_eq!(project.run(&["snapshots", "accept"]).code, 0);
    assert!(project.path("snapshots/stopping/hello.hello@input.snap").is_file());
    let ran = project.run(&["run"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(project.run(&["snapshots", "list"]).code, 0);
}

#[test]
fn a_rejected_snapshot_leaves_the_accepted_one() {
    let project = project();
    assert_eq!(project.run(&["run", "--update", "always"]).code, 0);
    let before = project.read("snapshots/stopping/hello.hello@input.snap");
    project.edit("model/chat_template.jinja", "'<|im_start|>user\\n'", "'<|im_start|>user\\n\\n'");
    assert_eq!(project.run(&["run"]).code, 1);
    assert_eq!(project.run(&["snapshots", "reject"]).code, 0);
    assert_eq!(project.read("snapshots/stopping/hello.hello@input.snap"), before);
    assert!(!project.path("snapshots/stopping/hello.hello@input.snap.new").exists());
}

#[test]
fn in_ci_nothing_is_written() {
    let project = project();
    let ran = evalsuite(&project.path(""), &["run"], &[("CI", "true")]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(!project.path("snapshots").exists());
}

#[test]
fn insta_reads_what_was_written() {
    let project = project();
    assert_eq!(project.run(&["run", "--update", "always"]).code, 0);
    let path = project.path("snapshots/stopping/hello.hello@generation.snap");
    let snapshot = insta::Snapshot::from_file(&path).unwrap();
    assert_eq!(snapshot.metadata().source(), Some("specs/stopping/hello.yaml"));
    let insta::internals::SnapshotContents::Text(text) = snapshot.contents() else {
        panic!("a text snapshot");
    };
    assert!(text.to_string().contains("eos(1017)"), "{text}");
}
