//! Tables of raw texts: for every format of the registry, and for what can go wrong.

mod defects;
mod detect;
mod kin;
pub(super) mod samples;
mod values;
mod walk;

use serde_json::{Value, json};

use super::*;

/// What the samples call.
pub(super) fn tools() -> Vec<Value> {
    let tool = |name: &str, properties: Value| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}});
    vec![
        tool("get_weather", json!({"city": {"type": "string"}})),
        tool("add", json!({"a": {"type": "integer"}, "b": {"type": "number"}})),
        tool("say", json!({"text": {"type": "string"}})),
        tool("now", json!({})),
    ]
}

fn format(name: &str) -> &'static Format {
    by_name(name).unwrap_or_else(|| panic!("no format `{name}`"))
}

/// The text, read whole, and checked to be read alike one character at a time and in two pieces.
fn read(name: &str, raw: &str, tail: &str, tools: &[Value]) -> Reparsed {
    let whole = reparse(format(name), raw, tail, tools);
    let fed = |pieces: &mut dyn Iterator<Item = &str>| {
        let mut reparser = Reparser::new(format(name), tail, tools);
        pieces.for_each(|piece| reparser.push(piece));
        reparser.finish()
    };
    assert_eq!(fed(&mut raw.split("")), whole, "{name}: {raw:?} one by one");
    let mut seed = raw.len() as u64 + 1;
    for _ in 0..4 {
        let mut rest = raw;
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (1 + (seed >> 33) as usize % 9).min(rest.len());
            let at = (length..=rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap();
            let (piece, behind) = rest.split_at(at);
            pieces.push(piece);
            rest = behind;
        }
        assert_eq!(fed(&mut pieces.into_iter()), whole, "{name}: {raw:?} in pieces");
    }
    whole
}

/// The calls as `name arguments`, those that are not closed with a question mark.
pub(super) fn calls(reparsed: &Reparsed) -> Vec<String> {
    let written = |call: &RawCall| {
        let mark = if call.closed { "" } else { " ?" };
        format!("{} {}{mark}", call.name, call.arguments)
    };
    reparsed.calls.iter().map(written).collect()
}

pub(super) fn defects(reparsed: &Reparsed) -> Vec<&'static str> {
    reparsed.defects.iter().map(|defect| defect.kind.word()).collect()
}
