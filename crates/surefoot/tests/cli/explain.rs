//! `surefoot explain`.

use serde_json::json;

use crate::support::{Folder, Run};

fn explain(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["explain", "walk.jani", "--policy", "policy.jani2nnet"], more].concat())
}

#[test]
fn the_first_start_state_is_explained() {
    let folder = Folder::walk("4.5");
    let run = explain(&folder, &[]).exits(0).prints(&[
        "model     walk.jani",
        "first start state\n  x = 0, moved = false",
        "scores\n  up 4.5, down 0 (not applicable)",
        "depends on\n  x\n",
        "does not depend on, whatever their values are\n  moved\n",
        "rule: up if\n  x ≤ 4\n",
        "choice            up, score 4.5, margin 4.5 to down",
        "nearest other     down at distance 5: x: 0 → 5",
    ]);
    assert_eq!(
        run.verdict(),
        "EXPLAINED  up depends on 1 of 2 variables, the nearest other choice is at distance 5"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn states_are_given_by_names() {
    let folder = Folder::walk("4.5");
    let expected = ["state\n  x = 7, moved = true", "rule: down if\n  x ≥ 5", "up at distance 3: x: 7 → 4"];
    explain(&folder, &["--state", "x=7, moved=true"]).exits(0).prints(&expected);
    explain(&folder, &["--state", "moved=true,x=7,walker.location=on"]).exits(0).prints(&expected);
    folder.write("state.json", r#"{"x": 7, "moved": true}"#);
    explain(&folder, &["--state", "state.json"]).exits(0).prints(&expected);
    folder.write("plain", r#"{"x": 7, "moved": true, "walker.location": "on"}"#);
    explain(&folder, &["--state", "plain"]).exits(0).prints(&expected);
}

#[test]
fn bad_states_are_refused() {
    let folder = Folder::walk("4.5");
    for (state, message) in [
        ("x=7", "`--state`: the value of `moved` is missing"),
        ("x=10,moved=true", "`10` is no value of `x`, which is 0..9"),
        ("x=1,moved=1", "`1` is no value of `moved`, which is true or false"),
        ("x=1,moved=true,y=2", "the model has no variable `y`"),
        ("x=1,x=2,moved=true", "`x` has two values"),
        ("x=1,moved", "but must be values of all variables such as `x=1,y=2`, or a JSON file"),
        ("", "but must be values of all variables"),
    ] {
        let run = explain(&folder, &["--state", state]).exits(2).complains(&[message]);
        assert_eq!(run.stdout, "", "{state}");
    }
    for (contents, message) in [
        (r#"{"x": 7}"#, r#"the value of the variable "moved" is missing"#),
        (r#"{"x": 10, "moved": true}"#, "10 is outside the domain 0..9 of `x`"),
        (r#"{"x": 1, "moved": 1}"#, "1:19"),
        (r#"{"x": 1, "moved": true, "y": 2}"#, r#"the model has no variable "y""#),
        (r#"{"x": 1, "moved": true, "walker.location": "off"}"#, "no location"),
        ("[1]", "object"),
        ("{", "JSON syntax error"),
    ] {
        folder.write("state.json", contents);
        let run = explain(&folder, &["--state", "state.json"]).exits(3).complains(&["state.json", message]);
        assert_eq!(run.stdout, "", "{contents}");
    }
    explain(&folder, &["--state", "missing.json"]).exits(3).complains(&["missing.json"]);
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = Folder::walk("4.5");
    for arguments in [
        &["--epsilon", "-1"][..],
        &["--epsilon", "some"],
        &["--order", "best"],
        &["--step", "2"],
        &["--state", "x=1,moved=true", "--trace", "trace.json"],
    ] {
        explain(&folder, arguments).exits(2);
    }
    folder
        .run(&["explain", "walk.jani", "--no-policy"])
        .exits(3)
        .complains(&["there is no policy whose choices could be explained"]);
}

#[test]
fn epsilon_limits_how_far_values_stray() {
    let folder = Folder::walk("4.5");
    explain(&folder, &["--epsilon", "4"]).exits(0).prints(&[
        "does not depend on, as long as their values change by at most 4\n  x, moved\n",
        "rule: up if\n  x ≤ 4\n",
        "EXPLAINED  up depends on 0 of 2 variables",
    ]);
    explain(&folder, &["--epsilon", "5"]).exits(0).prints(&["depends on\n  x\n"]);
    explain(&folder, &["--epsilon", "least"]).exits(0).prints(&[
        "depends on\n  x\n",
        "as long as their values change by at most 5\n  moved\n",
        "least epsilon     5: the choice is the same if all values change by at most 4",
    ]);
    let folder = Folder::walk("100");
    explain(&folder, &["--epsilon", "least"]).exits(0).prints(&[
        "rule: up in all states",
        "least epsilon     none: the choice is the same in all states",
        "nearest other     none: no state has another choice",
        "EXPLAINED  up depends on 0 of 2 variables, no state has another choice",
    ]);
}

#[test]
fn the_reading_matters() {
    let folder = Folder::walk("100");
    let at_the_top = ["--state", "x=8,moved=false"];
    explain(&folder, &at_the_top)
        .exits(0)
        .prints(&["choice            up (not applicable: the policy stalls), score 100, margin 92 to down"]);
    explain(&folder, &[&at_the_top[..], &["--filter", "on"]].concat()).exits(0).prints(&[
        "up 100 (not applicable), down 8",
        "rule: down if\n  x ≥ 8\n",
        "choice            down, score 8, nothing else to choose from",
        "nearest other     up at distance 1: x: 8 → 7",
    ]);
    explain(&folder, &[&at_the_top[..], &["--arithmetic", "any-f32"]].concat())
        .exits(0)
        .prints(&["up 100 ±", "margin 92 ±"]);
    // Nothing is applicable at 0 any more.
    folder.replace(
        "walk.jani",
        r#"{"op": "≤", "left": "x", "right": 7}"#,
        r#"{"op": "=", "left": "x", "right": 5}"#,
    );
    explain(&folder, &["--filter", "on"]).exits(0).prints(&[
        "rule: no label if\n  x = 0\n",
        "choice            no label: none that the policy can choose is applicable",
        "nearest other     down at distance 1: x: 0 → 1",
        "EXPLAINED  no label depends on 1 of 2 variables",
    ]);
}

#[test]
fn scores_that_are_too_close_to_tell_are_all_explained() {
    let folder = Folder::walk("5");
    let run = explain(&folder, &["--state", "x=5,moved=true", "--arithmetic", "any-f32"]).exits(0);
    run.prints(&[
        "choice            ",
        " (their scores are too close to tell)",
        "no state has another choice",
    ]);
    // Ties are broken by the order of outputs.
    explain(&folder, &["--state", "x=5,moved=true"]).exits(0).prints(&["up, score 5, margin 0 to down"]);
}

#[test]
fn states_of_traces_are_explained() {
    let folder = Folder::walk("100");
    folder.verify(&["--trace", "trace.json", "--arithmetic", "f32"]).exits(10);
    explain(&folder, &["--trace", "trace.json"]).exits(0).prints(&[
        "reading   arithmetic f32",
        "state before step 1 of the trace, which is up (walker edge 0)\n  x = 3, moved = false",
    ]);
    explain(&folder, &["--trace", "trace.json", "--step", "2"]).exits(0).prints(&["moved = true"]);
    explain(&folder, &["--trace", "trace.json", "--step", "4"])
        .exits(0)
        .prints(&["state 4 of the trace, the last one\n  x = 9, moved = true"]);
    for step in ["0", "5"] {
        explain(&folder, &["--trace", "trace.json", "--step", step])
            .exits(2)
            .complains(&["the trace has the steps 1 to 3 (4 is its last state)"]);
    }
    folder.replace("policy.nnet", "100", "101");
    explain(&folder, &["--trace", "trace.json"]).exits(0).complains(&["warning: ", "its contents differ"]);
    explain(&folder, &["--trace", "walk.jani"]).exits(3).complains(&["traces are written by"]);
}

#[test]
fn a_limit_leaves_what_is_proved() {
    let folder = Folder::walk("4.5");
    // So large that the values of a variable are not just tried one by one.
    folder.replace("walk.jani", r#""value": 9}"#, r#""value": 1000000}"#);
    folder.replace("policy.nnet", "4.5", "400000.5");
    explain(&folder, &[])
        .exits(0)
        .prints(&["rule: up if\n  x ≤ 400000\n", "at distance 400001: x: 0 → 400001"]);
    explain(&folder, &["--time-limit", "0"]).exits(11).prints(&[
        "depends on\n  x\n",
        "rule (perhaps not the widest): up if\n  x = 0\n",
        "down at distance 400001: x: 0 → 400001 (not proved to be nearest: at least 1)",
    ]);
    folder.replace("policy.nnet", "400000.5", "4000000.5");
    let run = explain(&folder, &["--time-limit", "0"]).exits(11).prints(&[
        "not decided\n  x\n",
        "rule (perhaps not the widest): up if\n  x = 0\n",
        "nearest other     not decided: no other choice was found, at least at distance 1",
    ]);
    assert!(run.verdict().starts_with("PARTIAL  time limit after "), "{}", run.verdict());
    assert!(run.verdict().ends_with(": up depends on 0 to 1 of 2 variables"), "{}", run.verdict());
    let document = explain(&folder, &["--time-limit", "0", "--json"]).exits(11).json();
    assert_eq!((&document["complete"], &document["reason"]), (&json!(false), &json!("time")));
    assert_eq!(document["undecided"], json!(["x"]));
    assert_eq!(document["nearest"]["proved"], false);
}

#[test]
fn orders_are_those_of_the_paper() {
    let folder = Folder::walk("4.5");
    for order in ["sensitivity", "declared", "random"] {
        let document = explain(&folder, &["--json", "--order", order, "--seed", "3"]).exits(0).json();
        assert_eq!((&document["order"], &document["seed"]), (&json!(order), &json!(3)));
        assert_eq!(document["relevant"], json!(["x"]));
    }
}

#[test]
fn json_has_everything() {
    let folder = Folder::walk("4.5");
    let document = explain(&folder, &["--json", "--epsilon", "least"]).exits(0).json();
    assert_eq!(document["schema"], "surefoot-explanation/1");
    assert_eq!((&document["complete"], &document["reason"]), (&json!(true), &json!(null)));
    assert_eq!((&document["from"], &document["step"]), (&json!("start"), &json!(null)));
    assert_eq!(document["state"], json!({"walker.location": "on", "x": 0, "moved": false}));
    assert_eq!(document["choice"], json!(["up"]));
    let up =
        json!({"label": "up", "score": {"lower": 4.5, "upper": 4.5}, "applicable": true, "chosen": true});
    assert_eq!(document["outputs"][0], up);
    assert_eq!(document["margin"], json!({"runner_up": "down", "margin": {"lower": 4.5, "upper": 4.5}}));
    assert_eq!(document["epsilon"], 5);
    assert_eq!(document["least"], json!({"same_within": 4, "differs_within": 5, "proved": true}));
    assert_eq!(document["relevant"], json!(["x"]));
    assert_eq!(document["irrelevant"], json!(["walker.location", "moved"]));
    assert_eq!(document["undecided"], json!([]));
    assert_eq!(document["rule"], json!({"bounds": {"x": {"lower": 0, "upper": 4}}, "maximal": true}));
    let nearest = &document["nearest"];
    assert_eq!(
        (&nearest["proved"], &nearest["distance"], &nearest["at_least"]),
        (&json!(true), &json!(5), &json!(5))
    );
    assert_eq!((&nearest["choice"], &nearest["changes"]), (&json!(["down"]), &json!({"x": 5})));
    assert_eq!(nearest["state"], json!({"walker.location": "on", "x": 5, "moved": false}));
    assert!(document["files"].as_array().is_some_and(|files| files.len() == 3));
    let folder = Folder::walk("100");
    let nearest = &explain(&folder, &["--json"]).exits(0).json()["nearest"];
    assert_eq!(
        nearest,
        &json!({"proved": true, "distance": null, "at_least": null, "choice": null, "changes": null, "state": null})
    );
}
