//! How the text of a region is read.

use fancy_regex::Regex;
use serde_json::{Map, Value};

use super::super::json::{self, quoted};
use super::super::scan::{End, Scan};
use super::data::Data;

/// A parser, by the name that templates give it.
#[derive(Debug)]
pub(super) enum Parser {
    Text(Strip),
    Number(Strip),
    Bool(Strip),
    Json(Json),
    XmlInline { pattern: Regex, value: Option<Box<Parser>>, merge: bool },
    KvLines { line: String, separator: String, value: Option<Box<Parser>>, strip: Strip },
    PythonCallList,
}

/// What is taken off the ends of a text.
#[derive(Debug, Default)]
pub(super) struct Strip {
    spaces: bool,
    prefix: String,
    suffix: String,
}

/// A dialect of JSON.
#[derive(Debug)]
pub(super) struct Json {
    unquoted_keys: Option<Regex>,
    strings: Vec<Regex>,
    prefix: String,
    suffix: String,
    allow_text: bool,
}

/// What stands for a string that was taken out; models write no control characters.
const HELD: [char; 2] = ['\u{1}', '\u{2}'];

/// A pattern whose dot matches line breaks, as templates mean it.
pub(super) fn pattern(source: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?s){source}")).map_err(|error| error.to_string())
}

impl Parser {
    pub(super) fn load(name: &str, args: &Map<String, Value>) -> Result<Parser, String> {
        let flag =
            |key: &str, otherwise| args.get(key).and_then(Value::as_bool).unwrap_or(otherwise);
        let text = |key: &str, otherwise: &str| {
            args.get(key).and_then(Value::as_str).unwrap_or(otherwise).to_owned()
        };
        let strip = || Strip {
            spaces: flag("strip", true),
            prefix: text("strip_prefix", ""),
            suffix: text("strip_suffix", ""),
        };
        let value = || args.get("value_parser").filter(|value| !value.is_null()).map(Parser::inner);
        match name {
            "text" => Ok(Parser::Text(strip())),
            "int" | "float" => Ok(Parser::Number(strip())),
            "bool" => Ok(Parser::Bool(strip())),
            "json" => Json::load(args).map(Parser::Json),
            "xml-inline" => Ok(Parser::XmlInline {
                pattern: tag_pattern(args)?,
                value: value().transpose()?,
                merge: flag("merge_duplicates", false),
            }),
            "kv-lines" => Ok(Parser::KvLines {
                line: text("line_sep", "\n"),
                separator: text("kv_sep", ":"),
                value: value().transpose()?,
                strip: strip(),
            }),
            "python-call-list" => Ok(Parser::PythonCallList),
            _ => Err(format!("`{name}` is no content parser")),
        }
    }

    fn inner(value: &Value) -> Result<Box<Parser>, String> {
        let none = Map::new();
        let args = value.get("args").and_then(Value::as_object).unwrap_or(&none);
        let name = value.get("name").and_then(Value::as_str).unwrap_or("text");
        Parser::load(name, args).map(Box::new)
    }

    /// Reads a text, or says why it cannot be read. Keys that are given twice go to `duplicates`.
    pub(super) fn read(&self, text: &str, duplicates: &mut Vec<String>) -> Result<Data, String> {
        match self {
            Parser::Text(strip) => Ok(Data::Text(strip.apply(text).to_owned())),
            Parser::Number(strip) => {
                let number = strip.apply(text).trim();
                let read = json::is_number(number).then(|| Data::Scalar(number.to_owned()));
                read.ok_or_else(|| format!("`{number}` is not a number"))
            }
            Parser::Bool(strip) => {
                let word = strip.apply(text).to_lowercase();
                Ok(Data::Scalar((word == "true" || word == "1").to_string()))
            }
            Parser::Json(dialect) => dialect.read(text, duplicates),
            Parser::XmlInline { pattern, value, merge } => {
                tags(text, pattern, value.as_deref(), *merge, duplicates)
            }
            Parser::KvLines { line, separator, value, strip } => {
                let mut members = Vec::new();
                for line in text.split(line.as_str()) {
                    let Some((key, text)) = strip.apply(line).split_once(separator.as_str()) else {
                        continue;
                    };
                    let data = sub_read(strip.apply(text), value.as_deref(), duplicates)?;
                    add(&mut members, strip.apply(key), data, false, duplicates);
                }
                Ok(Data::Object(members, None))
            }
            Parser::PythonCallList => python_calls(text),
        }
    }

    /// Whether what it reads is the text itself.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Parser::Text(_))
    }
}

impl Strip {
    fn apply<'t>(&self, text: &'t str) -> &'t str {
        let spaces = |text: &'t str| if self.spaces { text.trim() } else { text };
        let text = spaces(text);
        let text = text.strip_prefix(self.prefix.as_str()).unwrap_or(text);
        spaces(text.strip_suffix(self.suffix.as_str()).unwrap_or(text))
    }
}

fn tag_pattern(args: &Map<String, Value>) -> Result<Regex, String> {
    let source = args.get("tag_pattern").and_then(Value::as_str);
    let pattern = pattern(source.ok_or("`xml-inline` needs `tag_pattern`")?)?;
    match pattern.capture_names().flatten().any(|name| name == "key") {
        true => Ok(pattern),
        false => Err("`tag_pattern` has no group `key`".to_owned()),
    }
}

impl Json {
    fn load(args: &Map<String, Value>) -> Result<Json, String> {
        let flag = |key: &str| args.get(key).and_then(Value::as_bool).unwrap_or(false);
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let keys = flag("unquoted_keys").then(|| pattern(r"(?<=[{,])(\w+):"));
        Ok(Json {
            unquoted_keys: keys.transpose()?,
            strings: delimiters(args.get("string_delims"))?,
            prefix: text("prefix"),
            suffix: text("suffix"),
            allow_text: flag("allow_non_json"),
        })
    }

    fn read(&self, text: &str, duplicates: &mut Vec<String>) -> Result<Data, String> {
        let mut working = format!("{}{text}{}", self.prefix, self.suffix);
        if !self.strings.is_empty() && working.contains(HELD) {
            return Err("a control character that cannot stand in a reply".to_owned());
        }
        let mut held: Vec<String> = Vec::new();
        for strings in &self.strings {
            let hold = |found: &fancy_regex::Captures<'_>| {
                held.push(found.get(1).map_or("", |text| text.as_str()).to_owned());
                format!("{}{}{}", HELD[0], held.len() - 1, HELD[1])
            };
            working = strings.replace_all(&working, hold).into_owned();
        }
        if let Some(keys) = &self.unquoted_keys {
            working = keys.replace_all(&working, "\"$1\":").into_owned();
        }
        for (index, text) in held.iter().enumerate() {
            working = working.replace(&format!("{}{index}{}", HELD[0], HELD[1]), &quoted(text));
        }
        let working = working.trim();
        match json::whole(working) {
            Some((node, twice)) => {
                duplicates.extend(twice.into_iter().map(|duplicate| duplicate.key));
                Ok(Data::of(&node, working))
            }
            None if self.allow_text => Ok(Data::Text(text.trim().to_owned())),
            None => Err("the content is not JSON".to_owned()),
        }
    }
}

/// The patterns of strings between marks, given as pairs of an opening and a closing one.
fn delimiters(pairs: Option<&Value>) -> Result<Vec<Regex>, String> {
    let pairs = pairs.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of = |pair: &Value| {
        let mark = |at: usize| pair.get(at).and_then(Value::as_str).map(fancy_regex::escape);
        match (mark(0), mark(1)) {
            (Some(open), Some(close)) => pattern(&format!("{open}(.*?){close}")),
            _ => Err("`string_delims` holds something else than pairs of texts".to_owned()),
        }
    };
    pairs.iter().map(of).collect()
}

fn sub_read(
    text: &str,
    parser: Option<&Parser>,
    duplicates: &mut Vec<String>,
) -> Result<Data, String> {
    match parser {
        Some(parser) => parser.read(text, duplicates),
        None => Ok(Data::Text(text.to_owned())),
    }
}

fn tags(
    text: &str,
    pattern: &Regex,
    value: Option<&Parser>,
    merge: bool,
    duplicates: &mut Vec<String>,
) -> Result<Data, String> {
    let (mut members, mut at) = (Vec::new(), 0);
    let between = |range: std::ops::Range<usize>| match text.get(range).map_or("", str::trim) {
        "" => Ok(()),
        other => Err(format!("`{other}` stands between the arguments")),
    };
    for found in pattern.captures_iter(text) {
        let found = found.map_err(|error| format!("`tag_pattern` gave up: {error}"))?;
        let group = |name: &str| found.name(name).map_or("", |text| text.as_str());
        let span = found.get(0).map_or(at..at, |whole| whole.range());
        between(at..span.start)?;
        at = span.end;
        let data = sub_read(group("value"), value, duplicates)?;
        add(&mut members, group("key"), data, merge, duplicates);
    }
    between(at..text.len())?;
    Ok(Data::Object(members, None))
}

/// Adds a member; one of the same key is merged with it, or told and replaced.
fn add(
    members: &mut Vec<(String, Data)>,
    key: &str,
    data: Data,
    merge: bool,
    duplicates: &mut Vec<String>,
) {
    let Some((_, old)) = members.iter_mut().find(|(other, _)| other == key) else {
        return members.push((key.to_owned(), data));
    };
    match old {
        Data::List(items, None) if merge => items.push(data),
        old if merge => *old = Data::List(vec![old.clone(), data], None),
        old => {
            duplicates.push(key.to_owned());
            *old = data;
        }
    }
}

fn python_calls(text: &str) -> Result<Data, String> {
    let mut scan = Scan::new(text, End::Unknown, "", &[]);
    scan.python_list().map_err(|(_, fault)| fault.message)?;
    if !scan.rest().trim().is_empty() {
        return Err("text behind the list of calls".to_owned());
    }
    let call = |call: super::super::RawCall| {
        let name = ("name".to_owned(), Data::Text(call.name));
        let (node, _) = json::whole(&call.arguments).ok_or("the arguments are not JSON")?;
        let arguments = ("arguments".to_owned(), Data::of(&node, &call.arguments));
        Ok(Data::Object(vec![name, arguments], None))
    };
    let calls = scan.finish().calls.into_iter().map(call);
    Ok(Data::List(calls.collect::<Result<_, String>>()?, None))
}
