use super::*;
use crate::capture::{Exchange, Failure, Observed, Run};
use crate::report::sample;
use chrono::TimeZone;

fn at(second: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 12, 1, 0, 48, second).unwrap()
}

fn manifest() -> Manifest {
    Manifest::new("0.1.0", "2026-12-01T00:48:00Z")
}

/// Keeps a capture as a run does: its exchanges, then its end.
fn keep(run: &RunFolder, capture: &Capture) {
    let log = run.log();
    let runs = capture.runs.iter().enumerate().map(|(n, run)| (Place::Run(n), run));
    for (place, run) in runs.chain(capture.twin.iter().map(|run| (Place::Twin, run))) {
        for exchange in &run.exchanges {
            log.exchange(&capture.case, place, run.load, exchange);
        }
    }
    log.close(capture).unwrap();
}

/// A case of two runs of two exchanges, the second of which failed, and a twin.
fn long_capture() -> Capture {
    let mut capture = sample::capture();
    let run = &mut capture.runs[0];
    run.exchanges.push(Exchange { turn: 1, ..run.exchanges[0].clone() });
    let mut second = run.clone();
    second.error = Some(Failure {
        kind: "timeout".to_owned(),
        turn: 2,
        message: "no answer within 5 ms".to_owned(),
        wire: Vec::new(),
    });
    capture.twin = Some(Run { exchanges: vec![run.exchanges[0].clone()], ..run.clone() });
    capture.runs.push(second);
    capture
}

/// The evidence of the run so far.
fn evidence(run: &RunFolder) -> PathBuf {
    run.path().join(EVIDENCE)
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(ROOT);
    let mut run = RunFolder::create(&root, &manifest(), at(0)).unwrap();
    keep(&run, &sample::capture());
    keep(&run, &Capture { case: "a/b.c".to_owned(), ..long_capture() });
    for event in sample::events() {
        run.event(&event).unwrap();
    }
    let stored = open_run(&root, "latest").unwrap();
    assert_eq!(stored.path, run.path());
    assert_eq!(stored.manifest, manifest());
    let long = Capture { case: "a/b.c".to_owned(), ..long_capture() };
    assert_eq!(stored.captures().unwrap(), [sample::capture(), long]);
    let lines = read_text(&evidence(&run)).unwrap().lines().count();
    assert_eq!(lines, 1 + 5 + 2, "a line per exchange, and one per case");
    assert_eq!(stored.results().unwrap(), sample::events());
    fs::remove_file(run.path().join(RESULTS)).unwrap();
    assert_eq!(stored.results().unwrap(), []);
}

#[test]
fn a_kill_keeps_every_exchange_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    keep(&run, &sample::capture());
    let long = Capture { case: "a/b.c".to_owned(), ..long_capture() };
    keep(&run, &long);
    let stored = open_run(folder.path(), "latest").unwrap();
    let whole = read_text(&evidence(&run)).unwrap();
    // Wherever the kill cuts, what was complete is there, and only the last case can be broken off.
    for cut in 0..whole.len() {
        if !whole.is_char_boundary(cut) {
            continue;
        }
        let lines = whole[..cut].matches('\n').count();
        if cut % 97 != 0 && whole.as_bytes()[cut] != b'\n' {
            continue;
        }
        File::create(evidence(&run)).unwrap().write_all(&whole.as_bytes()[..cut]).unwrap();
        let captures = stored.captures().unwrap();
        let exchanges = captures.iter().flat_map(|c| c.runs.iter().chain(&c.twin));
        let exchanges: usize = exchanges.map(|run| run.exchanges.len()).sum();
        assert_eq!(exchanges, lines - usize::from(lines > 1) - usize::from(lines > 7), "at {cut}");
    }
    File::create(evidence(&run))
        .unwrap()
        .write_all(whole.as_bytes()[..whole.len() - 1].as_ref())
        .unwrap();
    let broken = &stored.captures().unwrap()[1];
    let errors: Vec<_> = broken.runs.iter().map(|run| run.error.as_ref().unwrap()).collect();
    assert_eq!(
        errors.iter().map(|e| (e.kind.as_str(), e.turn)).collect::<Vec<_>>(),
        [(INTERRUPTED, 2); 2]
    );
    assert_eq!(broken.runs[1].exchanges, long.runs[1].exchanges);
    let shown = crate::ladder::inspect(broken, None);
    assert!(shown.contains("broke off at turn 3, interrupted: the run ended"), "{shown}");
}

#[test]
fn a_cut_last_line_is_left_out_and_a_broken_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    keep(&run, &sample::capture());
    let mut file = OpenOptions::new().append(true).open(evidence(&run)).unwrap();
    file.write_all(b"{\"case\":\"cut").unwrap();
    let stored = open_run(folder.path(), "latest").unwrap();
    assert_eq!(stored.captures().unwrap().len(), 1);
    file.write_all(b"\n").unwrap();
    assert!(stored.captures().unwrap_err().to_string().contains("line 3"));
}

#[test]
fn a_case_that_lacks_an_exchange_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    run.log().close(&sample::capture()).unwrap();
    let error = open_run(folder.path(), "latest").unwrap().captures().unwrap_err().to_string();
    assert!(error.contains("line 1: `tool_call/weather.oslo` ends with 1 exchanges"), "{error}");
}

#[test]
fn evidence_of_a_numerical_fault_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    let mut capture = sample::capture();
    if let Observed::Seen(generation) = &mut capture.runs[0].exchanges[0].generation {
        generation.tokens.edit()[0].top[0].logprob = f32::NAN;
        generation.tokens.edit()[0].top[1].logprob = f32::NEG_INFINITY;
    }
    keep(&run, &capture);
    assert_eq!(open_run(folder.path(), "latest").unwrap().captures().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it_and_it_stays_out_of_version_control() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(ROOT);
    let run = RunFolder::create(&root, &manifest(), at(0)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(run.path()), 0o700);
    assert_eq!(mode(&folder.path().join(".evalsuite")), 0o700);
    for file in [MANIFEST, EVIDENCE, RESULTS] {
        assert_eq!(mode(&run.path().join(file)), 0o600);
    }
    assert_eq!(read_text(&folder.path().join(".evalsuite/.gitignore")).unwrap(), "*\n");
}

#[test]
fn the_newest_runs_are_kept_and_nothing_else_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("notes")).unwrap();
    for second in 0..25 {
        RunFolder::create(folder.path(), &manifest(), at(second)).unwrap();
    }
    let runs = runs(folder.path()).unwrap();
    assert_eq!(runs.len(), KEPT);
    assert!(runs[0].to_string_lossy().contains("20261201T004805.000Z-"), "{runs:?}");
    assert!(folder.path().join("notes").is_dir());
}

#[test]
fn runs_that_start_at_once_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let one = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    let two = RunFolder::create(folder.path(), &manifest(), at(0)).unwrap();
    assert_ne!(one.path(), two.path());
}

#[test]
fn a_run_is_found_by_name_by_its_beginning_and_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert!(open_run(root, "latest").unwrap_err().to_string().contains("no run in"));
    let run = RunFolder::create(root, &manifest(), at(0)).unwrap();
    RunFolder::create(root, &manifest(), at(7)).unwrap();
    let name = run.path().file_name().unwrap().to_string_lossy().into_owned();
    let path = run.path().to_string_lossy().into_owned();
    for good in [name.as_str(), "20261201T004800", path.as_str()] {
        assert_eq!(open_run(root, good).unwrap().path, run.path());
    }
    assert!(open_run(root, "2026").unwrap_err().to_string().contains("2 runs"));
    let missing = open_run(root, "nonsense").unwrap_err();
    assert!(missing.to_string().contains(&name), "{missing}");
    assert_eq!(missing.exit_code(), 2);
}
