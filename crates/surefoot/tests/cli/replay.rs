//! `surefoot replay`: what `verify --trace` writes is accepted, anything else is not.

use serde_json::{Value, json};

use crate::support::Folder;

const REPLAY: [&str; 5] = ["replay", "trace.json", "walk.jani", "--policy", "policy.jani2nnet"];

fn with_trace() -> Folder {
    let folder = Folder::walk("100");
    folder.verify(&["--trace", "trace.json"]).exits(10);
    folder
}

type Edit = fn(&mut Value);

fn change(folder: &Folder, edit: Edit) {
    let mut document: Value = serde_json::from_str(&folder.read("trace.json")).expect("JSON");
    edit(&mut document);
    folder.write("trace.json", &format!("{document:#}"));
}

#[test]
fn a_trace_is_replayed() {
    let folder = with_trace();
    let run = folder.run(&REPLAY).exits(10).prints(&[
        "start state\n  x = 3",
        "step 3  up",
        "x: 7 → 9",
        "unsafe state",
    ]);
    assert_eq!(run.verdict(), "UNSAFE  the trace is a counterexample of 3 steps");
    assert_eq!(run.stderr, "");
    let document = folder.run(&[&REPLAY[..], &["--json"]].concat()).exits(10).json();
    assert_eq!(document["schema"], "surefoot-replay/1");
    assert_eq!((&document["accepted"], &document["reason"]), (&json!(true), &json!(null)));
}

#[test]
fn the_trace_brings_its_reading_constants_and_property() {
    let folder = Folder::walk("100");
    folder.replace("walk.jani", r#""right": 7}"#, r#""right": {"op": "-", "left": "top", "right": 2}}"#);
    let reading = [
        "--const",
        "top=7",
        "--arithmetic",
        "f32",
        "--out-of-domain",
        "block",
        "--filter",
        "on",
        "--trace",
        "trace.json",
    ];
    folder.verify(&reading).exits(10);
    folder.run(&REPLAY).exits(10).prints(&["arithmetic f32, filter on, goal ignore, out-of-domain block"]);
    folder.run(&[&REPLAY[..], &["--const", "top=9"]].concat()).exits(3).prints(&["REJECTED  "]);
}

#[test]
fn a_trace_of_the_environment_needs_no_policy() {
    let folder = Folder::walk("100");
    folder.run(&["verify", "walk.jani", "--no-policy", "--trace", "trace.json"]).exits(10);
    folder.run(&["replay", "trace.json", "walk.jani"]).exits(10).prints(&["policy    none"]);
}

#[test]
fn tampered_traces_are_rejected() {
    let cases: [(&str, Edit, &str); 7] = [
        (
            "a state",
            |d| d["trace"]["steps"][0]["state"]["x"] = json!(4),
            "step 1 of the trace is not possible",
        ),
        (
            "an outcome",
            |d| d["trace"]["steps"][1]["outcome"] = json!(1),
            "step 2 of the trace is not possible",
        ),
        ("the start", |d| d["trace"]["start"]["moved"] = json!(true), "does not begin in a start state"),
        (
            "the end",
            |d| {
                d["trace"]["steps"].as_array_mut().expect("steps").pop();
            },
            "the last state of the trace is not unsafe",
        ),
        (
            "an inapplicable step",
            |d| {
                d["trace"]["steps"][0]["command"] = json!(1);
                d["trace"]["steps"][0]["label"] = json!("down");
                d["trace"]["steps"][0]["outcome"] = json!(0);
            },
            "step 1 of the trace is not possible",
        ),
        ("a domain", |d| d["trace"]["steps"][0]["state"]["x"] = json!(77), "77 is outside the domain"),
        ("everything", |d| d["trace"]["steps"] = json!([]), "the last state of the trace is not unsafe"),
    ];
    for (name, edit, reason) in cases {
        let folder = with_trace();
        change(&folder, edit);
        let run = folder.run(&REPLAY).exits(3);
        assert!(
            run.verdict().starts_with("REJECTED  ") && run.verdict().contains(reason),
            "{name}: {}",
            run.verdict()
        );
        let document = folder.run(&[&REPLAY[..], &["--json"]].concat()).exits(3).json();
        assert_eq!(document["accepted"], false, "{name}");
    }
}

#[test]
fn malformed_traces_are_errors_with_a_place() {
    let cases: [(Edit, &str); 9] = [
        (|d| d["schema"] = json!("surefoot-result/1"), "expected \"surefoot-trace/1\""),
        (|d| d["trace"]["steps"][0]["command"] = json!(99), "99 is none of the 2 commands"),
        (|d| d["trace"]["steps"][0]["command"] = json!(-1), "-1 is none of the 2 commands"),
        (|d| d["trace"]["steps"][0]["outcome"] = json!(2), "2 is none of the 2 outcomes"),
        (|d| d["trace"]["steps"][0]["label"] = json!("down"), "has the label \"up\""),
        (|d| d["trace"]["start"]["y"] = json!(1), "the model has no variable \"y\""),
        (|d| d["trace"]["start"] = json!({"x": 3}), "is missing"),
        (|d| d["trace"]["start"]["x"] = json!("three"), "expected an integer"),
        (|d| d["semantics"]["goal"] = json!("maybe"), "the reading \"maybe\" is unknown"),
    ];
    for (edit, message) in cases {
        let folder = with_trace();
        change(&folder, edit);
        folder.run(&REPLAY).exits(3).complains(&["error: trace.json:", message, "at $."]);
    }
    let folder = with_trace();
    folder.write("trace.json", "{\"schema\": \"surefoot-trace/1\", \"trace\"");
    folder.run(&REPLAY).exits(3).complains(&["error: trace.json:1:"]);
}

#[test]
fn other_files_give_a_warning() {
    let folder = with_trace();
    folder.write("policy.nnet", &crate::support::network("99"));
    folder
        .run(&REPLAY)
        .exits(10)
        .complains(&["warning: policy.nnet is not the file that the trace was found with"]);
    folder.write("policy.nnet", &crate::support::network("4.5"));
    folder.run(&REPLAY).exits(3).prints(&["REJECTED  step 2"]);
}

#[test]
fn a_safe_verdict_writes_no_trace() {
    let folder = Folder::walk("4.5");
    folder.verify(&["--trace", "trace.json"]).exits(0).complains(&["note: trace.json was not written"]);
    assert!(!folder.path("trace.json").exists());
    folder.verify(&["--trace", "nowhere/trace.json"]).exits(2).complains(&["there is no folder nowhere"]);
}
