//! Takes secrets out of whatever is kept or shown.

use std::borrow::Cow;
use std::fmt;

use super::forms::forms;

/// What stands where a secret stood.
const MARK: &str = "[redacted]";

/// Shorter secrets are not searched for: they would be found in the middle of ordinary words.
const SHORTEST: usize = 6;

/// Keys that the manuals of servers print, because their clients insist on one. They protect nothing, and
/// `ollama` stands in fingerprints and file names of the server of that name.
const PLACEHOLDERS: [&str; 2] = ["ollama", "lm-studio"];

/// Finds secrets in every form in which they can come back: as they are, percent-encoded, and escaped as in JSON.
///
/// A secret under 6 characters is never searched for, since it would be found inside ordinary words: it is kept out
/// by not being stored in the first place, but a server that repeats it in a text is not caught. The default finds
/// nothing.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that a secret that holds another is replaced as a whole.
    needles: Vec<String>,
}

impl Redactor {
    /// Looks for these.
    pub fn new<I>(secrets: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut needles = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref();
            if secret.chars().count() >= SHORTEST && !PLACEHOLDERS.contains(&secret) {
                needles.extend(forms(secret));
            }
        }
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Redactor { needles }
    }

    /// The text without secrets; each is replaced by `[redacted]`.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut scrubbed = Cow::Borrowed(text);
        for needle in &self.needles {
            if scrubbed.contains(needle.as_str()) {
                scrubbed = Cow::Owned(scrubbed.replace(needle.as_str(), MARK));
            }
        }
        scrubbed
    }

    /// The same for a text that is not needed otherwise.
    pub fn scrub_owned(&self, text: String) -> String {
        match self.scrub(&text) {
            Cow::Owned(scrubbed) => scrubbed,
            Cow::Borrowed(_) => text,
        }
    }

    /// The same for bytes, which need not be text.
    pub fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(bytes) {
            Ok(text) => self.scrub_owned(text).into_bytes(),
            Err(error) => {
                let mut bytes = error.into_bytes();
                for needle in &self.needles {
                    bytes = replace(bytes, needle.as_bytes());
                }
                bytes
            }
        }
    }
}

fn replace(bytes: Vec<u8>, needle: &[u8]) -> Vec<u8> {
    let at = |bytes: &[u8]| bytes.windows(needle.len()).position(|window| window == needle);
    if at(&bytes).is_none() {
        return bytes;
    }
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some(found) = at(rest) {
        let (before, behind) = rest.split_at(found);
        replaced.extend_from_slice(before);
        replaced.extend_from_slice(MARK.as_bytes());
        rest = behind.get(needle.len()..).unwrap_or_default();
    }
    replaced.extend_from_slice(rest);
    replaced
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms)", self.needles.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::percent_decode;
    use super::*;

    #[test]
    fn every_form_is_found() {
        let redactor = Redactor::new(["sk-a/b+c=\"1\""]);
        for (text, expected) in [
            ("key sk-a/b+c=\"1\" is wrong", "key [redacted] is wrong"),
            (r#"{"m":"sk-a/b+c=\"1\""}"#, r#"{"m":"[redacted]"}"#),
            (r#"{"m":"sk-a\/b+c=\"1\""}"#, r#"{"m":"[redacted]"}"#),
            ("?k=sk-a%2Fb%2Bc%3D%221%22&x", "?k=[redacted]&x"),
            ("?k=sk-a%2fb%2bc%3d%221%22&x", "?k=[redacted]&x"),
            ("sk-a/b+c", "sk-a/b+c"),
            ("", ""),
        ] {
            assert_eq!(redactor.scrub(text), expected, "{text}");
            assert_eq!(redactor.scrub_bytes(text.into()), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_searched_too() {
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let bytes = b"\xff hunter2-hunter2 \xfe hunter2-hunter2".to_vec();
        assert_eq!(redactor.scrub_bytes(bytes), b"\xff [redacted] \xfe [redacted]");
        assert_eq!(redactor.scrub_bytes(b"\xff hunter2".to_vec()), b"\xff hunter2");
    }

    #[test]
    fn a_secret_inside_another_leaves_no_rest() {
        let redactor = Redactor::new(["secret", "my-secret-key"]);
        assert_eq!(redactor.scrub("my-secret-key, secret"), "[redacted], [redacted]");
    }

    #[test]
    fn short_keys_and_placeholders_spoil_no_text() {
        let redactor = Redactor::new(["EMPTY", "ollama", ""]);
        assert_eq!(redactor.scrub("EMPTY fp_ollama"), "EMPTY fp_ollama");
        assert_eq!(Redactor::new(["abcdef"]).scrub("xabcdefx"), "x[redacted]x");
    }

    #[test]
    fn nothing_is_shown() {
        let shown = format!("{:?}", Redactor::new(["topsecret"]));
        assert!(!shown.contains("topsecret"), "{shown}");
    }

    #[test]
    fn percent_signs_are_decoded() {
        for (text, expected) in [("a%20b", "a b"), ("%", "%"), ("%zz%41", "%zzA"), ("%C3%BC", "ü")]
        {
            assert_eq!(percent_decode(text), expected);
        }
    }
}
