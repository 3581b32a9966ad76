//! `surefoot verify --engine pa` and `--engine ppa`: verdicts, reports, predicates and certificates.

use serde_json::{Value, json};

use crate::support::{Folder, Run};

fn verify(folder: &Folder, engine: &str, more: &[&str]) -> Run {
    folder.verify(&[&["--engine", engine], more].concat())
}

/// The walk goes up to 5 and down from there, so this is an invariant; the others are there to be looked at.
const PREDICATES: &str = r#"[
  {"op": "≤", "left": "x", "right": 6},
  {"op": "≥", "left": "x", "right": 5},
  "moved",
  {"op": "≥", "left": "x", "right": 0}
]"#;

#[test]
fn given_predicates_can_be_enough() {
    let folder = Folder::walk("4.5");
    folder.write("predicates.json", PREDICATES);
    let options = ["--predicates", "predicates.json", "--certificate", "safe.cert"];
    let run = verify(&folder, "pa", &options).exits(0).prints(&[
        "predicates        3: 3 given\n",
        "start states      1 abstract\n",
        "states            ",
        "unsafe states     0 abstract\n",
        "executed          ",
        "environment       ",
        "policy            ",
        "pursued           ",
        "certificate       ",
        ", checked in ",
    ]);
    assert!(run.verdict().starts_with("SAFE  "), "{}", run.verdict());
    assert_eq!(run.stderr, "");
    // The certificate is about the model, whatever the predicates were.
    folder.check(&[]).exits(0);
}

#[test]
fn without_predicates_the_abstraction_is_too_coarse() {
    let folder = Folder::walk("4.5");
    let run = verify(&folder, "pa", &[]).exits(11).prints(&["unsafe states     1 abstract\n"]);
    assert_eq!(
        run.verdict().split(" after ").next(),
        Some("UNKNOWN  abstraction too coarse"),
        "{}",
        run.verdict()
    );
    let document = verify(&folder, "pa", &["--json"]).exits(11).json();
    assert_eq!((&document["verdict"], &document["reason"]), (&json!("UNKNOWN"), &json!("abstraction")));
    assert_eq!(document["pa"]["predicates"], json!([]));
}

#[test]
fn predicates_are_found() {
    let folder = Folder::empty();
    folder.run(&["demo", "--out", "."]).exits(0);
    let task = ["--policy", "careful.jani2nnet"];
    let verify =
        |more: &[&str]| folder.run(&[&["verify", "robot.jani", "--engine", "ppa"], &task[..], more].concat());
    let run = verify(&["--certificate", "safe.cert"]).exits(0).prints(&[
        "iterations        ",
        "spurious because of the policy",
        "predicates        ",
        "2 unsafe, ",
        " policy\n",
    ]);
    assert!(run.verdict().starts_with("SAFE  "), "{}", run.verdict());
    folder.run(&[&["check", "safe.cert", "--model", "robot.jani"], &task[..]].concat()).exits(0);
    let document = verify(&["--json"]).exits(0).json();
    assert_eq!((&document["engine"], &document["complete"]), (&json!("ppa"), &json!(true)));
    let predicates = document["pa"]["predicates"].as_array().expect("a list");
    assert!(predicates.contains(&json!({"predicate": "battery ≥ 1", "source": "unsafe"})), "{predicates:?}");
    let iterations = document["pa"]["iterations"].as_array().expect("a list");
    assert!(iterations.iter().any(|iteration| iteration["cause"] == json!("policy")), "{iterations:?}");
    let number = |value: &Value| value.as_u64().expect("a number");
    let mut before = None;
    for iteration in iterations {
        let sources = iteration["sources"].as_object().expect("counts");
        assert_eq!(sources.values().map(number).sum::<u64>(), number(&iteration["predicates"]));
        // Each iteration begins with the predicates that the one before has left.
        assert_eq!(number(&iteration["predicates"]), before.unwrap_or(number(&iteration["predicates"])));
        before = Some(number(&iteration["predicates"]) + number(&iteration["added"]));
    }
    assert_eq!(before, Some(predicates.len() as u64));
    // The last search asks questions of its own.
    let asked = |tests: &Value| number(&tests["state_tests"]["count"]) + number(&tests["executed_states"]);
    let of_iterations: u64 = iterations.iter().map(|iteration| asked(&iteration["tests"])).sum();
    assert!(0 < of_iterations && of_iterations < asked(&document["pa"]), "{of_iterations}");
}

#[test]
fn an_unsafe_policy_has_a_trace_that_replays() {
    let folder = Folder::walk("100");
    let run = verify(&folder, "ppa", &["--trace", "trace.json"]).exits(10);
    assert!(run.verdict().starts_with("UNSAFE  unsafe state reached in "), "{}", run.verdict());
    let replay = ["replay", "trace.json", "walk.jani", "--policy", "policy.jani2nnet"];
    assert!(folder.run(&replay).exits(10).verdict().starts_with("UNSAFE  the trace is a counterexample"));
}

#[test]
fn limits_give_unknown() {
    let folder = Folder::walk("4.5");
    for engine in ["pa", "ppa"] {
        let run = verify(&folder, engine, &["--time-limit", "0"]).exits(11);
        assert!(run.verdict().starts_with("UNKNOWN  time limit after 0.0"), "{}", run.verdict());
        let run = verify(&folder, engine, &["--memory-limit", "1B"]).exits(11);
        assert!(run.verdict().starts_with("UNKNOWN  memory limit after "), "{}", run.verdict());
    }
}

#[test]
fn wrong_predicates_are_shown_where_they_stand() {
    let folder = Folder::walk("4.5");
    for (text, message) in [
        (r#"[{"op": "≥", "left": "y", "right": 0}]"#, "predicates.json:1:22: "),
        (r#"["moved", 3]"#, "predicates.json:1:11: "),
        (r#"{"op": "≥", "left": "x", "right": 0}"#, "predicates.json:1:1: "),
        ("[", "predicates.json:"),
    ] {
        folder.write("predicates.json", text);
        verify(&folder, "pa", &["--predicates", "predicates.json"]).exits(3).complains(&[message]);
    }
    verify(&folder, "pa", &["--predicates", "missing.json"]).exits(3).complains(&["missing.json"]);
}

#[test]
fn options_of_other_engines_are_refused() {
    let folder = Folder::walk("4.5");
    for (engine, option, needs) in [
        ("explicit", &["--predicates", "p.json"][..], "`--predicates` needs `--engine pa` or `--engine ppa`"),
        ("ppa", &["--growth", "3"], "`--growth` needs `--engine ic3`"),
        ("pa", &["--slice"], "`--slice` needs `--engine explicit`"),
        ("explicit", &["--no-check"], "`--no-check` needs `--engine ic3` or `--engine pa` or `--engine ppa`"),
    ] {
        verify(&folder, engine, option).exits(2).complains(&[needs]);
    }
}

#[test]
fn variants_of_the_papers_give_the_same_verdict() {
    let folder = Folder::empty();
    folder.run(&["demo", "--out", "."]).exits(0);
    let verify = |more: &[&str]| {
        let task = ["verify", "robot.jani", "--policy", "careful.jani2nnet", "--engine", "ppa"];
        folder.run(&[&task[..], more].concat())
    };
    for options in [
        &["--search", "hamming", "--seed", "3"][..],
        &["--search", "coarse"],
        &["--begin", "commands"],
        &["--begin", "unsafe", "--search", "breadth"],
        &["--refine", "barriers"],
        &["--refine", "values"],
        &["--refine", "witness"],
        &["--refine", "witness", "--variables", "verix", "--epsilon", "0.25", "--traversal", "random"],
        &["--refine", "witness", "--variables", "bsearch", "--tau", "0.1", "--split", "epsilon"],
        &["--refine", "witness", "--variables", "sens", "--split", "middle"],
        &["--refine", "witness", "--variables", "random", "--split", "random"],
        &["--without", "entail-op,opt-slack-var"],
        &["--without", "per-op-disj", "--without", "entail-gen"],
    ] {
        let run = verify(options).exits(0);
        assert!(run.verdict().starts_with("SAFE  "), "{options:?}: {}", run.verdict());
    }
    for (options, message) in [
        (&["--variables", "all"][..], "`--variables` needs `--refine witness`"),
        (
            &["--refine", "witness", "--epsilon", "0.5"],
            "`--epsilon` needs `--refine witness --variables verix`",
        ),
        (&["--refine", "witness", "--variables", "all", "--tau", "0.5"], "`--tau` needs "),
        (&["--refine", "witness", "--variables", "verix", "--epsilon", "2"], "expected a number from 0 to 1"),
    ] {
        verify(options).exits(2).complains(&[message]);
    }
}

/// Two numbers whose product is below 1000 at the start, and no step: the proof is one abstract state, but no box.
const PRODUCT: &str = r#"{
  "jani-version": 1, "name": "product", "type": "lts",
  "variables": [
    {"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 20000}, "initial-value": 0},
    {"name": "y", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 20000}, "initial-value": 0}
  ],
  "automata": [{"name": "a", "locations": [{"name": "on"}], "initial-locations": ["on"], "edges": []}],
  "system": {"elements": [{"automaton": "a"}]},
  "properties": [{"name": "small", "expression": {
    "op": "PA",
    "start": {"op": "state-condition", "exp": {"op": "<", "left": {"op": "*", "left": "x", "right": "y"}, "right": 1000}},
    "reach": {"op": "≥", "left": {"op": "*", "left": "x", "right": "y"}, "right": 1000},
    "predicates": [{"op": "≥", "left": {"op": "*", "left": "x", "right": "y"}, "right": 1000}]
  }}]
}"#;

#[test]
fn a_certificate_that_takes_too_much_memory_leaves_it_open() {
    let folder = Folder::empty();
    folder.write("product.jani", PRODUCT);
    let verify = |more: &[&str]| {
        folder.run(&[&["verify", "product.jani", "--no-policy", "--engine", "pa"], more].concat())
    };
    verify(&[]).exits(0).prints(&["states            1 abstract"]);
    let run = verify(&["--memory-limit", "40kB"]).exits(11).prints(&["1 abstract, 1 expanded"]);
    assert!(run.verdict().starts_with("UNKNOWN  memory limit after "), "{}", run.verdict());
}

/// Nothing opens the gate, but without it `x` counts to a million. That is given up, and the model itself is safe at once.
#[test]
fn a_projection_that_takes_too_long_is_given_up() {
    let folder = Folder::empty();
    folder.write(
        "gate.jani",
        r#"{"jani-version": 1, "name": "gate", "type": "lts", "actions": [{"name": "count"}, {"name": "shut"}], "variables": [
        {"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1000000}, "initial-value": 0},
        {"name": "open", "type": "bool", "initial-value": false}],
        "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
        {"location": "l", "action": "count", "guard": {"exp": {"op": "∧", "left": "open", "right": {"op": "≤", "left": "x", "right": 999999}}},
         "destinations": [{"location": "l", "assignments": [{"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}]}]},
        {"location": "l", "action": "shut", "destinations": [{"location": "l", "assignments": [{"ref": "open", "value": false}]}]}]}],
        "system": {"elements": [{"automaton": "a"}],
         "syncs": [{"synchronise": ["count"], "result": "count"}, {"synchronise": ["shut"], "result": "shut"}]},
        "properties": [{"name": "p", "expression": {"op": "PA", "start": {"op": "∧", "left": {"op": "=", "left": "x", "right": 0}, "right": {"op": "¬", "exp": "open"}},
        "reach": {"op": "=", "left": "x", "right": 1000000}}}]}"#,
    );
    let options = ["--engine", "ppa", "--time-limit", "4", "--json"];
    let document =
        folder.run(&[&["verify", "gate.jani", "--no-policy"], &options[..]].concat()).exits(0).json();
    assert_eq!(document["pa"]["projected_variables"], 0);
}
