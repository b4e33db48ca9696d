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
    let hidden = hidden_text(boundary, &old, &new);
    let (old, new) = (without_form(boundary, &old, hidden), without_form(boundary, &new, hidden));
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

/// The numbered lines, but for those that say how a reply was cut into deltas, and for a text that one side hides.
fn without_form<'a>(
    boundary: Boundary,
    lines: &[&'a str],
    hidden: Option<&str>,
) -> Vec<(usize, &'a str)> {
    let mut kept = Vec::new();
    let mut inside = false;
    for (index, line) in lines.iter().copied().enumerate() {
        let begins = hidden.is_some_and(|name| line.starts_with(name));
        inside = begins || (inside && line.starts_with("  "));
        let form = boundary == Boundary::Response && line.starts_with("stream: ");
        if !inside && !form {
            kept.push((index, line));
        }
    }
    kept
}

/// The text of this boundary that one of the sides hides.
fn hidden_text(boundary: Boundary, old: &[&str], new: &[&str]) -> Option<&'static str> {
    let name = match boundary {
        Boundary::Input => "prompt: ",
        Boundary::Generation => "text: ",
        _ => return None,
    };
    let hides =
        |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with("hidden"));
    let found = old.iter().chain(new).any(hides);
    // Without its space, since a text that is shown begins on the next line.
    found.then(|| name.trim_end())
}

/// Whether a server tells none of the settings that were accepted.
pub(super) fn tells_nothing(expected: &str, actual: &str) -> bool {
    let told = |line: &&str| setting(line).is_some_and(|(_, value)| value != "hidden,");
    expected.lines().any(|line| told(&line)) && !actual.lines().any(|line| told(&line))
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
            let same_token = old.get(..3).is_some_and(|head| new.get(..3) == Some(head));
            ((unseen(&old) || unseen(&new)) && same_token) || may_have_ended(a, b)
        }
        // Servers say nothing in two ways.
        Boundary::Response => {
            let empty = |line: &str| matches!(line, "content: none" | "content: \"\"");
            empty(a) && empty(b)
        }
        _ => false,
    }
}

/// Whether one side only says that the other may be right about the end.
fn may_have_ended(a: &str, b: &str) -> bool {
    let cause = |line: &str| line.strip_prefix("termination: ").map(str::to_owned);
    let (Some(a), Some(b)) = (cause(a), cause(b)) else { return false };
    let open = |open: &str, cause: &str| match open {
        "unknown" => true,
        "stop_unspecified" => cause.starts_with("eos") || cause.starts_with("stop_"),
        _ => false,
    };
    open(&a, &b) || open(&b, &a)
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
        // What was pinned and not sent is not what was accepted, whatever the server does.
        let lost = line.ends_with("from request") && other.contains("  from not sent");
        if !lost && (theirs == "hidden," || theirs == value || number(theirs, value)) {
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
    fn a_pinned_setting_that_was_not_sent_is_a_difference() {
        let old = "exchange 1, turn 1\nsettings:\n  stop_token_ids  [11]  from request";
        let why = "\"not sent: no such field\"";
        let new = format!(
            "exchange 1, turn 1\nsettings:\n  stop_token_ids  hidden, {why}  from not sent, requested [11]"
        );
        assert_eq!(differs(Boundary::Settings, old, &new), Some(2));
        let unknown = new.replace("from not sent", "from unknown");
        assert_eq!(differs(Boundary::Settings, old, &unknown), None);
        assert!(tells_nothing(old, &unknown));
        assert!(!tells_nothing(old, old));
    }

    #[test]
    fn a_hidden_text_and_an_open_end_are_no_difference() {
        let old =
            "termination: eos(2)\ntext:\n  \"a\\n\"\n  \"b\"\noutput: 1\n     0     5  \"a\"  -";
        let new = "termination: stop_unspecified\ntext: hidden, \"ids only\"\noutput: 1\n     0     5  \"a\"  -";
        assert_eq!(differs(Boundary::Generation, old, new), None);
        let capped = old.replace("eos(2)", "length(max_tokens)");
        assert_eq!(differs(Boundary::Generation, &capped, new), Some(0));
        assert_eq!(differs(Boundary::Generation, old, &new.replace("0     5", "0     6")), Some(5));
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
