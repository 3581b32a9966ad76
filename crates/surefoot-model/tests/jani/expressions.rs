//! Expressions, constants, functions and arrays as values.

use crate::*;

/// The value of an expression over `x` (int 0..9), `p` (bool), `v` (array 4, 5, 6) and `m` (2 × 3, elements 0..5).
fn evaluate(more: &str, expression: &str, at: &str) -> String {
    let variables = [
        int("x", -9, 9, 0),
        r#"{"name": "p", "type": "bool", "initial-value": false}"#.into(),
        int_array("v", 9, "4, 5, 6"),
        r#"{"name": "m", "type": {"kind": "array", "base": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}}},
            "initial-value": {"op": "av", "elements": [{"op": "av", "elements": [0, 1, 2]}, {"op": "av", "elements": [3, 4, 5]}]}}"#
            .into(),
        r#"{"name": "r", "type": {"kind": "bounded", "base": "real", "lower-bound": -100, "upper-bound": 100}, "initial-value": 0}"#.into(),
        r#"{"name": "q", "type": "bool", "initial-value": false}"#.into(),
    ];
    // Both types are tried: the one that does not fit is refused.
    let edges = [
        edge("true", &format!(r#"{{"ref": "r", "value": {expression}}}"#)),
        edge("true", &format!(r#"{{"ref": "q", "value": {expression}}}"#)),
    ];
    let loaded = edges
        .iter()
        .find_map(|edge| try_load(&model_text(more, &variables.join(","), edge), &[]).ok())
        .unwrap_or_else(|| load(&model_text(more, &variables.join(","), &edges[0])));
    let mut before = state(&loaded, "v[0]=4 v[1]=5 v[2]=6 m[0][1]=1 m[0][2]=2 m[1][0]=3 m[1][1]=4 m[1][2]=5");
    for pair in at.split_whitespace() {
        let (name, value) = pair.split_once('=').expect("pairs");
        before[loaded.system.variable(name).expect("a variable").index()] =
            value.parse().expect("an integer");
    }
    let value = loaded.system.commands[0].outcomes[0].assignments[0].value;
    value_at(&loaded, &before, value).map_or("undefined".into(), |value| value.to_string())
}

#[test]
fn every_operator_means_what_it_says() {
    for (op, left, right, expected) in [
        ("∧", "true", "\"p\"", "true"),
        ("∨", "false", "\"p\"", "true"),
        ("⇒", "\"p\"", "false", "false"),
        ("=", "\"x\"", "7", "true"),
        ("=", "\"p\"", "true", "true"),
        ("≠", "\"x\"", "7", "false"),
        ("<", "\"x\"", "7", "false"),
        ("≤", "\"x\"", "7.0", "true"),
        (">", "\"x\"", "6", "true"),
        ("≥", "\"x\"", "8", "false"),
        ("+", "\"x\"", "1", "8"),
        ("-", "\"x\"", "9", "-2"),
        ("*", "\"x\"", "3", "21"),
        ("/", "\"x\"", "2", "3.5"),
        ("%", "\"x\"", "-4", "3"),
        ("pow", "\"x\"", "2", "49"),
        ("log", "8", "2", "3"),
        ("min", "\"x\"", "3", "3"),
        ("max", "\"x\"", "3", "7"),
        ("=", "\"v\"", r#"{"op": "av", "elements": [4, 5, 6]}"#, "true"),
        ("≠", "\"v\"", r#"{"op": "av", "elements": [4, 5, 6]}"#, "false"),
    ] {
        assert_eq!(evaluate("", &binary(op, left, right), "x=7 p=1"), expected, "{left} {op} {right}");
    }
    for (op, operand, expected) in [
        ("¬", "\"p\"", "false"),
        ("floor", "2.5", "2"),
        ("ceil", "2.5", "3"),
        ("abs", "\"x\"", "7"),
        ("sgn", "\"x\"", "-1"),
        ("trc", "-2.5", "-2"),
    ] {
        let expression = format!(r#"{{"op": "{op}", "exp": {operand}}}"#);
        assert_eq!(evaluate("", &expression, "x=-7 p=1"), expected, "{op} {operand}");
    }
    assert_eq!(evaluate("", r#"{"op": "ite", "if": "p", "then": 1, "else": "x"}"#, "x=5 p=0"), "5");
    assert_eq!(evaluate("", r#"{"op": "let", "variables": [], "expression": "x"}"#, "x=5"), "5");
    assert_eq!(evaluate("", r#"{"constant": "π"}"#, ""), std::f64::consts::PI.to_string());
    assert_eq!(evaluate("", r#"{"constant": "e"}"#, ""), std::f64::consts::E.to_string());
    let here = r#"{"op": "state-condition", "locations": [{"automaton": "A", "index": 0, "location": "l1"}], "exp": "p"}"#;
    assert_eq!(evaluate("", here, "A.location=1 p=1"), "true");
    assert_eq!(evaluate("", here, "A.location=0 p=1"), "false");
}

#[test]
fn escaped_operators_are_the_same_operators() {
    assert_eq!(evaluate("", r#"{"op": "\u2227", "left": true, "right": "p"}"#, "p=1"), "true");
}

#[test]
fn arrays_are_read_element_by_element() {
    let access = |array: &str, index: &str| format!(r#"{{"op": "aa", "exp": {array}, "index": {index}}}"#);
    assert_eq!(evaluate("", &access("\"v\"", "1"), ""), "5");
    assert_eq!(evaluate("", &access("\"v\"", "\"x\""), "x=2"), "6");
    assert_eq!(evaluate("", &access("\"v\"", "\"x\""), "x=3"), "undefined");
    assert_eq!(evaluate("", &access("\"v\"", "3"), ""), "undefined");
    assert_eq!(evaluate("", &access(&access("\"m\"", "\"x\""), "\"x\""), "x=1"), "4");
    assert_eq!(evaluate("", &access(&access("\"m\"", "1"), "2"), ""), "5");
    let squares = r#"{"op": "ac", "var": "i", "length": 4, "exp": {"op": "*", "left": "i", "right": "i"}}"#;
    assert_eq!(evaluate("", &access(squares, "\"x\""), "x=3"), "9");
    let table = r#"{"op": "ac", "var": "i", "length": 2, "exp": {"op": "ac", "var": "j", "length": 3, "exp":
        {"op": "+", "left": {"op": "*", "left": 10, "right": "i"}, "right": "j"}}}"#;
    assert_eq!(evaluate("", &access(&access(table, "1"), "\"x\""), "x=2"), "12");
    let chosen = r#"{"op": "ite", "if": "p", "then": "v", "else": {"op": "av", "elements": [1, 2, 3]}}"#;
    assert_eq!(evaluate("", &access(chosen, "0"), "p=1"), "4");
    assert_eq!(evaluate("", &access(chosen, "0"), "p=0"), "1");
}

#[test]
fn constants_may_refer_to_each_other_in_any_order() {
    let more = r#""constants": [
        {"name": "n", "type": "int", "value": {"op": "+", "left": "k", "right": 1}},
        {"name": "k", "type": "int", "value": 2},
        {"name": "half", "type": "real", "value": {"op": "/", "left": "n", "right": 6}},
        {"name": "whole", "type": "real", "value": 1},
        {"name": "yes", "type": "bool", "value": {"op": "<", "left": "k", "right": "n"}},
        {"name": "list", "type": {"kind": "array", "base": "int"}, "value": {"op": "ac", "var": "i", "length": "n", "exp": {"op": "*", "left": "i", "right": "k"}}},
        {"name": "small", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "n"}, "value": 3}],"#;
    assert_eq!(evaluate(more, "\"n\"", ""), "3");
    assert_eq!(evaluate(more, "\"half\"", ""), "0.5");
    assert_eq!(evaluate(more, "\"yes\"", ""), "true");
    assert_eq!(evaluate(more, r#"{"op": "aa", "exp": "list", "index": "x"}"#, "x=2"), "4");
    let loaded = load(&model_text(more, &int("x", 0, 1, 0), ""));
    let list = loaded.constants.iter().find(|constant| constant.name == "list").expect("declared");
    assert_eq!(list.values, [Value::Int(0), Value::Int(2), Value::Int(4)]);
    assert_eq!(list.dimensions, [3]);
    let whole = loaded.constants.iter().find(|constant| constant.name == "whole").expect("declared");
    assert_eq!(whole.values, [Value::Real(1.0)]);
}

#[test]
fn the_command_line_gives_values_by_declared_type() {
    let more = r#""constants": [{"name": "n", "type": "int"}, {"name": "b", "type": "bool"}, {"name": "r", "type": "real"},
        {"name": "m", "type": "int", "value": {"op": "+", "left": "n", "right": 1}}],"#;
    let text = model_text(more, &int("x", 0, 1, 0), "");
    let loaded = load_with(&text, &[("n", "4"), ("b", "true"), ("r", "2")]);
    let values: Vec<_> = loaded.constants.iter().map(|c| (c.values[0], c.from_command_line)).collect();
    assert_eq!(values[..3], [(Value::Int(4), true), (Value::Bool(true), true), (Value::Real(2.0), true)]);
    assert_eq!(values[3], (Value::Int(5), false));
    assert!(loaded.warnings.is_empty());
    let loaded = load_with(&text, &[("n", "4"), ("b", "true"), ("r", "2"), ("m", "9")]);
    assert_eq!(loaded.constants[3].values, [Value::Int(9)]);
    assert_eq!(
        loaded.warnings[0].message,
        "the value of the constant \"m\" is replaced by 9 from the command line"
    );
}

#[test]
fn functions_are_expanded() {
    let more = r#""features": ["functions"], "constants": [{"name": "k", "type": "int", "value": {"op": "call", "function": "twice", "args": [3]}}],
      "functions": [
        {"name": "square", "type": "int", "parameters": [{"name": "x", "type": "int"}], "body": {"op": "*", "left": "x", "right": "x"}},
        {"name": "twice", "type": "int", "parameters": [{"name": "y", "type": "int"}], "body": {"op": "+", "left": "y", "right": "y"}},
        {"name": "both", "type": "int", "parameters": [{"name": "y", "type": "int"}], "body":
          {"op": "call", "function": "square", "args": [{"op": "call", "function": "twice", "args": ["y"]}]}},
        {"name": "global", "type": "int", "parameters": [], "body": "x"},
        {"name": "first", "type": "int", "parameters": [{"name": "list", "type": {"kind": "array", "base": "int"}}], "body": {"op": "aa", "exp": "list", "index": 0}},
        {"name": "real", "type": "real", "parameters": [{"name": "y", "type": "real"}], "body": "y"}],"#;
    let call = |name: &str, arguments: &str| {
        format!(r#"{{"op": "call", "function": "{name}", "args": [{arguments}]}}"#)
    };
    // The parameter hides the variable `x`, also when the argument mentions it.
    assert_eq!(evaluate(more, &call("square", r#"{"op": "+", "left": "x", "right": 1}"#), "x=2"), "9");
    assert_eq!(evaluate(more, &call("both", "\"x\""), "x=2"), "16");
    assert_eq!(evaluate(more, &call("global", ""), "x=5"), "5");
    assert_eq!(evaluate(more, &call("first", "\"v\""), ""), "4");
    assert_eq!(evaluate(more, &call("real", "\"x\""), "x=5"), "5");
    assert_eq!(evaluate(more, "\"k\"", ""), "6");
}

#[test]
fn calls_that_double_at_each_level_stay_small() {
    let functions: Vec<String> = (1..200)
        .map(|i| {
            let call = format!(r#"{{"op": "call", "function": "f{}", "args": ["n"]}}"#, i - 1);
            format!(
                r#"{{"name": "f{i}", "type": "real", "parameters": [{{"name": "n", "type": "real"}}], "body": {}}}"#,
                binary("max", &call, &call)
            )
        })
        .collect();
    let more = format!(
        r#""functions": [{{"name": "f0", "type": "real", "parameters": [{{"name": "n", "type": "real"}}], "body": "n"}}, {}],"#,
        functions.join(",")
    );
    assert_eq!(evaluate(&more, r#"{"op": "call", "function": "f199", "args": ["x"]}"#, "x=3"), "3");
}

#[test]
fn conditions_thousands_of_levels_deep_are_read_on_a_small_stack() {
    let depth = 8000;
    let mut condition = String::new();
    for _ in 0..depth {
        condition.push_str(r#"{"op": "∧", "right": "p", "left": "#);
    }
    condition.push_str("\"p\"");
    condition.push_str(&"}".repeat(depth));
    let variables = r#"{"name": "p", "type": "bool", "initial-value": false}"#;
    let text = model_text("", variables, &edge(&condition, ""));
    let read = move || {
        let started = std::time::Instant::now();
        let loaded = load(&text);
        assert_eq!(steps(&loaded, "p=1"), ["a 1:"]);
        assert_eq!(steps(&loaded, "p=0"), [""; 0]);
        started.elapsed()
    };
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(read).expect("a thread");
    let elapsed = thread.join().expect("no overflow");
    assert!(elapsed.as_secs() < 5, "{elapsed:?}");
}
