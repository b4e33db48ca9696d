//! A spec that is edited while the suite runs.

use std::fs;

use evalsuite::backend::{Opening, Secrets};
use evalsuite::error::Error;
use evalsuite::event::Event;
use evalsuite::plan::{Selection, outline};
use evalsuite::privacy::Privacy;
use evalsuite::run::{Options, run};
use evalsuite::snapshot::Update;

use crate::support::Project;

const SPEC: &str = "branch: stopping\nsettings: { temperature: 0, max_tokens: 1 }\nexpect: [{ finish_reason: length }]\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n";

#[test]
fn what_changed_does_not_run_and_the_reports_are_completed() {
    let project = Project::new();
    for name in ["a", "b", "c"] {
        project.write(&format!("specs/{name}.yaml"), SPEC);
    }
    let paths = vec![project.path("specs")];
    let (plan, cases) =
        outline(&Selection { paths: paths.clone(), ..Selection::default() }).unwrap();
    fs::write(project.path("specs/b.yaml"), SPEC.replace("Hello.", "Bye.")).unwrap();
    let options = Options {
        opening: Opening { jobs: 3, retries: 0, secrets: Secrets::new() },
        fail_fast: false,
        update: Update::No,
        hidden_fails: false,
        evidence: None,
        privacy: Privacy::Full,
        args: Vec::new(),
        paths,
    };
    let mut told = Vec::new();
    let mut tell = |event: &Event| {
        told.push(match event {
            Event::Run(run) => format!("{} cases", run.cases),
            Event::Case(case) => format!("{} {}", case.id, case.status.name()),
            Event::Summary(summary) => summary.stopped.clone().unwrap_or_default(),
        });
        Ok(())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(run(plan, cases, &options, &mut tell));
    let Err(Error::Specs(problems)) = ended else { panic!("{ended:?}") };
    assert_eq!(problems[0].message, "it changed after the suite was checked");
    assert!(problems[0].location.file.ends_with("specs/b.yaml"));
    assert_eq!(told, ["3 cases", "stopping/a.one passed", "interrupted by an error, 2 not run"]);
}
