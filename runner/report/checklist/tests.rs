use crate::event::{Event, Summary};
use crate::report::{Options, sample, written};

fn page(events: &[Event]) -> String {
    written("checklist", Options::default(), events)
}

#[test]
fn the_page_is_complete() {
    let text = page(&sample::events());
    for part in [
        "Result: 1 errored, 5 failed, 1 fixed, 1 known failure, 1 not evaluated, 1 passed.",
        "| model | `fixtures/models/tiny-chat` |",
        "| branch | input | settings | generation | response | score |",
        "| `multi_turn` | 1 held | 1 held | 1 held | 1 held | *not exercised* |",
        "| `stopping` | 1 held | 1 held | 1 hidden | 1 held | *not exercised* |",
        "| `tool_call` | 7 | 0 | 5 | 0 | 0 | 1 | 1 |",
        "- [ ] `tool_call/weather.input` first differs at **input**, `specs/tool_call/weather.yaml:12:11`\n  - \
         the input is not what was expected\n  - `evalsuite run specs/tool_call/weather.yaml --case \
         'tool_call/weather.input'`",
        "- [ ] `streaming/plain.cut` **errored**, `specs/tool_call/weather.yaml:8:11`",
        "- `tool_call/weather.known`: the parser drops the second call",
        "| `long_context` | *not exercised* | *not exercised* | *not exercised* | *not exercised* | *not exercised* |",
        "- [ ] no case exercises `long_context`: the deployment does not serve it",
        "- [ ] **generation**, 1 finding: the server returns no logprobs. It needs a target in process, or a server \
         that returns token ids and logprobs.",
        "- [ ] `top_k` in 10 cases",
        "- [ ] 2 snapshots reviewed",
        "Name: ____",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn text_of_a_model_is_only_text() {
    let mut events = sample::events();
    events.insert(1, Event::Case(Box::new(sample::hostile())));
    let text = page(&events);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("31mred")).collect();
    assert!(lines.len() > 3);
    for line in lines {
        // Outside code, markup is escaped; inside, the fence is longer than any run within.
        assert!(line.contains("\\<b a") || line.contains("`` "), "{line}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("31mred"));
    for row in rows {
        assert!(row.contains("\\|"), "{row}");
    }
}

#[test]
fn a_run_without_cases_says_so() {
    let stopped = Some("target `a`: no such folder".to_owned());
    let text = page(&[Event::Summary(Summary { stopped, exit: 3, ..Summary::default() })]);
    assert!(
        text.contains(
            "**Incomplete**: target \\`a\\`: no such folder. So far: nothing was judged."
        )
    );
    assert!(text.contains("No case was run."));
    assert!(text.contains("no case exercises input, settings, generation, response, score"));
}
