//! `surefoot verify --engine ic3` with `--save-state` and `--resume`: what is written, what is refused, and that runs go on.

use serde_json::{Value, json};

use crate::support::{Folder, INTERFACE, Run, network};

fn verify(folder: &Folder, more: &[&str]) -> Run {
    folder.verify(&[&["--engine", "ic3", "--list", "0", "--growth", "0", "--samples", "0"], more].concat())
}

/// Stops a run by a memory limit when it has some reasons, and saves its state; the document of the run.
fn stop_halfway(folder: &Folder, file: &str) -> Value {
    let whole = verify(folder, &["--json"]).json()["memory_bytes"].as_u64().expect("a number");
    for percent in (1..100).rev() {
        let limit = format!("{}B", whole * percent / 100);
        let run = verify(folder, &["--json", "--memory-limit", &limit, "--save-state", file]);
        if run.code == Some(11) {
            assert_eq!(run.stderr, "");
            return run.json();
        }
    }
    panic!("no limit stops the run");
}

#[test]
fn a_run_that_time_stopped_goes_on() {
    let folder = Folder::walk("4.5");
    let run = verify(&folder, &["--time-limit", "0", "--save-state", "run.state"])
        .exits(11)
        .prints(&["state saved       run.state: 0 reasons, depth 1, "]);
    assert!(run.verdict().starts_with("UNKNOWN  time limit after "), "{}", run.verdict());
    assert_eq!(run.stderr, "");
    verify(&folder, &["--resume", "run.state"])
        .exits(0)
        .prints(&["resumed           0 of 0 reasons, depth 1\n", "\nSAFE  "]);
}

#[test]
fn frames_are_kept_and_continued() {
    let folder = Folder::walk("4.5");
    let stopped = stop_halfway(&folder, "run.state");
    assert_eq!((&stopped["verdict"], &stopped["reason"]), (&json!("UNKNOWN"), &json!("memory")));
    let (state, counts) = (&stopped["state"], &stopped["ic3"]);
    assert_eq!(state["file"], "run.state");
    assert_eq!((&state["depth"], &state["reasons"]), (&counts["depth"], &counts["reasons"]));
    assert!(state["reasons"].as_u64() > Some(0), "{state}");
    let bytes = std::fs::read(folder.path("run.state")).expect("the state");
    assert_eq!(state["bytes"], bytes.len());
    let files = || std::fs::read_dir(folder.path("")).expect("a folder").count();
    assert_eq!(files(), 4, "nothing else remains");

    let resumed = verify(&folder, &["--json", "--resume", "run.state"]).exits(0).json();
    let expected =
        json!({"depth": state["depth"], "reasons": state["reasons"], "kept": state["reasons"], "weaker": 0});
    assert_eq!(resumed["ic3"]["resumed"], expected);
    assert!(resumed["ic3"]["depth"].as_u64() >= state["depth"].as_u64());
    assert_eq!((&resumed["certificate"]["checked"], &resumed["state"]), (&json!(true), &json!(null)));
    // How it was searched does not matter.
    folder.verify(&["--engine", "ic3", "--reasons", "assignment", "--resume", "run.state"]).exits(0);
    assert_eq!(verify(&folder, &["--json"]).json()["ic3"]["resumed"], json!(null));
}

#[test]
fn a_state_can_be_saved_to_the_file_that_it_came_from() {
    let folder = Folder::walk("4.5");
    stop_halfway(&folder, "run.state");
    let before = std::fs::read(folder.path("run.state")).expect("the state");
    let both = ["--resume", "run.state", "--save-state", "run.state"];
    // Nothing is lost if there is no time to test what was saved.
    verify(&folder, &[&both[..], &["--time-limit", "0"]].concat())
        .exits(11)
        .prints(&["not tested before the run ended", "state saved       run.state: "]);
    assert_eq!(std::fs::read(folder.path("run.state")).expect("the state"), before);
    verify(&folder, &both)
        .exits(0)
        .complains(&["note: run.state was not written: the run came to an end, it is as it was"]);
    assert_eq!(std::fs::read(folder.path("run.state")).expect("the state"), before);
}

#[test]
fn only_unknown_writes_a_state() {
    for (up_score, code) in [("4.5", 0), ("100", 10)] {
        let folder = Folder::walk(up_score);
        verify(&folder, &["--save-state", "run.state"])
            .exits(code)
            .complains(&["note: run.state was not written: the run came to an end\n"]);
        assert!(!folder.path("run.state").exists());
    }
    let folder = Folder::walk("4.5");
    verify(&folder, &["--save-state", "none/run.state"]).exits(2).complains(&["there is no folder none"]);
}

#[test]
fn an_unsafe_policy_is_found_after_resuming() {
    let folder = Folder::walk("100");
    verify(&folder, &["--time-limit", "0", "--save-state", "run.state"]).exits(11);
    verify(&folder, &["--resume", "run.state"]).exits(10);
}

#[test]
fn states_of_other_questions_are_refused() {
    let folder = Folder::walk("4.5");
    stop_halfway(&folder, "run.state");
    let refused = |folder: &Folder, more: &[&str], why: &str| {
        verify(folder, &[&["--resume", "run.state"], more].concat()).exits(3).complains(&[
            "error: run.state: the state is that of another question: ",
            why,
            "hint: ",
        ]);
    };
    refused(&folder, &["--arithmetic", "f32"], "the arithmetic was `f64`, now it is `f32`");
    refused(&folder, &["--filter", "on"], "the filter was `off`, now it is `on`");
    refused(&folder, &["--goal", "terminal"], "the goal was `ignore`, now it is `terminal`");
    refused(&folder, &["--out-of-domain", "block"], "the out-of-domain was `error`, now it is `block`");
    folder
        .run(&["verify", "walk.jani", "--no-policy", "--engine", "ic3", "--resume", "run.state"])
        .exits(3)
        .complains(&["it had the policy interface file, this one does not"]);
    folder.write("policy.nnet", &network("4.25"));
    refused(&folder, &[], "the policy file had other contents");
    folder.write("policy.nnet", &network("4.5"));
    folder.write("policy.jani2nnet", &format!("{INTERFACE}\n"));
    refused(&folder, &[], "the policy interface file had other contents");
    folder.write("policy.jani2nnet", INTERFACE);
    verify(&folder, &["--resume", "run.state"]).exits(0);
    folder.replace("walk.jani", r#""right": 7"#, r#""right": 6"#);
    refused(&folder, &[], "the model file had other contents");
}

#[test]
fn constants_and_properties_are_part_of_the_question() {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#""type": "int", "value": 9}"#, r#""type": "int"}"#);
    let constant = |top: &str, more: &[&str]| {
        let given = format!("top={top}");
        verify(&folder, &[&["--const", &given], more].concat())
    };
    constant("9", &["--time-limit", "0", "--save-state", "run.state"]).exits(11);
    constant("10", &["--resume", "run.state"])
        .exits(3)
        .complains(&["the constant top was `9`, now it is `10`"]);
    constant("9", &["--resume", "run.state"]).exits(0);

    let text = folder.read("walk.jani");
    let (before, property) = text.split_once(r#""properties": ["#).expect("properties");
    let property = property.trim_end().trim_end_matches("]\n}");
    let other = property.replace("below the top", "again");
    folder.write("walk.jani", &format!(r#"{before}"properties": [{property}, {other}]}}"#));
    let named = |name: &str, more: &[&str]| constant("9", &[&["--property", name], more].concat());
    named("again", &["--time-limit", "0", "--save-state", "run.state"]).exits(11);
    named("below the top", &["--resume", "run.state"])
        .exits(3)
        .complains(&["the property was `again`, now it is `below the top`"]);
    named("again", &["--resume", "run.state"]).exits(0);
}

#[test]
fn files_that_are_no_states_are_refused() {
    let folder = Folder::walk("4.5");
    stop_halfway(&folder, "run.state");
    let bytes = std::fs::read(folder.path("run.state")).expect("the state");
    let refused = |contents: &[u8], why: &str| {
        std::fs::write(folder.path("bad.state"), contents).expect("a writable folder");
        verify(&folder, &["--resume", "bad.state"]).exits(3).complains(&["error: bad.state: ", why]);
    };
    refused(b"", "this is not a state that surefoot has saved");
    refused(b"{}", "this is not a state that surefoot has saved");
    refused(&bytes[..9], "cut off or damaged");
    refused(&bytes[..bytes.len() - 1], "cut off or damaged");
    refused(&[&bytes[..], b"\n"].concat(), "cut off or damaged");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 4;
    refused(&changed, "cut off or damaged");
    changed = bytes;
    changed[8] = 2;
    refused(&changed, "saved states of version 2 are not known");
    verify(&folder, &["--resume", "none.state"]).exits(3).complains(&["none.state: no such file"]);
    verify(&folder, &["--resume", "."]).exits(3);
}

#[test]
fn states_belong_to_ic3() {
    let folder = Folder::walk("4.5");
    for option in ["--save-state", "--resume"] {
        folder
            .verify(&[option, "run.state"])
            .exits(2)
            .complains(&[&format!("error: `{option}` needs `--engine ic3`")]);
    }
}
