//! `surefoot simulate`.

use serde_json::{Value, json};

use crate::support::{Folder, Run};

fn simulate(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["simulate", "walk.jani", "--policy", "policy.jani2nnet"], more].concat())
}

#[test]
fn runs_are_reproducible_by_their_seed() {
    let folder = Folder::walk("100");
    let run = |seed| simulate(&folder, &["--episodes", "20", "--seed", seed]).exits(0).stdout;
    assert_eq!(run("1"), run("1"));
    assert_ne!(run("1"), run("2"));
}

#[test]
fn runs_are_printed_with_a_summary() {
    let folder = Folder::walk("100");
    let run = simulate(&folder, &["--episodes", "30"]).exits(0);
    let run = run.prints(&[
        "model     walk.jani",
        "episode 1: ",
        "start state\n  x = ",
        "step 1  up",
        "episode 30: ",
    ]);
    // Two ways to end: 9 is unsafe, and at 8 the policy wants up, which is not applicable.
    let last = run.verdict();
    assert!(
        last.starts_with("30 episodes: ") && last.contains(" unsafe") && last.contains(" stall"),
        "{last}"
    );
    let quiet = simulate(&folder, &["--episodes", "30", "--quiet"]).exits(0);
    assert_eq!(quiet.stdout.trim(), last);
}

#[test]
fn a_safe_policy_runs_to_the_limit_of_steps() {
    let folder = Folder::walk("4.5");
    simulate(&folder, &["--steps", "7"])
        .exits(0)
        .prints(&["episode 1: step-limit, 7 steps", "1 episode: 1 step-limit"]);
    let goal = simulate(&folder, &["--episodes", "50", "--goal", "terminal"]).exits(0);
    assert!(goal.verdict().contains(" goal"), "{}", goal.verdict());
}

#[test]
fn the_start_can_be_given() {
    let folder = Folder::walk("100");
    simulate(&folder, &["--start", "initial"]).exits(0).prints(&["start state\n  x = 0, moved = false"]);
    simulate(&folder, &["--start", "x=2"]).exits(0).prints(&["start state\n  x = 2, moved = false"]);
    simulate(&folder, &["--start", "x=5, moved=true"])
        .exits(0)
        .prints(&["start state\n  x = 5, moved = true"])
        .complains(&["warning: the state given by `--start` is not a start state"]);
    for (start, message) in [
        ("x=10", "`10` is no value of `x`, which is 0..9"),
        ("moved=1", "which is true or false"),
        ("y=1", "the model has no variable `y`"),
        ("somewhere", "must be `random`, `initial` or values"),
    ] {
        simulate(&folder, &["--start", start]).exits(2).complains(&[message]);
    }
}

#[test]
fn json_has_every_run() {
    let folder = Folder::walk("100");
    let document = simulate(&folder, &["--json", "--episodes", "5"]).exits(0).json();
    assert_eq!(document["schema"], "surefoot-simulation/1");
    let episodes = document["episodes"].as_array().expect("episodes");
    assert_eq!(episodes.len(), 5);
    assert_eq!(document["start_states"], json!({"collected": 4, "complete": true}));
    let total: u64 =
        document["summary"].as_object().expect("counts").values().filter_map(Value::as_u64).sum();
    assert_eq!(total, 5);
    assert!(episodes.iter().all(|episode| episode["trace"]["start"]["x"].is_i64()));
}

#[test]
fn huge_start_sets_are_not_collected() {
    let folder = Folder::walk("100");
    folder.replace("walk.jani", r#""value": 9}"#, r#""value": 1000000}"#);
    folder.replace("walk.jani", r#""right": 3}"#, r#""right": 900000}"#);
    let run = simulate(&folder, &["--episodes", "3", "--steps", "1", "--json"]).exits(0);
    assert_eq!(run.json()["start_states"]["complete"], false);
    run.complains(&["note: more than 100,000 start states"]);
}
