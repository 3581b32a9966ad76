//! Synchronisation, probabilities, labels.

use crate::*;

/// Automata `A` and `B`, each with edges of its own, over `x` and `y`.
fn two(a: &str, b: &str, system: &str) -> String {
    let (x, y) = (int("x", 0, 9, 0), int("y", 0, 9, 0));
    let automaton = |name: &str, edges: &str| {
        format!(
            r#"{{"name": "{name}", "locations": [{{"name": "l"}}, {{"name": "k"}}], "initial-locations": ["l"], "edges": [{edges}]}}"#
        )
    };
    format!(
        r#"{{"jani-version": 1, "name": "m", "type": "mdp", "actions": [{{"name": "a"}}, {{"name": "b"}}, {{"name": "unused"}}],
           "variables": [{x}, {y}], "automata": [{}, {}], "system": {system}}}"#,
        automaton("A", a),
        automaton("B", b)
    )
}

/// An edge from `l` that sets a variable.
fn set(action: &str, to: &str, variable: &str, value: &str) -> String {
    format!(
        r#"{{"location": "l", "action": "{action}", "destinations": [{{"location": "{to}", "assignments": [{{"ref": "{variable}", "value": {value}}}]}}]}}"#
    )
}

const ELEMENTS: &str = r#""elements": [{"automaton": "A"}, {"automaton": "B"}]"#;

#[test]
fn vectors_join_all_combinations_of_edges() {
    let a = [set("a", "k", "x", "1"), set("a", "l", "x", "2")].join(",");
    let b = [set("b", "l", "y", "\"x\""), set("b", "k", "y", "4")].join(",");
    let system = format!(r#"{{{ELEMENTS}, "syncs": [{{"synchronise": ["a", "b"], "result": "b"}}]}}"#);
    let loaded = load(&two(&a, &b, &system));
    assert_eq!(
        steps(&loaded, "x=7"),
        [
            "b 1: A.location=1 x=1 y=7",
            "b 1: A.location=1 B.location=1 x=1 y=4",
            "b 1: x=2 y=7",
            "b 1: B.location=1 x=2 y=4"
        ]
    );
    assert_eq!(loaded.system.commands[1].origin, "A edge 0 & B edge 1");
    assert_eq!(steps(&loaded, "A.location=1"), [""; 0]);
    let labels: Vec<&str> = loaded.system.labels.iter().map(|label| label.name.as_str()).collect();
    assert_eq!(labels, ["a", "b", "unused"]);
    assert!(loaded.warnings.is_empty());
}

#[test]
fn vectors_may_leave_automata_out_and_be_silent() {
    let (a, b) = (set("a", "k", "x", "1"), set("a", "k", "y", "1"));
    let system = format!(
        r#"{{{ELEMENTS}, "syncs": [{{"synchronise": ["a", null], "result": "a"}}, {{"synchronise": [null, "a"], "comment": "silent"}}]}}"#
    );
    let loaded = load(&two(&a, &b, &system));
    assert_eq!(steps(&loaded, ""), ["a 1: A.location=1 x=1", "τ 1: B.location=1 y=1"]);
}

#[test]
fn labelled_edges_without_vector_never_move_and_are_reported() {
    let silent = r#"{"location": "l", "destinations": [{"location": "k"}]}"#;
    let loaded = load(&two(&set("a", "k", "x", "1"), silent, &format!("{{{ELEMENTS}}}")));
    assert_eq!(steps(&loaded, ""), ["τ 1: B.location=1"]);
    assert_eq!(
        loaded.warnings[0].message,
        "edges of \"A\" with action \"a\" can never be taken: no synchronisation vector names the action there"
    );
    assert_eq!(loaded.warnings[0].json_path, "$.system");
}

#[test]
fn probabilities_multiply() {
    let split = |variable: &str, p: &str, q: &str| {
        format!(
            r#"{{"location": "l", "action": "a", "destinations": [
              {{"location": "l", "probability": {{"exp": {p}}}, "assignments": [{{"ref": "{variable}", "value": 1}}]}},
              {{"location": "l", "probability": {{"exp": {q}}}, "assignments": [{{"ref": "{variable}", "value": 2}}]}}]}}"#
        )
    };
    let system = format!(r#"{{{ELEMENTS}, "syncs": [{{"synchronise": ["a", "a"], "result": "a"}}]}}"#);
    let loaded = load(&two(&split("x", "0.25", "0.75"), &split("y", "0.5", "0.5"), &system));
    assert_eq!(
        steps(&loaded, ""),
        ["a 0.125: x=1 y=1", "a 0.125: x=1 y=2", "a 0.375: x=2 y=1", "a 0.375: x=2 y=2"]
    );
    let fifth = binary("/", "\"x\"", 5);
    let rest = binary("-", 1, &fifth);
    let loaded = load(&two(&split("x", &fifth, &rest), &set("a", "l", "y", "3"), &system));
    assert_eq!(steps(&loaded, "x=2"), ["a 0.4: x=1 y=3", "a 0.6: y=3"]);
    // A destination that is never taken is dropped.
    let loaded = load(&two(&split("x", "0", "1"), &set("a", "l", "y", "3"), &system));
    assert_eq!(loaded.system.commands[0].outcomes.len(), 1);
    // Rounding may make a probability slightly negative.
    let rest = binary("-", binary("-", 1, 0.9), 0.1);
    let edge = split("x", "0.9", "0.1").replace(
        "\"destinations\": [",
        &format!("\"destinations\": [{{\"location\": \"k\", \"probability\": {{\"exp\": {rest}}}}},"),
    );
    let loaded = load(&two(&edge, &set("a", "l", "y", "3"), &system));
    assert_eq!(steps(&loaded, ""), ["a 0.9: x=1 y=3", "a 0.1: x=2 y=3"]);
}

#[test]
fn groups_of_synchronised_edges_are_merged() {
    let first = r#"{"location": "l", "action": "a", "destinations": [{"location": "l", "assignments": [
        {"ref": "x", "value": 5, "index": 1}, {"ref": "y", "value": {"op": "+", "left": "x", "right": 1}, "index": 3}]}]}"#;
    let second = r#"{"location": "l", "action": "a", "destinations": [{"location": "l", "assignments": [
        {"ref": "x", "value": {"op": "+", "left": "x", "right": 2}, "index": 2}]}]}"#;
    let system = format!(r#"{{{ELEMENTS}, "syncs": [{{"synchronise": ["a", "a"], "result": "a"}}]}}"#);
    let loaded = load(&two(first, second, &system));
    assert_eq!(steps(&loaded, "x=1"), ["a 1: x=7 y=8"]);
}

#[test]
fn synchronised_edges_that_write_the_same_variable_collide() {
    let system = format!(r#"{{{ELEMENTS}, "syncs": [{{"synchronise": ["a", "a"], "result": "a"}}]}}"#);
    let loaded = load(&two(&set("a", "l", "x", "1"), &set("a", "l", "x", "2"), &system));
    assert_eq!(steps(&loaded, ""), ["a 1! \"x\" is assigned twice at once, by A edge 0 and B edge 0"]);
    // The same value is no collision.
    let loaded = load(&two(&set("a", "l", "x", "3"), &set("a", "l", "x", "3"), &system));
    assert_eq!(steps(&loaded, ""), ["a 1: x=3"]);
}

#[test]
fn input_enabled_automata_accept_actions_without_moving() {
    let guarded = r#"{"location": "l", "action": "a", "guard": {"exp": {"op": "<", "left": "y", "right": 2}},
        "destinations": [{"location": "k", "assignments": [{"ref": "y", "value": 5}]}]}"#;
    let system = r#"{"elements": [{"automaton": "A"}, {"automaton": "B", "input-enable": ["a"]}],
        "syncs": [{"synchronise": ["a", "a"], "result": "a"}]}"#;
    let loaded = load(&two(&set("a", "l", "x", "1"), guarded, system));
    assert_eq!(steps(&loaded, "y=1"), ["a 1: B.location=1 x=1 y=5"]);
    assert_eq!(steps(&loaded, "y=2"), ["a 1: x=1"]);
    assert_eq!(steps(&loaded, "B.location=1"), ["a 1: x=1"]);
}

#[test]
fn too_many_combinations_are_refused() {
    let edges =
        vec![r#"{"location": "l", "action": "a", "destinations": [{"location": "l"}]}"#; 1500].join(",");
    let system = format!(r#"{{{ELEMENTS}, "syncs": [⟦{{"synchronise": ["a", "a"], "result": "a"}}]}}"#);
    refused(
        &two(&edges, &edges, &system),
        "the composition has more than 2000000 commands, which is not supported",
    );
    let destination = r#"{"location": "l", "probability": {"exp": 0.0025}}"#;
    let edge = format!(
        r#"{{"location": "l", "action": "a", "destinations": [{}]}}"#,
        vec![destination; 400].join(",")
    );
    refused(
        &two(&edge, &edge, &system),
        "A edge 0 & B edge 0 has more than 100000 outcomes, which is not supported",
    );
}

#[test]
fn a_guard_that_is_never_true_leaves_no_command() {
    let more = r#""constants": [{"name": "off", "type": "bool", "value": false}],"#;
    let loaded = load(&model_text(more, "", &[edge("\"off\"", ""), edge("true", "")].join(",")));
    assert_eq!(loaded.system.commands.len(), 1);
    assert_eq!(loaded.system.commands[0].origin, "A edge 1");
}
