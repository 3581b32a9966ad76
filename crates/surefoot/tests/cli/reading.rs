//! Options that change how a task is read change the result.

use serde_json::Value;

use crate::support::Folder;

fn count(folder: &Folder, name: &str, arguments: &[&str]) -> u64 {
    let all = [&["--json", "--exhaustive"], arguments].concat();
    let document: Value = folder.verify(&all).json();
    document["counts"][name].as_u64().expect("a number")
}

#[test]
fn goals_end_runs_where_asked() {
    let folder = Folder::walk("100");
    assert_eq!(count(&folder, "goal_states", &[]), 0);
    assert_eq!(count(&folder, "goal_states", &["--goal", "terminal"]), 1);
    assert!(count(&folder, "transitions", &["--goal", "terminal"]) < count(&folder, "transitions", &[]));
}

#[test]
fn a_goal_that_is_unsafe_is_safe_if_strict() {
    let folder = Folder::walk("100");
    folder.replace("walk.jani", r#""left": "x", "right": 6"#, r#""left": "x", "right": 9"#);
    folder.verify(&["--goal", "terminal"]).exits(10);
    folder.verify(&["--goal", "strict"]).exits(0).prints(&["goal strict", "goal states       1"]);
}

#[test]
fn terminal_goals_need_a_goal() {
    let folder = Folder::walk("100");
    folder.replace("walk.jani", r#""goal": {"op": "=", "left": "x", "right": 6}"#, r#""step-reward": 1"#);
    folder
        .verify(&["--goal", "terminal"])
        .exits(3)
        .complains(&["the property has no goal condition", "hint: "]);
}

#[test]
fn the_filter_makes_the_policy_choose_what_is_applicable() {
    // `up` is not applicable at 8.
    let folder = Folder::walk("100");
    assert_eq!(count(&folder, "stalls", &[]), 2);
    assert_eq!(count(&folder, "stalls", &["--filter", "on"]), 0);
    folder.replace("policy.jani2nnet", r#""filter": false"#, r#""filter": true"#);
    assert_eq!(count(&folder, "stalls", &[]), 0);
    assert_eq!(count(&folder, "stalls", &["--filter", "off"]), 2);
}

#[test]
fn the_arithmetic_decides_near_ties() {
    // In single precision 3.99999999 is 4, and the tie at x = 4 goes to `up`; in double precision `down` wins.
    let below = Folder::walk("3.99999999");
    assert_eq!(count(&below, "states", &["--arithmetic", "f64"]), count(&below, "states", &[]));
    assert!(
        count(&below, "states", &["--arithmetic", "f32"]) > count(&below, "states", &["--arithmetic", "f64"])
    );
    let any = count(&below, "transitions", &["--arithmetic", "any-f32"]);
    assert!(any > count(&below, "transitions", &["--arithmetic", "f32"]));
    // The parameters are doubles, so real numbers decide as double precision does.
    assert_eq!(count(&below, "states", &["--arithmetic", "real"]), count(&below, "states", &[]));
    below.verify(&["--arithmetic", "real"]).exits(0).prints(&["arithmetic real"]);
    below.verify(&["--arithmetic", "any-f32"]).exits(0).prints(&["arithmetic any-f32"]);
}

#[test]
fn updates_that_leave_a_domain_are_errors_or_impossible() {
    let folder = Folder::walk("100");
    folder.replace("walk.jani", r#""right": 7}"#, r#""right": 8}"#);
    folder.verify(&["--exhaustive"]).exits(3).complains(&[
        "error: an update sets `x` to 10, outside its domain 0..9",
        "command: up (walker edge 0)",
        "state: ",
        "x = 8",
        "hint: mend the model, or pass `--out-of-domain block`",
    ]);
    folder.verify(&["--exhaustive", "--out-of-domain", "block"]).exits(10).prints(&["out-of-domain block"]);
}
