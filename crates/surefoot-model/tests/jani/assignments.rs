//! Assignments: arrays, order, nondeterminism.

use crate::*;

fn set(variable: &str, value: &str) -> String {
    format!(r#"{{"ref": "{variable}", "value": {value}}}"#)
}

fn set_at(variable: &str, value: &str, index: i32) -> String {
    format!(r#"{{"ref": "{variable}", "value": {value}, "index": {index}}}"#)
}

fn set_element(array: &str, index: &str, value: &str) -> String {
    format!(r#"{{"ref": {{"op": "aa", "exp": "{array}", "index": {index}}}, "value": {value}}}"#)
}

/// Variables x, y (0..9) and an array v of three.
fn with(assignments: &[String]) -> Loaded {
    let variables = [int("x", 0, 9, 0), int("y", 0, 9, 0), int_array("v", 9, "0, 0, 0")].join(",");
    load(&model_text("", &variables, &edge("true", &assignments.join(","))))
}

#[test]
fn assignments_are_simultaneous() {
    let loaded = with(&[set("x", "\"y\""), set("y", "\"x\"")]);
    assert_eq!(steps(&loaded, "x=1 y=2"), ["a 1: x=2 y=1"]);
}

#[test]
fn groups_follow_each_other() {
    let x_plus_1 = binary("+", "\"x\"", 1);
    let loaded = with(&[set_at("y", &x_plus_1, 2), set_at("x", &x_plus_1, 1), set_at("x", "5", 3)]);
    assert_eq!(steps(&loaded, "x=1"), ["a 1: x=5 y=3"]);
    // The overwritten value of x must be in its domain too.
    assert_eq!(steps(&loaded, "x=9"), ["a 1! \"x\" passes through a value out of 0..9 within the step"]);
}

#[test]
fn constant_indices_write_just_the_element() {
    let loaded = with(&[set_element("v", "1", "7"), set_element("v", "2", "8")]);
    assert_eq!(loaded.system.commands[0].outcomes[0].assignments.len(), 2);
    assert_eq!(steps(&loaded, "v[0]=3"), ["a 1: v[1]=7 v[2]=8"]);
}

#[test]
fn computed_indices_write_the_chosen_element() {
    let loaded = with(&[set_element("v", "\"x\"", "7")]);
    assert_eq!(steps(&loaded, "x=1 v[0]=3"), ["a 1: v[1]=7"]);
    assert_eq!(steps(&loaded, "x=3"), ["a 1! index of array \"v\" out of 0..2"]);
    let loaded = with(&[set_element("v", "3", "7")]);
    assert_eq!(steps(&loaded, ""), ["a 1! index of array \"v\" out of 0..2"]);
}

#[test]
fn two_computed_indices_must_differ() {
    let loaded = with(&[set_element("v", "\"x\"", "7"), set_element("v", "\"y\"", "8")]);
    assert_eq!(steps(&loaded, "x=1 y=2"), ["a 1: v[1]=7 v[2]=8"]);
    assert_eq!(steps(&loaded, "x=1 y=1"), ["a 1! \"v\" is assigned twice at once, by A edge 0"]);
    let loaded = with(&[set_element("v", "1", "7"), set_element("v", "\"y\"", "8")]);
    assert_eq!(steps(&loaded, "y=0"), ["a 1: v[0]=8 v[1]=7"]);
    assert_eq!(steps(&loaded, "y=1"), ["a 1! \"v\" is assigned twice at once, by A edge 0"]);
}

#[test]
fn later_groups_see_written_elements_and_indices() {
    let loaded = with(&[
        set("x", "2"),
        set_at("y", r#"{"op": "aa", "exp": "v", "index": "x"}"#, 1),
        r#"{"ref": {"op": "aa", "exp": "v", "index": "x"}, "value": 9, "index": 2}"#.into(),
    ]);
    assert_eq!(steps(&loaded, "x=0 v[2]=6"), ["a 1: x=2 y=6 v[2]=9"]);
}

#[test]
fn whole_arrays_and_rows_can_be_assigned() {
    let loaded = with(&[set(
        "v",
        r#"{"op": "ac", "var": "i", "length": 3, "exp": {"op": "+", "left": "x", "right": "i"}}"#,
    )]);
    assert_eq!(steps(&loaded, "x=4"), ["a 1: v[0]=4 v[1]=5 v[2]=6"]);
    let matrix = r#"{"name": "m", "type": {"kind": "array", "base": {"kind": "array", "base": "bool"}}, "initial-value":
        {"op": "ac", "var": "i", "length": 2, "exp": {"op": "av", "elements": [false, false]}}}"#;
    let variables = [int("x", 0, 9, 0), matrix.into()].join(",");
    let row = set_element("m", "\"x\"", r#"{"op": "av", "elements": [true, false]}"#);
    let loaded = load(&model_text("", &variables, &edge("true", &row)));
    assert_eq!(steps(&loaded, "x=1 m[1][1]=1"), ["a 1: m[1][0]=1 m[1][1]=0"]);
    assert_eq!(steps(&loaded, "x=2"), ["a 1! index of array \"m\" out of 0..1"]);
    let element =
        r#"{"ref": {"op": "aa", "exp": {"op": "aa", "exp": "m", "index": 1}, "index": "x"}, "value": true}"#;
    let loaded = load(&model_text("", &variables, &edge("true", element)));
    assert_eq!(steps(&loaded, "x=0"), ["a 1: m[1][0]=1"]);
}

#[test]
fn nondeterministic_assignments_become_one_command_for_each_value() {
    let any = |variable: &str, lower: i32, upper: i32| {
        format!(r#"{{"ref": "{variable}", "lower-bound": {lower}, "upper-bound": {upper}}}"#)
    };
    let loaded = with(&[any("x", 1, 2), any("y", 3, 4)]);
    assert_eq!(steps(&loaded, ""), ["a 1: x=1 y=3", "a 1: x=1 y=4", "a 1: x=2 y=3", "a 1: x=2 y=4"]);
    assert_eq!(loaded.system.commands[1].origin, "A edge 0 choice 1,4");
}

#[test]
fn reals_take_integers() {
    let variables = r#"{"name": "r", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 9}, "initial-value": 0},
        {"name": "n", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}, "initial-value": 0}"#;
    let assignments = [set("r", "\"n\""), set("n", r#"{"op": "floor", "exp": "r"}"#)].join(",");
    let loaded = load(&model_text("", variables, &edge("true", &assignments)));
    assert_eq!(steps(&loaded, "n=3 r=5"), ["a 1: r=3 n=5"]);
}

/// Each element of the row was once compared with all elements of the array, which took expressions without number.
#[test]
fn a_long_row_can_be_assigned() {
    let length = 1000;
    let matrix = format!(
        r#"{{"name": "m", "type": {{"kind": "array", "base": {{"kind": "array", "base": "bool"}}}}, "initial-value":
            {{"op": "ac", "var": "i", "length": 2, "exp": {{"op": "ac", "var": "j", "length": {length}, "exp": false}}}}}}"#
    );
    let variables = [int("x", 0, 9, 0), matrix].join(",");
    let row = set_element("m", "\"x\"", r#"{"op": "aa", "exp": "m", "index": 1}"#);
    let loaded = load(&model_text("", &variables, &edge("true", &row)));
    assert_eq!(steps(&loaded, "x=0 m[1][7]=1"), ["a 1: m[0][7]=1"]);
    assert_eq!(steps(&loaded, "x=1 m[1][7]=1"), ["a 1:"]);
    assert_eq!(steps(&loaded, "x=2"), ["a 1! index of array \"m\" out of 0..1"]);
    let expressions = loaded.system.exprs.len();
    assert!(expressions < 20 * length, "{expressions} expressions");
}
