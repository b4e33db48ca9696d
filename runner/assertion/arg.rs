//! Arguments with a short form: `content: hello` beside `content: { contains: hello }`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// Arguments that can be written shorter than the mapping of their fields.
pub trait Short: Sized {
    /// What may stand here, for the message when something else does.
    const FORMS: &'static str;

    /// The JSON types of the short forms: `string`, `integer`, `boolean`, `array`.
    const TYPES: &'static [&'static str];

    /// The elements of the list form; [`Never`] where there is none.
    type Item: DeserializeOwned + JsonSchema;

    /// From bare text: an error when the word is not known.
    fn from_text(_text: &str) -> Option<Result<Self, String>> {
        None
    }

    /// From a bare whole number.
    fn from_number(_number: u64) -> Option<Self> {
        None
    }

    /// From a bare `true` or `false`.
    fn from_truth(_truth: bool) -> Option<Self> {
        None
    }

    /// From a list.
    fn from_list(_items: Vec<Self::Item>) -> Option<Self> {
        None
    }
}

/// The element type of arguments without a list form.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum Never {}

/// `T`, read from its mapping or from one of its short forms.
#[derive(Debug, Clone, Default)]
pub struct Shorthand<T>(pub(super) T);

impl<T> Deref for Shorthand<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Short + DeserializeOwned> Deserialize<'de> for Shorthand<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Forms(PhantomData)).map(Shorthand)
    }
}

impl<T: Short + JsonSchema> JsonSchema for Shorthand<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrShort", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms = vec![generator.subschema_for::<T>()];
        for kind in T::TYPES {
            forms.push(match *kind {
                "array" => generator.subschema_for::<Vec<T::Item>>(),
                kind => json_schema!({ "type": kind }),
            });
        }
        json_schema!({ "description": T::FORMS, "anyOf": forms })
    }
}

struct Forms<T>(PhantomData<T>);

impl<'de, T: Short + DeserializeOwned> Visitor<'de> for Forms<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::FORMS)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        match T::from_text(text) {
            Some(result) => result.map_err(E::custom),
            None => Err(E::invalid_type(Unexpected::Str(text), &self)),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        T::from_number(value).ok_or_else(|| E::invalid_type(Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        let number = u64::try_from(value).ok().and_then(T::from_number);
        number.ok_or_else(|| E::invalid_type(Unexpected::Signed(value), &self))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        T::from_truth(value).ok_or_else(|| E::invalid_type(Unexpected::Bool(value), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        if !T::TYPES.contains(&"array") {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let items = Vec::<T::Item>::deserialize(SeqAccessDeserializer::new(seq))?;
        T::from_list(items).ok_or_else(|| A::Error::invalid_type(Unexpected::Seq, &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// One text, or a list of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Many<T>(pub(super) Vec<T>);

impl<T> Deref for Many<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany(PhantomData)).map(Many)
    }
}

impl<T: JsonSchema> JsonSchema for Many<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let forms = [generator.subschema_for::<T>(), generator.subschema_for::<Vec<T>>()];
        json_schema!({ "anyOf": forms })
    }
}

struct OneOrMany<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts; put quotes around a number or a word such as `true`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(|one| vec![one])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<T>, A::Error> {
        Vec::<T>::deserialize(SeqAccessDeserializer::new(seq))
    }
}

/// A closed range of counts; either end may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// At least this many.
    #[serde(default)]
    pub min: Option<usize>,
    /// At most this many.
    #[serde(default)]
    pub max: Option<usize>,
}

impl Short for Bounds {
    const FORMS: &'static str = "a whole number, or a mapping with `min` and `max`";
    const TYPES: &'static [&'static str] = &["integer"];
    type Item = Never;

    fn from_number(number: u64) -> Option<Self> {
        let exact = usize::try_from(number).ok();
        Some(Bounds { min: exact, max: exact })
    }
}

impl Bounds {
    pub(super) fn contains(&self, count: usize) -> bool {
        self.min.is_none_or(|min| count >= min) && self.max.is_none_or(|max| count <= max)
    }

    pub(super) fn problems(&self, name: &str) -> Vec<String> {
        match (self.min, self.max) {
            (None, None) => vec![format!("`{name}` needs `min`, `max` or both")],
            (Some(min), Some(max)) if min > max => {
                vec![format!("`{name}`: min {min} is above max {max}, so nothing can hold")]
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => write!(f, "{min}"),
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

/// A closed range of real numbers; either end may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// At least this.
    #[serde(default)]
    pub min: Option<f64>,
    /// At most this.
    #[serde(default)]
    pub max: Option<f64>,
}

impl Span {
    /// Whether a value lies in it; NaN never does.
    pub(super) fn contains(&self, value: f64) -> bool {
        !value.is_nan()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
    }

    pub(super) fn problems(&self, name: &str) -> Vec<String> {
        match (self.min, self.max) {
            (None, None) => vec![format!("`{name}` needs `min`, `max` or both")],
            (Some(min), Some(max)) if min > max => {
                vec![format!("`{name}`: min {min} is above max {max}, so nothing can hold")]
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

/// What a reply is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The accepted snapshot of the case.
    Accepted,
}

/// What is wrong with a tolerance: not a size, or without its origin.
pub(super) fn tolerance_problems(name: &str, value: Option<f64>, because: Option<&str>) -> Vec<String> {
    let Some(value) = value else { return Vec::new() };
    let mut problems = Vec::new();
    if !value.is_finite() || value < 0.0 {
        problems.push(format!("`{name}` is {value}, but a tolerance is a finite number, 0 or more"));
    }
    if because.is_none_or(|reason| reason.trim().is_empty()) {
        problems.push(format!(
            "`{name}` is a tolerance without `because`; say where it comes from, such as `because: \"spread of 20 reference runs\"`"
        ));
    }
    problems
}
