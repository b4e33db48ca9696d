use std::path::{Path, PathBuf};

use super::*;
use crate::capture::{Accepted, AcceptedInput, Boundary, Capture, Observed, Token, hash_ids};
use crate::finding::Status;
use crate::report::sample;

fn meta() -> Meta {
    Meta {
        source: "specs/tool_call/weather.yaml".to_owned(),
        line: 8,
        description: "tool_call/weather.oslo".to_owned(),
        info: vec![
            ("target".to_owned(), "tiny-chat".to_owned()),
            ("dtype".to_owned(), "f32: \"x\"".to_owned()),
        ],
    }
}

fn run(stem: &Path, boundary: Boundary, capture: &Capture, update: Update) -> Comparison {
    check(stem, boundary, capture, &meta(), update, TOLERANCE).unwrap()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let stem = folder.path().join("snapshots/tool_call/weather.oslo");
    (folder, stem)
}

#[expect(clippy::disallowed_methods, reason = "the tests look at what was written")]
fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "the tests write broken files")]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn with_logprob(value: f32) -> Capture {
    let mut capture = sample::capture();
    if let Observed::Seen(generation) = &mut capture.runs[0].exchanges[0].generation {
        generation.tokens.edit()[0].logprob = Some(value);
    }
    capture
}

fn with_prompt(pieces: Vec<Token>) -> Capture {
    let mut capture = sample::capture();
    if let Observed::Seen(input) = &mut capture.runs[0].exchanges[0].input {
        input.prompt = Observed::Seen(pieces.iter().map(|token| token.piece.as_str()).collect());
        input.tokens = Observed::Seen(pieces);
    }
    capture
}

fn words(count: u32) -> Vec<Token> {
    (0..count).map(|id| Token { id, piece: format!(" w{id}") }).collect()
}

#[test]
fn each_boundary_has_a_text_made_for_review() {
    let capture = sample::capture();
    let input = body::body(Boundary::Input, &capture).unwrap();
    let expected = r#"exchange 1, turn 1
prompt:
  "<|im_start|>user\n"
  "Oslo? \n"
  "<|im_end|>\n"
  "<|im_start|>assistant\n"
tokens: 10
     0       1  "<|im_start|>"
     1     872  "user"
     2      10  "\n"
     3      61  "Oslo?"
     4       5  " \n"
     5       2  "<|im_end|>"
     6      10  "\n"
     7       1  "<|im_start|>"
     8      77  "assistant"
     9      10  "\n""#;
    assert_eq!(input, expected);
    let settings = body::body(Boundary::Settings, &capture).unwrap();
    let expected = "exchange 1, turn 1\nsettings:\n  temperature  0.0  from request
  max_tokens  8  from request\n  top_k  20  from generation_config.json";
    assert_eq!(settings, expected);
    let generation = body::body(Boundary::Generation, &capture).unwrap();
    let expected = r#"exchange 1, turn 1
termination: eos(2)
text:
  "4 degrees<|im_end|>"
output: 3
     0      40  "4"  -0.10500  40:-0.10500 41:-2.30300
     1      50  " degrees"  -0.01000  50:-0.01000
     2       2  "<|im_end|>"  0.00000  2:0.00000"#;
    assert_eq!(generation, expected);
    let response = body::body(Boundary::Response, &capture).unwrap();
    let expected = r#"exchange 1, turn 1
content:
  "4 degrees"
tool call 1: "get_weather"
  arguments "{\"city\": \"Oslo\"}"
finish_reason: "stop"
usage: 10 prompt tokens, 3 completion tokens"#;
    assert_eq!(response, expected);
    let score = body::body(Boundary::Score, &capture).unwrap();
    assert_eq!(score, "exact of first_number: 1.0000\n  extracted  \"4\"\n  reference  \"4\"");
}

#[test]
fn a_long_prompt_folds_to_ranges_with_hashes() {
    let text = body::body(Boundary::Input, &with_prompt(words(1000))).unwrap();
    let ids: Vec<u32> = (24..88).collect();
    assert!(text.contains(&format!("\n  24..88  64 tokens  {}\n", hash_ids(&ids))), "{text}");
    assert!(text.lines().count() < 80, "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 300), "{text}");
    assert!(text.ends_with("   999     999  \" w999\""), "{text}");
}

#[test]
fn the_first_run_leaves_a_pending_file_that_insta_reads() {
    let (_folder, stem) = folder();
    let capture = sample::capture();
    let path = path(&stem, Boundary::Generation);
    let pending = pending_path(&path);
    let new = Comparison::New { pending: Some(pending.clone()) };
    assert_eq!(run(&stem, Boundary::Generation, &capture, Update::Auto), new);
    assert!(!path.exists());
    let expected = "---\nsource: specs/tool_call/weather.yaml\nassertion_line: 8
description: tool_call/weather.oslo\ninfo:\n  target: tiny-chat\n  dtype: \"f32: \\\"x\\\"\"\n---\nexchange 1, turn 1\n";
    assert_eq!(text(&pending).get(..expected.len()), Some(expected));
    let snapshot = insta::Snapshot::from_file(&pending).unwrap();
    let metadata = snapshot.metadata();
    assert_eq!(metadata.source(), Some("specs/tool_call/weather.yaml"));
    assert_eq!(metadata.assertion_line(), Some(8));
    assert_eq!(metadata.description(), Some("tool_call/weather.oslo"));
    let body = body::body(Boundary::Generation, &capture).unwrap();
    assert_eq!(snapshot.as_text().unwrap().to_string(), body);
}

#[test]
fn every_update_mode_writes_what_insta_would() {
    let (_folder, stem) = folder();
    let capture = sample::capture();
    let path = path(&stem, Boundary::Input);
    let pending = pending_path(&path);
    assert_eq!(Update::Auto.resolved(true), Update::No);
    assert_eq!(Update::Auto.resolved(false), Update::New);
    assert_eq!(Update::New.resolved(true), Update::New);
    assert_eq!(
        run(&stem, Boundary::Input, &capture, Update::No),
        Comparison::New { pending: None }
    );
    assert!(!path.exists() && !pending.exists());
    run(&stem, Boundary::Input, &capture, Update::New);
    assert!(!path.exists() && pending.exists());
    assert_eq!(run(&stem, Boundary::Input, &capture, Update::Always), Comparison::Updated);
    assert!(path.exists() && !pending.exists());
    assert!(!text(&path).contains("assertion_line"));
    assert_eq!(run(&stem, Boundary::Input, &capture, Update::Always), Comparison::Same);
    assert!("sometimes".parse::<Update>().unwrap_err().contains("auto, no, new, always"));
}

#[test]
fn a_pending_file_that_no_longer_differs_is_removed() {
    let (_folder, stem) = folder();
    let capture = sample::capture();
    run(&stem, Boundary::Input, &capture, Update::Always);
    let pending = pending_path(&path(&stem, Boundary::Input));
    write(&pending, "stale");
    assert_eq!(run(&stem, Boundary::Input, &capture, Update::No), Comparison::Same);
    assert!(pending.exists(), "`no` touches nothing");
    assert_eq!(run(&stem, Boundary::Input, &capture, Update::New), Comparison::Same);
    assert!(!pending.exists());
}

#[test]
fn noise_is_no_difference_and_a_shift_is_one() {
    let (_folder, stem) = folder();
    run(&stem, Boundary::Generation, &with_logprob(-0.105), Update::Always);
    assert_eq!(
        run(&stem, Boundary::Generation, &with_logprob(-0.1057), Update::No),
        Comparison::Same
    );
    let changed = run(&stem, Boundary::Generation, &with_logprob(-0.2), Update::New);
    let Comparison::Changed(change) = &changed else { panic!("{changed:?}") };
    assert_eq!(change.line, 13);
    assert_eq!(text(&change.path).lines().nth(12), change.expected.as_deref());
    assert!(change.actual.as_ref().unwrap().contains("-0.20000"));
    assert_eq!(change.tokens, None);
    let outcome = changed.outcome();
    assert_eq!(outcome.status, Status::Fail);
    assert!(outcome.at.unwrap().ends_with("weather.oslo@generation.snap:13"));
    assert_eq!(outcome.tolerance.as_deref(), Some("0.001 on decimals"));
}

#[test]
fn a_changed_id_is_shown_with_the_tokens_around_it() {
    let (_folder, stem) = folder();
    run(&stem, Boundary::Input, &sample::capture(), Update::Always);
    let mut tokens = sample::capture().runs[0].exchanges[0].prompt_tokens().unwrap().to_vec();
    tokens[5].id = 3;
    let changed = run(&stem, Boundary::Input, &with_prompt(tokens), Update::No);
    let outcome = changed.outcome();
    assert_eq!(outcome.expected, "5 2 \"<|im_end|>\"");
    assert_eq!(outcome.actual, "5 3 \"<|im_end|>\"");
    let difference = outcome.difference.unwrap();
    assert_eq!((difference.index, difference.start), (5, 1));
    assert_eq!((difference.expected[4].id, difference.actual[4].id), (2, 3));
}

#[test]
fn a_change_behind_a_folded_stretch_is_found_and_one_inside_is_located_by_its_line() {
    let (_folder, stem) = folder();
    run(&stem, Boundary::Input, &with_prompt(words(300)), Update::Always);
    let mut tokens = words(300);
    tokens[290].id = 7;
    let changed = run(&stem, Boundary::Input, &with_prompt(tokens), Update::No);
    let difference = changed.outcome().difference.unwrap();
    assert_eq!((difference.index, difference.start, difference.actual[4].id), (290, 286, 7));
    let mut tokens = words(300);
    tokens[100].id = 7;
    let changed = run(&stem, Boundary::Input, &with_prompt(tokens), Update::No);
    let outcome = changed.outcome();
    assert_eq!(outcome.difference, None);
    assert!(outcome.expected.starts_with("88..152 64 tokens"), "{}", outcome.expected);
}

#[test]
fn a_boundary_that_cannot_be_seen_is_not_evaluated() {
    let (_folder, stem) = folder();
    let mut capture = sample::capture();
    capture.runs[0].exchanges[0].settings = Observed::Hidden("the server does not say".to_owned());
    let hidden = run(&stem, Boundary::Settings, &capture, Update::Always);
    assert_eq!(hidden, Comparison::Hidden("the server does not say".to_owned()));
    assert_eq!(hidden.outcome().status, Status::NotEvaluated);
    assert!(!path(&stem, Boundary::Settings).exists());
    capture.runs.clear();
    assert!(matches!(run(&stem, Boundary::Input, &capture, Update::Always), Comparison::Hidden(_)));
}

#[test]
fn what_was_accepted_is_read_back() {
    let (_folder, stem) = folder();
    let capture = sample::capture();
    assert_eq!(accepted(&stem).unwrap(), Accepted::default());
    run(&stem, Boundary::Input, &with_prompt(words(300)), Update::Always);
    run(&stem, Boundary::Generation, &capture, Update::Always);
    let accepted = accepted(&stem).unwrap();
    let exchange = &accepted.exchanges[0];
    let input = exchange.input.as_ref().unwrap();
    assert_eq!(input[3], AcceptedInput::Token(Token { id: 3, piece: " w3".to_owned() }));
    let ids: Vec<u32> = (24..88).collect();
    assert_eq!(input[24], AcceptedInput::Folded { count: 64, hash: hash_ids(&ids) });
    assert_eq!(input.len(), 24 + 4 + 24);
    let output = exchange.output.as_ref().unwrap();
    assert_eq!(
        (output[0].id, output[0].piece.as_str(), output[0].logprob),
        (40, "4", Some(-0.105))
    );
    assert_eq!((output[0].top[1].id, output[0].top[1].logprob), (41, -2.303));
}

#[test]
fn a_corrupt_snapshot_is_named_with_its_line() {
    let (_folder, stem) = folder();
    run(&stem, Boundary::Generation, &sample::capture(), Update::Always);
    let path = path(&stem, Boundary::Generation);
    let good = text(&path);
    let line_of = |broken: String| {
        write(&path, &broken);
        match accepted(&stem) {
            Err(Error::Specs(problems)) => (
                problems[0].location.line,
                problems[0].message.clone(),
                problems[0].location.file.clone(),
            ),
            other => panic!("{other:?}"),
        }
    };
    let (line, message, file) = line_of(good.replace("\"4\"  -0.10500", "4  x"));
    assert_eq!(line, 13);
    assert!(file.ends_with("weather.oslo@generation.snap"), "{file}");
    assert!(message.contains("expected `index id \"piece\" logprob"), "{message}");
    assert_eq!(line_of(good.replace("output: 3", "output: 4")).0, 12);
    assert_eq!(line_of(good.replace("     1      50", "     7      50")).0, 14);
    assert_eq!(line_of(good.replace("exchange 1, turn 1\n", "")).0, 11);
    assert_eq!(line_of(good.replace("---", "--")).0, 1);
    assert_eq!(line_of(String::new()).0, 1);
    assert_eq!(line_of(good.replace("info:", "info: [")).0, 1);
    assert_eq!(line_of("---\nsource: a\n".to_owned()).0, 1);
}

#[test]
fn pending_snapshots_are_listed_accepted_and_rejected() {
    let (folder, stem) = folder();
    let root = folder.path().join("snapshots");
    assert_eq!(list(&root, &[]).unwrap(), []);
    let capture = sample::capture();
    run(&stem, Boundary::Input, &capture, Update::New);
    run(&stem, Boundary::Response, &capture, Update::New);
    run(&stem, Boundary::Generation, &capture, Update::Always);
    let pending = list(&root, &[]).unwrap();
    assert_eq!(pending.len(), 2);
    assert_eq!(pending[0].case.as_deref(), Some("tool_call/weather.oslo"));
    assert!(pending[0].new);
    let some = list(&root, &["*@response*".to_owned()]).unwrap();
    assert_eq!(some.len(), 1);
    assert!(list(&root, &["[".to_owned()]).is_err());
    accept(&some).unwrap();
    assert!(!text(&some[0].accepted).contains("assertion_line"));
    assert_eq!(run(&stem, Boundary::Response, &capture, Update::No), Comparison::Same);
    reject(&list(&root, &[]).unwrap()).unwrap();
    assert_eq!(list(&root, &[]).unwrap(), []);
    assert!(accept(&pending).is_err(), "what is gone cannot be accepted");
    let live = [path(&stem, Boundary::Response)].into_iter().collect();
    assert_eq!(unreferenced(&root, &live).unwrap(), [path(&stem, Boundary::Generation)]);
}
