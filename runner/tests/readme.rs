//! The README shows what the program prints, and its tables are the registries.

use std::fs;

use crate::support::root;

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The text between `<!-- NAME -->` and `<!-- /NAME -->`.
fn section(name: &str) -> String {
    let text = readme();
    let (_, rest) =
        text.split_once(&format!("<!-- {name} -->\n")).unwrap_or_else(|| panic!("no {name}"));
    rest.split_once(&format!("<!-- /{name} -->")).unwrap().0.to_owned()
}

/// The body of the first fenced block in `text`.
#[cfg(feature = "candle")]
fn block(text: &str) -> String {
    let (_, rest) = text.split_once("```").unwrap();
    let (_, body) = rest.split_once('\n').unwrap();
    body.split_once("```").unwrap().0.to_owned()
}

#[cfg(feature = "candle")]
#[test]
fn the_first_screen_is_what_the_program_prints() {
    let project = crate::support::Project::new();
    project.write("specs/targets.yaml", "default: tiny-chat\ntargets:\n  tiny-chat: { candle: { model: ../model, device: cpu, dtype: f32 } }\n");
    let city = fs::read_to_string(root().join("fixtures/tools/city.json")).unwrap();
    project.write("fixtures/tools/city.json", &city);
    project.write("specs/tool_call/weather.yaml", &block(&section("first spec")));
    let ran = project.run(&["run", "specs/"]);
    let printed = format!("$ evalsuite run specs/\n{}", untimed(&ran.stdout));
    assert_eq!(untimed(&block(&section("first run"))), printed);
    assert_eq!(ran.code, 1);
}

/// The text without the seconds that the run took.
#[cfg(feature = "candle")]
fn untimed(text: &str) -> String {
    let (before, seconds) = text.rsplit_once("   in ").unwrap();
    assert!(seconds.trim_end().ends_with(" s"), "{seconds}");
    before.to_owned()
}

#[test]
fn the_tables_are_the_registries() {
    let mut branches =
        String::from("| branch | what it is | what it demands by itself |\n| --- | --- | --- |\n");
    for branch in evalsuite::branch::Branch::ALL {
        let info = branch.info();
        let rules: Vec<String> =
            info.rules.iter().map(|rule| format!("`{}`: {}", rule.name, rule.summary)).collect();
        branches += &format!("| `{}` | {} | {} |\n", info.name, info.summary, rules.join("; "));
    }
    assert_eq!(section("branches"), branches);

    let mut assertions =
        String::from("| boundary | assertion | holds when |\n| --- | --- | --- |\n");
    for info in evalsuite::assertion::ALL {
        assertions += &format!("| {} | `{}` | {} |\n", info.boundary, info.name, info.summary);
    }
    assert_eq!(section("assertions"), assertions);

    let mut dialects = String::from(
        "| dialect | server | prompt ids | output ids | settings in force |\n| --- | --- | --- | --- | --- |\n",
    );
    for dialect in evalsuite::backend::remote::dialect::ALL {
        dialects += &format!(
            "| `{}` | {} | {} | {} | {} |\n",
            dialect.name,
            dialect.summary,
            dialect.prompt_routes(),
            dialect.output_ids,
            dialect.settings_told,
        );
    }
    assert_eq!(section("dialects"), dialects);
}
