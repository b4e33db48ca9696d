//! What the YAML crate reads, node by node.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::arena::{Arena, Stretch};

/// A node as the YAML crate gives it.
pub(super) type Raw = serde_yaml::Spanned<RawNode>;

pub(super) struct RawNode(pub(super) Part);

/// What a node holds; the children of a list or a map are packed as soon as they are read.
pub(super) enum Part {
    Leaf(Scalar),
    List(Arena, Stretch),
    Map(Arena, Stretch),
}

/// What a leaf holds.
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for RawNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor).map(RawNode)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Null))
    }

    fn visit_none<E>(self) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Uint(value)))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Text(value.to_string())))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Text(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Text(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Part, E> {
        Ok(Part::Leaf(Scalar::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Part, A::Error> {
        let (mut arena, mut items) = (Arena::default(), Vec::new());
        while let Some(item) = seq.next_element()? {
            arena.push(item, &mut items);
        }
        let items = arena.adopt(&items);
        Ok(Part::List(arena, items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let (mut arena, mut entries) = (Arena::default(), Vec::new());
        while let Some((key, value)) = map.next_entry()? {
            arena.push(key, &mut entries);
            arena.push(value, &mut entries);
        }
        let entries = arena.adopt(&entries);
        Ok(Part::Map(arena, entries))
    }
}
