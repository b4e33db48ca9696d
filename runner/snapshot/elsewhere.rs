//! Comparing what one target answers with what was accepted from another.
//!
//! Ids, texts, calls and values are held to the same standard; what only says how a target was looked at is not: where
//! a value comes from, a probability that one side does not show, a setting that has no effect or is not told.

use super::compare::{self, LineDifference, words};
use crate::capture::Boundary;

/// The first difference that is one of the deployment.
pub(super) fn first_difference(
    boundary: Boundary,
    expected: &str,
    actual: &str,
    tolerance: Option<f64>,
) -> Option<LineDifference> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (expected.trim_end().lines().collect(), actual.trim_end().lines().collect());
    if boundary == Boundary::Settings {
        return settings(&old, &new);
    }
    let (old, new) = (without_form(boundary, &old), without_form(boundary, &new));
    let (mut a, mut b) = (old.iter(), new.iter());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (Some((_, a)), Some((_, b))) if same(boundary, a, b, tolerance) => {}
            (a, b) => {
                let text = |line: Option<&(usize, &str)>| line.map(|(_, line)| (*line).to_owned());
                let index = a.map_or(old.len(), |(index, _)| *index);
                return Some(LineDifference { index, expected: text(a), actual: text(b) });
            }
        }
    }
}

/// The numbered lines, but for those that say how a reply was cut into deltas.
fn without_form<'a>(boundary: Boundary, lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let numbered = lines.iter().copied().enumerate();
    let form = |line: &str| boundary == Boundary::Response && line.starts_with("stream: ");
    numbered.filter(|(_, line)| !form(line)).collect()
}

fn same(boundary: Boundary, a: &str, b: &str, tolerance: Option<f64>) -> bool {
    if compare::first_difference(a, b, tolerance).is_none() {
        return true;
    }
    match boundary {
        Boundary::Generation => {
            // index, id, piece, probability, alternatives; `-` is a probability that is not shown.
            let (old, new) = (words(a), words(b));
            let unseen = |words: &[&str]| words.get(3) == Some(&"-");
            (unseen(&old) || unseen(&new))
                && old.get(..3).is_some_and(|head| new.get(..3) == Some(head))
        }
        // Servers say nothing in two ways.
        Boundary::Response => {
            let empty = |line: &str| matches!(line, "content: none" | "content: \"\"");
            empty(a) && empty(b)
        }
        _ => false,
    }
}

/// Settings by name and value; one that is not told, or has no effect, is not compared.
fn settings(old: &[&str], new: &[&str]) -> Option<LineDifference> {
    let greedy = |line: &&str| {
        let setting = setting(line);
        setting.is_some_and(|(name, value)| {
            name == "temperature" && value.parse::<f64>().is_ok_and(|value| value == 0.0)
        })
    };
    // At temperature 0 on both sides the most likely token is taken, whatever the others say.
    let idle: &[&str] = match old.iter().any(greedy) && new.iter().any(greedy) {
        true => &["top_p", "top_k", "min_p", "seed"],
        false => &[],
    };
    let (mut exchange, mut at) = (0, 0);
    for (index, line) in old.iter().enumerate() {
        if line.starts_with("exchange ") {
            exchange += 1;
            at = position(new, exchange);
        }
        let Some((name, value)) = setting(line) else { continue };
        if value == "hidden," || idle.contains(&name) {
            continue;
        }
        let theirs = new.iter().skip(at).skip(1).take_while(|line| !line.starts_with("exchange "));
        let told = theirs.filter_map(|line| Some((line, setting(line)?)));
        let Some((other, (_, theirs))) = told.into_iter().find(|(_, (other, _))| *other == name)
        else {
            continue;
        };
        if theirs == "hidden," || theirs == value || number(theirs, value) {
            continue;
        }
        let (expected, actual) = (Some((*line).to_owned()), Some((*other).to_owned()));
        return Some(LineDifference { index, expected, actual });
    }
    None
}

/// Where the n-th exchange, from 1, begins.
fn position(lines: &[&str], exchange: usize) -> usize {
    let heads = lines.iter().enumerate().filter(|(_, line)| line.starts_with("exchange "));
    heads.map(|(index, _)| index).nth(exchange - 1).unwrap_or(lines.len())
}

/// Name and value of a line such as `  top_k  20  from generation_config.json`.
fn setting(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("  ")?;
    let (name, rest) = rest.split_once("  ")?;
    let value = rest.split_once("  from ").map_or(rest, |(value, _)| value);
    let value = if value.starts_with("hidden,") { "hidden," } else { value };
    Some((name, value))
}

fn number(a: &str, b: &str) -> bool {
    matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() <= 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(boundary: Boundary, old: &str, new: &str) -> Option<usize> {
        first_difference(boundary, old, new, Some(0.001)).map(|difference| difference.index)
    }

    #[test]
    fn settings_are_compared_by_value_where_they_are_told_and_matter() {
        let old = "exchange 1, turn 1\nsettings:\n  temperature  0.0  from request\n  top_k  20  from generation_config.json\n  max_tokens  64  from request";
        let same = "exchange 1, turn 1\nsettings:\n  temperature  0  from request\n  top_k  40  from /props\n  max_tokens  hidden, \"not told\"  from unknown";
        assert_eq!(differs(Boundary::Settings, old, same), None);
        let sampled = |text: &str| text.replace("temperature  0", "temperature  1");
        assert_eq!(differs(Boundary::Settings, &sampled(old), &sampled(same)), Some(3));
        let capped = same.replace("hidden, \"not told\"", "63");
        assert_eq!(differs(Boundary::Settings, old, &capped), Some(4));
    }

    #[test]
    fn each_exchange_is_held_against_its_own() {
        let turn = |n: usize, cap: usize| {
            format!("exchange {n}, turn {n}\nsettings:\n  max_tokens  {cap}  from request\n")
        };
        let old = turn(1, 5) + "\n" + &turn(2, 6);
        assert_eq!(differs(Boundary::Settings, &old, &(turn(1, 5) + "\n" + &turn(2, 6))), None);
        assert_eq!(differs(Boundary::Settings, &old, &(turn(1, 5) + "\n" + &turn(2, 5))), Some(6));
    }

    #[test]
    fn a_probability_that_is_not_shown_is_no_difference_and_an_id_is() {
        let old = "output: 1\n     0     5  \"a\"  -0.10000  5:-0.10000";
        assert_eq!(differs(Boundary::Generation, old, "output: 1\n     0     5  \"a\"  -"), None);
        assert_eq!(
            differs(Boundary::Generation, old, "output: 1\n     0     6  \"a\"  -"),
            Some(1)
        );
        let far = "output: 1\n     0     5  \"a\"  -0.20000  5:-0.20000";
        assert_eq!(differs(Boundary::Generation, old, far), Some(1));
    }

    #[test]
    fn how_a_reply_came_is_no_difference_and_what_it_says_is() {
        let old = "content: none\nfinish_reason: \"stop\"\nstream: 5 deltas";
        assert_eq!(
            differs(Boundary::Response, old, "content: \"\"\nfinish_reason: \"stop\"\nstream: yes"),
            None
        );
        assert_eq!(
            differs(Boundary::Response, old, "content: \"\"\nfinish_reason: \"stop\""),
            None
        );
        assert_eq!(
            differs(Boundary::Response, old, "content: \"\"\nfinish_reason: \"length\""),
            Some(1)
        );
        assert_eq!(
            differs(Boundary::Response, old, "content: \"x\"\nfinish_reason: \"stop\""),
            Some(0)
        );
    }
}
