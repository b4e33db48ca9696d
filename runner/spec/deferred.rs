//! A part of a spec that was checked and is read again when it is needed, so that a long list costs little.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use super::read::read_at;
use super::tree::{NodeId, Tree};
use super::value::Spanned;

/// The place of a value that could be read there.
#[derive(Debug)]
pub struct Deferred<T> {
    node: NodeId,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Deferred<T> {
    /// The value. `None` only if `tree` is not the one that it was found in.
    pub fn read(&self, tree: &Tree) -> Option<Spanned<T>> {
        // What is doubtful was reported when it was read for the first time.
        read_at(tree, self.node, &mut Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Deferred<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { node, .. } = Spanned::<T>::deserialize(deserializer)?;
        Ok(Deferred { node, of: PhantomData })
    }
}

impl<T: JsonSchema> JsonSchema for Deferred<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
