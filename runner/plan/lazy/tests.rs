use std::path::Path;

use super::*;
use crate::plan::tests::{messages, project, select, write};
use crate::plan::{Plan, Selection, outline, plan};

/// The suite of this repository, with nobody to answer it.
fn suite() -> Selection {
    let paths = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("specs")];
    Selection { paths, answered: true, ..Selection::default() }
}

fn all(selection: &Selection) -> Result<Plan, Error> {
    let (outline, cases) = outline(selection)?;
    Ok(Plan { outline, cases: cases.collect::<Result<_, _>>()? })
}

#[test]
fn one_after_another_the_cases_are_those_of_the_plan() {
    let changes: [fn(&mut Selection); 9] = [
        |_| {},
        |s| s.answered = false,
        |s| s.branch = vec!["tool_call".into()],
        |s| s.case = vec!["*.?*s*".into()],
        |s| s.tag = vec!["smoke".into(), "slow".into()],
        |s| s.partition = Some((1, 3)),
        |s| s.partition = Some((2, 3)),
        |s| s.partition = Some((3, 3)),
        |s| s.target = vec!["some".into(), "other".into()],
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut selection = suite();
        change(&mut selection);
        let planned = match plan(&selection) {
            Ok(planned) => planned,
            Err(error) => {
                let other = outline(&selection).unwrap_err();
                assert_eq!(other.to_string(), error.to_string());
                continue;
            }
        };
        let lazy = all(&selection).unwrap();
        assert_eq!(lazy.outline.count, planned.cases.len());
        assert!(index > 0 || lazy.outline.count > 50, "{}", lazy.outline.count);
        assert_eq!(format!("{lazy:#?}"), format!("{planned:#?}"), "{selection:?}");
    }
}

const TWO: &str = "branch: stopping\nexpect: [{ finish_reason: stop }]\ncases:\n  - id: one\n    turns: [{ user: Hello. }]\n  - id: two\n    turns: [{ user: { document: ../text/a.txt } }]\n";
const ROWS: &str = "branch: stopping\nexpect: [{ finish_reason: stop }]\ncases_from: { path: ../data/x.jsonl, user: q }\n";

fn files() -> [(&'static str, &'static str); 5] {
    [
        ("specs/a.yaml", TWO),
        ("specs/b.yaml", TWO),
        ("specs/c.yaml", ROWS),
        ("text/a.txt", "A.\n"),
        ("data/x.jsonl", "{\"q\": \"1\"}\n{\"q\": \"2\"}\n"),
    ]
}

#[test]
fn a_file_that_changed_since_it_was_checked_is_an_error() {
    let table = [
        ("specs/a.yaml", TWO.replace("Hello.", "Bye."), 0),
        ("specs/b.yaml", TWO.replace("Hello.", "Bye."), 2),
        ("text/a.txt", "B.\n".to_owned(), 1),
        ("data/x.jsonl", "{\"q\": \"1\"}\n{\"q\": \"3\"}\n".to_owned(), 4),
    ];
    for (changed, text, before) in table {
        let folder = project(&files());
        let (outline, mut cases) = outline(&select(&folder)).map_err(messages).unwrap();
        assert_eq!(outline.count, 6);
        write(&folder.path().join(changed), &text);
        let made: Vec<_> = cases.by_ref().take_while(Result::is_ok).collect();
        assert_eq!(made.len(), before, "{changed}");
        assert!(cases.next().is_none(), "{changed}: nothing follows an error");
    }
}

#[test]
fn what_is_wrong_with_a_changed_file_is_said() {
    let folder = project(&files());
    let (_, mut cases) = outline(&select(&folder)).unwrap();
    write(&folder.path().join("specs/a.yaml"), &format!("{TWO} "));
    let Some(Err(Error::Specs(problems))) = cases.next() else { panic!("an error") };
    let [problem] = problems.as_slice() else { panic!("one problem") };
    assert_eq!(problem.message, "it changed after the suite was checked");
    assert!(problem.location.file.ends_with("specs/a.yaml"));
    let (_, mut cases) = outline(&select(&folder)).unwrap();
    std::fs::remove_file(folder.path().join("specs/a.yaml")).unwrap();
    let problems = messages(cases.next().unwrap().unwrap_err());
    assert!(problems[0].starts_with("it cannot be read"), "{problems:?}");
}

#[test]
fn a_time_is_given_to_cases_that_say_none() {
    let own = TWO.replace("  - id: one\n", "  - id: one\n    timeout: 2\n");
    let folder = project(&[("specs/a.yaml", &own), ("text/a.txt", "A.\n")]);
    let (_, cases) = outline(&select(&folder)).map_err(messages).unwrap();
    let cases = cases.with_timeout(Duration::from_secs(9));
    let seconds: Vec<_> = cases.map(|case| case.unwrap().timeout.unwrap().as_secs()).collect();
    assert_eq!(seconds, [2, 9]);
}
