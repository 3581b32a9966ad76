//! `surefoot verify --engine ic3`: verdicts, reports, limits and the certificates that it writes.

use serde_json::json;

use crate::support::{Folder, Run};

fn verify(folder: &Folder, more: &[&str]) -> Run {
    folder.verify(&[&["--engine", "ic3"], more].concat())
}

#[test]
fn a_safe_policy_has_a_checked_certificate() {
    let folder = Folder::walk("4.5");
    let options = ["--list", "0", "--growth", "0", "--certificate", "safe.cert"];
    let run = verify(&folder, &options).exits(0).prints(&[
        "model     walk.jani: 3 variables, 2 labels, 2 commands",
        "reading   arithmetic f64, filter off, goal ignore, out-of-domain error",
        "depth             ",
        "reasons           ",
        "obligations       ",
        "states visited    ",
        "boxes             ",
        "environment       ",
        "policy            ",
        "time              ",
        "procedures        ",
        "generalize ",
        "memory            ",
        "certificate       ",
        ", checked in ",
    ]);
    assert!(run.verdict().starts_with("SAFE  "), "{}", run.verdict());
    assert!(run.verdict().contains(" region"), "{}", run.verdict());
    assert_eq!(run.stderr, "");
    folder.check(&[]).exits(0);
}

#[test]
fn an_unsafe_policy_has_a_trace_that_replays() {
    let folder = Folder::walk("100");
    let run = verify(&folder, &["--trace", "trace.json"]).exits(10).prints(&[
        "depth             ",
        "start state",
        "unsafe state\n  x = 9, moved = true\n",
    ]);
    assert!(run.verdict().starts_with("UNSAFE  unsafe state reached in "), "{}", run.verdict());
    let replay = ["replay", "trace.json", "walk.jani", "--policy", "policy.jani2nnet"];
    assert!(folder.run(&replay).exits(10).verdict().starts_with("UNSAFE  the trace is a counterexample"));
}

#[test]
fn only_a_safe_verdict_writes_a_certificate() {
    let folder = Folder::walk("100");
    for (more, code) in [(&[][..], 10), (&["--time-limit", "0"], 11)] {
        let arguments = [&["--certificate", "safe.cert"], more].concat();
        verify(&folder, &arguments).exits(code).complains(&["note: safe.cert was not written"]);
        assert!(!folder.path("safe.cert").exists());
    }
}

#[test]
fn limits_give_unknown() {
    let folder = Folder::walk("4.5");
    let run = verify(&folder, &["--time-limit", "0"]).exits(11);
    assert!(run.verdict().starts_with("UNKNOWN  time limit after 0.0"), "{}", run.verdict());
    assert!(run.verdict().contains(", depth "), "{}", run.verdict());
    let run = verify(&folder, &["--memory-limit", "1B"]).exits(11);
    assert!(run.verdict().starts_with("UNKNOWN  memory limit after "), "{}", run.verdict());
    let document = verify(&folder, &["--time-limit", "0", "--json"]).exits(11).json();
    assert_eq!((&document["verdict"], &document["reason"]), (&json!("UNKNOWN"), &json!("time")));
    assert_eq!((&document["complete"], &document["certificate"]), (&json!(false), &json!(null)));
    verify(&folder, &["--time-limit", "1h", "--memory-limit", "1GiB"]).exits(0);
}

#[test]
fn the_options_of_the_paper_give_certificates_too() {
    for options in [
        &["--list", "0", "--reasons", "assignment"][..],
        &["--reasons", "box"],
        &["--list", "0", "--no-generalize"],
        &["--samples", "0"],
        &["--list", "0"],
        &["--list", "0", "--growth", "0"],
        &["--list", "0", "--growth", "0", "--samples", "0"],
        &["--list", "0", "--growth", "0", "--order", "narrowest"],
        &["--list", "0", "--growth", "0", "--order", "declared"],
        &["--paper"],
        &["--paper", "--no-generalize"],
        &["--reschedule"],
        &["--solver", "sat"],
        #[cfg(feature = "z3")]
        &["--solver", "z3"],
        &["--reasons", "assignment", "--reschedule", "--filter", "on", "--arithmetic", "any-f32"],
    ] {
        let folder = Folder::walk("4.5");
        verify(&folder, &[options, &["--certificate", "safe.cert"]].concat()).exits(0);
        folder.check(&[]).exits(0);
        verify(&Folder::walk("100"), options).exits(10);
    }
}

#[test]
fn the_options_make_a_difference() {
    let folder = Folder::walk("4.5");
    let regions = |options: &[&str]| {
        let document =
            verify(&folder, &[&["--json", "--list", "0", "--growth", "0"], options].concat()).exits(0).json();
        document["certificate"]["regions"].as_u64().expect("a number")
    };
    assert!(regions(&[]) < regions(&["--reasons", "assignment"]));
    // Single states: those that are reachable, and no others.
    let states = folder.verify(&["--json"]).exits(0).json()["counts"]["states"].as_u64();
    assert_eq!(Some(regions(&["--no-generalize"])), states);
}

#[test]
fn regions_close_unless_they_may_not_grow() {
    let folder = Folder::walk("4.5");
    let counts = |growth: &str| {
        // Reasons that are single states leave something to grow after the head start of frames.
        let options = ["--json", "--list", "0", "--no-generalize", "--growth", growth];
        verify(&folder, &options).exits(0).json()["ic3"].clone()
    };
    let grown = counts("100000");
    assert!(grown["closed"].as_u64() > Some(0));
    let framed = counts("0");
    assert!(framed["closed"] == 0 && framed["depth"].as_u64() > Some(1));
}

#[test]
fn few_reachable_states_are_the_proof() {
    let folder = Folder::walk("4.5");
    let states = folder.verify(&["--json"]).exits(0).json()["counts"]["states"].clone();
    let document = verify(&folder, &["--json", "--certificate", "safe.cert"]).exits(0).json();
    assert!(document["ic3"]["listed"] == states && document["ic3"]["reasons"] == 0);
    assert_eq!(document["ic3"]["listed_without_variables"], 0);
    // Neighbours in which the policy chooses the same are one region.
    assert!(document["certificate"]["regions"].as_u64() < states.as_u64());
    folder.check(&[]).exits(0);
    let document = verify(&folder, &["--json", "--list", "0"]).exits(0).json();
    assert!(document["ic3"]["listed"] == 0 && document["ic3"]["reasons"].as_u64() > Some(0));
}

/// Only guards read `n` and `c`. There are 20,000 states with them, and two without. In none is `c` 2, 4 or 5: start states and
/// the fact that nothing writes it say so, not its domain.
#[test]
fn states_are_listed_without_what_only_guards_read() {
    let folder = Folder::empty();
    for (guard, variable, value) in [
        (r#"{"op": "=", "left": "c", "right": 2}"#, "x", "3"),
        (
            r#"{"op": "≤", "left": {"op": "%", "left": 7, "right": {"op": "-", "left": 4, "right": "c"}}, "right": 0}"#,
            "x",
            "1",
        ),
        (r#"{"op": "≤", "left": "n", "right": 9998}"#, "n", r#"{"op": "+", "left": "n", "right": "c"}"#),
    ] {
        let bounded = |upper| {
            format!(r#"{{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": {upper}}}"#)
        };
        let model = format!(
            r#"{{"jani-version": 1, "name": "count", "type": "lts", "actions": [{{"name": "go"}}], "variables": [
            {{"name": "x", "type": {}, "initial-value": 0}}, {{"name": "n", "type": {}, "initial-value": 0}}, {{"name": "c", "type": {}, "initial-value": 0}}],
            "automata": [{{"name": "a", "locations": [{{"name": "l"}}], "initial-locations": ["l"], "edges": [
            {{"location": "l", "action": "go", "guard": {{"exp": {{"op": "≤", "left": "n", "right": 9998}}}}, "destinations": [
            {{"location": "l", "assignments": [{{"ref": "n", "value": {{"op": "+", "left": "n", "right": 1}}}}, {{"ref": "x", "value": 1}}]}}]}},
            {{"location": "l", "action": "go", "guard": {{"exp": {guard}}}, "destinations": [
            {{"location": "l", "assignments": [{{"ref": "{variable}", "value": {value}}}]}}]}}]}}],
            "system": {{"elements": [{{"automaton": "a"}}], "syncs": [{{"synchronise": ["go"], "result": "go"}}]}},
            "properties": [{{"name": "p", "expression": {{"op": "PA", "start": {{"op": "∧", "left": {{"op": "=", "left": {{"op": "+", "left": "x", "right": "n"}}, "right": 0}},
            "right": {{"op": "≤", "left": "c", "right": 1}}}}, "reach": {{"op": "≥", "left": "x", "right": 2}}}}}}]}}"#,
            bounded(3),
            bounded(9999),
            bounded(4)
        );
        folder.write("count.jani", &model);
        let verify = ["verify", "count.jani", "--no-policy"];
        folder.run(&verify).exits(0);
        let more = ["--engine", "ic3", "--list", "1000", "--certificate", "safe.cert", "--json"];
        let document = folder.run(&[&verify[..], &more].concat()).exits(0).json();
        assert!(document["ic3"]["listed_without_variables"].as_u64() > Some(0), "{guard}");
        folder.run(&["check", "safe.cert", "--model", "count.jani", "--no-policy"]).exits(0);
    }
}

#[test]
fn a_proof_that_was_not_checked_says_so() {
    let folder = Folder::walk("4.5");
    let run = verify(&folder, &["--no-check", "--certificate", "safe.cert"])
        .exits(0)
        .prints(&[", not checked\n", "note: SAFE, but the certificate was not checked"]);
    assert!(run.verdict().ends_with(", not checked"), "{}", run.verdict());
    let document = verify(&folder, &["--no-check", "--json"]).exits(0).json();
    assert_eq!(document["certificate"]["checked"], false);
    assert_eq!(document["certificate"]["check"], json!(null));
    folder.check(&[]).exits(0);
}

#[test]
fn options_belong_to_an_engine() {
    let folder = Folder::walk("4.5");
    for option in ["--exhaustive", "--per-start", "--slice", "--project"] {
        verify(&folder, &[option])
            .exits(2)
            .complains(&[&format!("error: `{option}` needs `--engine explicit`")]);
    }
    for options in [
        &["--reasons", "box"][..],
        &["--no-generalize"],
        &["--order", "declared"],
        &["--samples", "0"],
        &["--list", "0"],
        &["--growth", "0"],
        &["--reschedule"],
        &["--no-check"],
        &["--solver", "sat"],
        &["--certificate", "safe.cert"],
    ] {
        let message = format!("error: `{}` needs `--engine ic3`", options[0]);
        folder.verify(options).exits(2).complains(&[&message]);
    }
    verify(&folder, &["--reasons", "spheres"]).exits(2);
    verify(&folder, &["--certificate", "nowhere/safe.cert"])
        .exits(2)
        .complains(&["`--certificate`: there is no folder nowhere"]);
    verify(&folder, &["--certificate", "."]).exits(2).complains(&["is a folder, not a file"]);
}

#[cfg(not(feature = "z3"))]
#[test]
fn a_program_without_z3_says_how_to_get_it() {
    verify(&Folder::walk("4.5"), &["--solver", "z3"]).exits(2).complains(&[
        "error: `--solver z3`: this program was built without Z3",
        "hint: ",
        "--features z3",
    ]);
}

#[test]
fn vacuous_proofs_show() {
    let no_unsafe = Folder::walk("4.5");
    no_unsafe.replace("walk.jani", r#""right": "top"}"#, r#""right": 99}"#);
    let no_start = Folder::walk("4.5");
    no_start.replace("walk.jani", r#""left": "x", "right": 3}"#, r#""left": "x", "right": -1}"#);
    // The initial state would be a start state.
    no_start.replace("walk.jani", r#""actions""#, r#""restrict-initial": {"exp": false}, "actions""#);
    for (folder, kind) in [(no_unsafe, "no-unsafe-state"), (no_start, "no-start-state")] {
        let document = verify(&folder, &["--json"]).exits(0).json();
        assert_eq!(document["vacuity"], folder.verify(&["--json"]).exits(0).json()["vacuity"]);
        assert_eq!(document["vacuity"][0]["kind"], kind);
        let run = verify(&folder, &[]).exits(0).prints(&["note: SAFE, but no state"]);
        assert!(run.verdict().contains("vacuous"), "{}", run.verdict());
    }
    // Down is not applicable in the only start state.
    let folder = Folder::walk("-1");
    folder.replace("walk.jani", r#""left": "x", "right": 3}"#, r#""left": "x", "right": 0}"#);
    assert_eq!(verify(&folder, &["--json"]).exits(0).json()["vacuity"][0]["kind"], "all-stall");
}

#[test]
fn json_has_the_documented_members() {
    let folder = Folder::walk("4.5");
    let document = verify(&folder, &["--json", "--list", "0", "--growth", "0", "--certificate", "safe.cert"])
        .exits(0)
        .json();
    let explicit = folder.verify(&["--json"]).exits(0).json();
    let members = |document: &serde_json::Value| -> Vec<String> {
        document.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(members(&document), members(&explicit));
    assert_eq!((&document["schema"], &document["engine"]), (&json!("surefoot-result/1"), &json!("ic3")));
    assert_eq!((&document["verdict"], &document["complete"]), (&json!("SAFE"), &json!(true)));
    for member in ["counts", "start_time_seconds", "bytes_per_state", "trace", "per_start"] {
        assert_eq!(document[member], json!(null), "{member}");
    }
    check_counts(&document["ic3"], members);
    let certificate = &document["certificate"];
    assert_eq!(members(certificate), ["file", "regions", "bytes", "checked", "check", "check_seconds"]);
    assert_eq!((&certificate["file"], &certificate["checked"]), (&json!("safe.cert"), &json!(true)));
    let length = std::fs::metadata(folder.path("safe.cert")).expect("a file").len();
    assert_eq!(certificate["bytes"], length);
    assert_eq!(members(&certificate["check"]), ["leaves", "parts", "points"]);
    assert_eq!((&explicit["ic3"], &explicit["certificate"]), (&json!(null), &json!(null)));
}

fn check_counts(ic3: &serde_json::Value, members: impl Fn(&serde_json::Value) -> Vec<String>) {
    let expected = [
        "resumed",
        "depth",
        "reasons",
        "closed",
        "levels",
        "reason_sizes",
        "obligations",
        "states",
        "samples",
        "laws",
        "listed",
        "listed_without_variables",
        "search_seconds",
        "procedure_seconds",
        "box_tests",
        "environment_tests",
        "state_tests",
        "policy_tests",
    ];
    assert_eq!(members(ic3), expected);
    let number = |path: &str| ic3.pointer(path).and_then(serde_json::Value::as_u64).expect(path);
    assert!(number("/depth") > 1);
    let levels = ic3["levels"].as_array().expect("a list");
    assert_eq!(levels.len() as u64, number("/depth") + 1);
    assert_eq!(levels.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), number("/reasons"));
    let sizes = ["least", "lower_quartile", "median", "upper_quartile", "greatest"];
    assert!(sizes.is_sorted_by_key(|size| number(&format!("/reason_sizes/{size}"))));
    assert!(number("/reason_sizes/least") >= 1 && number("/reason_sizes/greatest") <= 3);
    let procedures = [
        "resume",
        "listing",
        "samples",
        "growth",
        "start",
        "successor",
        "generalize",
        "propagate",
        "certificate",
        "check",
    ];
    assert_eq!(members(&ic3["procedure_seconds"]), procedures);
    let seconds = |value: &serde_json::Value| value.as_f64().expect("a number");
    let times = ic3["procedure_seconds"].as_object().expect("an object");
    assert!(
        times.iter().all(|(name, time)| (seconds(time) > 0.0) != ["resume", "growth", "listing"].contains(&&name[..]))
    );
    let searched: f64 =
        times.iter().filter(|(name, _)| *name != "check").map(|(_, time)| seconds(time)).sum();
    assert!(searched <= seconds(&ic3["search_seconds"]));
    for (tests, known) in [("box", "by_state"), ("environment", "by_core"), ("policy", "by_cache")] {
        let (count, known) =
            (number(&format!("/{tests}_tests/count")), number(&format!("/{tests}_tests/{known}")));
        assert!(count > known, "{tests}: {known} of {count}");
    }
    assert!(number("/state_tests/count") > 0);
}

#[test]
fn quiet_prints_the_verdict_line_only() {
    let run = verify(&Folder::walk("4.5"), &["--quiet"]).exits(0);
    assert!(run.stdout.starts_with("SAFE  ") && run.stdout.lines().count() == 1, "{}", run.stdout);
}

#[test]
fn mistakes_of_a_model_are_errors_here_too() {
    let folder = Folder::walk("4.5");
    let real = r#"{"name": "speed", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1}, "initial-value": 0.5},
      {"name": "moved""#;
    folder.replace("walk.jani", r#"{"name": "moved""#, real);
    verify(&folder, &[]).exits(3).complains(&["`speed` is real-valued; the ic3 engine takes"]);
    let folder = Folder::walk("4.5");
    let division = r#"{"exp": {"op": "≤", "left": {"op": "/", "left": 12, "right": "x"}, "right": 7}}"#;
    folder.replace("walk.jani", r#"{"exp": {"op": "≤", "left": "x", "right": 7}}"#, division);
    verify(&folder, &[]).exits(3).complains(&["the guard has no value: a division by zero", "x = 0"]);
}

#[test]
fn generated_policies_have_the_same_verdicts_and_evidence_that_is_accepted() {
    let folder = Folder::empty();
    folder.run(&["gen", "racetrack", "--out", "."]).exits(0);
    let small = ["--blocks", "3", "--table-limit", "2", "--cost-bound", "2"];
    folder.run(&[&["gen", "blocksworld", "--out", "."], &small[..]].concat()).exits(0);
    let mut safe = 0;
    for (name, seed) in
        ["racetrack_tiny", "blocksworld_3_2"].iter().flat_map(|name| (0..6).map(move |s| (name, s)))
    {
        let (model, property, seed) =
            (format!("{name}.jani"), format!("{name}.property.jani"), seed.to_string());
        let shape = ["gen", "policy", &model, "--kind", "network", "--hidden", "8", "--filter", "--out", "."];
        folder.run(&[&shape[..], &["--seed", &seed, "--name", "policy", "--force"]].concat()).exits(0);
        let task = ["--property", property.as_str(), "--policy", "policy.jani2nnet"];
        let explicit = folder.run(&[&["verify", &model], &task[..]].concat());
        let evidence = ["--engine", "ic3", "--certificate", "safe.cert", "--trace", "trace.json"];
        let code = explicit.code.expect("an exit code");
        folder.run(&[&["verify", &model], &task[..], &evidence].concat()).exits(code);
        if code == 0 {
            safe += 1;
            folder.run(&[&["check", "safe.cert", "--model", &model], &task[..]].concat()).exits(0);
        } else {
            folder.run(&[&["replay", "trace.json", &model], &task[..]].concat()).exits(10);
        }
    }
    assert!((1..12).contains(&safe), "both verdicts occur, {safe} times SAFE");
}
