//! Properties in the standard's form and `PA` properties.

use crate::*;

/// A model with `x` (0..9, initially 0), `p`, and one property.
fn with(expression: &str) -> Loaded {
    with_variables(
        expression,
        &[int("x", 0, 9, 0), r#"{"name": "p", "type": "bool", "initial-value": false}"#.into()],
    )
}

fn with_variables(expression: &str, variables: &[String]) -> Loaded {
    let more = format!(
        r#""properties": [{{"name": "q", "expression": {expression}, "comment": "c"}}], "labels": [],"#
    );
    load(&model_text(&more, &variables.join(","), ""))
}

fn filter(fun: &str, values: &str) -> String {
    format!(r#"{{"op": "filter", "fun": "{fun}", "values": {values}, "states": {{"op": "initial"}}}}"#)
}

fn unary(op: &str, exp: &str) -> String {
    format!(r#"{{"op": "{op}", "exp": {exp}}}"#)
}

/// Which values of x are unsafe, and in which the run goes on.
fn reach(loaded: &Loaded) -> (Vec<i32>, Vec<i32>) {
    let property = property(loaded, "q");
    let values = |id: ExprId| (0..10).filter(|x| holds(loaded, &format!("x={x}"), id)).collect();
    (values(property.unsafe_states), property.hold.map(values).unwrap_or_default())
}

#[test]
fn questions_of_reachability_are_recognised() {
    let low = binary("<", "\"x\"", 3);
    let high = binary(">", "\"x\"", 6);
    let until = |op: &str| binary(op, &low, &high);
    let (lows, highs) = (vec![0, 1, 2], vec![7, 8, 9]);
    for (fun, values, unsafe_states, hold) in [
        ("∃", unary("F", &high), &highs, vec![]),
        ("values", unary("F", &high), &highs, vec![]),
        ("∃", unary("∃", &unary("F", &high)), &highs, vec![]),
        ("∀", unary("¬", &unary("∃", &unary("F", &high))), &highs, vec![]),
        ("max", unary("Pmax", &unary("F", &high)), &highs, vec![]),
        ("min", unary("Pmin", &unary("F", &high)), &highs, vec![]),
        ("max", unary("Pmax", &unary("G", &unary("¬", &high))), &highs, vec![]),
        ("∀", unary("∀", &unary("G", &low)), &vec![3, 4, 5, 6, 7, 8, 9], vec![]),
        ("∀", unary("G", &unary("¬", &low)), &lows, vec![]),
        ("∃", unary("¬", &unary("∀", &unary("G", &unary("¬", &low)))), &lows, vec![]),
        ("∃", unary("∃", &until("U")), &highs, lows.clone()),
        ("∃", until("U"), &highs, lows.clone()),
        ("values", binary("U", true, &high), &highs, vec![]),
        // All runs satisfy `low W high` unless one gets to neither, through states that are not high.
        ("∀", unary("∀", &until("W")), &vec![3, 4, 5, 6], vec![0, 1, 2, 3, 4, 5, 6]),
        // All runs satisfy `low R high` unless one gets out of high before having been low.
        ("∀", unary("∀", &until("R")), &vec![0, 1, 2, 3, 4, 5, 6], vec![3, 4, 5, 6, 7, 8, 9]),
        // With one initial state, "for some" and "for all" of them are the same.
        ("∀", unary("∃", &unary("F", &high)), &highs, vec![]),
    ] {
        let loaded = with(&filter(fun, &values));
        assert_eq!(reach(&loaded), (unsafe_states.clone(), hold), "{fun} {values}");
        assert_eq!(property(&loaded, "q").start.condition, loaded.system.initial);
        assert!(loaded.warnings.is_empty());
    }
}

#[test]
fn other_questions_are_kept_with_the_reason() {
    let bounded = r#"{"op": "F", "exp": "p", "step-bounds": {"upper": 3}}"#;
    let rewarded = r#"{"op": "F", "exp": "p", "reward-bounds": []}"#;
    for (expression, message, path) in [
        (
            filter("∀", &unary("∀", &unary("F", "\"p\""))),
            "that something happens on all runs (liveness) is not a question of safety",
            ".values.exp",
        ),
        (
            filter("∃", &unary("∃", &unary("G", "\"p\""))),
            "that some run avoids something forever is not a question of reachability",
            ".values.exp",
        ),
        (filter("max", &unary("Pmax", bounded)), "step-bounds are not supported", ".values.exp.step-bounds"),
        (
            filter("max", &unary("Pmax", rewarded)),
            "reward-bounds are not supported",
            ".values.exp.reward-bounds",
        ),
        (
            filter("min", r#"{"op": "Emin", "exp": 1, "reach": "p"}"#),
            "expected rewards are not supported",
            ".values",
        ),
        (filter("min", &unary("Smin", "\"p\"")), "steady-state probabilities are not supported", ".values"),
        (
            filter("∀", &binary("≤", unary("Pmax", &unary("F", "\"p\"")), 0.5)),
            "comparisons are not supported, only the probability itself",
            ".values",
        ),
        (
            filter("∀", "\"p\""),
            "this does not ask whether some states can be reached, so it is not supported",
            ".values",
        ),
        (filter("avg", &unary("F", "\"p\"")), "the filter function \"avg\" is not supported", ".fun"),
        (
            r#"{"op": "filter", "fun": "∃", "values": {"op": "F", "exp": "p"}, "states": "p"}"#.into(),
            "only properties of initial states are supported: {\"op\": \"initial\"}",
            ".states",
        ),
        (
            r#"{"op": "problem-instance"}"#.into(),
            "properties of kind \"problem-instance\" are not supported, only \"filter\" and \"PA\"",
            ".op",
        ),
        (
            r#"{"op": "PA", "predicates": []}"#.into(),
            "the property has no reach condition, so there is nothing to verify",
            "",
        ),
    ] {
        let loaded = with(&expression);
        let error = refusal(&loaded, "q");
        assert_eq!(error.message, message);
        assert_eq!(error.json_path, format!("$.properties[0].expression{path}"));
        assert!(loaded.warnings.is_empty(), "what is not supported is no mistake");
    }
}

#[test]
fn several_initial_states_make_some_filters_unsupported() {
    let free =
        r#"{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}}"#;
    let p = r#"{"name": "p", "type": "bool", "initial-value": false}"#;
    let expression = filter("∀", &unary("∃", &unary("F", "\"p\"")));
    let loaded = with_variables(&expression, &[free.into(), p.into()]);
    assert!(refusal(&loaded, "q").message.starts_with("with several initial states"));
    let expression = filter("∃", &unary("∃", &unary("F", "\"p\"")));
    property(&with_variables(&expression, &[free.into(), p.into()]), "q");
}

#[test]
fn mistakes_in_a_property_bother_only_those_who_choose_it() {
    let loaded = with(&filter("∃", &unary("F", &binary("<", "\"y\"", 1))));
    let error = refusal(&loaded, "q");
    assert_eq!(error.message, "there is no constant or variable called \"y\" here");
    assert_eq!(error.json_path, "$.properties[0].expression.values.exp.left");
    assert_eq!(loaded.warnings.len(), 1);
    let loaded = with(r#"{"op": "PA", "reach": "x"}"#);
    assert_eq!(refusal(&loaded, "q").message, "expected a Boolean expression, found one of type int");
}

#[test]
fn start_states_are_the_given_ones_and_the_initial_ones() {
    let loaded = with(
        r#"{"op": "PA", "reach": "p", "start": {"op": "state-condition", "locations": [{"automaton": "A", "index": 0, "location": "l1"}],
            "exp": {"op": "=", "left": "x", "right": 5}}}"#,
    );
    let start = property(&loaded, "q").start.clone();
    assert!(start.listed.is_empty());
    let condition = start.condition.expect("a condition");
    for (at, expected) in [
        ("A.location=1 x=5 p=1", true),
        ("A.location=1 x=4", false),
        ("A.location=0 x=5", false),
        ("A.location=0 x=0", true),
        ("A.location=0 x=0 p=1", false),
    ] {
        assert_eq!(holds(&loaded, at, condition), expected, "{at}");
    }
    let loaded = with(r#"{"op": "PA", "reach": "p"}"#);
    assert_eq!(property(&loaded, "q").start.condition, loaded.system.initial);
}

#[test]
fn start_conditions_name_all_locations() {
    let loaded = with(r#"{"op": "PA", "reach": "p", "start": {"op": "state-condition", "exp": "p"}}"#);
    let error = refusal(&loaded, "q");
    assert_eq!(error.message, "the start condition does not say in which location \"A\" starts");
    assert_eq!(
        error.hint.as_deref(),
        Some("add {\"automaton\": \"A\", \"index\": 0, \"location\": …} to \"locations\"")
    );
}

#[test]
fn listed_states_are_checked() {
    for (entry, message) in [
        (r#"{"variables": [{"var": "x", "value": 10}]}"#, "the value 10 of \"x\" is outside its domain 0..9"),
        (
            r#"{"variables": [{"var": "z", "value": 1}]}"#,
            "there is no constant or variable called \"z\" here",
        ),
        (
            r#"{"variables": [{"var": "x", "value": "x"}]}"#,
            "expected a constant expression, but this depends on x",
        ),
        (
            r#"{"locations": [{"automaton": "A", "index": 1, "location": "l1"}]}"#,
            "element 1 of the composition is no instance of \"A\"",
        ),
        (
            r#"{"locations": [{"automaton": "A", "index": 0, "location": "l2"}]}"#,
            "there is no location called \"l2\" in this automaton",
        ),
    ] {
        let start = format!(r#"{{"op": "states-values", "values": [{entry}]}}"#);
        let loaded = with(&format!(r#"{{"op": "PA", "reach": "p", "start": {start}}}"#));
        assert_eq!(refusal(&loaded, "q").message, message);
    }
}

#[test]
fn local_variables_are_named_alone_where_that_is_clear() {
    let automaton = |name: &str, variables: &str| {
        format!(
            r#"{{"name": "{name}", "locations": [{{"name": "l"}}], "initial-locations": ["l"], "edges": [], "variables": [{variables}]}}"#
        )
    };
    let text = |expression: &str| {
        format!(
            r#"{{"jani-version": 1, "name": "m", "type": "lts", "automata": [{}, {}],
              "system": {{"elements": [{{"automaton": "A"}}, {{"automaton": "B"}}]}},
              "properties": [{{"name": "q", "expression": {{"op": "PA", "reach": {expression}}}}}]}}"#,
            automaton("A", &[int("n", 0, 3, 0), int("m", 0, 3, 0)].join(",")),
            automaton("B", &int("n", 0, 3, 0))
        )
    };
    let loaded = load(&text(&binary("=", "\"m\"", 1)));
    assert!(holds(&loaded, "A.m=1", property(&loaded, "q").unsafe_states));
    let loaded = load(&text(&binary("=", "\"B.n\"", 1)));
    assert!(holds(&loaded, "B.n=1", property(&loaded, "q").unsafe_states));
    let loaded = load(&text(&binary("=", "\"n\"", 1)));
    let error = refusal(&loaded, "q");
    assert_eq!(error.message, "\"n\" is a local variable of several automata");
    assert_eq!(error.hint.as_deref(), Some("name one of A.n, B.n"));
}
