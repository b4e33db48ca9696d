use super::*;
use crate::capture::{Capture, Observed};
use crate::report::sample;

fn meta(target: &str) -> Meta {
    let info = vec![("target".to_owned(), target.to_owned())];
    Meta { source: "a.yaml".to_owned(), line: 1, description: "a/b.c".to_owned(), info }
}

fn on(
    stem: &Path,
    target: &str,
    boundary: Boundary,
    capture: &Capture,
    update: Update,
) -> Comparison {
    check(stem, boundary, capture, &meta(target), update, TOLERANCE).unwrap()
}

#[test]
fn another_target_is_compared_and_puts_nothing_up_for_review() {
    let folder = tempfile::tempdir().unwrap();
    let stem = folder.path().join("weather.oslo");
    let mut capture = sample::capture();
    for boundary in [Boundary::Input, Boundary::Generation] {
        let written = on(&stem, "here", boundary, &capture, Update::Always);
        assert_eq!(written, Comparison::Updated);
        assert_eq!(on(&stem, "there", boundary, &capture, Update::New), Comparison::Same);
    }
    let exchange = &mut capture.runs[0].exchanges[0];
    exchange.generation.edit().tokens.edit()[0].id = 999;
    let Comparison::Changed(change) =
        on(&stem, "there", Boundary::Generation, &capture, Update::New)
    else {
        panic!("another id is a difference")
    };
    assert_eq!((change.pending, change.tokens.is_some()), (None, true));
    assert!(!pending_path(&path(&stem, Boundary::Generation)).exists());
    // The target that the snapshot is of does put it up.
    let own = on(&stem, "here", Boundary::Generation, &capture, Update::New);
    assert!(own.pending().is_some());
}

#[test]
fn of_tokens_that_are_not_shown_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let stem = folder.path().join("weather.oslo");
    let mut capture = sample::capture();
    for boundary in [Boundary::Input, Boundary::Generation] {
        on(&stem, "here", boundary, &capture, Update::Always);
    }
    let exchange = &mut capture.runs[0].exchanges[0];
    exchange.generation.edit().tokens = Observed::Hidden("no ids".to_owned());
    exchange.input.edit().tokens = Observed::Hidden("no ids".to_owned());
    for boundary in [Boundary::Input, Boundary::Generation] {
        let compared = on(&stem, "there", boundary, &capture, Update::New);
        assert_eq!(compared, Comparison::Hidden("no ids".to_owned()));
    }
}
