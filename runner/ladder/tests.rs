use super::*;
use crate::capture::{Failure, Termination};
use crate::event::CaseStatus;
use crate::finding::{Kind, Outcome};
use crate::report::sample;

fn text(steps: &[LadderStep]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push_str(&format!("[{} {}]\n", step.boundary, step.status.name()));
        for line in &step.lines {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[test]
fn the_ladder_shows_each_boundary_in_a_few_lines() {
    let boundaries =
        [(Boundary::Input, BoundaryStatus::Held), (Boundary::Generation, BoundaryStatus::Changed)];
    let steps = ladder(&sample::capture().runs[0], &[], &boundaries.into_iter().collect());
    let expected = r#"[input held]
prompt      … 1 line above
            "Oslo? \n"
            "<|im_end|>\n"
            "<|im_start|>assistant\n"
ids         10, the last 8:  10 "\n"  61 "Oslo?"  5 " \n"  2 "<|im_end|>"  10 "\n"
            1 "<|im_start|>"  77 "assistant"  10 "\n"
[settings not_exercised]
pinned      temperature=0.0  max_tokens=8
unpinned    top_k=20 (generation_config.json)
[generation changed]
ended       eos(2) after 3 tokens
text        "4 degrees<|im_end|>"
confidence  mean logprob -0.038, lowest -0.105 at token 0 "4"
            ███
            ^
at token 0  40 "4" 90.0 %   41 "5" 10.0 %
[response not_exercised]
content     "4 degrees"
tool call   get_weather {"city": "Oslo"}
finished    "stop", 10 prompt and 3 completion tokens
"#;
    assert_eq!(text(&steps), expected);
}

#[test]
fn the_window_is_at_the_difference_and_the_fork_is_where_the_ids_part() {
    let mut outcome = Outcome::fail("a", "b", "c");
    let mut difference = sample::fork();
    (difference.start, difference.index) = (2, 1);
    outcome.difference = Some(difference);
    for boundary in [Boundary::Input, Boundary::Generation] {
        let finding = sample::finding("x", Kind::Assertion, boundary, outcome.clone());
        let steps = text(&ladder(&sample::capture().runs[0], &[finding], &BTreeMap::new()));
        let window = "ids         2..7 of 10:  10 \"\\n\"  61 \"Oslo?\"";
        assert_eq!(steps.contains(window), boundary == Boundary::Input, "{steps}");
        let fork = "at token 1  50 \" degrees\" 99.0 %";
        assert_eq!(steps.contains(fork), boundary == Boundary::Generation, "{steps}");
    }
}

#[test]
fn no_line_is_long_and_nothing_reaches_the_terminal_raw() {
    let mut run = sample::capture().runs.remove(0);
    if let Observed::Seen(generation) = &mut run.exchanges[0].generation {
        generation.text = Observed::Seen(sample::HOSTILE.repeat(50));
        generation.termination = Termination::StopString(sample::HOSTILE.to_owned());
        let mut token = generation.tokens.edit()[0].clone();
        token.logprob = Some(f32::NAN);
        token.piece = sample::HOSTILE.to_owned();
        generation.tokens = Observed::Seen(vec![token; 500]);
    }
    if let Observed::Seen(settings) = &mut run.exchanges[0].settings {
        *settings = vec![settings[2].clone(); 50];
    }
    if let Observed::Seen(response) = &mut run.exchanges[0].response {
        response.content = Some(sample::HOSTILE.repeat(50));
        response.tool_calls = vec![response.tool_calls[0].clone(); 9];
    }
    run.error = Some(Failure {
        kind: "timeout".to_owned(),
        turn: 1,
        message: sample::HOSTILE.repeat(9),
        wire: Vec::new(),
    });
    let steps = ladder(&run, &[], &BTreeMap::new());
    for line in steps.iter().flat_map(|step| &step.lines) {
        assert!(line.chars().count() < 100, "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    assert!(steps.iter().map(|step| step.lines.len()).sum::<usize>() < 40);
    assert!(text(&steps).contains("… 6 more calls"));
    assert!(text(&steps).contains("timeout   turn 2"));
}

#[test]
fn a_run_without_an_exchange_has_a_ladder_that_says_so() {
    let run = Run { load: 1, exchanges: Vec::new(), error: None };
    assert!(text(&ladder(&run, &[], &BTreeMap::new())).contains("there was no exchange"));
}

#[test]
fn the_least_likely_stretch_is_marked() {
    let sure = |logprob: f32| {
        let Observed::Seen(mut generation) = sample::exchange().generation else { panic!("seen") };
        OutputToken { logprob: Some(logprob), ..generation.tokens.edit()[0].clone() }
    };
    let tokens = [-0.01, -0.01, -1.0, -3.0, -0.8, -0.01].map(sure);
    let mut lines = Vec::new();
    assert_eq!(confidence(&mut lines, &tokens), Some(3));
    assert_eq!(lines[1].trim(), "██▃▁▄█");
    assert_eq!(lines[2], format!("{:<12}  ^^^", ""));
}

#[test]
fn inspect_shows_every_token_and_what_is_carried_between_turns() {
    let mut capture = sample::capture();
    let mut second = sample::exchange();
    second.turn = 1;
    if let (Observed::Seen(input), Observed::Seen(mut before)) =
        (&mut second.input, sample::exchange().generation)
    {
        let output = before
            .tokens
            .edit()
            .drain(..)
            .map(|t| crate::capture::Token { id: t.id, piece: t.piece });
        input.tokens.edit().extend(output);
    }
    capture.runs[0].exchanges.push(second.clone());
    let report = sample::case("tool_call/weather.oslo", CaseStatus::Passed, Vec::new());
    let shown = inspect(&capture, Some(&report));
    assert!(shown.contains("status: passed"), "{shown}");
    assert!(
        shown.contains("carried     all 13 ids of the turn before start this prompt"),
        "{shown}"
    );
    assert!(shown.contains("     1     872  \"user\""), "{shown}");
    assert!(shown.contains("     0      40  \"4\"  -0.10500"), "{shown}");
    if let Observed::Seen(input) = &mut capture.runs[0].exchanges[1].input {
        input.tokens.edit()[4].id = 99;
    }
    let shown = inspect(&capture, None);
    assert!(
        shown.contains("4 of the 13 ids of the turn before; at token 4 5 became 99"),
        "{shown}"
    );
}

#[test]
fn a_later_turn_says_what_it_carries() {
    let mut run = sample::capture().runs.remove(0);
    let mut second = sample::exchange();
    second.turn = 1;
    run.exchanges.push(second);
    let shown = text(&ladder(&run, &[], &BTreeMap::new()));
    let carried = "carried     10 of the 13 ids of the turn before; at token 10 40 became the end";
    assert!(shown.contains(carried), "{shown}");
}

#[test]
fn inspect_says_how_a_server_showed_its_ids_and_nothing_of_the_kind_in_process() {
    let mut capture = sample::capture();
    assert!(!inspect(&capture, None).contains("seen by"));
    let exchange = &mut capture.runs[0].exchanges[0];
    exchange.input.edit().rung = "the render route".to_owned();
    exchange.generation.edit().rung = "shadow call: returned ids".to_owned();
    let text = inspect(&capture, None);
    assert!(text.contains("-- input\nseen by: the render route\n"), "{text}");
    assert!(text.contains("-- generation\nseen by: shadow call: returned ids\n"), "{text}");
}
