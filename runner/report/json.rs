//! `json`: one event per line, the stored format that other programs rely on.

use std::io::{self, Write};

use serde_json::Value;

use super::{Options, Reporter, Sink};
use crate::event::Event;

struct Json {
    out: Sink,
}

pub(super) fn open(sink: Sink, _: Options) -> Box<dyn Reporter> {
    Box::new(Json { out: sink })
}

impl Reporter for Json {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut value = serde_json::to_value(event)?;
        name_places(&mut value);
        escape_invisible(&mut self.out, &value)?;
        self.out.flush()
    }
}

/// A place in a spec is `file:line:column` here; evidence keeps the line itself, for the caret.
fn name_places(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                if name == "spec" {
                    *value = place(value);
                } else {
                    name_places(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(name_places),
        _ => {}
    }
}

fn place(location: &Value) -> Value {
    let file = location["file"].as_str().unwrap_or_default();
    Value::String(format!("{file}:{}:{}", location["line"], location["column"]))
}

/// JSON allows DEL and C1 controls as they are; a terminal that shows the file would obey them.
fn escape_invisible(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c.is_control() {
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use crate::event::Event;
    use crate::report::{Options, sample, written};
    use serde_json::{Value, json};

    #[test]
    fn each_event_is_a_line_of_the_documented_form() {
        let text = written("json", Options::default(), &sample::events());
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), sample::events().len());
        assert_eq!((&lines[0]["event"], &lines[0]["schema"]), (&json!("run"), &json!(1)));
        let case = &lines[2];
        assert_eq!(case["event"], "case");
        assert_eq!(case["status"], "failed");
        assert_eq!(case["boundary"], "input");
        assert_eq!(case["spec"], "specs/tool_call/weather.yaml:8:11");
        assert_eq!(case["boundaries"]["generation"], "not_comparable");
        let finding = json!({
            "name": "double_bos", "kind": "seam", "boundary": "input", "turn": 1, "status": "fail",
            "expected": "5 degrees", "actual": "4 degrees", "at": "token 17",
            "message": "the input is not what was expected", "spec": "specs/tool_call/weather.yaml:12:11",
        });
        assert_eq!(case["findings"][1], finding);
        let summary = lines.last().unwrap();
        assert_eq!(
            (&summary["event"], &summary["by_boundary"]["input"]),
            (&json!("summary"), &json!(1))
        );
    }

    #[test]
    fn text_of_a_model_comes_back_as_it_was() {
        let text = written("json", Options::default(), &[Event::Case(Box::new(sample::hostile()))]);
        assert_eq!(text.lines().count(), 1);
        let case: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(case["findings"][1]["actual"], sample::HOSTILE);
    }
}
