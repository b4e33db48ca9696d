//! Changes to a template's text before it is compiled; none of them moves a line.

use std::borrow::Cow;

/// Line ends as Jinja2 reads them, and `generation` blocks, which only mark the assistant's part.
pub(in crate::model) fn prepare(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(at) = rest.find("{%") {
        let Some(length) = rest[at..].find("%}").map(|end| end + 2) else { break };
        out.push_str(&rest[..at]);
        let tag = &rest[at..at + length];
        match generation_tag(tag) {
            Some(replaced) => out.push_str(&replaced),
            // Only the opening is passed on: the tag may hold a text that looks like its end.
            None => {
                out.push_str("{%");
                rest = &rest[at + 2..];
                continue;
            }
        }
        rest = &rest[at + length..];
    }
    out + rest
}

/// A `generation` tag as a `with` tag, which has the same scope; controls and line breaks stay.
fn generation_tag(tag: &str) -> Option<Cow<'_, str>> {
    let inner = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let word = inner.trim_matches(['-', '+']).trim();
    match word {
        "generation" => Some(Cow::Owned(tag.replacen("generation", "with", 1))),
        "endgeneration" => Some(Cow::Owned(tag.replacen("endgeneration", "endwith", 1))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_tags_are_replaced_in_place() {
        assert_eq!(
            prepare("a\r\n{%- generation +%}b{%endgeneration-%}{% if generation %}{{ '{% x' }}"),
            "a\n{%- with +%}b{%endwith-%}{% if generation %}{{ '{% x' }}"
        );
    }
}
