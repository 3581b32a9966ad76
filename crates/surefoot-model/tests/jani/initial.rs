//! Initial states.

use crate::*;

fn initial_states(loaded: &Loaded) -> Vec<Vec<i32>> {
    let mut states = vec![Vec::new()];
    for variable in &loaded.system.variables {
        let (lower, upper) = variable.ty.bounds().expect("discrete");
        states = states
            .into_iter()
            .flat_map(|state| (lower..=upper).map(move |value| [state.clone(), vec![value]].concat()))
            .collect();
    }
    let initial = loaded.system.initial.expect("always there");
    states.retain(|state| value_at(loaded, state, initial) == Some(Value::Bool(true)));
    states
}

#[test]
fn initial_values_and_locations_are_conjoined() {
    let variables =
        [int("x", 0, 3, 2), r#"{"name": "p", "type": "bool", "initial-value": true}"#.into()].join(",");
    let loaded = load(&model_text("", &variables, ""));
    assert_eq!(initial_states(&loaded), [[0, 2, 1]]);
}

#[test]
fn restrictions_choose_among_several_initial_states() {
    let text = r#"{"jani-version": 1, "name": "m", "type": "lts",
      "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}}],
      "restrict-initial": {"exp": {"op": "<", "left": "x", "right": 2}, "comment": "c"},
      "automata": [{"name": "A", "locations": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "initial-locations": ["a", "c"], "edges": [],
        "variables": [{"name": "y", "type": "bool"}],
        "restrict-initial": {"exp": {"op": "=", "left": "y", "right": {"op": "=", "left": "x", "right": 1}}}}],
      "system": {"elements": [{"automaton": "A"}]}}"#;
    let loaded = load(text);
    assert_eq!(initial_states(&loaded), [[0, 0, 0], [0, 1, 1], [2, 0, 0], [2, 1, 1]]);
    assert!(loaded.warnings.is_empty());
}

#[test]
fn a_missing_initial_value_without_restriction_is_worth_a_warning() {
    let variable =
        r#"{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1}}"#;
    let loaded = load(&model_text("", variable, ""));
    assert_eq!(initial_states(&loaded), [[0, 0], [0, 1]]);
    assert_eq!(loaded.warnings[0].message, "no initial value and no restrict-initial for: x");
}
