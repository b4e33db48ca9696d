//! A YAML file as a tree in which every node knows its place.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::finding::Location;

/// An index into [`Tree`].
pub type NodeId = usize;

/// A parsed YAML file.
#[derive(Debug)]
pub struct Tree {
    /// The file as it is shown.
    pub file: String,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<usize>,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    data: Data,
    line: usize,
    column: usize,
    /// Where in the text the node begins, in bytes.
    start: Option<usize>,
}

/// What a node holds.
#[derive(Debug)]
#[expect(missing_docs, reason = "the kinds of YAML node need no explanation")]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    List(Vec<NodeId>),
    /// Key and value, in the order of the file.
    Map(Vec<(NodeId, NodeId)>),
}

impl Tree {
    /// Takes what the YAML crate read from `text`; the root is node 0.
    pub(super) fn new(file: &str, text: &str, root: Raw) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut tree = Tree {
            file: file.to_owned(),
            text: text.to_owned(),
            lines: std::iter::once(0).chain(breaks).collect(),
            nodes: Vec::new(),
        };
        tree.insert(root);
        tree
    }

    fn insert(&mut self, raw: Raw) -> NodeId {
        let id = self.nodes.len();
        let at = raw.referenced;
        let start = at.span().byte_offset().and_then(|n| usize::try_from(n).ok());
        self.nodes.push(Node {
            data: Data::Null,
            line: usize::try_from(at.line()).unwrap_or(1),
            column: usize::try_from(at.column()).unwrap_or(1),
            start,
        });
        let data = match raw.value.0 {
            RawData::Leaf(data) => data,
            RawData::List(items) => {
                Data::List(items.into_iter().map(|item| self.insert(item)).collect())
            }
            RawData::Map(entries) => Data::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (self.insert(key), self.insert(value)))
                    .collect(),
            ),
        };
        if let Some(node) = self.nodes.get_mut(id) {
            node.data = data;
        }
        id
    }

    /// The node that holds all others.
    pub fn root(&self) -> NodeId {
        0
    }

    /// What the node holds.
    pub fn data(&self, node: NodeId) -> &Data {
        self.nodes.get(node).map_or(&Data::Null, |node| &node.data)
    }

    /// Where the node begins.
    pub fn location(&self, node: NodeId) -> Location {
        match self.nodes.get(node) {
            Some(node) => self.at(node.line, node.column),
            None => self.at(1, 1),
        }
    }

    /// A place in this file.
    pub fn at(&self, line: usize, column: usize) -> Location {
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let rest = self.text.get(start..).unwrap_or_default();
        Location { line, ..place(&self.file, rest, 1, column) }
    }

    /// The value under `key`.
    pub fn child(&self, node: NodeId, key: &str) -> Option<NodeId> {
        self.entry(node, key).map(|(_, value)| value)
    }

    /// The key `key` and its value.
    pub fn entry(&self, node: NodeId, key: &str) -> Option<(NodeId, NodeId)> {
        let Data::Map(entries) = self.data(node) else { return None };
        entries.iter().copied().find(|(name, _)| self.text(*name) == Some(key))
    }

    /// The text of a text node.
    pub fn text(&self, node: NodeId) -> Option<&str> {
        match self.data(node) {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list, or the values of a map.
    pub fn children(&self, node: NodeId) -> Vec<NodeId> {
        match self.data(node) {
            Data::List(items) => items.clone(),
            Data::Map(entries) => entries.iter().map(|(_, value)| *value).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the node is written in double quotes.
    pub fn is_double_quoted(&self, node: NodeId) -> bool {
        self.source(node).starts_with('"')
    }

    /// The text of a scalar that is written without quotes, exactly as it stands in the file.
    pub fn bare(&self, node: NodeId) -> Option<&str> {
        let source = self.source(node);
        match self.data(node) {
            Data::List(_) | Data::Map(_) => None,
            Data::Text(text) => source.get(..text.len()).filter(|start| start == text),
            _ if source.starts_with(['&', '*', '!']) => None,
            _ => {
                let end = source.find(|c: char| c.is_whitespace() || ",]}".contains(c));
                Some(source[..end.unwrap_or(source.len())].trim_end_matches(':'))
            }
        }
    }

    fn source(&self, node: NodeId) -> &str {
        let start = self.nodes.get(node).and_then(|node| node.start);
        start.and_then(|start| self.text.get(start..)).unwrap_or_default()
    }
}

/// A place in a text; line and column count from 1.
pub fn place(file: &str, text: &str, line: usize, column: usize) -> Location {
    Location {
        file: file.to_owned(),
        line: line.max(1),
        column: column.max(1),
        source: text.lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned(),
    }
}

/// A node as the YAML crate gives it.
pub(super) type Raw = serde_yaml::Spanned<RawNode>;

pub(super) struct RawNode(RawData);

enum RawData {
    Leaf(Data),
    List(Vec<Raw>),
    Map(Vec<(Raw, Raw)>),
}

impl<'de> Deserialize<'de> for RawNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor).map(RawNode)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawData;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Null))
    }

    fn visit_none<E>(self) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Uint(value)))
    }

    fn visit_i128<E>(self, value: i128) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Text(value.to_string())))
    }

    fn visit_u128<E>(self, value: u128) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Text(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Text(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<RawData, E> {
        Ok(RawData::Leaf(Data::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawData, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(RawData::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawData, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawData::Map(entries))
    }
}
