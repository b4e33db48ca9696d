use std::cell::Cell;

use super::*;

const END: u32 = 9;

/// Ids are bytes of a tiny alphabet, so that stop strings and characters cross token borders.
fn decode(ids: &[u32]) -> String {
    let words: [&[u8]; 10] =
        [b"a", b"b", b"st", b"op", b" ", "é".as_bytes(), b"\xC3", b"\xA9", b"x", b"<end>"];
    let bytes: Vec<u8> = ids.iter().flat_map(|id| words[*id as usize].to_vec()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A model that wants to say `script`, then END for ever; second choice is 8.
fn script(script: &[u32]) -> impl FnMut(&[u32]) -> Result<Vec<f32>, EngineError> + use<> {
    let script = script.to_vec();
    let mut script = script.into_iter();
    move |_| {
        let mut logits = vec![0.0; 10];
        logits[8] = 1.0;
        logits[script.next().unwrap_or(END) as usize] = 2.0;
        Ok(logits)
    }
}

fn job() -> Job<'static> {
    let sampling = Sampling { temperature: 0.0, ..Sampling::default() };
    Job { prompt: &[0, 1], sampling, end_ids: &[END], ..Job::default() }
}

fn play(wanted: &[u32], context: usize, job: &Job<'_>) -> (Generated, Vec<String>) {
    let mut pieces = Vec::new();
    let mut on_step = |step: &Step<'_>| pieces.push(step.text.to_owned());
    let done = run(&mut script(wanted), context, job, &decode, &|| None, &mut on_step).unwrap();
    assert_eq!(pieces.concat(), done.text);
    (done, pieces)
}

fn ids(done: &Generated) -> Vec<u32> {
    done.tokens.iter().map(|token| token.id).collect()
}

#[test]
fn an_end_id_ends_and_has_no_text() {
    let (done, _) = play(&[0, 1], 100, &job());
    assert_eq!(ids(&done), [0, 1, END]);
    assert_eq!((done.text.as_str(), done.ending), ("ab", Ending::EndId(END)));
}

#[test]
fn ignore_eos_goes_on_to_the_cap() {
    let (done, _) = play(&[0], 100, &Job { ignore_eos: true, max_tokens: Some(3), ..job() });
    assert_eq!(ids(&done), [0, END, END]);
    assert_eq!((done.text.as_str(), done.ending), ("a<end><end>", Ending::MaxTokens));
}

#[test]
fn min_tokens_puts_off_end_ids_stop_ids_and_stop_strings() {
    let (done, _) = play(&[0], 100, &Job { min_tokens: 3, ..job() });
    assert_eq!(ids(&done), [0, 8, 8, END]);
    let (done, _) = play(&[1, 1, 1], 100, &Job { min_tokens: 1, stop_ids: &[1], ..job() });
    assert_eq!((ids(&done), done.ending), (vec![8, 1], Ending::StopId(1)));
    let stops = ["b".to_owned()];
    let (done, _) = play(&[1, 1, 1], 100, &Job { min_tokens: 2, stop_strings: &stops, ..job() });
    assert_eq!((ids(&done).len(), done.text.as_str()), (3, "bb"));
}

#[test]
fn a_stop_string_crosses_tokens_and_is_held_back() {
    let stops = ["stop".to_owned()];
    let (done, pieces) = play(&[0, 2, 0, 2, 3, 1], 100, &Job { stop_strings: &stops, ..job() });
    assert_eq!(pieces, ["a", "", "sta", "", ""]);
    assert_eq!(ids(&done), [0, 2, 0, 2, 3]);
    assert_eq!((done.text.as_str(), done.ending), ("asta", Ending::StopString("stop".into())));
    // What was held back comes out when the sequence ends otherwise.
    let (done, pieces) = play(&[0, 2], 100, &Job { stop_strings: &stops, ..job() });
    assert_eq!((done.text.as_str(), pieces), ("ast", vec!["a".into(), String::new(), "st".into()]));
}

#[test]
fn a_stop_string_outranks_the_cap_and_an_end_id_too() {
    let stops = ["stop".to_owned()];
    let capped = Job { max_tokens: Some(2), stop_strings: &stops, ..job() };
    assert_eq!(play(&[2, 3], 100, &capped).0.ending, Ending::StopString("stop".into()));
    let (done, _) = play(&[0], 100, &Job { max_tokens: Some(2), ..job() });
    assert_eq!(done.ending, Ending::EndId(END));
}

#[test]
fn a_character_of_two_tokens_comes_out_whole() {
    let (done, pieces) = play(&[6, 7, 6], 100, &Job { max_tokens: Some(3), ..job() });
    assert_eq!(pieces, ["", "é", "\u{fffd}"]);
    assert_eq!(done.text, "é\u{fffd}");
}

#[test]
fn the_cap_and_the_context_are_told_apart() {
    let long = [0; 50];
    let (done, _) = play(&long, 100, &Job { max_tokens: Some(4), ..job() });
    assert_eq!((done.tokens.len(), done.ending), (4, Ending::MaxTokens));
    let (done, _) = play(&long, 7, &job());
    assert_eq!((done.tokens.len(), done.ending), (5, Ending::Context));
    let (done, _) = play(&long, 7, &Job { max_tokens: Some(40), ..job() });
    assert_eq!(done.ending, Ending::Context);
    let (done, _) = play(&long, 7, &Job { max_tokens: Some(0), ..job() });
    assert_eq!((done.tokens.len(), done.ending), (0, Ending::MaxTokens));
}

#[test]
fn a_prompt_that_fills_the_context_is_refused_with_both_numbers() {
    let error = run(&mut script(&[]), 2, &job(), &decode, &|| None, &mut |_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("2 tokens") && text.contains("context is 2"), "{text}");
}

#[test]
fn interrupts_keep_what_there_is() {
    for abort in [Abort::Cancelled, Abort::Deadline] {
        let asked = Cell::new(0);
        let interrupt = || {
            asked.set(asked.get() + 1);
            (asked.get() > 3).then_some(abort)
        };
        let done = run(&mut script(&[0; 50]), 100, &job(), &decode, &interrupt, &mut |_| ());
        let done = done.unwrap();
        assert_eq!((done.text.as_str(), done.ending), ("aaa", Ending::Aborted(abort)));
    }
    // In the middle of the prompt there is nothing yet.
    let mut source = |_: &[u32]| Err(EngineError::Aborted(Abort::Deadline));
    let done = run(&mut source, 100, &job(), &decode, &|| None, &mut |_| ()).unwrap();
    assert_eq!((done.tokens.len(), done.ending), (0, Ending::Aborted(Abort::Deadline)));
}

#[test]
fn a_logit_that_is_no_number_ends_it() {
    let mut source = |_: &[u32]| Ok(vec![0.0, f32::NAN]);
    let done = run(&mut source, 100, &job(), &decode, &|| None, &mut |_| ()).unwrap();
    assert_eq!((done.tokens.len(), done.ending), (0, Ending::NumericalFault));
}

#[test]
fn tokens_carry_raw_probabilities() {
    let biased =
        Sampling { temperature: 0.0, logit_bias: [(8, 50.0)].into(), ..Sampling::default() };
    let (done, _) =
        play(&[0], 100, &Job { sampling: biased, max_tokens: Some(1), top: 2, ..job() });
    let token = &done.tokens[0];
    assert_eq!(token.id, 8);
    assert_eq!(token.top.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 8]);
    assert_eq!(token.logprob, token.top[1].1);
}
