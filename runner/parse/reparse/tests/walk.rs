//! What holds for every format of the registry.

use super::samples::{Samples, samples};
use super::*;

const OSLO: &str = r#"get_weather {"city": "Oslo"}"#;
const SUM: &str = r#"add {"a": 1, "b": 2.50}"#;
const NOW: &str = "now {}";

fn of(format: &Format) -> Samples {
    let found = samples().into_iter().find(|samples| samples.format == format.name);
    found.unwrap_or_else(|| panic!("no samples of `{}`", format.name))
}

#[test]
fn formats_are_named_once_and_said_in_words() {
    let mut names: Vec<&str> = formats().iter().map(|format| format.name).collect();
    assert_eq!(names.len(), samples().len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), formats().len());
    for format in formats() {
        assert!(!format.summary.is_empty() && !format.families.is_empty(), "{}", format.name);
        assert_eq!(by_name(format.name).map(|format| format.name), Some(format.name));
    }
    assert!(by_name("smollm3_python").is_none());
}

#[test]
fn every_format_reads_its_samples() {
    for format in formats() {
        let samples = of(format);
        let check = |raw: &str, content: &str, reasoning: Option<&str>, expected: &[&str]| {
            let found = read(format.name, raw, &samples.tail, &tools());
            assert_eq!(calls(&found), expected, "{}: {raw}", format.name);
            assert_eq!(found.content, content, "{}: {raw}", format.name);
            assert_eq!(found.reasoning.as_deref(), reasoning, "{}: {raw}", format.name);
            assert_eq!(found.defects, [], "{}: {raw}", format.name);
            assert_eq!(found.trailing, "", "{}: {raw}", format.name);
        };
        check(&samples.one, "", None, &[OSLO]);
        check(&samples.two, "", None, &[OSLO, SUM]);
        check(&samples.before, "Let me look.\n", None, &[OSLO]);
        check(&samples.zero, "", None, &[NOW]);
        check(&samples.escapes, "", None, &[samples.said()]);
        check("", "", None, &[]);
        if let Some((raw, content)) = &samples.thinking {
            check(raw, content, Some("Hm.\n"), &[OSLO]);
        }
        if format.name != "harmony" {
            check("Just 2 words.", "Just 2 words.", None, &[]);
        }
    }
}

#[test]
fn the_prompt_may_open_the_reasoning() {
    for format in formats().iter().filter(|format| !format.thinking.opens.is_empty()) {
        let (open, close) = (format.thinking.opens[0], format.thinking.closes[0]);
        let one = &of(format).one;
        let tail = format!("<|user|>Write {open}.<|assistant|>\n{open}\n");
        let found = read(format.name, &format!("Hm.{close}{one}"), &tail, &tools());
        assert_eq!(found.reasoning.as_deref(), Some("Hm."), "{}", format.name);
        assert_eq!(calls(&found), [OSLO], "{}", format.name);
        let found = read(format.name, &format!("Hm. {one}"), &tail, &tools());
        assert_eq!(defects(&found), ["unclosed_region"], "{}", format.name);
        assert_eq!((found.calls.len(), found.content.as_str()), (0, ""), "{}", format.name);
        let closed = format!("{tail}{close}\n\n");
        let found = read(format.name, one, &closed, &tools());
        assert_eq!((calls(&found), found.reasoning), (vec![OSLO.to_owned()], None));
        let quoted = format!("<|user|>Write {open}.<|assistant|>");
        let found = read(format.name, one, &quoted, &tools());
        assert_eq!((calls(&found), found.reasoning), (vec![OSLO.to_owned()], None));
    }
}

#[test]
fn a_cut_text_invents_nothing_and_hides_nothing() {
    for format in formats() {
        let samples = of(format);
        for raw in samples.raws() {
            let whole = reparse(format, raw, &samples.tail, &tools());
            for (at, _) in raw.char_indices() {
                let cut = reparse(format, &raw[..at], &samples.tail, &tools());
                let place = format!("{}: {:?}", format.name, &raw[..at]);
                let closed: Vec<&RawCall> = cut.calls.iter().filter(|call| call.closed).collect();
                let expected: Vec<&RawCall> = whole.calls.iter().take(closed.len()).collect();
                assert_eq!(closed, expected, "{place}");
                // What may still become an opening tag is content.
                let extra = cut.content.chars().count() as i64;
                assert!(extra - whole.content.chars().count() as i64 <= 28, "{place}");
                // Where nothing is told, nothing was left out.
                if cut.defects.is_empty() {
                    assert_eq!(closed.len(), cut.calls.len(), "{place}");
                    let is_whole =
                        cut.content == whole.content || raw[..at].ends_with(&cut.content);
                    assert!(is_whole || !closed.is_empty(), "{place}");
                }
            }
        }
    }
}

#[test]
fn texts_of_other_formats_never_panic() {
    let all = samples();
    for format in formats() {
        for samples in &all {
            for raw in samples.raws() {
                for (at, _) in raw.char_indices().step_by(16) {
                    reparse(format, &raw[at..], &samples.tail, &tools());
                }
            }
        }
    }
}

/// Texts that are broken at random, the same in every run.
#[test]
fn mutated_texts_keep_the_promises() {
    let all = samples();
    let raws: Vec<&str> = all.iter().flat_map(Samples::raws).collect();
    let mut seed = 42_u64;
    let mut next = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % limit.max(1)
    };
    for _ in 0..3_000 {
        let samples = &all[next(all.len())];
        let own: Vec<&str> = samples.raws().collect();
        let mut text: Vec<char> = own[next(own.len())].chars().collect();
        for _ in 0..1 + next(5) {
            let from = next(text.len() + 1);
            let to = from + next((text.len() - from + 1).min(30));
            let other: Vec<char> = raws[next(raws.len())].chars().collect();
            let at = next(other.len() + 1);
            let until = at + next((other.len() - at + 1).min(40));
            match next(4) {
                0 => drop(text.drain(from..to)),
                1 => drop(text.splice(from..from, other[at..until].iter().copied())),
                2 => {
                    drop(text.splice(from..to, "{\"<>:}[,]\\\n(=)é".chars().skip(next(14)).take(1)))
                }
                _ => text.truncate(to),
            }
        }
        let cut = next(text.len() + 1);
        let raw: String = text.iter().collect();
        let cut: String = text.iter().take(cut).collect();
        let format = format(&samples.format);
        let whole = reparse(format, &raw, &samples.tail, &tools());
        let place = format!("{}: {raw:?}", format.name);
        for call in &whole.calls {
            let arguments = serde_json::from_str::<Value>(&call.arguments);
            assert!(arguments.is_ok_and(|value| value.is_object()), "{place}: {call:?}");
            assert!(!call.name.is_empty(), "{place}");
        }
        for defect in &whole.defects {
            assert!(raw[defect.at..].starts_with(&defect.text), "{place}: {defect:?}");
        }
        let first = reparse(format, &cut, &samples.tail, &tools());
        let closed = first.calls.iter().filter(|call| call.closed);
        let all_closed = whole.calls.iter().filter(|call| call.closed);
        assert!(closed.clone().eq(all_closed.take(closed.count())), "{place} cut to {cut:?}");
    }
}
