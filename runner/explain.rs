//! `evalsuite explain`: one place that knows every word of the spec language, read from the registries.

use crate::assertion;
use crate::backend::remote::dialect;
use crate::branch::{Branch, form};
use crate::capture::Boundary;
use crate::diagnostic::suggest;
use crate::judge;
use crate::parse::reparse;
use crate::score;

/// A word with its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// What kind of word it is: `branch`, `assertion` ….
    pub kind: &'static str,
    /// The word.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Plain text of a few lines.
    pub help: String,
}

const AUTO: &str = "\
Each dialect's probe is tried in turn; none of them generates anything, and no server's name for
itself is believed. What was recognised, and by what, is part of the target's identity.";

const EXIT_CODES: [(&str, &str, &str); 5] = [
    (
        "0",
        "everything held",
        "Known failures that still fail and boundaries that could not be seen do not change it.",
    ),
    (
        "1",
        "something did not hold",
        "An assertion or rule failed, a snapshot is new or changed, or a known failure was fixed.",
    ),
    (
        "2",
        "the command line or a spec is wrong",
        "Nothing was judged. Every problem found is printed with its file, line and column.",
    ),
    ("3", "a backend or a case broke", "The judgement is incomplete, which outranks 1."),
    ("4", "nothing was selected", "No case matches the paths and filters."),
];

/// Every word, grouped by kind.
pub fn topics() -> Vec<Topic> {
    let mut topics = Vec::new();
    for boundary in Boundary::ALL {
        topics.push(boundary_topic(boundary));
    }
    for info in Branch::ALL.iter().map(|branch| branch.info()) {
        topics.push(topic("branch", info.name, info.summary, info.help));
    }
    for info in Branch::ALL.iter().map(|branch| branch.info()) {
        for rule in info.rules {
            let help = format!(
                "Holds for every exchange of the branch `{}` and reads the boundary `{}`.\n\
                 Silence it with a reason: `allow: {{ {}: \"why\" }}`.",
                info.name, rule.boundary, rule.name
            );
            topics.push(topic("rule", rule.name, rule.summary, &help));
        }
    }
    topics.push(topic(
        "rule",
        judge::TOOL_WAS_CALLED,
        "a `tool` turn answers a call of the reply before it",
        "Holds in every branch and reads the boundary `response`. Without a call there is nothing to\n\
         answer: the conversation ends there, and the model is at fault.",
    ));
    topics.push(topic("rule", form::FORM.name, form::FORM.summary, form::HELP));
    for info in assertion::ALL {
        let help = format!("Reads the boundary `{}`.\n{}", info.boundary, info.help);
        topics.push(topic("assertion", info.name, info.summary, &help));
    }
    for info in score::extract::ALL {
        let help =
            "Names how the answer is taken out of a reply; `explain task_score` shows its use.";
        topics.push(topic("extractor", info.name, info.summary, help));
    }
    for info in score::scorer::ALL {
        let help = "Names how an answer is compared; `explain task_score` shows its use.";
        topics.push(topic("scorer", info.name, info.summary, help));
    }
    topics.push(topic("dialect", "auto", "whatever the probes recognise", AUTO));
    for dialect in dialect::ALL {
        topics.push(topic("dialect", dialect.name, dialect.summary, &dialect.help()));
    }
    for format in reparse::formats() {
        let help = format!("Written by {}.", format.families.join(", "));
        topics.push(topic("tool-call format", format.name, format.summary, &help));
    }
    for (code, summary, help) in EXIT_CODES {
        topics.push(topic("exit code", code, summary, help));
    }
    topics
}

/// The explanation of one word; several when it names more than one thing.
///
/// # Errors
/// A message with the nearest known word.
pub fn explain(word: &str) -> Result<Vec<Topic>, String> {
    let topics = topics();
    let found: Vec<Topic> = topics.iter().filter(|topic| topic.name == word).cloned().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = topics.iter().map(|topic| topic.name.as_str());
    let hint = match suggest(word, names) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => "; `evalsuite explain` lists the words".to_owned(),
    };
    Err(format!("nothing is called `{word}`{hint}"))
}

fn topic(kind: &'static str, name: &str, summary: &str, help: &str) -> Topic {
    Topic { kind, name: name.to_owned(), summary: summary.to_owned(), help: help.to_owned() }
}

fn boundary_topic(boundary: Boundary) -> Topic {
    let (summary, cause) = match boundary {
        Boundary::Input => (
            "the rendered prompt and its token ids",
            "template, tokenizer, begin or end tokens, generation prompt, a dropped message",
        ),
        Boundary::Settings => (
            "per field: requested, resolved and where the value comes from",
            "server defaults, generation_config.json, stop rules, caps",
        ),
        Boundary::Generation => (
            "output ids, raw text, probabilities, why it ended",
            "weights, quantization, kernels, cache, stopping rule",
        ),
        Boundary::Response => (
            "what the API returned: content, reasoning, tool calls, finish reason, usage, stream",
            "tool or reasoning parser, stream assembly, detokenizer",
        ),
        Boundary::Score => {
            ("what the scorer extracted and decided", "extractor, data set, scoring rule")
        }
    };
    let help = format!(
        "A change here usually means: {cause}.\n\
         Verdicts go top-down: below the first boundary that changed, a difference is a consequence."
    );
    topic("boundary", boundary.name(), summary, &help)
}
