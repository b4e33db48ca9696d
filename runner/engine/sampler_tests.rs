use super::*;

fn sampler(change: impl FnOnce(&mut Sampling)) -> Sampler {
    let mut sampling = Sampling::default();
    change(&mut sampling);
    Sampler::new(sampling, &[])
}

/// Logits of the given probabilities.
fn logits(shares: &[f32]) -> Vec<f32> {
    shares.iter().map(|share| share.ln()).collect()
}

fn kept(sampler: &Sampler, logits: &[f32]) -> Vec<u32> {
    sampler.candidates(logits).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn greedy_takes_the_lowest_of_equals() {
    let mut greedy = sampler(|s| s.temperature = 0.0);
    assert_eq!(greedy.next(&[0.0, 2.0, 2.0, 1.0], &[]), 1);
    assert_eq!(greedy.next(&[0.0, 2.0, 2.0, 1.0], &[1]), 2);
}

#[test]
fn each_filter_keeps_what_it_says() {
    let shares = logits(&[0.1, 0.4, 0.3, 0.2]);
    assert_eq!(kept(&sampler(|_| ()), &shares), [1, 2, 3, 0]);
    assert_eq!(kept(&sampler(|s| s.top_k = 2), &shares), [1, 2]);
    assert_eq!(kept(&sampler(|s| s.top_p = 0.69), &shares), [1, 2]);
    assert_eq!(kept(&sampler(|s| s.top_p = 0.71), &shares), [1, 2, 3]);
    assert_eq!(kept(&sampler(|s| s.top_p = 0.01), &shares), [1]);
    assert_eq!(kept(&sampler(|s| s.min_p = 0.6), &shares), [1, 2]);
    // Top-p counts within what top-k kept: 0.4 of 0.7 is 57 %.
    let both = sampler(|s| (s.top_k, s.top_p) = (2, 0.55));
    assert_eq!(kept(&both, &shares), [1]);
    // Equal shares are kept by id.
    assert_eq!(kept(&sampler(|s| s.top_k = 2), &[1.0, 1.0, 1.0]), [0, 1]);
}

#[test]
fn temperature_sharpens_the_shares() {
    let hot = sampler(|s| s.temperature = 2.0).candidates(&logits(&[0.2, 0.8]));
    assert!((hot[1].1 - 0.5).abs() < 1e-6, "{hot:?}");
    let cold = sampler(|s| s.temperature = 0.5).candidates(&logits(&[0.2, 0.8]));
    assert!((cold[1].1 - 0.0625).abs() < 1e-6, "{cold:?}");
}

#[test]
fn draws_follow_the_shares() {
    let mut sampler = sampler(|s| s.seed = 3);
    let shares = logits(&[0.1, 0.6, 0.3]);
    let mut counts = [0; 3];
    for _ in 0..4000 {
        counts[sampler.next(&shares, &[]) as usize] += 1;
    }
    for (count, share) in counts.into_iter().zip([0.1, 0.6, 0.3]) {
        assert!((f64::from(count) / 4000.0 - share).abs() < 0.03, "{counts:?}");
    }
}

#[test]
fn a_seed_fixes_the_sequence() {
    let sequence = |seed| {
        let mut sampler = sampler(|s| s.seed = seed);
        (0..20).map(|_| sampler.next(&[0.0; 50], &[])).collect::<Vec<_>>()
    };
    assert_eq!(sequence(7), sequence(7));
    assert_ne!(sequence(7), sequence(8));
    // The stream itself is part of the contract: snapshots hold what a seed gave.
    assert_eq!(sequence(0)[..5], [35, 23, 34, 3, 43]);
}

#[test]
fn penalties_and_bias_move_the_argmax() {
    let greedy = |change: fn(&mut Sampling), prompt: &[u32]| {
        let mut sampling = Sampling { temperature: 0.0, ..Sampling::default() };
        change(&mut sampling);
        Sampler::new(sampling, prompt)
    };
    // Repetition: the prompt counts, positive logits are divided, negative ones multiplied.
    let mut repetition = greedy(|s| s.repetition_penalty = 2.0, &[0]);
    assert_eq!(repetition.next(&[1.5, 1.0, -3.0], &[]), 1);
    let mut negative = greedy(|s| s.repetition_penalty = 2.0, &[0, 0]);
    assert_eq!(negative.next(&[-1.0, -1.5], &[]), 1);
    // Presence: once, over the output only.
    let mut presence = greedy(|s| s.presence_penalty = 0.6, &[0]);
    let picks: Vec<u32> = (0..3).map(|_| presence.next(&[2.0, 1.5], &[])).collect();
    assert_eq!(picks, [0, 1, 0]);
    // Frequency: once for each time.
    let mut frequency = greedy(|s| s.frequency_penalty = 0.3, &[]);
    let picks: Vec<u32> = (0..4).map(|_| frequency.next(&[2.0, 1.5], &[])).collect();
    assert_eq!(picks, [0, 0, 1, 0]);
    let mut bias = greedy(|s| s.logit_bias = BTreeMap::from([(1, 5.0), (0, -100.0)]), &[]);
    assert_eq!(bias.next(&[9.0, 0.0, 4.0], &[]), 1);
}

#[test]
fn confidence_is_the_raw_distribution() {
    let (logprob, top) = confidence(&logits(&[0.2, 0.5, 0.2, 0.1]), 2, 3).unwrap();
    assert!((logprob - 0.2f32.ln()).abs() < 1e-6);
    assert_eq!(top.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 0, 2]);
    assert!((top[0].1 - 0.5f32.ln()).abs() < 1e-6);
    assert_eq!(confidence(&[0.0, 1.0], 0, 0).unwrap().1, []);
    assert_eq!(confidence(&[0.0, f32::NAN], 0, 1), None);
    assert_eq!(confidence(&[0.0, f32::INFINITY], 0, 1), None);
}

#[test]
fn settings_out_of_range_are_named() {
    let check = |change: fn(&mut Sampling)| {
        let mut sampling = Sampling::default();
        change(&mut sampling);
        sampling.check(10)
    };
    assert_eq!(check(|_| ()), Ok(()));
    for (change, name) in [
        ((|s| s.temperature = -1.0) as fn(&mut Sampling), "temperature"),
        (|s| s.top_p = 0.0, "top_p"),
        (|s| s.min_p = 1.5, "min_p"),
        (|s| s.repetition_penalty = 0.0, "repetition_penalty"),
        (|s| s.presence_penalty = f64::NAN, "presence_penalty"),
        (|s| s.frequency_penalty = f64::INFINITY, "frequency_penalty"),
        (|s| s.logit_bias = BTreeMap::from([(10, 1.0)]), "logit_bias"),
    ] {
        let message = check(change).unwrap_err();
        assert!(message.contains(name), "{message}");
    }
}
