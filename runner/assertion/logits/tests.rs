use crate::assertion::sample::{
    edit_generation, exchange, good, hidden, judge, judge_against, problems, read, with_top,
};
use crate::capture::Exchange;
use crate::finding::Status;

const ATOL: &str = "logits: { against: accepted, atol: 0.02, near_tie: 0.125, because: 20 runs }";
const KL: &str = "logits: { against: accepted, kl: 0.01, because: 20 runs }";
const TOP1: &str = "logits: { against: accepted, top1_agreement: 1, because: 20 runs }";

fn with_token(index: usize, id: u32, top: &[(u32, f32)]) -> Exchange {
    let mut exchange = good();
    edit_generation(&mut exchange, |generation| {
        generation.tokens.edit()[index] = with_top(id, top)
    });
    exchange
}

#[test]
fn equal_probabilities_pass_with_the_tolerance_printed() {
    for yaml in [ATOL, KL, TOP1] {
        let outcome = judge_against(yaml, &good(), &good());
        assert_eq!(outcome.status, Status::Pass, "{yaml}");
        assert!(outcome.tolerance.unwrap().contains("because: 20 runs"));
    }
}

#[test]
fn noise_within_the_tolerance_passes() {
    let noisy = with_token(1, 21, &[(21, -0.106), (1021, -2.99)]);
    assert_eq!(judge_against(ATOL, &noisy, &good()).status, Status::Pass);
    assert_eq!(judge_against(KL, &noisy, &good()).status, Status::Pass);
}

#[test]
fn a_moved_alternative_fails_although_the_ids_are_equal() {
    let moved = with_token(1, 21, &[(21, -0.105_36), (1021, -2.5)]);
    let outcome = judge_against(ATOL, &moved, &good());
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 1")));
    assert!(outcome.message.contains("1021"), "{}", outcome.message);
}

#[test]
fn a_moved_distribution_fails_kl_and_top1() {
    let moved = with_token(0, 20, &[(1020, -0.5), (20, -1.2)]);
    let outcome = judge_against(KL, &moved, &good());
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 0")));
    let outcome = judge_against(TOP1, &moved, &good());
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::Fail, Some("token 0")));
    assert!(outcome.message.contains("2 of 3"), "{}", outcome.message);
}

#[test]
fn nothing_behind_the_fork_is_compared() {
    // Equal at 0, a near tie at 1, and at 2 the same id with a wholly different distribution.
    let mut before = with_token(1, 21, &[(21, -0.70), (22, -0.71)]);
    let mut after = with_token(1, 22, &[(22, -0.70), (21, -0.71)]);
    edit_generation(&mut before, |generation| {
        generation.tokens.edit()[2] = with_top(2, &[(2, -0.01)])
    });
    edit_generation(&mut after, |generation| {
        generation.tokens.edit()[2] = with_top(2, &[(2, -5.0)])
    });
    let outcome = judge_against(ATOL, &after, &before);
    assert_eq!((outcome.status, outcome.at.as_deref()), (Status::NearTie, Some("token 1")));
    assert!(outcome.message.contains("0.0100 nats"), "{}", outcome.message);
}

#[test]
fn a_different_token_without_a_tie_fails() {
    let after = with_token(1, 22, &[(22, -0.105_36), (1021, -2.995_73)]);
    let outcome = judge_against(ATOL, &after, &good());
    assert_eq!(outcome.status, Status::Fail);
    assert!(outcome.message.contains("not in the"), "{}", outcome.message);
    assert_eq!(outcome.difference.unwrap().top[0].id, 22);
}

#[test]
fn nan_is_never_within_a_tolerance() {
    let after = with_token(1, 21, &[(21, f32::NAN), (1021, -2.995_73)]);
    assert_eq!(judge_against(ATOL, &after, &good()).status, Status::Fail);
    assert_eq!(judge_against(KL, &after, &good()).status, Status::Fail);
}

#[test]
fn what_was_not_kept_is_not_evaluated() {
    let mut bare = good();
    edit_generation(&mut bare, |generation| {
        for token in generation.tokens.edit() {
            token.logprob = None;
            token.top.clear();
        }
    });
    for yaml in [ATOL, KL, TOP1] {
        assert_eq!(judge_against(yaml, &bare, &good()).status, Status::NotEvaluated, "{yaml}");
        assert_eq!(judge_against(yaml, &hidden(), &good()).status, Status::NotEvaluated, "{yaml}");
        assert_eq!(judge(yaml, &good()).status, Status::NotEvaluated, "{yaml}");
    }
}

#[test]
fn another_prompt_is_not_comparable() {
    let other = exchange(&[10, 11, 12, 99], &[20, 21, 2], "");
    let outcome = judge_against(ATOL, &other, &good());
    assert_eq!(outcome.status, Status::NotEvaluated);
    assert!(outcome.message.contains("prompt"), "{}", outcome.message);
}

#[test]
fn bad_tolerances_are_named() {
    assert!(problems("logits: { against: accepted, because: x }").contains("at least one"));
    assert!(problems("logits: { against: accepted, atol: -1, because: x }").contains("0 or more"));
    assert!(problems("logits: { against: accepted, atol: 1, because: '' }").contains("because"));
    assert!(
        problems("logits: { against: accepted, top1_agreement: 2, because: x }").contains("share")
    );
    assert!(
        read("logits: { against: accepted, atol: 1 }").unwrap_err().to_string().contains("because")
    );
}
