//! A YAML file as a tree in which every node knows its place.

use super::arena::{Arena, Kind};
use super::raw::Raw;
use crate::finding::Location;

/// An index into [`Tree`].
pub type NodeId = u32;

/// A parsed YAML file.
#[derive(Debug)]
pub struct Tree {
    /// The file as it is shown.
    pub file: String,
    text: String,
    /// Where each line begins, in bytes.
    lines: Vec<u32>,
    arena: Arena,
}

/// What a node holds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the kinds of YAML node need no explanation")]
pub enum Data<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(&'t str),
    List(&'t [NodeId]),
    /// Key and value, in the order of the file.
    Map(&'t [[NodeId; 2]]),
}

impl Tree {
    /// Takes what the YAML crate read from `text`.
    pub(super) fn new(file: &str, text: &str, root: Raw) -> Self {
        let breaks = text.match_indices('\n').filter_map(|(at, _)| u32::try_from(at + 1).ok());
        let lines = std::iter::once(0).chain(breaks).collect();
        Tree { file: file.to_owned(), text: text.to_owned(), lines, arena: Arena::of(root) }
    }

    /// The node that holds all others.
    pub fn root(&self) -> NodeId {
        self.arena.last()
    }

    /// What the node holds.
    pub fn data(&self, node: NodeId) -> Data<'_> {
        let arena = &self.arena;
        match arena.node(node).map_or(Kind::Null, |node| node.kind) {
            Kind::Null => Data::Null,
            Kind::Bool(value) => Data::Bool(value),
            Kind::Int(number) => Data::Int(arena.bits(number).cast_signed()),
            Kind::Uint(number) => Data::Uint(arena.bits(number)),
            Kind::Float(number) => Data::Float(f64::from_bits(arena.bits(number))),
            Kind::Text(part) => Data::Text(arena.text(part)),
            Kind::List(part) => Data::List(arena.children(part)),
            Kind::Map(part) => Data::Map(arena.children(part).as_chunks().0),
        }
    }

    /// Where the node begins.
    pub fn location(&self, node: NodeId) -> Location {
        match self.arena.node(node) {
            Some(node) => self.at(node.line as usize, node.column as usize),
            None => self.at(1, 1),
        }
    }

    /// A place in this file.
    pub fn at(&self, line: usize, column: usize) -> Location {
        let start =
            self.lines.get(line.saturating_sub(1)).map_or(self.text.len(), |at| *at as usize);
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
        let entry = entries.iter().find(|[name, _]| self.text(*name) == Some(key));
        entry.map(|[name, value]| (*name, *value))
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
            Data::List(items) => items.to_vec(),
            Data::Map(entries) => entries.iter().map(|[_, value]| *value).collect(),
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
            Data::Text(text) => source.get(..text.len()).filter(|start| *start == text),
            _ if source.starts_with(['&', '*', '!']) => None,
            _ => {
                let end = source.find(|c: char| c.is_whitespace() || ",]}".contains(c));
                Some(source[..end.unwrap_or(source.len())].trim_end_matches(':'))
            }
        }
    }

    fn source(&self, node: NodeId) -> &str {
        let start = self.arena.node(node).and_then(|node| node.start());
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
