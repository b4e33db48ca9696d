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
                for (at, _) in raw.char_indices().step_by(5) {
                    reparse(format, &raw[at..], &samples.tail, &tools());
                }
            }
        }
    }
}
