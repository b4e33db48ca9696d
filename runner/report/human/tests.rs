use crate::capture::Boundary;
use crate::event::{CaseStatus, Event, Summary};
use crate::finding::{Kind, Outcome};
use crate::report::{Options, sample, written};

fn shown(verbosity: i8, events: &[Event]) -> String {
    written("human", Options { color: false, verbosity }, events)
}

fn generation_failure() -> Event {
    let cases = sample::cases();
    Event::Case(Box::new(cases.into_iter().find(|case| case.id.ends_with(".generation")).unwrap()))
}

#[test]
fn a_failure_shows_where_what_and_how_to_see_it_again() {
    let expected = r#"  FAIL   tool_call     weather.generation   first differs at: generation
        input held   settings held   generation CHANGED   response not comparable   score -

        logits  (assertion at generation, turn 1)
        specs/tool_call/weather.yaml:12:11
      12 | - logits: { against: accepted, atol: 0.02 }
         |   ^ the generation is not what was expected
        expected  5 degrees
        actual    4 degrees
        at        token 17
        tolerance atol 0.02 (spread of 20 runs)

        token     14                15              16       17      18
        expected  1 "<|im_start|>"  77 "assistant"  10 "\n"  41 "5"  50 " degrees"
        actual    1 "<|im_start|>"  77 "assistant"  10 "\n"  40 "4"  50 " degrees"
                                                             ^^^^^^
        fork       90.03 %    -0.105  40 "4"  actual
                   10.00 %    -2.303  41 "5"  expected
                    0.10 %    -6.900  42 "6"

        input       prompt      … 1 line above
                                "Oslo? \n"
                                "<|im_end|>\n"
                                "<|im_start|>assistant\n"
                    ids         10, the last 8:  10 "\n"  61 "Oslo?"  5 " \n"  2 "<|im_end|>"  10 "\n"
                                1 "<|im_start|>"  77 "assistant"  10 "\n"
        settings    pinned      temperature=0.0  max_tokens=8
                    unpinned    top_k=20 (generation_config.json)
        generation  ended       eos(2) after 3 tokens
                    text        "4 degrees<|im_end|>"
                    confidence  mean logprob -0.038, lowest -0.105 at token 0 "4"
                                ███
                                ^
        response    content     "4 degrees"
                    tool call   get_weather {"city": "Oslo"}
                    finished    "stop", 10 prompt and 3 completion tokens

        again     evalsuite run specs/tool_call/weather.yaml --case 'tool_call/weather.generation'

"#;
    assert_eq!(shown(0, &[generation_failure()]), expected);
}

#[test]
fn what_held_is_one_line_and_the_summary_says_what_to_do() {
    let held: Vec<Event> = sample::events()
        .into_iter()
        .filter(|event| match event {
            Event::Case(case) => {
                !matches!(case.status, CaseStatus::Failed | CaseStatus::Errored | CaseStatus::Fixed)
            }
            _ => true,
        })
        .collect();
    let expected = "  10 cases (--tag smoke) on tiny-chat
  PASS   multi_turn    recall.remembers_name
  UNSEEN stopping      eos.unseen   the server returns no logprobs
  KNOWN  tool_call     weather.known   the parser drops the second call

  first differs: 1 at input, 1 at settings, 1 at generation, 1 at response, 1 at score
  every token of a case: `evalsuite inspect latest CASE`

  warning: no spec pins top_k (10 cases)
           what is in force there is the deployment's choice and may change with it

  2 snapshots to review: `cargo insta review`, or `evalsuite snapshots list` and `accept`

  1 passed, 5 failed, 1 errored, 1 fixed: remove `known_failure`, 1 not evaluated, 1 known to fail   in 1.25 s
";
    assert_eq!(shown(0, &held), expected);
}

#[test]
fn quiet_shows_what_is_bad_and_verbose_every_finding() {
    let quiet = shown(-1, &sample::events());
    assert!(!quiet.contains("PASS") && !quiet.contains("KNOWN") && !quiet.contains("10 cases ("));
    assert!(quiet.contains("FAIL") && quiet.contains("1 passed, 5 failed"));
    let verbose = shown(1, &sample::events());
    assert!(verbose.contains(
        "        held          finish_reason  (assertion at response, turn 1)  \"stop\""
    ));
    assert!(verbose.contains("        not_evaluated logits  (assertion at generation, turn 1)"));
}

#[test]
fn an_error_and_a_fixed_case_say_why() {
    let bad = |event: &Event| match event {
        Event::Case(case) => matches!(case.status, CaseStatus::Errored | CaseStatus::Fixed),
        _ => false,
    };
    let events: Vec<Event> = sample::events().into_iter().filter(bad).collect();
    let expected = "  ERROR  streaming     plain.cut
        input held   settings held   generation held   response held   score -
        specs/tool_call/weather.yaml:8:11
        turn 2: no complete answer within 500 ms

        again     evalsuite run specs/tool_call/weather.yaml --case 'streaming/plain.cut'

  FIXED  tool_call     weather.fixed
        input held   settings held   generation held   response held   score -
        specs/tool_call/weather.yaml:8:11
        it no longer fails: remove `known_failure: the parser drops the third call`

        again     evalsuite run specs/tool_call/weather.yaml --case 'tool_call/weather.fixed'

";
    assert_eq!(shown(0, &events), expected);
}

#[test]
fn many_failures_are_no_wall() {
    let mut events: Vec<Event> = (0..200).map(|_| generation_failure()).collect();
    events.push(Event::Summary(Summary::default()));
    let text = shown(0, &events);
    assert!(text.lines().count() < 600, "{}", text.lines().count());
    assert!(text.contains("195 failures shown in one sentence; -v shows them in full"), "{text}");
    assert!(shown(1, &events).lines().count() > 5000);
}

#[test]
fn many_findings_and_long_values_are_cut() {
    let long = "x".repeat(5000);
    let near = format!("{long}y{long}");
    let finding = |_| {
        let outcome = Outcome::fail(near.as_str(), long.as_str(), long.as_str());
        sample::finding("content", Kind::Assertion, Boundary::Response, outcome)
    };
    let case = sample::case("a/b.c", CaseStatus::Failed, (0..20).map(finding).collect());
    let text = shown(0, &[Event::Case(Box::new(case))]);
    assert!(text.contains("… 17 more; -v shows them"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 400), "{text}");
    // Cut around the difference, so that it can be seen.
    assert!(text.contains("xxxyxxx"), "{text}");
    assert!(text.lines().count() < 60, "{text}");
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let plain = shown(1, &sample::events());
    assert!(!plain.contains('\u{1b}'));
    let colored = written("human", Options { color: true, verbosity: 1 }, &sample::events());
    assert!(colored.contains("\u{1b}[1;31mFAIL"));
    let mut bare = colored;
    for code in ["32", "1;31", "33", "2", "1", "0"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, plain);
}

#[test]
fn requests_that_were_retried_and_what_was_left_out_are_said() {
    let mut summary = sample::summary();
    (summary.requests, summary.retried) = (200, 0);
    let shown = |summary: &crate::event::Summary| {
        written("human", Options::default(), &[Event::Summary(summary.clone())])
    };
    assert!(!shown(&summary).contains("attempt"));
    summary.retried = 3;
    summary.notes = vec!["12 cases of the specs are not in this run".to_owned()];
    let text = shown(&summary);
    let first = "197 of 200 requests were answered at the first attempt, 3 only after another";
    assert!(text.contains(first), "{text}");
    assert!(text.contains("note: 12 cases of the specs"), "{text}");
}
