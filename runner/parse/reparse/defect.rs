//! What can be wrong with a raw text.

use super::json::MAX_DEPTH;

/// One thing that breaks the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// Which rule is broken.
    pub kind: DefectKind,
    /// Where it begins: a byte offset in the raw text.
    pub at: usize,
    /// What is wrong, in words.
    pub message: String,
    /// The text that it concerns, in full, so that no call is lost with its markup.
    pub text: String,
}

/// The rules of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefectKind {
    /// The text ends, or goes on with something else, before a call is closed.
    UnclosedCall,
    /// A region of calls or of reasoning is not closed.
    UnclosedRegion,
    /// Call markup around something that is no call.
    MalformedCall,
    /// The arguments are JSON, but no object.
    ArgumentsNotObject,
    /// An argument, at any depth, is given twice.
    DuplicateKey,
    /// Containers are nested deeper than 64 levels.
    TooDeep,
    /// A plain-text value that its declared type does not admit; it was kept as a string.
    WrongType,
    /// Text between two calls.
    TextBetweenCalls,
    /// Text after the last call, in a family whose turns end with the calls.
    TrailingText,
    /// A delimiter of the family where it delimits nothing.
    UnknownTag,
    /// A message whose header is missing or cannot be understood.
    BadHeader,
}

impl DefectKind {
    /// The word for reports, such as `unclosed_call`.
    pub fn word(self) -> &'static str {
        match self {
            DefectKind::UnclosedCall => "unclosed_call",
            DefectKind::UnclosedRegion => "unclosed_region",
            DefectKind::MalformedCall => "malformed_call",
            DefectKind::ArgumentsNotObject => "arguments_not_object",
            DefectKind::DuplicateKey => "duplicate_key",
            DefectKind::TooDeep => "too_deep",
            DefectKind::WrongType => "wrong_type",
            DefectKind::TextBetweenCalls => "text_between_calls",
            DefectKind::TrailingText => "trailing_text",
            DefectKind::UnknownTag => "unknown_tag",
            DefectKind::BadHeader => "bad_header",
        }
    }
}

/// Why reading a call stopped.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: DefectKind,
    /// Where, in the raw text.
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    /// The text ended first.
    pub(super) fn cut(at: usize) -> Fault {
        let message = "the text ends inside the call".to_owned();
        Fault { kind: DefectKind::UnclosedCall, at, message }
    }

    pub(super) fn malformed(at: usize, message: impl Into<String>) -> Fault {
        Fault { kind: DefectKind::MalformedCall, at, message: message.into() }
    }

    pub(super) fn not_an_object(at: usize) -> Fault {
        let message = "the arguments are not a JSON object".to_owned();
        Fault { kind: DefectKind::ArgumentsNotObject, at, message }
    }

    pub(super) fn too_deep(at: usize) -> Fault {
        let message = format!("containers are nested deeper than {MAX_DEPTH} levels");
        Fault { kind: DefectKind::TooDeep, at, message }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.kind == DefectKind::UnclosedCall
    }
}
