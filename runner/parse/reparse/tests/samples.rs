//! One reply of each kind in every format, from `fixtures/parse/samples.json`. The calls are always
//! the same, so that one table of expectations serves all: `get_weather` for Oslo, `add`, `now`
//! without arguments, and `say` with quotes, escapes, a line break, a closing tag and characters
//! beyond ASCII.

/// The samples of one format.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Samples {
    pub(in super::super) format: String,
    /// The end of the prompt.
    pub(super) tail: String,
    /// `get_weather`.
    pub(super) one: String,
    /// `get_weather` and `add`.
    pub(super) two: String,
    /// Content, then `get_weather`.
    pub(super) before: String,
    /// Reasoning, then `get_weather`, and the content between the two.
    pub(super) thinking: Option<(String, String)>,
    /// `now`.
    pub(super) zero: String,
    /// `say`.
    pub(super) escapes: String,
    /// How the family writes arguments.
    writes: Writes,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writes {
    /// As JSON, whose source is kept.
    Json,
    /// As texts, which are put into JSON.
    Text,
}

impl Samples {
    /// How `say` reads.
    pub(super) fn said(&self) -> &'static str {
        match self.writes {
            Writes::Json => r#"say {"text": "Zürich \"q\" \u00e9\n雪 </b>"}"#,
            Writes::Text => r#"say {"text": "Zürich \"q\" é\n雪 </b>"}"#,
        }
    }

    /// Every raw text.
    pub(in super::super) fn raws(&self) -> impl Iterator<Item = &str> {
        let thinking = self.thinking.iter().map(|(raw, _)| raw);
        let raws = [&self.one, &self.two, &self.before, &self.zero, &self.escapes];
        raws.into_iter().chain(thinking).map(String::as_str)
    }
}

pub(in super::super) fn samples() -> Vec<Samples> {
    serde_json::from_str(include_str!("../../../../fixtures/parse/samples.json")).unwrap()
}
