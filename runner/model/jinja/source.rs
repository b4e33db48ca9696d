//! Changes to a template's text before it is compiled; none of them moves a line.

/// Methods of Python's `dict`, which Jinja2 finds before a key of the same name.
const DICT_METHODS: [&str; 8] =
    ["items", "keys", "values", "get", "pop", "update", "copy", "clear"];

/// The template in the engine's own language.
///
/// Line ends become `\n`; `generation` blocks, which only mark the assistant's part, become `with`
/// blocks, which have the same scope; `'…' % x` and `dict.items` without a call become filters.
pub(in crate::model) fn prepare(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(at) = next_tag(rest) {
        out.push_str(&rest[..at]);
        let (tag, after) = rest[at..].split_at(tag_length(&rest[at..]));
        let word = tag.trim_matches(|c: char| "{%-+}".contains(c) || c.is_whitespace());
        rest = after;
        match word {
            _ if tag.starts_with("{#") => out.push_str(tag),
            "generation" => out.push_str(&tag.replacen(word, "with", 1)),
            "endgeneration" => out.push_str(&tag.replacen(word, "endwith", 1)),
            "raw" => {
                let (verbatim, after) = rest.split_at(raw_length(rest));
                out.push_str(tag);
                out.push_str(verbatim);
                rest = after;
            }
            _ => out.push_str(&expression(tag)),
        }
    }
    out + rest
}

fn next_tag(text: &str) -> Option<usize> {
    let is_tag = |(at, _): &(usize, &str)| text[at + 1..].starts_with(['{', '%', '#']);
    text.match_indices('{').find(is_tag).map(|(at, _)| at)
}

/// The length of the tag that `text` starts with; of all of it when the tag is not closed.
fn tag_length(text: &str) -> usize {
    if text.starts_with("{#") {
        return text.find("#}").map_or(text.len(), |at| at + 2);
    }
    let close = if text.starts_with("{%") { "%}" } else { "}}" };
    let mut at = 2;
    while let Some(next) = text[at..].chars().next() {
        if text[at..].starts_with(close) {
            return at + 2;
        }
        at += step(&text[at..], next);
    }
    text.len()
}

fn raw_length(text: &str) -> usize {
    let is_end = |(at, _): &(usize, &str)| {
        text[at + 2..]
            .trim_start_matches(|c: char| "-+".contains(c) || c.is_whitespace())
            .starts_with("endraw")
    };
    text.match_indices("{%").find(is_end).map_or(text.len(), |(at, _)| at)
}

/// The length of the text literal, the bracketed group or the one character `next` at the start of `text`.
fn step(text: &str, next: char) -> usize {
    match next {
        '\'' | '"' => literal_length(text, next),
        '(' | '[' | '{' => group_length(text),
        other => other.len_utf8(),
    }
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if !escaped && character == quote {
            return at + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    text.len()
}

fn group_length(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        match next {
            '\'' | '"' => {
                at += literal_length(&text[at..], next);
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        at += next.len_utf8();
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn expression(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        match next {
            '\'' | '"' => {
                let length = literal_length(rest, next);
                out.push_str(&rest[..length]);
                at += length;
                if let Some((operand, length)) = percent_operand(&text[at..]) {
                    out.push_str(&format!("|_percent({})", expression(operand)));
                    at += length;
                }
            }
            '.' => match method(rest) {
                Some((names, length)) => {
                    out.push_str(&format!("|_member('{}')", names.replace('.', "','")));
                    at += length;
                }
                None => {
                    out.push('.');
                    at += 1;
                }
            },
            other => {
                out.push(other);
                at += other.len_utf8();
            }
        }
    }
    out
}

/// The operand of a `%` that follows a text literal, and the length up to the operand's end.
fn percent_operand(text: &str) -> Option<(&str, usize)> {
    let operand = text.trim_start().strip_prefix('%').filter(|rest| !rest.starts_with('}'))?;
    let start = operand.len() - operand.trim_start().len();
    let mut end = start + primary_length(&operand[start..])?;
    loop {
        let rest = &operand[end..];
        let filter = rest.trim_start().strip_prefix('|').map(str::trim_start);
        end += match (rest.chars().next(), filter) {
            (Some('(' | '['), _) => group_length(rest),
            (Some('.'), _) => 1 + word(&rest[1..]).len(),
            (_, Some(name)) => rest.len() - name.len() + word(name).len(),
            _ => return Some((&operand[..end], text.len() - operand.len() + end)),
        };
    }
}

fn primary_length(text: &str) -> Option<usize> {
    let next = text.chars().next()?;
    let length = if "'\"([{".contains(next) { step(text, next) } else { word(text).len() };
    (length > 0).then_some(length)
}

/// The dotted names that follow the first dot of `text`, when the first is a method of `dict` and none is called.
fn method(text: &str) -> Option<(&str, usize)> {
    if !DICT_METHODS.contains(&word(&text[1..])) {
        return None;
    }
    let mut end = 0;
    while text[end..].starts_with('.') && !word(&text[end + 1..]).is_empty() {
        end += 1 + word(&text[end + 1..]).len();
    }
    let after = text[end..].trim_start();
    let is_called = after.starts_with(['(', '[']);
    let is_assigned = after.starts_with('=') && !after.starts_with("==");
    (!is_called && !is_assigned).then_some((&text[1..end], end))
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_rewritten() {
        for (source, prepared) in [
            ("a\r\n{%- generation +%}b{%endgeneration-%}", "a\n{%- with +%}b{%endwith-%}"),
            (
                "{% if generation %}{{ '{% generation %}' }}",
                "{% if generation %}{{ '{% generation %}' }}",
            ),
            ("{{ '%s' % x.y[0] | e ~ 1 }}", "{{ '%s'|_percent( x.y[0] | e) ~ 1 }}"),
            ("{{ \"%d\" % (1, '}}') }}", "{{ \"%d\"|_percent( (1, '}}')) }}"),
            ("{% set x = 'a' %}{{ 7 % 3 }}", "{% set x = 'a' %}{{ 7 % 3 }}"),
            (
                "{{ d.items is defined }}{{ d.a.items.type }}",
                "{{ d|_member('items') is defined }}{{ d.a|_member('items','type') }}",
            ),
            (
                "{% for k in d.items() %}{{ d.itemsize }}",
                "{% for k in d.items() %}{{ d.itemsize }}",
            ),
            ("{% set ns.items = 1 %}", "{% set ns.items = 1 %}"),
            (
                "{% raw %}{{ d.items }}{%- endraw %}{# d.items #} d.items",
                "{% raw %}{{ d.items }}{%- endraw %}{# d.items #} d.items",
            ),
            ("{{ {'a': {'b': '%s' % 1}} }}é{{", "{{ {'a': {'b': '%s'|_percent( 1)}} }}é{{"),
            ("{{ 'open", "{{ 'open"),
        ] {
            assert_eq!(prepare(source), prepared);
        }
    }
}
