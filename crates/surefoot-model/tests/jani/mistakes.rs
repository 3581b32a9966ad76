//! What can be wrong with a model: each mistake is named at its place. The mark `⟦` stands where it is expected.

use crate::*;

#[test]
fn broken_json_is_placed() {
    let text = model_text("", "", "");
    for length in [0, 1, 10, 100, text.len() - 1] {
        let error = try_load(&text[..length], &[]).expect_err("truncated");
        assert!(error.message.contains("JSON syntax error"), "{error}");
        assert!(error.position.is_some());
    }
    refused("{\"jani-version\": 1,\n \"type\": ⟦mdp}", "JSON syntax error: this is not valid JSON");
    refused("{\"type\": \"mdp\",\n \"type\": ⟦\"lts\"}", "the key \"type\" stands twice in this object");
    refused("⟦[]", "expected an object, found an array");
    refused("⟦{\"type\": \"mdp\"}", "the key \"automata\" is missing here");
    let deep = format!("{}{}", "[".repeat(9000), "]".repeat(9000));
    let error = try_load(&deep, &[]).expect_err("too deep");
    assert_eq!(error.message, "JSON values are nested more than 8192 levels deep");
}

#[test]
fn model_types_without_support_are_named() {
    refused(
        r#"{"type": ⟦"ctmc", "automata": [], "system": {}}"#,
        "models of type \"ctmc\" are not supported: expected \"lts\", \"dtmc\" or \"mdp\"",
    );
    refused(
        r#"{"type": ⟦"foo", "automata": [], "system": {}}"#,
        "there is no model type \"foo\": expected \"lts\", \"dtmc\" or \"mdp\"",
    );
}

#[test]
fn constants() {
    let text = |constants: &str| model_text(&format!("\"constants\": [{constants}],"), "", "");
    let error = refused(&text(r#"⟦{"name": "n", "type": "int"}"#), "the constant \"n\" has no value");
    assert_eq!(error.hint.as_deref(), Some("give it one on the command line: --const n=value"));
    refused(
        &text(
            r#"{"name": "a", "type": "int", "value": "b"}, {"name": "b", "type": "int", "value": "c"},
               {"name": "c", "type": "int", "value": {"op": "+", "left": 1, "right": ⟦"b"}}"#,
        ),
        "the definition of the constant \"b\" is cyclic: b → c → b",
    );
    refused(
        &text(
            r#"{"name": "a", "type": {"kind": "bounded", "base": "int", "lower-bound": ⟦"a", "upper-bound": 2}, "value": 1}"#,
        ),
        "the definition of the constant \"a\" is cyclic: a → a",
    );
    refused(
        &text(
            r#"{"name": "a", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2}, "value": ⟦3}"#,
        ),
        "the value 3 of the constant \"a\" is outside its bounds 0..2",
    );
    let error = refused(
        &text(r#"{"name": "a", "type": "int", "value": ⟦1.5}"#),
        "the constant \"a\" is of type int, but this is a real value",
    );
    assert_eq!(error.hint.as_deref(), Some("make it an integer with floor, ceil or trc"));
    refused(
        &text(r#"{"name": "a", "type": "int", "value": ⟦{"op": "%", "left": 1, "right": 0}}"#),
        "this constant expression has no value: a division by zero",
    );
    refused(
        &text(r#"{"name": "a", "type": "int", "value": 1}, {"name": ⟦"a", "type": "int", "value": 1}"#),
        "the name \"a\" is already taken by a constant",
    );
    refused(
        &text(r#"{"name": "a", "type": "int", "value": ⟦9223372036854775808}"#),
        "the integer 9223372036854775808 does not fit into 64 bits",
    );
    let text =
        model_text(r#""constants": [{"name": "n", "type": "int", "value": ⟦"x"}],"#, &int("x", 0, 1, 0), "");
    refused(&text, "\"x\" is a variable, but only constants may be used here");
}

#[test]
fn constants_on_the_command_line() {
    let more = r#""constants": [{"name": "count", "type": "int"}, {"name": "list", "type": {"kind": "array", "base": "int"}}],"#;
    let text = model_text(more, "", "");
    let refused = |constants: &[(&str, &str)]| try_load(&text, constants).expect_err("wrong");
    let error = refused(&[("cuont", "1")]);
    assert_eq!(
        error.message,
        "the command line gives a value for \"cuont\", but the model has no such constant"
    );
    assert_eq!((error.hint, error.position), (None, None));
    assert_eq!(refused(&[("coun", "1")]).hint.as_deref(), Some("did you mean \"count\"?"));
    assert_eq!(
        refused(&[("count", "1.5")]).message,
        "the command line gives the constant \"count\" the value \"1.5\", but an integer is expected"
    );
    assert_eq!(
        refused(&[("count", "1"), ("list", "1")]).message,
        "the constant \"list\" is an array, which cannot be given on the command line"
    );
    assert_eq!(
        refused(&[("count", "1"), ("count", "2")]).message,
        "the constant \"count\" is given twice on the command line"
    );
}

#[test]
fn variables() {
    let text = |variable: &str| model_text("", variable, "");
    refused(
        &text(
            r#"{"name": "x", "type": ⟦{"kind": "bounded", "base": "int", "lower-bound": 3, "upper-bound": 2}, "initial-value": 3}"#,
        ),
        "the domain of x is empty: lower bound 3 > upper bound 2",
    );
    refused(
        &text(
            r#"{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 3, "upper-bound": 4}, "initial-value": ⟦2}"#,
        ),
        "the initial value 2 of \"x\" is outside its domain 3..4",
    );
    refused(
        &text(
            r#"{"name": "x", "type": ⟦{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2147483648}, "initial-value": 3}"#,
        ),
        "the bound 2147483648 of x does not fit into 32 bits",
    );
    let error = refused(
        &text(r#"{"name": "x", "type": ⟦"int", "initial-value": 3}"#),
        "the int variable \"x\" is unbounded, which is not supported",
    );
    assert!(error.hint.expect("a hint").starts_with("give it a bounded type"));
    refused(
        &text(
            r#"{"name": "x", "type": ⟦{"kind": "bounded", "base": "real", "lower-bound": 0}, "initial-value": 3}"#,
        ),
        "the real variable \"x\" is unbounded above, which is not supported",
    );
    refused(&text(r#"{"name": "x", "type": ⟦"clock", "initial-value": 0}"#), "clocks are not supported");
    refused(&text(r#"{"name": "x", "type": ⟦"continuous"}"#), "continuous variables are not supported");
    refused(&text(r#"{"name": "x", "type": ⟦"integer"}"#), "\"integer\" is not a type");
    refused(
        &text(r#"{"name": "x", "type": ⟦{"kind": "datatype", "ref": "d"}}"#),
        "types of kind \"datatype\" are not supported",
    );
    refused(
        &text(r#"⟦{"name": "x", "type": {"kind": "array", "base": "bool"}}"#),
        "the array \"x\" needs an initial value, which says how long it is",
    );
    refused(
        &text(
            r#"{"name": "x", "type": {"kind": "array", "base": "bool"}, "initial-value": {"op": "ac", "var": "i", "length": ⟦1000000000, "exp": true}}"#,
        ),
        "arrays of more than 100000 elements are not supported, this has 1000000000",
    );
    refused(
        &text(
            r#"{"name": "x", "type": {"kind": "array", "base": {"kind": "array", "base": "bool"}}, "initial-value": {"op": "av", "elements":
           ⟦[{"op": "av", "elements": [true]}, {"op": "av", "elements": [true, false]}]}}"#,
        ),
        "the elements of an array must be alike, but here are an array of length 1 and an array of length 2",
    );
    refused(
        &text(
            r#"{"name": "x", "type": "bool", "initial-value": true}, {"name": ⟦"x", "type": "bool", "initial-value": true}"#,
        ),
        "the name \"x\" is already taken by a variable",
    );
    refused(
        &text(r#"⟦{"name": "x", "type": "bool", "transient": true}"#),
        "the transient variable \"x\" needs an initial value",
    );
    refused(&text(r#"⟦{"name": "x", "initial-value": true}"#), "the key \"type\" is missing here");
}

#[test]
fn edges() {
    let text = |edge: &str| model_text("", &int("x", 0, 9, 0), edge);
    refused(
        &text(r#"{"location": ⟦"l2", "destinations": [{"location": "l0"}]}"#),
        "there is no location called \"l2\" in this automaton",
    );
    refused(
        &text(r#"{"location": "l0", "action": ⟦"c", "destinations": [{"location": "l0"}]}"#),
        "there is no action called \"c\"",
    );
    refused(
        &text(r#"{"location": "l0", "rate": ⟦{"exp": 1}, "destinations": [{"location": "l0"}]}"#),
        "rates are not supported",
    );
    refused(
        &text(r#"{"location": "l0", "assignments": ⟦[], "destinations": [{"location": "l0"}]}"#),
        "assignments of an edge are not supported",
    );
    refused(&text(r#"{"location": "l0", "destinations": ⟦[]}"#), "an edge needs at least one destination");
    refused(
        &text(
            r#"{"location": "l0", "destinations": ⟦[{"location": "l0", "probability": {"exp": 0.5}}, {"location": "l1", "probability": {"exp": 0.25}}]}"#,
        ),
        "the probabilities of this edge add up to 0.75 instead of 1",
    );
    refused(
        &text(
            r#"{"location": "l0", "destinations": [{"location": "l0", "probability": ⟦{"exp": -1}}, {"location": "l1", "probability": {"exp": 2}}]}"#,
        ),
        "the probability -1 is not between 0 and 1",
    );
    refused(
        &text(r#"{"location": "l0", "destinations": [{"location": "l0", "probability": {"exp": ⟦true}}]}"#),
        "a probability must be a number, but this is a bool value",
    );
    let lts = |destinations: &str| {
        let edge = format!(r#"{{"location": "l0", "destinations": {destinations}}}"#);
        text(&edge).replace("\"mdp\"", "\"lts\"")
    };
    refused(
        &lts(r#"⟦[{"location": "l0"}, {"location": "l1"}]"#),
        "an edge of a model of type lts has only one destination",
    );
    refused(
        &lts(r#"[{"location": "l0", "probability": ⟦{"exp": 1}}]"#),
        "a model of type lts has no probabilities",
    );
    refused(&text(&edge("⟦\"x\"", "")), "expected a Boolean expression, found one of type int");
}

#[test]
fn assignments() {
    let variables = [int("x", 0, 9, 0), int_array("v", 9, "0, 0")].join(",");
    let more = r#""constants": [{"name": "k", "type": "int", "value": 1}],"#;
    let text = |assignments: &str| model_text(more, &variables, &edge("true", assignments));
    let error = refused(
        &text(r#"{"ref": "x", "value": ⟦{"op": "/", "left": "x", "right": 2}}"#),
        "the variable \"x\" is of type int, but this is a real value",
    );
    assert_eq!(error.hint.as_deref(), Some("make it an integer with floor, ceil or trc"));
    assert_eq!(error.json_path, "$.automata[0].edges[0].destinations[0].assignments[0].value");
    refused(
        &text(r#"{"ref": "x", "value": 1}, ⟦{"ref": "x", "value": 1}"#),
        "\"x\" is assigned twice at once",
    );
    refused(
        &text(
            r#"{"ref": {"op": "aa", "exp": "v", "index": 1}, "value": 1}, ⟦{"ref": "v", "value": {"op": "av", "elements": [1, 2]}}"#,
        ),
        "\"v\" is assigned twice at once",
    );
    refused(&text(r#"{"ref": ⟦"k", "value": 1}"#), "\"k\" is a constant, a variable is expected");
    refused(&text(r#"{"ref": ⟦"y", "value": 1}"#), "there is no constant or variable called \"y\" here");
    refused(
        &text(r#"{"ref": ⟦{"op": "aa", "exp": "x", "index": 1}, "value": 1}"#),
        "\"x\" has 0 dimensions, but 1 indices are given",
    );
    refused(
        &text(r#"{"ref": "v", "value": ⟦{"op": "av", "elements": [1, 2, 3]}}"#),
        "\"v\" is an array of length 2 here, but this is an array of length 3",
    );
    refused(
        &text(r#"{"ref": {"op": "aa", "exp": "v", "index": ⟦true}, "value": 1}"#),
        "array access takes an integer index, but got bool",
    );
    refused(
        &text(r#"⟦{"ref": "x", "lower-bound": 2, "upper-bound": 1}"#),
        "the range of values for \"x\" is empty: 2 > 1",
    );
    refused(
        &text(r#"{"ref": "x", "lower-bound": 0, "upper-bound": ⟦0.5}"#),
        "the nondeterministic assignment to \"x\" needs integer bounds, found 0.5",
    );
    refused(
        &text(r#"{"ref": "x", "lower-bound": 0, "upper-bound": ⟦"x"}"#),
        "the nondeterministic assignment to \"x\" has a bound that depends on the state, which is not supported",
    );
    refused(
        &model_text(
            "",
            &variables,
            &format!("⟦{}", edge("true", r#"{"ref": "x", "lower-bound": 0, "upper-bound": 10000}"#)),
        ),
        "the nondeterministic assignments of this edge have 10001 combinations of values, more than the supported 10000",
    );
    refused(&text("⟦{\"ref\": \"x\"}"), "the key \"value\" is missing here");
}

#[test]
fn expressions() {
    let variables = [int("block", 0, 9, 0), int_array("v", 9, "0, 0")].join(",");
    let text = |condition: &str| model_text("", &variables, &edge(condition, ""));
    let error =
        refused(&text(&binary("<", "⟦\"blok\"", 1)), "there is no constant or variable called \"blok\" here");
    assert_eq!(error.hint.as_deref(), Some("did you mean \"block\"?"));
    assert_eq!(error.json_path, "$.automata[0].edges[0].guard.exp.left");
    refused(&text(&format!("⟦{}", binary("∧", true, 1))), "`∧` takes two Booleans, but got bool and int");
    let error =
        refused(&text(r#"{"op": ⟦"&&", "left": true, "right": true}"#), "there is no operator \"&&\"");
    assert_eq!(error.hint.as_deref(), Some("JANI writes it \"∧\""));
    refused(
        &text(r#"{"op": ⟦"der", "var": "x"}"#),
        "the operator \"der\" (the derivative `der`) is not supported here",
    );
    refused(
        &text(r#"{"op": ⟦"nondet", "var": "x", "exp": true}"#),
        "the operator \"nondet\" (nondeterministic selection (`nondet`)) is not supported here",
    );
    refused(
        &text(r#"{"op": ⟦"sin", "exp": 1}"#),
        "the operator \"sin\" (trigonometry) is not supported here",
    );
    refused(
        &text(r#"⟦{"distribution": "Normal", "args": [0, 1]}"#),
        "sampling from a distribution is not supported",
    );
    refused(
        &text("⟦null"),
        "expected an expression (a number, true, false, a name or an object with \"op\"), found null",
    );
    refused(&text(r#"⟦{"op": "¬"}"#), "the key \"exp\" is missing here");
    refused(&text(&binary("<", "⟦\"v\"", 1)), "expected a single value, found an array of length 2");
    refused(&text(r#"{"op": "aa", "exp": ⟦"block", "index": 1}"#), "expected an array, found an int value");
    refused(
        &text(r#"{"op": "let", "variables": ⟦[{"name": "y", "type": "bool"}], "expression": true}"#),
        "`let` with variables is not supported",
    );
    refused(&text("⟦1e999"), "the number 1e999 is too large");
}

#[test]
fn functions() {
    let text = |functions: &str, condition: &str| {
        model_text(&format!("\"functions\": [{functions}],"), &int("x", 0, 9, 0), &edge(condition, ""))
    };
    let even = r#"{"name": "even", "type": "bool", "parameters": [{"name": "n", "type": "int"}], "body": {"op": "call", "function": "odd", "args": ["n"]}}"#;
    let odd = r#"{"name": "odd", "type": "bool", "parameters": [{"name": "n", "type": "int"}], "body": ⟦{"op": "call", "function": "even", "args": ["n"]}}"#;
    let call =
        |name: &str, arguments: &str| format!(r#"{{"op": "call", "function": {name}, "args": {arguments}}}"#);
    refused(
        &text(&format!("{even}, {odd}"), &call("\"even\"", "[\"x\"]")),
        "recursive functions are not supported: even → odd → even",
    );
    let zero = r#"{"name": "zero", "type": "bool", "parameters": [{"name": "n", "type": "int"}], "body": {"op": "=", "left": "n", "right": 0}}"#;
    refused(&text(zero, &call("⟦\"zer\"", "[1]")), "there is no function called \"zer\" here");
    refused(&text(zero, &call("\"zero\"", "⟦[]")), "the function \"zero\" takes 1 arguments, but got 0");
    refused(
        &text(zero, &call("\"zero\"", "[⟦true]")),
        "the parameter \"n\" is of type int, but this is a bool value",
    );
    let wrong = r#"{"name": "one", "type": "bool", "parameters": [], "body": ⟦1}"#;
    refused(
        &text(wrong, &call("\"one\"", "[]")),
        "the result of the function \"one\" is of type bool, but this is an int value",
    );
    refused(
        &text(&format!("{zero}, {}", zero.replacen("\"zero\"", "⟦\"zero\"", 1)), "true"),
        "there already is a function called \"zero\"",
    );
}

#[test]
fn functions_that_explode_are_stopped() {
    // Each level calls the next one twice with other arguments, so nothing is shared.
    let functions: Vec<String> = (0..40)
        .map(|i| {
            let call = |by: i32| {
                let argument = binary("+", binary("*", 2, "\"n\""), by);
                format!(r#"{{"op": "call", "function": "f{}", "args": [{argument}]}}"#, i + 1)
            };
            let body = if i == 39 { "\"n\"".into() } else { binary("+", call(0), call(1)) };
            format!(r#"{{"name": "f{i}", "type": "int", "parameters": [{{"name": "n", "type": "int"}}], "body": {body}}}"#)
        })
        .collect();
    let more = format!("\"functions\": [{}],", functions.join(","));
    let call = binary("=", r#"{"op": "call", "function": "f0", "args": ["x"]}"#, 0);
    let error =
        try_load(&model_text(&more, &int("x", 0, 9, 0), &edge(&call, "")), &[]).expect_err("too large");
    assert_eq!(error.message, "functions and array constructors expand to more than 5000000 expressions");
}

#[test]
fn automata_and_composition() {
    let text = model_text("", "", "");
    let swap = |from: &str, to: &str| text.replacen(from, to, 1);
    refused(
        &swap(
            "\"locations\": [{\"name\": \"l0\"}",
            "\"locations\": [{\"name\": \"l0\"}, {\"name\": ⟦\"l0\"}",
        ),
        "there already is a location called \"l0\"",
    );
    refused(&swap("[{\"name\": \"l0\"}, {\"name\": \"l1\"}]", "⟦[]"), "the automaton \"A\" has no locations");
    refused(&swap("[\"l0\"]", "⟦[]"), "the automaton \"A\" has no initial location");
    refused(&swap("[\"l0\"]", "[⟦\"l9\"]"), "there is no location called \"l9\" in this automaton");
    refused(
        &swap("{\"name\": \"l1\"}", "{\"name\": \"l1\", \"time-progress\": ⟦{\"exp\": true}}"),
        "time-progress conditions are not supported",
    );
    refused(&swap("{\"automaton\": \"A\"}", "{\"automaton\": ⟦\"B\"}"), "there is no automaton called \"B\"");
    refused(&swap("[{\"automaton\": \"A\"}]", "⟦[]"), "the composition has no elements");
    refused(
        &swap("\"synchronise\": [\"a\"]", "\"synchronise\": ⟦[\"a\", null]"),
        "a synchronisation vector needs one entry for each of the 1 elements of the composition, but this has 2",
    );
    refused(&swap("\"result\": \"b\"", "\"result\": ⟦\"c\""), "there is no action called \"c\"");
    refused(&swap("{\"name\": \"b\"}]", "{\"name\": ⟦\"a\"}]"), "there already is an action called \"a\"");
    refused(
        &swap("\"automata\": [", "\"automata\": [{\"name\": \"A\"}, ").replacen(
            "\"name\": \"A\", \"loc",
            "\"name\": ⟦\"A\", \"loc",
            1,
        ),
        "there already is an automaton called \"A\"",
    );
}

#[test]
fn transient_values() {
    let variables = [
        r#"{"name": "t", "type": "bool", "transient": true, "initial-value": false}"#.to_string(),
        r#"{"name": "u", "type": "bool", "transient": true, "initial-value": false}"#.to_string(),
        int("x", 0, 9, 0),
    ]
    .join(",");
    let text = |values: &str| {
        model_text("", &variables, "").replacen(
            "{\"name\": \"l0\"}",
            &format!("{{\"name\": \"l0\", \"transient-values\": [{values}]}}"),
            1,
        )
    };
    refused(
        &text(r#"{"ref": ⟦"x", "value": 1}"#),
        "\"x\" is not transient, so a location cannot give it a value",
    );
    refused(
        &text(r#"{"ref": "t", "value": ⟦"u"}"#),
        "the value of a transient variable in a location cannot depend on transient variables",
    );
    refused(
        &text(r#"{"ref": "t", "value": true}, ⟦{"ref": "t", "value": true}"#),
        "\"t\" already gets a value from a location of \"A\", and only one current location may give it one",
    );
    let two = text(r#"{"ref": "t", "value": true}"#)
        .replace("[{\"automaton\": \"A\"}]", "[{\"automaton\": \"A\"}, {\"automaton\": \"A\"}]")
        .replace("[\"a\"]", "[\"a\", null]")
        .replace("[\"b\"]", "[\"b\", null]");
    let error = try_load(&two, &[]).expect_err("two locations");
    assert_eq!(
        error.message,
        "\"t\" already gets a value from a location of \"A_0\", and only one current location may give it one"
    );
}

#[test]
fn unknown_keys_and_features_are_warnings() {
    let more = r#""features": ["arrays", "x-magic"], "initial-vale": 1, "metadata": {}, "comment": "fine","#;
    let loaded = load(&model_text(more, &int("x", 0, 9, 0), ""));
    let messages: Vec<&str> = loaded.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        ["the key \"initial-vale\" is unknown here and ignored", "the feature \"x-magic\" is not supported"]
    );
    let guard = r#"{"op": "¬", "exp": true, "left": 1}"#;
    let loaded = load(&model_text("", "", &edge(guard, "")));
    assert_eq!(loaded.warnings[0].json_path, "$.automata[0].edges[0].guard.exp.left");
    let many: Vec<String> = (0..80).map(|i| format!("\"key{i}\": 1,")).collect();
    let loaded = load(&model_text(&many.concat(), "", ""));
    assert_eq!(loaded.warnings.len(), 51);
    assert_eq!(loaded.warnings[50].message, "30 more warnings were left out");
}
