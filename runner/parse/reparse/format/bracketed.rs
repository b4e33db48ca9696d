//! Formats that are JSON behind or between delimiters: an array of calls, or an object for each.

use super::super::objects::{ARGUMENTS, PARAMETERS};
use super::super::scan::Resync;
use super::super::thinking::{THINK, Thinking};
use super::Format;

pub(super) const GRANITE: Format = Format {
    name: "granite",
    summary: r#"<|tool_call|> or <tool_call>, then [{"name": NAME, "arguments": {…}}, …]"#,
    families: &["Granite 3"],
    // A community template of Phi-4-mini teaches a form of its own, with a closing tag.
    detect: |template| template.contains("<|tool_call|>") && !template.contains("<|/tool_call|>"),
    thinking: Thinking {
        opens: &["Here is my thought process:", "Here's my thought process:", "<think>"],
        closes: &["Here is my response:", "Here's my response:", "</think>"],
    },
    ends: &["<|end_of_text|>"],
    tool_ends: &[],
    marks: &["</tool_call>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<|tool_call|>", "<tool_call>"], |scan, start, _| {
            scan.array_of_calls(start, ARGUMENTS, "");
        });
    },
};

pub(super) const GRANITE_20B: Format = Format {
    name: "granite_20b",
    summary: r#"<function_call>{"name": NAME, "arguments": {…}}, repeated"#,
    families: &["Granite 20B function calling"],
    detect: |template| template.contains("<function_call>"),
    thinking: THINK,
    ends: &["<|endoftext|>"],
    tool_ends: &[],
    marks: &["</function_call>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<function_call>"], |scan, start, _| {
            let resync = Resync { close: "", next: &["<function_call>"] };
            scan.call(start, resync, |scan| scan.object_call(ARGUMENTS));
        });
    },
};

pub(super) const INTERNLM2: Format = Format {
    name: "internlm2",
    summary: r#"<|action_start|><|plugin|>{"name": NAME, "parameters": {…}}<|action_end|>"#,
    families: &["InternLM2", "InternLM2.5"],
    detect: |template| template.contains("<|action_start|>") || template.contains("<|plugin|>"),
    thinking: THINK,
    ends: &["<|im_end|>", "</s>"],
    tool_ends: &[],
    marks: &["<|plugin|>", "<|action_end|>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<|action_start|>"], |scan, start, _| {
            let resync = Resync { close: "<|action_end|>", next: &["<|action_start|>"] };
            scan.call(start, resync, |scan| {
                scan.expect("<|plugin|>")?;
                scan.object_call(PARAMETERS)
            });
        });
    },
};

pub(super) const PHI4_MINI: Format = Format {
    name: "phi4_mini",
    summary: r#"functools[{"name": NAME, "arguments": {…}}, …]"#,
    families: &["Phi-4-mini"],
    detect: |template| {
        template.contains("functools")
            || (template.contains("<|/tool|>") && !template.contains("<|/tool_call|>"))
    },
    thinking: THINK,
    ends: &["<|end|>", "<|endoftext|>"],
    tool_ends: &[],
    marks: &[],
    may_trail: false,
    body: |scan| {
        scan.regions(&["functools["], |scan, start, _| {
            // The bracket is part of what tells a call from the word, and of the array.
            scan.at = scan.at.saturating_sub(1);
            scan.array_of_calls(start, PARAMETERS, "");
        });
    },
};

pub(super) const JAMBA: Format = Format {
    name: "jamba",
    summary: r#"<tool_calls>[{"name": NAME, "arguments": {…}}, …]</tool_calls>"#,
    families: &["Jamba", "Hunyuan A13B"],
    detect: |template| template.contains("<tool_calls>"),
    thinking: THINK,
    ends: &["<|eom|>", "<|endoftext|>", "<|eos|>"],
    tool_ends: &[],
    marks: &["</tool_calls>"],
    may_trail: false,
    body: |scan| {
        scan.regions(&["<tool_calls>"], |scan, start, _| {
            scan.array_of_calls(start, ARGUMENTS, "</tool_calls>");
        });
    },
};
