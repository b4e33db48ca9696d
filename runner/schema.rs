//! JSON Schema of spec and target files, for editors: a YAML language server completes and explains from it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::assertion::{self, Info};
use crate::spec::{Spec, Targets};

/// The schema of a spec file, one document.
pub fn schema() -> Value {
    let mut schema = document::<Spec>("evalsuite spec");
    if let Some(cases) = schema.as_object_mut() {
        cases.insert(
            "anyOf".into(),
            json!([{ "required": ["cases"] }, { "required": ["cases_from"] }]),
        );
    }
    explain_assertions(&mut schema);
    schema
}

/// The schema of `targets.yaml`, one document.
pub fn targets_schema() -> Value {
    document::<Targets>("evalsuite targets")
}

/// Draft 7 is what the editors' YAML language server speaks best.
fn document<T: JsonSchema>(title: &str) -> Value {
    let root: Schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    let mut schema = root.to_value();
    refuse_null(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!(title));
    }
    schema
}

/// A field may be left out, but it is never `null`: an empty value in YAML is a mistake.
fn refuse_null(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(forms)) = map.get_mut("anyOf") {
                forms.retain(|form| form.get("type") != Some(&json!("null")));
                if forms.len() == 1 {
                    unwrap_single(map);
                }
            }
            if map.get("default") == Some(&Value::Null) {
                map.remove("default");
            }
            map.values_mut().for_each(refuse_null);
        }
        Value::Array(items) => items.iter_mut().for_each(refuse_null),
        _ => {}
    }
}

/// `anyOf` with one form is that form. In draft 7 a `$ref` hides its neighbours, so it stays wrapped, in `allOf`.
fn unwrap_single(map: &mut Map<String, Value>) {
    let Some(Value::Array(mut forms)) = map.remove("anyOf") else { return };
    match forms.pop() {
        Some(Value::Object(form)) if !form.contains_key("$ref") => {
            for (key, value) in form {
                map.entry(key).or_insert(value);
            }
        }
        Some(form) => {
            map.insert("allOf".into(), json!([form]));
        }
        None => {}
    }
}

/// Puts the help of each assertion on its word, where an editor shows it.
fn explain_assertions(schema: &mut Value) {
    let forms = schema.pointer_mut("/definitions/Assertion/oneOf").and_then(Value::as_array_mut);
    for form in forms.into_iter().flatten() {
        let Some(properties) = form.get("properties").and_then(Value::as_object) else { continue };
        let Some(name) = properties.keys().next().cloned() else { continue };
        let Some(info) = assertion::ALL.iter().find(|info| info.name == name) else { continue };
        let Some(form) = form.as_object_mut() else { continue };
        form.insert("description".into(), json!(info.summary));
        if let Some(argument) = form.get_mut("properties").and_then(|p| p.get_mut(&name)) {
            describe(argument, info);
        }
    }
}

fn describe(argument: &mut Value, info: &Info) {
    let text = format!("{} (boundary `{}`)\n\n{}", info.summary, info.boundary, info.help);
    let inner = argument.take();
    // A `$ref` hides its neighbours in draft 7, a description among them.
    *argument = match inner {
        Value::Object(map) if !map.contains_key("$ref") => Value::Object(map),
        inner => json!({ "allOf": [inner] }),
    };
    if let Some(map) = argument.as_object_mut() {
        map.insert("markdownDescription".into(), json!(text));
        map.insert("description".into(), json!(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(schema: &Value, instance: &Value) -> Vec<String> {
        let validator = jsonschema::validator_for(schema).unwrap();
        validator.iter_errors(instance).map(|error| error.to_string()).collect()
    }

    fn spec(case: Value) -> Value {
        json!({ "branch": "stopping", "cases": [case] })
    }

    #[test]
    fn a_right_spec_is_valid_and_wrong_ones_are_not() {
        let schema = schema();
        let turns = json!([{ "user": "Hi.", "expect": [{ "finish_reason": "stop" }] }]);
        let right = json!({ "id": "a", "turns": turns, "settings": { "temperature": 0 } });
        assert_eq!(errors(&schema, &spec(right)), Vec::<String>::new());
        let wrong = [
            json!({ "id": "a", "turns": turns, "expects": [] }),
            json!({ "id": 1, "turns": turns }),
            json!({ "id": "a" }),
            json!({ "id": "a", "turns": turns, "system": null }),
            json!({ "id": "a", "turns": [{ "user": "x", "prefill": "y" }] }),
            json!({ "id": "a", "turns": turns, "expect": [{ "finish_reson": "stop" }] }),
            json!({ "id": "a", "turns": turns, "expect": [{ "finish_reason": 1 }] }),
            json!({ "id": "a", "turns": turns, "snapshot": ["inputs"] }),
        ];
        for case in wrong {
            assert!(!errors(&schema, &spec(case.clone())).is_empty(), "{case}");
        }
        assert!(!errors(&schema, &json!({ "branch": "stopping" })).is_empty());
    }

    #[test]
    fn targets_that_are_not_built_yet_are_not_offered() {
        let schema = targets_schema();
        let target = |target: Value| json!({ "targets": { "a": target } });
        assert!(errors(&schema, &target(json!({ "candle": { "model": "m" } }))).is_empty());
        assert!(!errors(&schema, &target(json!({ "remote": { "url": "u" } }))).is_empty());
    }

    #[test]
    fn every_assertion_is_explained_on_its_word() {
        let schema = schema();
        let forms = schema.pointer("/definitions/Assertion/oneOf").unwrap().as_array().unwrap();
        assert_eq!(forms.len(), assertion::ALL.len());
        for info in assertion::ALL {
            let explained = |form: &&Value| {
                let text = form["properties"][info.name]["description"].as_str();
                text.is_some_and(|text| text.contains(info.help))
            };
            assert!(forms.iter().find(explained).is_some(), "{}", info.name);
        }
    }
}
