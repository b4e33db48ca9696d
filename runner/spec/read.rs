//! From a tree to typed values. Every error has a place, and a scalar that YAML takes for something else than
//! the text that is meant is reported without stopping.

use std::cell::RefCell;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::bare::{mistaken, mistaken_elsewhere, number};
use super::refused::Refused;
use super::tree::{Data, NodeId, Tree};
use crate::diagnostic::{Diagnostic, choices};

/// The newtype name by which [`super::Spanned`] asks for its node.
pub(super) const SPANNED: &str = "evalsuite::Spanned";
/// The newtype name by which [`super::TextOr`] asks for a text where the node is a scalar.
pub(super) const TEXT_OR: &str = "evalsuite::TextOr";

/// Reads `node` and what is below it as `T`; problems are added to `problems`, and `None` means that reading stopped.
pub(super) fn read_at<T: DeserializeOwned>(
    tree: &Tree,
    node: NodeId,
    problems: &mut Vec<Diagnostic>,
) -> Option<T> {
    let bare = RefCell::new(Vec::new());
    let result = T::deserialize(Reader { tree, node, bare: &bare, strict: true });
    problems.extend(bare.into_inner());
    match result {
        Ok(value) => Some(value),
        Err(Refused { node: refused, message, help }) => {
            let diagnostic = Diagnostic::new(tree.location(refused.unwrap_or(node)), message);
            problems.push(Diagnostic { help, ..diagnostic });
            None
        }
    }
}

/// Reads one node.
#[derive(Clone, Copy)]
struct Reader<'t> {
    tree: &'t Tree,
    node: NodeId,
    bare: &'t RefCell<Vec<Diagnostic>>,
    /// Whether an empty value is a mistake; false inside assertions, where it may be what is expected.
    strict: bool,
}

impl<'t> Reader<'t> {
    fn on(self, node: NodeId) -> Self {
        Reader { node, ..self }
    }

    /// The text of a scalar where a text is meant; reports a bare one that YAML reads as something else.
    fn text(&self) -> Option<String> {
        let data = self.tree.data(self.node);
        let bare = self.tree.bare(self.node);
        if let Some(kind) = bare.and_then(|bare| mistaken(data, bare)) {
            let bare = bare.unwrap_or_default();
            let message = match bare {
                "" => "a text is missing here".to_owned(),
                bare => format!("`{bare}` is {kind}, but a text is meant here"),
            };
            let help = match bare {
                "" => "write the text, or `\"\"` for an empty one".to_owned(),
                bare => format!("quote it: \"{bare}\""),
            };
            let at = self.tree.location(self.node);
            self.bare.borrow_mut().push(Diagnostic::new(at, message).help(help));
        }
        match data {
            Data::Text(text) => Some(text.to_owned()),
            Data::List(_) | Data::Map(_) => None,
            _ => Some(bare.unwrap_or_default().to_owned()),
        }
    }

    /// Reports a bare text that people and other readers take for something else, where any value may stand.
    fn check_ambiguous(&self) {
        let bare = self.tree.bare(self.node).unwrap_or_default();
        if !matches!(self.tree.data(self.node), Data::Text(_)) {
            return;
        }
        if let Some(kind) = mistaken_elsewhere(bare) {
            let at = self.tree.location(self.node);
            let message = format!("`{bare}` is a text here, but {kind}");
            let help = match bare.starts_with(|c: char| c.is_alphabetic()) {
                true => format!("quote it: \"{bare}\"; or write `true` or `false`"),
                false => format!("quote it: \"{bare}\"; or write the number as `{}`", number(bare)),
            };
            self.bare.borrow_mut().push(Diagnostic::new(at, message).help(help));
        }
    }

    /// Where a text may stand among other things, a bare number is probably a text without its quotes.
    fn offer_quotes(&self, refused: Refused) -> Refused {
        let is_text = matches!(self.tree.data(self.node), Data::Text(_));
        match self.tree.bare(self.node) {
            Some(bare)
                if !is_text && refused.help.is_none() && refused.message.contains("a text") =>
            {
                refused.help(format!("quote it: \"{bare}\""))
            }
            _ => refused,
        }
    }

    fn plain<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.any(visitor).map_err(|e| e.at(self.node))
    }

    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.tree.data(self.node) {
            Data::Null => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(value),
            Data::Int(value) => visitor.visit_i64(value),
            Data::Uint(value) => visitor.visit_u64(value),
            Data::Float(value) => visitor.visit_f64(value),
            Data::Text(text) => visitor.visit_str(text),
            Data::List(items) => visitor.visit_seq(Items { reader: self, rest: items.iter() }),
            Data::Map(entries) => {
                visitor.visit_map(Entries { reader: self, rest: entries.iter(), value: None })
            }
        }
    }
}

/// Methods that read the node as it is, since the wanted type leaves no doubt.
macro_rules! plain {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            self.plain(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.check_ambiguous();
        self.plain(visitor).map_err(|refused| self.offer_quotes(refused))
    }

    plain! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_seq deserialize_map deserialize_unit
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.text() {
            Some(text) => visitor.visit_string(text).map_err(|e: Refused| e.at(self.node)),
            None => self.plain(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if !matches!(self.tree.data(self.node), Data::Null) {
            return visitor.visit_some(self).map_err(|e| e.at(self.node));
        }
        if self.strict {
            let at = self.tree.location(self.node);
            let problem = Diagnostic::new(at, "this field has no value");
            self.bare.borrow_mut().push(problem.help("give it a value, or remove the line"));
        }
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let result = match name {
            SPANNED => visitor.visit_seq(SpannedParts { reader: self, step: 0 }),
            TEXT_OR => match self.text() {
                Some(text) => visitor.visit_string(text),
                None => self.any(visitor),
            },
            _ => visitor.visit_newtype_struct(self),
        };
        result.map_err(|e| e.at(self.node))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        let (word, content) = match self.tree.data(self.node) {
            Data::Map(entries) => match entries {
                [[key, value]] => (*key, Some(*value)),
                [] => {
                    return Err(Refused::new("one word with its value is missing here")
                        .help(choices("", words))
                        .at(self.node));
                }
                [_, [second, _], ..] => {
                    return Err(Refused::new("one entry holds one word; a second begins here")
                        .help("begin a new list item with `- ` for it")
                        .at(*second));
                }
            },
            Data::List(_) => {
                return Err(Refused::new("expected one word, found a list")
                    .help(choices("", words))
                    .at(self.node));
            }
            _ => (self.node, None),
        };
        let picked = Word { reader: Reader { strict: false, ..self.on(word) }, content };
        visitor.visit_enum(picked).map_err(|e| e.of(name).at(self.node))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let text = match self.tree.data(self.node) {
            Data::Text(text) => text,
            _ => self.tree.bare(self.node).unwrap_or_default(),
        };
        visitor.visit_str(text).map_err(|e: Refused| e.at(self.node))
    }

    forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit_struct tuple tuple_struct ignored_any
    }

    /// Derived readers also take the fields of a struct from a list, in order; a spec names them.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        if matches!(self.tree.data(self.node), Data::List(_)) {
            return Err(Refused::new("expected a mapping, found a list")
                .help(choices("", fields))
                .at(self.node));
        }
        self.deserialize_any(visitor)
    }
}

struct Items<'t> {
    reader: Reader<'t>,
    rest: std::slice::Iter<'t, NodeId>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Refused;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refused> {
        self.rest.next().map(|node| seed.deserialize(self.reader.on(*node))).transpose()
    }
}

struct Entries<'t> {
    reader: Reader<'t>,
    rest: std::slice::Iter<'t, [NodeId; 2]>,
    value: Option<NodeId>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Refused;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refused> {
        let Some([key, value]) = self.rest.next() else { return Ok(None) };
        self.value = Some(*value);
        seed.deserialize(Key(self.reader.on(*key))).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refused> {
        let node = self.value.take().unwrap_or(self.reader.node);
        seed.deserialize(self.reader.on(node))
    }
}

/// A map key: a text whatever YAML takes it for, unless a number is asked for.
struct Key<'t>(Reader<'t>);

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.0.deserialize_identifier(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The two parts of a [`super::Spanned`]: the node's number, then the value.
struct SpannedParts<'t> {
    reader: Reader<'t>,
    step: u8,
}

impl<'de> SeqAccess<'de> for SpannedParts<'_> {
    type Error = Refused;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refused> {
        self.step += 1;
        match self.step {
            1 => seed.deserialize(self.reader.node.into_deserializer()).map(Some),
            2 => seed.deserialize(self.reader).map(Some),
            _ => Ok(None),
        }
    }
}

/// An externally tagged enum: the word, and what stands behind it.
struct Word<'t> {
    reader: Reader<'t>,
    content: Option<NodeId>,
}

impl<'de, 't> EnumAccess<'de> for Word<'t> {
    type Error = Refused;
    type Variant = Word<'t>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Refused> {
        Ok((seed.deserialize(Key(self.reader))?, self))
    }
}

impl Word<'_> {
    fn content(&self) -> Result<Reader<'_>, Refused> {
        let word = self.reader.tree.text(self.reader.node).unwrap_or_default();
        let missing = || {
            Refused::new(format!("`{word}` needs a value"))
                .help(format!("write `{word}: …`; `evalsuite explain {word}` shows an example"))
                .at(self.reader.node)
        };
        self.content.map(|node| self.reader.on(node)).ok_or_else(missing)
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = Refused;

    fn unit_variant(self) -> Result<(), Refused> {
        match self.content {
            None => Ok(()),
            Some(node) if matches!(self.reader.tree.data(node), Data::Null) => Ok(()),
            Some(node) => Err(Refused::new("this word takes no value").at(node)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Refused> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refused> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.content()?.deserialize_any(visitor)
    }
}
