//! The nodes of a YAML file, packed: a suite of ten thousand cases has some hundred thousand of them.

use super::raw::{Part, Raw, Scalar};
use super::tree::NodeId;

/// Nodes, and what does not fit into them. A node stands behind those below it, so the last is the root.
#[derive(Debug, Default)]
pub(super) struct Arena {
    nodes: Vec<Node>,
    children: Vec<NodeId>,
    texts: String,
    numbers: Vec<u64>,
}

/// One node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) line: u32,
    pub(super) column: u32,
    start: u32,
}

/// A stretch of [`Arena::children`] or of [`Arena::texts`]: where it begins, and how long it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch(u32, u32);

/// What a node holds, or where that is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Int(u32),
    Uint(u32),
    Float(u32),
    Text(Stretch),
    List(Stretch),
    /// Key, value, key, value …
    Map(Stretch),
}

const UNKNOWN: u32 = u32::MAX;

/// Sizes are those of parts of one file; the YAML crate, too, counts them in 32 bits.
fn small(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(UNKNOWN)
}

impl Node {
    /// Where in the text the node begins, in bytes.
    pub(super) fn start(&self) -> Option<usize> {
        (self.start != UNKNOWN).then_some(self.start as usize)
    }
}

impl Arena {
    /// The packed form of what the YAML crate read.
    pub(super) fn of(root: Raw) -> Arena {
        let mut arena = Arena::default();
        arena.push(root, &mut Vec::new());
        arena
    }

    /// The last node.
    pub(super) fn last(&self) -> NodeId {
        small(self.nodes.len().saturating_sub(1))
    }

    pub(super) fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node as usize)
    }

    pub(super) fn bits(&self, number: u32) -> u64 {
        self.numbers.get(number as usize).copied().unwrap_or_default()
    }

    pub(super) fn text(&self, Stretch(at, len): Stretch) -> &str {
        self.texts.get(at as usize..at as usize + len as usize).unwrap_or_default()
    }

    pub(super) fn children(&self, Stretch(at, len): Stretch) -> &[NodeId] {
        self.children.get(at as usize..at as usize + len as usize).unwrap_or_default()
    }

    /// Adds a node with all below it, and its number to `siblings`, which are nodes of this arena.
    pub(super) fn push(&mut self, raw: Raw, siblings: &mut Vec<NodeId>) {
        let at = raw.referenced;
        let kind = match raw.value.0 {
            Part::Leaf(scalar) => self.scalar(scalar),
            Part::List(arena, items) => Kind::List(self.merge(arena, items, siblings)),
            Part::Map(arena, entries) => Kind::Map(self.merge(arena, entries, siblings)),
        };
        let number = |n: u64| u32::try_from(n).ok();
        self.nodes.push(Node {
            kind,
            line: number(at.line()).unwrap_or(1),
            column: number(at.column()).unwrap_or(1),
            start: at.span().byte_offset().and_then(number).unwrap_or(UNKNOWN),
        });
        siblings.push(self.last());
    }

    fn scalar(&mut self, scalar: Scalar) -> Kind {
        match scalar {
            Scalar::Null => Kind::Null,
            Scalar::Bool(value) => Kind::Bool(value),
            Scalar::Int(value) => Kind::Int(self.number(value.cast_unsigned())),
            Scalar::Uint(value) => Kind::Uint(self.number(value)),
            Scalar::Float(value) => Kind::Float(self.number(value.to_bits())),
            Scalar::Text(text) => {
                let at = small(self.texts.len());
                self.texts.push_str(&text);
                Kind::Text(Stretch(at, small(text.len())))
            }
        }
    }

    fn number(&mut self, bits: u64) -> u32 {
        self.numbers.push(bits);
        small(self.numbers.len() - 1)
    }

    /// Takes the children of one node.
    pub(super) fn adopt(&mut self, nodes: &[NodeId]) -> Stretch {
        let at = small(self.children.len());
        self.children.extend(nodes);
        Stretch(at, small(nodes.len()))
    }

    /// Takes the nodes of another arena, and says where its `stretch` of children is now. The smaller of the two
    /// is moved, so that a long list is copied never, and everything else seldom.
    fn merge(&mut self, mut other: Arena, stretch: Stretch, siblings: &mut [NodeId]) -> Stretch {
        if other.nodes.len() <= self.nodes.len() {
            let Stretch(at, len) = stretch;
            let by = small(self.children.len());
            self.append(other);
            return Stretch(at + by, len);
        }
        std::mem::swap(self, &mut other);
        let by = small(self.nodes.len());
        siblings.iter_mut().for_each(|node| *node += by);
        self.append(other);
        stretch
    }

    fn append(&mut self, other: Arena) {
        let nodes = small(self.nodes.len());
        let (children, texts) = (small(self.children.len()), small(self.texts.len()));
        let numbers = small(self.numbers.len());
        let moved = |node: Node| {
            let kind = match node.kind {
                Kind::Null | Kind::Bool(_) => node.kind,
                Kind::Int(at) => Kind::Int(at + numbers),
                Kind::Uint(at) => Kind::Uint(at + numbers),
                Kind::Float(at) => Kind::Float(at + numbers),
                Kind::Text(Stretch(at, len)) => Kind::Text(Stretch(at + texts, len)),
                Kind::List(Stretch(at, len)) => Kind::List(Stretch(at + children, len)),
                Kind::Map(Stretch(at, len)) => Kind::Map(Stretch(at + children, len)),
            };
            Node { kind, ..node }
        };
        self.nodes.extend(other.nodes.into_iter().map(moved));
        self.children.extend(other.children.iter().map(|child| child + nodes));
        self.texts.push_str(&other.texts);
        self.numbers.extend(other.numbers);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use crate::spec::{Data, NodeId, Tree, yaml};

    fn value(tree: &Tree, node: NodeId) -> Value {
        match tree.data(node) {
            Data::Null => Value::Null,
            Data::Bool(value) => json!(value),
            Data::Int(value) => json!(value),
            Data::Uint(value) => json!(value),
            Data::Float(value) => json!(value),
            Data::Text(text) => json!(text),
            Data::List(items) => items.iter().map(|item| value(tree, *item)).collect(),
            Data::Map(entries) => {
                let entry = |[key, item]: &[NodeId; 2]| {
                    (tree.text(*key).unwrap().to_owned(), value(tree, *item))
                };
                Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }

    #[test]
    fn whatever_is_moved_stays_what_it_is() {
        let table = [
            ("a", json!("a")),
            ("[]", json!([])),
            ("{}", json!({})),
            ("[[[-1]], 2]", json!([[[-1]], 2])),
            (
                "small: 1\nlarge: [a, b, [c, 1.5, true, ~]]\nlast: x",
                json!({ "small": 1, "large": ["a", "b", ["c", 1.5, true, null]], "last": "x" }),
            ),
            (
                "large: { a: [1, 2, 3, 4], b: -9223372036854775808 }\nsmall: [18446744073709551615, 0.25]",
                json!({ "large": { "a": [1, 2, 3, 4], "b": i64::MIN }, "small": [u64::MAX, 0.25] }),
            ),
            (
                "a: &a [x, { y: 7 }]\nb: [*a, *a, é]",
                json!({ "a": ["x", { "y": 7 }], "b": [["x", { "y": 7 }], ["x", { "y": 7 }], "é"] }),
            ),
        ];
        for (text, expected) in table {
            let tree = yaml::parse("s", text).unwrap();
            assert_eq!(value(&tree, tree.root()), expected, "{text}");
        }
    }

    #[test]
    fn every_node_of_a_long_list_keeps_its_place() {
        let line = |n: usize| format!("  - {{ id: \"{n}\", n: [{n}, -{n}] }}\n");
        let lines: String = (2..500).map(line).collect();
        let tree = yaml::parse("s", &format!("list:\n{lines}after: 1\n")).unwrap();
        let list = tree.child(tree.root(), "list").unwrap();
        for (index, item) in tree.children(list).into_iter().enumerate() {
            let n = index + 2;
            assert_eq!(value(&tree, item), json!({ "id": n.to_string(), "n": [n, -(n as i64)] }));
            let numbers = tree.child(item, "n").unwrap();
            let at = tree.location(tree.children(numbers)[1]);
            assert_eq!((at.line, at.column), (n, 21 + 2 * n.to_string().len()));
            assert_eq!(format!("{}\n", at.source), line(n));
        }
        assert_eq!(tree.data(tree.child(tree.root(), "after").unwrap()), Data::Uint(1));
    }
}
