//! The state vector: order, names, origins, domains.

use surefoot_model::{Origin, Scope, Symbol};

use crate::*;

const TWO_INSTANCES: &str = r#"{"jani-version": 1, "name": "m", "type": "lts", "metadata": {"author": "x"},
  "variables": [
    {"name": "g", "type": {"kind": "bounded", "base": "int", "lower-bound": -1, "upper-bound": {"op": "+", "left": 2, "right": 3}}, "initial-value": 0, "comment": "c"},
    {"name": "t", "type": "int", "transient": true, "initial-value": 7},
    {"name": "w.location", "type": "bool", "initial-value": true},
    {"name": "r", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1.5}, "initial-value": 1}],
  "automata": [
    {"name": "w", "locations": [{"name": "up"}], "initial-locations": ["up"], "edges": [],
     "variables": [{"name": "n", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1}, "initial-value": 0}]},
    {"name": "v", "locations": [{"name": "p"}, {"name": "q"}], "initial-locations": ["q"],
     "edges": [{"location": "p", "destinations": [{"location": "q", "assignments": [{"ref": "n", "value": true}]}]}],
     "variables": [{"name": "n", "type": "bool", "initial-value": false},
       {"name": "m", "type": {"kind": "array", "base": {"kind": "array", "base": "bool"}},
        "initial-value": {"op": "av", "elements": [{"op": "av", "elements": [true, false]}]}}]}],
  "system": {"elements": [{"automaton": "v"}, {"automaton": "w"}, {"automaton": "v"}]}}"#;

#[test]
fn locations_come_first_then_globals_then_locals() {
    let loaded = load(TWO_INSTANCES);
    let names: Vec<&str> = loaded.system.variables.iter().map(|v| v.name.as_str()).collect();
    let expected = [
        "v_0.location",
        "w.location_2",
        "v_2.location",
        "g",
        "w.location",
        "r",
        "v_0.n",
        "v_0.m[0][0]",
        "v_0.m[0][1]",
        "w.n",
        "v_2.n",
        "v_2.m[0][0]",
        "v_2.m[0][1]",
    ];
    assert_eq!(names, expected);
    let types: Vec<VariableType> = loaded.system.variables.iter().map(|v| v.ty).collect();
    assert_eq!(types[0], VariableType::Int { lower: 0, upper: 1 });
    assert_eq!(types[1], VariableType::Int { lower: 0, upper: 0 });
    assert_eq!(types[3], VariableType::Int { lower: -1, upper: 5 });
    assert_eq!(types[5], VariableType::Real { lower: 0.0, upper: 1.5 });
    assert_eq!(loaded.system.variables[2].value_names, ["p", "q"]);
    assert_eq!(loaded.system.variables[2].display(1), "q");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn origins_say_where_a_variable_stands() {
    let loaded = load(TWO_INSTANCES);
    let scope = |automaton: &str, instance| Some(Scope { automaton: automaton.into(), instance });
    for (origin, name) in [
        (Origin { scope: scope("v", 2), symbol: Symbol::Location }, "v_2.location"),
        (Origin { scope: None, symbol: Symbol::Scalar("g".into()) }, "g"),
        (Origin { scope: scope("w", 1), symbol: Symbol::Scalar("n".into()) }, "w.n"),
        (Origin { scope: scope("v", 2), symbol: Symbol::Element("m".into(), 1) }, "v_2.m[0][1]"),
    ] {
        assert_eq!(loaded.system.variable_at(&origin), loaded.system.variable(name), "{name}");
    }
}

#[test]
fn each_instance_has_its_own_edges_and_locals() {
    let loaded = load(TWO_INSTANCES);
    assert_eq!(steps(&loaded, ""), ["τ 1: v_0.location=1 v_0.n=1", "τ 1: v_2.location=1 v_2.n=1"]);
    assert_eq!(steps(&loaded, "v_0.location=1"), ["τ 1: v_2.location=1 v_2.n=1"]);
    assert_eq!(loaded.system.commands[1].origin, "v_2 edge 0");
    let summary: Vec<_> =
        loaded.automata.iter().map(|a| (a.name.as_str(), a.locations, a.edges, a.variables)).collect();
    assert_eq!(summary, [("v_0", 2, 1, 2), ("w", 1, 0, 1), ("v_2", 2, 1, 2)]);
}

#[test]
fn transient_variables_follow_the_locations() {
    let text = r#"{"jani-version": 1, "name": "m", "type": "lts", "actions": [{"name": "a"}],
      "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}, "initial-value": 0},
        {"name": "t", "type": "int", "transient": true, "initial-value": 1},
        {"name": "s", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 5}, "transient": true, "initial-value": 0}],
      "automata": [{"name": "A", "initial-locations": ["l0"],
        "locations": [{"name": "l0", "transient-values": [{"ref": "t", "value": {"op": "+", "left": "x", "right": 1}}]}, {"name": "l1"}],
        "edges": [
          {"location": "l0", "guard": {"exp": {"op": "=", "left": "t", "right": 3}}, "destinations": [{"location": "l1", "assignments": [
             {"ref": "x", "value": "t"}]}]},
          {"location": "l1", "guard": {"exp": {"op": "=", "left": "t", "right": 1}}, "destinations": [{"location": "l0", "assignments": [
             {"ref": "t", "value": {"op": "+", "left": "x", "right": 4}}, {"ref": "x", "value": "t", "index": 1}, {"ref": "s", "value": "x", "index": 1}]}]}]}],
      "system": {"elements": [{"automaton": "A"}]},
      "properties": [{"name": "p", "expression": {"op": "PA", "reach": {"op": "=", "left": "t", "right": 5}}}]}"#;
    let loaded = load(text);
    assert_eq!(loaded.system.variables.len(), 2);
    // In l0, t is x + 1 in the guard; in the assignment it starts from its initial value.
    assert_eq!(steps(&loaded, "x=2"), ["τ 1: A.location=1 x=1"]);
    assert_eq!(steps(&loaded, "x=1"), [""; 0]);
    // In l1, t has its initial value; what is assigned to it is seen at the next index only.
    assert_eq!(steps(&loaded, "A.location=1 x=3"), ["τ 1: A.location=0 x=7"]);
    assert_eq!(
        steps(&loaded, "A.location=1 x=6"),
        ["τ 1! \"s\" passes through a value out of 0..5 within the step"]
    );
    let reach = property(&loaded, "p").unsafe_states;
    assert!(holds(&loaded, "x=4", reach));
    assert!(!holds(&loaded, "A.location=1 x=4", reach));
    let variables = loaded.system.exprs.variables_of([reach]);
    assert!(variables.iter().all(|v| v.index() < 2));
}
