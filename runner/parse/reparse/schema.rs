//! The declared types of arguments, by which plain text is read.

use serde_json::Value;

use super::json::{self, Kind};

/// How many references are followed before a schema counts as saying nothing.
const MAX_REFERENCES: usize = 16;

/// A part of a function's parameters; without a declaration it admits everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema<'a> {
    root: Option<&'a Value>,
    node: Option<&'a Value>,
}

/// A plain text, read by its declared type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed {
    /// The value as JSON.
    pub(super) json: String,
    /// Whether the type admits a string and something else.
    pub(super) ambiguous: bool,
    /// Whether the type admits neither a string nor what the text says.
    pub(super) wrong: bool,
    /// Whether an object of it has a key twice.
    pub(super) duplicate: bool,
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Types(u8);

const STRING: Types = Types(1);
const INTEGER: Types = Types(2);
const NUMBER: Types = Types(4 | 2);
const BOOLEAN: Types = Types(8);
const NULL: Types = Types(16);
const OBJECT: Types = Types(32);
const ARRAY: Types = Types(64);
const ANY: Types = Types(127);
const NONE: Types = Types(0);

impl Types {
    fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    fn admits(self, other: Types) -> bool {
        other != NONE && self.and(other) == other
    }

    fn named(name: &str) -> Types {
        match name {
            "string" => STRING,
            "integer" => INTEGER,
            "number" => NUMBER,
            "boolean" => BOOLEAN,
            "null" => NULL,
            "object" => OBJECT,
            "array" => ARRAY,
            _ => ANY,
        }
    }

    fn of(value: &Value) -> Types {
        match value {
            Value::String(_) => STRING,
            Value::Number(number) if number.is_f64() => NUMBER,
            Value::Number(_) => INTEGER,
            Value::Bool(_) => BOOLEAN,
            Value::Null => NULL,
            Value::Object(_) => OBJECT,
            Value::Array(_) => ARRAY,
        }
    }
}

impl<'a> Schema<'a> {
    /// The parameters of the tool of this name.
    pub(super) fn of(tools: &'a [Value], name: &str) -> Schema<'a> {
        let function = |tool: &'a Value| tool.get("function").unwrap_or(tool);
        let is_it = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(name);
        let root = tools.iter().map(function).find(is_it).and_then(|tool| tool.get("parameters"));
        Schema { root, node: root }
    }

    /// The schema of a member of an object.
    pub(super) fn property(self, key: &str) -> Schema<'a> {
        self.part(&|node| {
            let declared = node.get("properties").and_then(|properties| properties.get(key));
            declared.or_else(|| node.get("additionalProperties").filter(|rest| rest.is_object()))
        })
    }

    /// The schema of an array's items.
    pub(super) fn item(self) -> Schema<'a> {
        self.part(&|node| node.get("items"))
    }

    /// Whether an array is the only container that it admits.
    pub(super) fn is_array(self) -> bool {
        self.types().and(ARRAY.or(OBJECT)) == ARRAY
    }

    /// The empty container that a blank text is, where nothing but one kind of container is allowed.
    pub(super) fn empty(self) -> Option<&'static str> {
        match self.types() {
            ARRAY => Some("[]"),
            OBJECT => Some("{}"),
            _ => None,
        }
    }

    fn part(self, find: &dyn Fn(&'a Value) -> Option<&'a Value>) -> Schema<'a> {
        let node = self.node.and_then(|node| self.find(node, find, 0));
        Schema { root: self.root, node }
    }

    fn find(
        self,
        node: &'a Value,
        find: &dyn Fn(&'a Value) -> Option<&'a Value>,
        depth: usize,
    ) -> Option<&'a Value> {
        if depth > MAX_REFERENCES {
            return None;
        }
        let branches = ["anyOf", "oneOf", "allOf"];
        let branches = branches.iter().filter_map(|word| node.get(word)?.as_array()).flatten();
        let mut inner = self.target(node).into_iter().chain(branches);
        find(node).or_else(|| inner.find_map(|node| self.find(node, find, depth + 1)))
    }

    /// What the `$ref` of a schema points to.
    fn target(self, node: &Value) -> Option<&'a Value> {
        let pointer = node.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root?.pointer(pointer)
    }

    fn types(self) -> Types {
        self.node.map_or(ANY, |node| self.types_of(node, 0))
    }

    fn types_of(self, node: &'a Value, depth: usize) -> Types {
        if depth > MAX_REFERENCES || !node.is_object() {
            return ANY;
        }
        let union = |types: &mut dyn Iterator<Item = Types>| types.fold(NONE, Types::or);
        let mut types = match node.get("type") {
            Some(Value::String(name)) => Types::named(name),
            Some(Value::Array(names)) => {
                union(&mut names.iter().map(|name| name.as_str().map_or(ANY, Types::named)))
            }
            _ if node.get("properties").is_some() => OBJECT,
            _ if node.get("items").is_some() => ARRAY,
            _ => ANY,
        };
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            types = types.and(union(&mut values.iter().map(Types::of)));
        }
        types = types.and(node.get("const").map_or(ANY, Types::of));
        if node.get("$ref").is_some() {
            let target = self.target(node);
            types = types.and(target.map_or(ANY, |target| self.types_of(target, depth + 1)));
        }
        let branches = |word: &str| node.get(word).and_then(Value::as_array);
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(branches) {
            types =
                types.and(union(&mut branches.iter().map(|node| self.types_of(node, depth + 1))));
        }
        for branch in branches("allOf").into_iter().flatten() {
            types = types.and(self.types_of(branch, depth + 1));
        }
        let nullable = node.get("nullable").and_then(Value::as_bool) == Some(true);
        if nullable { types.or(NULL) } else { types }
    }

    /// Reads a text that may be a string: it is one wherever that is allowed.
    pub(super) fn read(self, text: &str) -> Typed {
        let types = self.types();
        if types.admits(STRING) {
            return Typed { ambiguous: types != STRING, ..Typed::string(text) };
        }
        let read = Typed::value(text).filter(|(value, _)| types.admits(*value));
        read.map_or_else(|| Typed { wrong: true, ..Typed::string(text) }, |(_, typed)| typed)
    }

    /// Reads a text of a family that marks strings: without marks, it is first of all JSON.
    pub(super) fn read_bare(self, text: &str) -> Typed {
        let types = self.types();
        match Typed::value(text) {
            Some((value, typed)) if types.admits(value) => typed,
            _ if types.admits(STRING) => {
                Typed { ambiguous: types != STRING, ..Typed::string(text.trim()) }
            }
            _ => Typed { wrong: true, ..Typed::string(text.trim()) },
        }
    }
}

impl Typed {
    pub(super) fn string(text: &str) -> Typed {
        Typed { json: json::quoted(text), ambiguous: false, wrong: false, duplicate: false }
    }

    /// Takes over what was told of a part of it.
    pub(super) fn absorb(&mut self, part: &Typed) {
        self.ambiguous |= part.ambiguous;
        self.wrong |= part.wrong;
        self.duplicate |= part.duplicate;
    }

    /// Reads a text that its family marks as JSON.
    pub(super) fn json(text: &str) -> Typed {
        let read = Typed::value(text);
        read.map_or_else(|| Typed { wrong: true, ..Typed::string(text) }, |(_, typed)| typed)
    }

    /// The value that a text says in JSON, or as Python writes its constants, which templates of such families do.
    fn value(text: &str) -> Option<(Types, Typed)> {
        let source = text.trim();
        let python = match source {
            "True" => Some((BOOLEAN, "true")),
            "False" => Some((BOOLEAN, "false")),
            "None" => Some((NULL, "null")),
            _ => None,
        };
        let of = |json: &str, duplicate| Typed {
            json: json.to_owned(),
            ambiguous: false,
            wrong: false,
            duplicate,
        };
        if let Some((types, json)) = python {
            return Some((types, of(json, false)));
        }
        let (node, duplicates) = json::whole(source)?;
        let types = match node.kind {
            Kind::Text(_) => STRING,
            Kind::Number if source.contains(['.', 'e', 'E']) && !is_whole(source) => NUMBER,
            Kind::Number => INTEGER,
            Kind::Bool => BOOLEAN,
            Kind::Null => NULL,
            Kind::Object(_) => OBJECT,
            Kind::Array(_) => ARRAY,
        };
        Some((types, of(source, !duplicates.is_empty())))
    }
}

/// Whether a number with a point is an integer to JSON Schema, as `2.0` is.
fn is_whole(source: &str) -> bool {
    source.split_once('.').is_some_and(|(_, fraction)| fraction.bytes().all(|byte| byte == b'0'))
}
