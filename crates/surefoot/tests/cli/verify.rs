//! `surefoot verify`: verdicts, reports and limits.

use serde_json::json;

use crate::support::{Folder, WALK};

#[test]
fn a_safe_policy_is_safe() {
    // Up while x < 4.5: at most 4 + 2.
    let folder = Folder::walk("4.5");
    let run = folder.verify(&[]).exits(0).prints(&[
        "model     walk.jani: 3 variables, 2 labels, 2 commands",
        "property  below the top",
        "policy    policy.jani2nnet: neural network 1-1-2, choosing among all its labels",
        "reading   arithmetic f64, filter off, goal ignore, out-of-domain error",
        "start states      4",
        "states            ",
        "transitions       ",
        "unsafe states     0",
        "stalls            0",
        "states/s",
        "bytes/state",
    ]);
    assert!(run.verdict().starts_with("SAFE  "), "{}", run.verdict());
    assert_eq!(run.stderr, "");
}

#[test]
fn an_unsafe_policy_has_a_trace() {
    // Always up: 3, 5, 7, 9.
    let run = Folder::walk("100").verify(&[]).exits(10).prints(&[
        "start state\n  x = 3, moved = false\n",
        "step 1  up (walker edge 0), outcome 1 of 2 (probability 0.25)\n        x: 3 → 5, moved: false → true\n",
        "step 2  up",
        "x: 5 → 7\n",
        "step 3  up",
        "x: 7 → 9\n",
        "unsafe state\n  x = 9, moved = true\n",
        "satisfies the unsafe condition (x = 9)",
    ]);
    assert_eq!(run.verdict(), "UNSAFE  unsafe state reached in 3 steps");
}

#[test]
fn a_start_state_can_be_unsafe() {
    let folder = Folder::walk("4.5");
    folder.replace(
        "walk.jani",
        r#""reach": {"op": "=", "left": "x", "right": "top"}"#,
        r#""reach": {"op": "=", "left": "x", "right": 2}"#,
    );
    let run = folder.verify(&[]).exits(10);
    assert_eq!(run.verdict(), "UNSAFE  a start state is unsafe");
    // A limit that ends the search after the unsafe state was found does not change the verdict, but it shows.
    let limit = ["--exhaustive", "--memory-limit", "1B"];
    folder.verify(&limit).exits(10).prints(&["(memory limit: not everything reachable was expanded"]);
    let document = folder.verify(&[&limit[..], &["--json"]].concat()).exits(10).json();
    assert_eq!((&document["verdict"], &document["reason"]), (&json!("UNSAFE"), &json!("memory")));
}

#[test]
fn limits_give_unknown_with_what_was_covered() {
    let folder = Folder::walk("4.5");
    let run = folder
        .verify(&["--time-limit", "0"])
        .exits(11)
        .prints(&["states expanded", "not everything reachable"]);
    assert!(run.verdict().starts_with("UNKNOWN  time limit after 0.0"), "{}", run.verdict());
    let run = folder.verify(&["--memory-limit", "1B"]).exits(11);
    assert!(run.verdict().starts_with("UNKNOWN  memory limit after "), "{}", run.verdict());
    folder.verify(&["--time-limit", "1h", "--memory-limit", "1GiB"]).exits(0);
}

#[test]
fn quiet_prints_the_verdict_line_only() {
    let run = Folder::walk("100").verify(&["--quiet"]).exits(10);
    assert_eq!(run.stdout, "UNSAFE  unsafe state reached in 3 steps\n");
}

#[test]
fn hollow_safety_shows() {
    // Down at x = 0 is not applicable.
    let folder = Folder::walk("-1");
    let run =
        folder.verify(&[]).exits(0).prints(&["stalls            1", "note: SAFE, but 1 of 4 states stalls"]);
    assert!(run.verdict().ends_with(", 1 stall"), "{}", run.verdict());
    // With the filter the policy must go up there.
    let run = folder
        .verify(&["--filter", "on"])
        .exits(0)
        .prints(&["choosing among applicable labels", "filter on"]);
    assert!(!run.stdout.contains("stall:"), "{}", run.stdout);
}

#[test]
fn vacuous_safety_shows() {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#""right": "top"}"#, r#""right": 99}"#);
    let run =
        folder.verify(&[]).exits(0).prints(&["note: SAFE, but no state of the variables' domains is unsafe"]);
    assert!(run.verdict().contains("vacuous"), "{}", run.verdict());
    assert_eq!(folder.verify(&["--json"]).exits(0).json()["vacuity"][0]["kind"], "no-unsafe-state");
}

#[test]
fn json_has_the_documented_members() {
    let folder = Folder::walk("100");
    let document = folder.verify(&["--json", "--per-start"]).exits(10).json();
    let members: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        members,
        [
            "schema",
            "surefoot",
            "verdict",
            "reason",
            "engine",
            "complete",
            "model",
            "property",
            "policy",
            "constants",
            "arithmetic",
            "semantics",
            "counts",
            "ic3",
            "pa",
            "time_seconds",
            "start_time_seconds",
            "memory_bytes",
            "bytes_per_state",
            "vacuity",
            "trace",
            "certificate",
            "state",
            "per_start",
            "warnings",
            "files"
        ]
    );
    assert_eq!(document["schema"], "surefoot-result/1");
    assert_eq!(document["verdict"], "UNSAFE");
    assert_eq!(document["reason"], json!(null));
    assert_eq!(document["complete"], true);
    assert_eq!(document["model"], json!({"name": "walk", "file": "walk.jani"}));
    assert_eq!(document["counts"]["start_states"], 4);
    assert_eq!(
        document["semantics"],
        json!({"filter": false, "goal": "ignore", "out_of_domain": "error", "arithmetic": "f64"})
    );
    let start = &document["trace"]["start"];
    assert_eq!(*start, json!({"walker.location": "on", "x": 3, "moved": false}));
    let steps = document["trace"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3);
    assert_eq!(
        steps[0],
        json!({
            "label": "up", "command": 0, "origin": "walker edge 0", "outcome": 0, "probability": 0.25,
            "changes": {"x": 5, "moved": true}, "state": {"walker.location": "on", "x": 5, "moved": true}
        })
    );
    assert_eq!(document["per_start"]["safe"], 0);
    assert_eq!(document["per_start"]["unsafe"], 4);
    assert_eq!(document["per_start"]["unsafe_starts"].as_array().map(Vec::len), Some(4));
    let files = document["files"].as_array().expect("files");
    let paths: Vec<_> = files.iter().map(|file| file["path"].as_str().expect("text")).collect();
    assert_eq!(paths, ["walk.jani", "policy.jani2nnet", "policy.nnet"]);
    assert!(files.iter().all(|file| file["sha256"].as_str().is_some_and(|hash| hash.len() == 64)));
}

#[test]
fn json_names_the_reason_of_unknown() {
    let document = Folder::walk("4.5").verify(&["--json", "--time-limit", "0"]).exits(11).json();
    assert_eq!((&document["verdict"], &document["reason"]), (&json!("UNKNOWN"), &json!("time")));
    assert_eq!(document["complete"], false);
    assert_eq!(document["trace"], json!(null));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::walk("100");
    let result = |threads| {
        let arguments = ["--json", "--exhaustive", "--per-start", "--threads", threads];
        let mut document = folder.verify(&arguments).exits(10).json();
        for volatile in ["time_seconds", "start_time_seconds", "memory_bytes", "bytes_per_state"] {
            document[volatile] = json!(null);
        }
        document
    };
    assert_eq!(result("1"), result("2"));
}

#[test]
fn starts_are_not_classified_silently() {
    let run = Folder::walk("4.5").verify(&["--per-start", "--time-limit", "0"]).exits(11);
    assert!(run.stderr.contains("the start states were not classified"), "{}", run.stderr);
}

#[test]
fn starts_are_listed_by_verdict() {
    let folder = Folder::walk("100");
    folder.verify(&["--per-start"]).exits(10).prints(&[
        "by start state    4 unsafe, 0 safe",
        "unsafe start state 1\n  x = 0, moved = false",
        "unsafe start state 4",
    ]);
}

#[test]
fn an_environment_can_be_verified_alone() {
    let folder = Folder::walk("4.5");
    let run = folder.run(&["verify", "walk.jani", "--no-policy"]).exits(10);
    let run = run.prints(&["policy    none: every enabled action may be taken", "reading   goal ignore"]);
    assert_eq!(run.verdict(), "UNSAFE  unsafe state reached in 3 steps");
}

#[test]
fn projections_leave_out_what_only_guards_read() {
    // How far the policy goes up, what is asked of `moved` before, the exit code, and whether the projection tells it.
    let not = r#"{"op": "¬", "exp": "moved"}"#;
    let or = r#"{"op": "∨", "left": "moved", "right": {"op": "≤", "left": "x", "right": 3}}"#;
    for (up_score, asked, code, left_out) in
        [("4.5", not, 0, json!(1)), ("100", or, 10, json!(1)), ("100", not, 0, json!(null))]
    {
        let folder = Folder::walk(up_score);
        let guard = r#"{"exp": {"op": "≤", "left": "x", "right": 7}}"#;
        let stronger =
            guard.replace(r#"{"exp": "#, &format!(r#"{{"exp": {{"op": "∧", "left": {asked}, "right": "#));
        folder.replace("walk.jani", guard, &format!("{stronger}}}"));
        for (options, expected) in [(&[][..], &json!(null)), (&["--project"], &left_out)] {
            let document = folder.verify(&[&["--json"], options].concat()).exits(code).json();
            assert_eq!(&document["counts"]["projected_variables"], expected, "{asked} {options:?}");
        }
        folder.verify(&["--engine", "ic3", "--json"]).exits(code);
        let document = folder.verify(&["--engine", "ppa", "--list", "0", "--json"]).exits(code).json();
        assert_eq!(document["pa"]["projected_variables"], json!(left_out.as_u64().unwrap_or(0)), "{asked}");
    }
    let folder = Folder::walk("4.5");
    folder.verify(&["--project"]).exits(0).prints(&["projection        without 1 variable"]);
    let left_out = "left out          1 variable that neither policy nor property reads";
    folder.verify(&["--engine", "ppa"]).exits(0).prints(&[left_out]);
    folder.verify(&["--project", "--exhaustive"]).exits(2);
    // A projection has steps where there are none.
    let guard = r#"{"exp": {"op": "≤", "left": "x", "right": 7}}"#;
    folder.replace("walk.jani", guard, r#"{"exp": "moved"}"#);
    for options in [&[][..], &["--project"]] {
        folder.verify(options).exits(0).prints(&["vacuous"]);
    }
}

/// With a filter, what goes must not change where labels are applicable: one of two guards holds for each value of `moved`, or not.
#[test]
fn projections_keep_what_a_filter_sees() {
    let guard = r#"{"exp": {"op": "≤", "left": "x", "right": 7}}"#;
    let both = |asked: &str| {
        guard.replace(r#"{"exp": "#, &format!(r#"{{"exp": {{"op": "∧", "left": {asked}, "right": "#)) + "}"
    };
    let not = r#"{"op": "¬", "exp": "moved"}"#;
    for (other, left_out) in [(not, json!(1)), (r#""moved""#, json!(null))] {
        let folder = Folder::walk("4.5");
        folder.replace("walk.jani", guard, &both(r#""moved""#));
        let edge = format!(
            r#"{{"location": "on", "action": "up", "guard": {}, "destinations": [{{"location": "on", "assignments": [
            {{"ref": "x", "value": {{"op": "+", "left": "x", "right": 1}}}}, {{"ref": "moved", "value": true}}]}}]}},"#,
            both(other)
        );
        let down = r#"{"location": "on", "action": "down""#;
        folder.replace("walk.jani", down, &format!("{edge}{down}"));
        for filter in ["on", "off"] {
            let options = ["--project", "--filter", filter, "--json"];
            let document = folder.verify(&options).exits(0).json();
            let expected = if filter == "on" { &left_out } else { &json!(1) };
            assert_eq!(&document["counts"]["projected_variables"], expected, "{other} {filter}");
        }
    }
}

#[test]
fn slicing_leaves_out_what_influences_nothing() {
    let folder = Folder::walk("4.5");
    let variables = |more: &[&str]| {
        let document = folder.verify(&[&["--json"], more].concat()).exits(0).json();
        document["counts"]["variables"].as_u64().expect("a number")
    };
    assert_eq!(variables(&[]), 2);
    assert_eq!(variables(&["--slice"]), 1);
}

#[test]
fn constants_can_be_given() {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#""right": 7}"#, r#""right": {"op": "-", "left": "top", "right": 2}}"#);
    folder.verify(&["--const", "top=6"]).exits(10).complains(&["warning: ", "is replaced by 6"]);
    folder.verify(&["--const", "tip=6"]).exits(3).complains(&["the model has no such constant", "hint: "]);
    folder.verify(&["--const", "top"]).exits(2);
}

#[test]
fn labels_that_the_policy_does_not_control_give_a_warning() {
    let folder = Folder::walk("4.5");
    let jump = r#"{"location": "on", "action": "jump", "destinations": [{"location": "on"}]},
      {"location": "on", "action": "up", "guard""#;
    folder.replace("walk.jani", r#"{"location": "on", "action": "up", "guard""#, jump);
    folder.replace("walk.jani", r#"[{"name": "up"},"#, r#"[{"name": "jump"}, {"name": "up"},"#);
    folder.replace(
        "walk.jani",
        r#""syncs": ["#,
        r#""syncs": [{"synchronise": ["jump"], "result": "jump"}, "#,
    );
    folder
        .verify(&[])
        .exits(0)
        .complains(&["warning: policy.jani2nnet: the policy has no output for the label `jump`"]);
}

#[test]
fn properties_are_picked_by_file_name_and_index() {
    let folder = Folder::walk("100");
    let second = r#""properties": [{"name": "p", "expression": {"op": "PA", "reach": false, "file": "policy.jani2nnet"}},
      {"name": "q", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 1}, "file": "policy.jani2nnet"}}]"#;
    folder.write("more.jani", &format!("{{{second}}}"));
    let verify = |arguments: &[&str]| folder.run(&[&["verify", "walk.jani"], arguments].concat());
    verify(&["--property", "more.jani"]).exits(3).complains(&[
        "several properties could be meant",
        "1: `p`",
        "2: `q`",
        "hint: pick one",
    ]);
    verify(&["--property", "more.jani", "--property", "p"]).exits(0).prints(&["property  p"]);
    verify(&["--property", "more.jani", "--property", "2"]).exits(10).prints(&["property  q"]);
    verify(&["--property", "more.jani", "--property", "below the top", "--no-policy"])
        .exits(10)
        .prints(&["property  below"]);
    verify(&["--property", "more.jani", "--property", "nosuch"])
        .exits(3)
        .complains(&["there is no property `nosuch`", "0: `below the top`"]);
    verify(&["--property", "more.jani", "--property", "7"]).exits(3).complains(&["there is no property `7`"]);
    verify(&["--property", "missing.jani"]).exits(3).complains(&["missing.jani: no such file"]);
    verify(&["--property", "more.jani", "--property", "walk.jani"]).exits(2).complains(&["names two files"]);
    verify(&["--property", "p", "--property", "q"]).exits(2).complains(&["picks two properties"]);
    verify(&[]).exits(3).complains(&["names no policy", "--no-policy"]);
}

#[test]
fn the_only_policy_property_among_others_is_meant() {
    let folder = Folder::walk("4.5");
    let other = r#""properties": [{"name": "other", "expression": {"op": "filter", "fun": "values", "values":
      {"op": "Emin", "exp": "x", "accumulate": ["exit"], "reach": true}, "states": {"op": "initial"}}},"#;
    folder.replace("walk.jani", r#""properties": ["#, other);
    folder.verify(&[]).exits(0).prints(&["property  below the top"]);
    folder.verify(&["--property", "other"]).exits(3).complains(&["error: walk.jani:"]);
}

#[test]
fn the_scorer_can_be_another_file() {
    let folder = Folder::walk("4.5");
    folder.write("bold.nnet", &crate::support::network("100"));
    folder.verify(&["--scorer", "bold.nnet"]).exits(10);
}

#[test]
fn the_walk_is_as_described() {
    // Guards against edits of the model that make other tests say less than they seem to.
    let folder = Folder::empty();
    folder.write("walk.jani", WALK);
    let document =
        folder.run(&["verify", "walk.jani", "--no-policy", "--exhaustive", "--json"]).exits(10).json();
    let counts = &document["counts"];
    // All of 0..9 with `moved`, and 0..3 without.
    assert_eq!((&counts["states"], &counts["unsafe_states"]), (&json!(14), &json!(1)));
}

/// The first interrupt ends the search with what was covered.
#[cfg(unix)]
#[test]
fn an_interrupt_gives_unknown() {
    let folder = Folder::empty();
    folder.run(&["gen", "npuzzle", "--out", "."]).exits(0);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .args(["verify", "npuzzle_3_3.jani", "--property", "npuzzle_3_3.property.jani", "--no-policy"])
        .args(["--exhaustive", "--threads", "1"])
        .current_dir(folder.path(""))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    // Long enough to install the handler; the search itself would take hours.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !killed.is_ok_and(|status| status.success()) {
        // There is no `kill` here: nothing can be said.
        child.kill().and_then(|()| child.wait()).expect("the program can be ended");
        return;
    }
    let output = child.wait_with_output().expect("the program ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The environment alone is unsafe, so what was found before the interrupt decides.
    let last = text.lines().last().unwrap_or_default();
    match output.status.code() {
        Some(11) => assert!(last.starts_with("UNKNOWN  cancelled after "), "{text}"),
        Some(10) => assert!(text.contains("not everything reachable"), "{text}"),
        other => panic!("exit code {other:?}: {text}"),
    }
}
