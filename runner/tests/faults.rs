//! One thing is changed at a time; the run must fail and blame the boundary that was changed.

use std::fs;

use serde_json::Value;

use crate::support::{Project, root};

const SPEC: &str = "\
branch: tool_call
settings: { temperature: 0, seed: 7, max_tokens: 64 }
tools: ../../city.json
snapshot: [input, settings, generation, response]
cases:
  - id: oslo
    turns:
      - user: What is the weather in Oslo?
        expect:
          - settings: { temperature: 0 }
          - tool_calls: [{ name: get_weather, arguments: { city: Oslo } }]
          - termination: eos
    expect:
      - logits: { against: accepted, atol: 0.02, near_tie: 0.1, because: f32 on other CPUs }
";

/// A project whose snapshots are accepted and which passes.
fn accepted() -> Project {
    let project = Project::new();
    project.write("specs/tool_call/weather.yaml", SPEC);
    let tools = fs::read_to_string(root().join("fixtures/tools/city.json")).unwrap();
    project.write("city.json", &tools);
    let (code, _) = project.events(&["--update", "always"]);
    assert_eq!(code, 0, "the first run accepts everything");
    let (code, _) = project.events(&[]);
    assert_eq!(code, 0, "nothing changed, so everything holds");
    project
}

/// The only case of a run that must fail.
fn failed(project: &Project) -> Value {
    let (code, events) = project.events(&["--update", "no"]);
    assert_eq!(code, 1);
    let case = events.into_iter().find(|event| event["event"] == "case").unwrap();
    assert_eq!(case["status"], "failed");
    case
}

#[test]
fn a_changed_template_is_blamed_on_the_input() {
    let project = accepted();
    project.edit(
        "model/chat_template.jinja",
        "You can call these tools:",
        "You can call these tools!",
    );
    let case = failed(&project);
    assert_eq!(case["boundary"], "input");
    assert_eq!(case["boundaries"]["generation"], "not_comparable");
}

#[test]
fn a_lost_end_id_is_blamed_on_the_settings() {
    let project = accepted();
    project.edit("model/generation_config.json", "1017,\n", "");
    project.edit("model/config.json", "\"eos_token_id\": 1017", "\"eos_token_id\": 1015");
    project.edit(
        "model/tokenizer_config.json",
        "\"eos_token\": \"<|im_end|>\"",
        "\"eos_token\": \"<|endoftext|>\"",
    );
    let case = failed(&project);
    assert_eq!(case["boundary"], "settings");
    assert_eq!(case["boundaries"]["input"], "held");
}

#[test]
fn a_pinned_temperature_is_blamed_on_the_settings() {
    let project = accepted();
    project.edit(
        "specs/tool_call/weather.yaml",
        "{ temperature: 0, seed",
        "{ temperature: 1, seed",
    );
    let case = failed(&project);
    assert_eq!(case["boundary"], "settings");
    assert_eq!(case["boundaries"]["input"], "held");
}

#[test]
fn a_perturbed_weight_is_blamed_on_the_generation() {
    let project = accepted();
    let path = project.path("model/model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let index: Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let start = index["model.norm.weight"]["data_offsets"][0].as_u64().unwrap() as usize;
    let at = 8 + header + start;
    let weight = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    bytes[at..at + 4].copy_from_slice(&(weight + 1.0).to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let case = failed(&project);
    assert_eq!(case["boundary"], "generation");
    assert_eq!(case["boundaries"]["input"], "held");
    assert_eq!(case["boundaries"]["settings"], "held");
}

#[test]
fn a_renamed_argument_is_blamed_on_the_response() {
    let project = accepted();
    project.edit(
        "specs/tool_call/weather.yaml",
        "arguments: { city: Oslo }",
        "arguments: { town: Oslo }",
    );
    let case = failed(&project);
    assert_eq!(case["boundary"], "response");
    for boundary in ["input", "settings", "generation"] {
        assert_eq!(case["boundaries"][boundary], "held", "{boundary}");
    }
}

#[test]
fn a_changed_scorer_reference_is_blamed_on_the_score() {
    let project = Project::new();
    project.write(
        "specs/multi_turn/score.yaml",
        "\
branch: multi_turn
settings: { temperature: 0, seed: 7, max_tokens: 32 }
cases:
  - id: name
    turns:
      - user: My name is Greta.
      - user: What is my name?
        expect:
          - task_score: { scorer: contains, extractor: whole, reference: Greta }
",
    );
    assert_eq!(project.events(&[]).0, 0);
    project.edit("specs/multi_turn/score.yaml", "reference: Greta", "reference: Gerda");
    let case = failed(&project);
    assert_eq!(case["boundary"], "score");
    assert_eq!(case["boundaries"]["input"], "held");
}
