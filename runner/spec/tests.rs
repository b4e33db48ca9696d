use super::*;

fn parse(text: &str) -> (Option<Spec>, Vec<String>) {
    let tree = yaml::parse("s.yaml", text).unwrap();
    let mut problems = Vec::new();
    let spec = read(&tree, &mut problems);
    let shown = problems.iter().map(|p| format!("{} {}", p.location, p.message)).collect();
    (spec, shown)
}

const HEAD: &str = "branch: tool_call\ncases:\n";

#[test]
fn values_know_their_place() {
    let text = format!(
        "{HEAD}  - id: é\n    turns:\n      - user: hi\n        expect: [finish_reason: stop]\n"
    );
    let tree = yaml::parse("s.yaml", &text).unwrap();
    let spec: Spec = read(&tree, &mut Vec::new()).unwrap();
    let case = spec.cases[0].read(&tree).unwrap();
    let turn = &case.value.turns.value[0];
    let at = tree.location(turn.value.expect[0].node);
    assert_eq!((at.line, at.column), (6, 18));
    assert_eq!(at.source, "        expect: [finish_reason: stop]");
}

#[test]
fn every_bare_scalar_is_reported_at_once() {
    let text = format!(
        "{HEAD}  - id: 1.10\n    tags: [no, 017, 1_000, fine]\n    turns:\n      - user: yes\n      - tool: {{ name: f, content: 4 }}\n      - user: ~\n      - assistant:\n"
    );
    let (_, problems) = parse(&text);
    let expected = [
        "s.yaml:3:9 `1.10` is a number, but a text is meant here",
        "s.yaml:4:12 `no` is a truth value for many YAML readers, but a text is meant here",
        "s.yaml:4:16 `017` is a number for many YAML readers, but a text is meant here",
        "s.yaml:4:21 `1_000` is a number for many YAML readers, but a text is meant here",
        "s.yaml:6:15 `yes` is a truth value for many YAML readers, but a text is meant here",
        "s.yaml:7:35 `4` is a number, but a text is meant here",
        "s.yaml:8:15 this field has no value",
        "s.yaml:9:18 this field has no value",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn quoted_scalars_and_longer_texts_are_fine() {
    let text = format!(
        "{HEAD}  - id: \"1.10\"\n    tags: ['no', \"017\"]\n    turns: [{{ user: no thanks }}]\n"
    );
    assert_eq!(parse(&text).1, Vec::<String>::new());
}

#[test]
fn arguments_of_assertions_are_read_strictly_too() {
    let text = format!(
        "{HEAD}  - id: a\n    turns: [{{ user: x }}]\n    expect:\n      - finish_reason: no\n"
    );
    assert_eq!(parse(&text).1.len(), 1);
}

#[test]
fn an_entry_with_two_words_is_refused_at_the_second() {
    let text = format!(
        "{HEAD}  - id: a\n    turns: [{{ user: x }}]\n    expect:\n      - finish_reason: a\n        content: b\n"
    );
    assert_eq!(parse(&text).1, ["s.yaml:7:9 one entry holds one word; a second begins here"]);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "branch: stopping\nsettings: &s { temperature: 0 }\ncases:\n  - id: a\n    settings: { <<: *s, seed: 3 }\n    turns: [{ user: x }]\n";
    let tree = yaml::parse("s.yaml", text).unwrap();
    let mut problems = Vec::new();
    let spec: Spec = read(&tree, &mut problems).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let case = spec.cases[0].read(&tree).unwrap().value;
    let settings = case.settings.unwrap().value;
    assert_eq!((settings.temperature, settings.seed), (Some(0.0), Some(3)));
}

#[test]
fn numeric_keys_are_read_where_numbers_are_meant() {
    let text = "branch: stopping\nsettings: { logit_bias: { 5: -1.5 } }\ncases: []\n";
    let (spec, problems) = parse(text);
    assert!(problems.is_empty(), "{problems:?}");
    let bias = spec.unwrap().settings.unwrap().value.logit_bias.unwrap();
    assert_eq!(bias.get(&5), Some(&-1.5));
}

#[test]
fn aliases_and_nesting_beyond_measure_are_one_message() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let before = level - 1;
        let nine = vec![format!("*a{before}"); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{nine}]\n"));
    }
    for text in [bomb, "[".repeat(10_000)] {
        let problem = yaml::parse("s.yaml", &text).unwrap_err();
        assert!(problem.message.contains("beyond all measure"), "{}", problem.message);
    }
}
