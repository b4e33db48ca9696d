//! The manifest of a run: everything that could change a verdict, and when and how it ran.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::{SCHEMA, TargetIdentity};
use crate::privacy::Privacy;
use crate::text::hex;

/// What a run was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the stored form.
    pub schema: u32,
    /// The program's version.
    pub version: String,
    /// The targets with what identifies each: model, weights, tokenizer, template, engine ….
    pub targets: Vec<TargetIdentity>,
    /// The command-line selection in words; empty when everything was selected.
    pub selection: String,
    /// The targets that the command line chose instead of those of the specs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Which texts the folder holds.
    #[serde(default)]
    pub privacy: Privacy,
    /// SHA-256 of the specs, data sets and fixtures that were read, by path.
    pub files: BTreeMap<String, String>,
    /// The command line as it was given.
    pub args: Vec<String>,
    /// RFC 3339, UTC.
    pub time: String,
}

impl Manifest {
    /// A manifest of the present schema, with nothing in it yet.
    pub fn new(version: impl Into<String>, time: impl Into<String>) -> Self {
        Manifest {
            schema: SCHEMA,
            version: version.into(),
            targets: Vec::new(),
            selection: String::new(),
            chosen: Vec::new(),
            privacy: Privacy::Full,
            files: BTreeMap::new(),
            args: Vec::new(),
            time: time.into(),
        }
    }

    /// SHA-256, in hex, over everything that could change a verdict. The time is left out, and so is the command
    /// line: what it selects is in `selection`, and the number of jobs, the reports asked for or the texts that are kept
    /// change no verdict.
    pub fn digest(&self) -> String {
        let judged = (&self.schema, &self.version, &self.targets, &self.selection, &self.files);
        // These types have string keys and no floats, so that writing them cannot fail.
        let text = serde_json::to_string(&judged).unwrap_or_default();
        hex(&Sha256::digest(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_depends_on_what_could_change_a_verdict_and_on_nothing_else() {
        let mut manifest = Manifest::new("0.1.0", "2026-12-01T00:00:00Z");
        let digest = manifest.digest();
        assert_eq!(digest.len(), 64);
        manifest.time = "2026-12-02T00:00:00Z".to_owned();
        manifest.args = vec!["-j4".to_owned()];
        assert_eq!(manifest.digest(), digest);
        manifest.files.insert("specs/a.yaml".to_owned(), "00".to_owned());
        let with_file = manifest.digest();
        assert_ne!(with_file, digest);
        let facts = vec![("weights".to_owned(), "01".to_owned())];
        manifest.targets.push(TargetIdentity { name: "tiny".to_owned(), facts });
        assert_ne!(manifest.digest(), with_file);
    }
}
