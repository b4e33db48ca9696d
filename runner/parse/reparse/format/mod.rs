//! The formats, one file per format or per close kin.

mod bracketed;
mod deepseek;
mod dsml;
mod gemma;
mod glm;
mod harmony;
mod hermes;
mod kimi;
mod llama;
mod minimax;
mod mistral;
mod pythonic;
mod qwen3_coder;
mod step3;

use super::defect::DefectKind;
use super::scan::{End, Scan};
use super::thinking::Thinking;

/// The known formats. A template is taken for the first that it teaches, so the more particular
/// ones come first.
const FORMATS: &[Format] = &[
    dsml::DEEPSEEK_V32,
    step3::STEP3,
    minimax::M3,
    minimax::M2,
    kimi::KIMI_K2,
    deepseek::V3,
    deepseek::V31,
    harmony::HARMONY,
    gemma::GEMMA4,
    gemma::FUNCTIONGEMMA,
    glm::HUNYUAN,
    glm::GLM,
    qwen3_coder::QWEN3_CODER,
    mistral::MISTRAL,
    pythonic::LFM2,
    pythonic::OLMO3,
    pythonic::PYTHONIC,
    llama::LLAMA3_JSON,
    bracketed::GRANITE,
    bracketed::GRANITE_20B,
    bracketed::INTERNLM2,
    bracketed::PHI4_MINI,
    bracketed::JAMBA,
    hermes::HERMES,
];

/// How a family of models writes its replies.
#[derive(Debug)]
pub struct Format {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What a call looks like, in one line.
    pub summary: &'static str,
    /// Models that write it.
    pub families: &'static [&'static str],
    /// Whether a chat template teaches it.
    detect: fn(&str) -> bool,
    pub(super) thinking: Thinking,
    /// The texts of the tokens that end a turn.
    ends: &'static [&'static str],
    /// Those that end it to wait for a tool's result.
    tool_ends: &'static [&'static str],
    /// Delimiters that stand for nothing outside a call or reasoning.
    marks: &'static [&'static str],
    /// Whether text may follow the calls.
    may_trail: bool,
    /// Reads everything behind the reasoning.
    body: fn(&mut Scan<'_>),
}

/// All formats.
pub fn formats() -> &'static [Format] {
    FORMATS
}

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that a chat template teaches.
pub fn detect(template: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.detect)(template))
}

impl Format {
    /// The text without the tokens that ended it, and what they say.
    pub(super) fn without_end<'a>(&self, raw: &'a str) -> (&'a str, End) {
        let (mut text, mut end) = (raw, End::Unknown);
        loop {
            let cut = |tokens: &[&str]| tokens.iter().find_map(|token| text.strip_suffix(token));
            if let Some(rest) = cut(self.tool_ends) {
                (text, end) = (rest, End::Tool);
            } else if let Some(rest) = cut(self.ends) {
                text = rest;
                end = if end == End::Tool { end } else { End::Turn };
            } else {
                return (text, end);
            }
        }
    }

    /// Reads a whole text.
    pub(super) fn read(&self, scan: &mut Scan<'_>) {
        let split = self.thinking.split(scan.text, scan.prompt_tail);
        let start = split.reasoning.as_ref().map_or(0, |range| range.start);
        let reasoning = split.reasoning.and_then(|range| scan.text.get(range));
        scan.found.reasoning = reasoning.map(str::to_owned);
        scan.at = split.body;
        if !split.closed {
            let message = "the reasoning is not closed, so everything belongs to it";
            scan.defect(DefectKind::UnclosedRegion, start, message);
            return;
        }
        scan.may_trail = self.may_trail;
        (self.body)(scan);
        self.stray_marks(scan, split.body);
    }

    /// Tells of delimiters in the content, which begins at `start`.
    fn stray_marks(&self, scan: &mut Scan<'_>, start: usize) {
        let content = std::mem::take(&mut scan.found.content);
        let thinking = self.thinking.opens.iter().chain(self.thinking.closes);
        // A phrase that introduces reasoning may as well be said.
        let thinking = thinking.filter(|mark| mark.starts_with(['<', '[']));
        let marks = self.marks.iter().chain(thinking);
        let mut found: Vec<(usize, &str)> =
            marks.flat_map(|mark| content.match_indices(mark)).collect();
        found.sort_by_key(|(at, _)| *at);
        found.dedup_by_key(|(at, _)| *at);
        for (at, mark) in found {
            scan.at = start + at + mark.len();
            let message = format!("`{}` stands in the content", mark.trim());
            scan.defect(DefectKind::UnknownTag, start + at, message);
        }
        scan.found.content = content;
    }
}
