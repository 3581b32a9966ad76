//! `surefoot info`.

use serde_json::json;

use crate::support::Folder;

#[test]
fn everything_is_shown() {
    let folder = Folder::walk("4.5");
    folder.run(&["info", "walk.jani", "--policy", "policy.jani2nnet"]).exits(0).prints(&[
        "model       walk (mdp), walk.jani",
        "state       3 variables in 5 bits, 2^4.3 states",
        "x                0..9, initially 0",
        "moved            true or false, initially false",
        "top = 9",
        "walker: 1 location, 2 edges, 0 local variables",
        "2 commands, 3 outcomes",
        "up: 1 command, 2 outcomes",
        "0: `below the top` (PA, chosen)",
        "unsafe: ",
        "goal: ",
        "policy      policy.jani2nnet: neural network 1-1-2",
        "variables that never change: walker.location = on",
        "commands that are never enabled: 0",
        "influence nothing (`--slice`): moved",
    ]);
}

#[test]
fn json_has_the_same() {
    let folder = Folder::walk("4.5");
    let document =
        folder.run(&["info", "walk.jani", "--policy", "policy.jani2nnet", "--json"]).exits(0).json();
    assert_eq!(document["schema"], "surefoot-info/1");
    assert_eq!(
        document["variables"][1],
        json!({
            "name": "x",
            "domain": {"type": "int", "lower": 0, "upper": 9},
            "initial": "0",
            "input": {"name": "x", "automaton": null},
        })
    );
    assert_eq!(document["labels"][0], json!({"name": "up", "commands": 1, "outcomes": 2}));
    assert_eq!(document["properties"][0]["kind"], "PA");
    assert_eq!(document["policy"]["inputs"], json!(["x"]));
    assert_eq!(document["passes"]["sliceable_variables"], json!(["moved"]));
}

#[test]
fn what_verify_would_refuse_is_shown_all_the_same() {
    let folder = Folder::walk("4.5");
    folder.replace("walk.jani", r#""op": "PA","#, r#""op": "PA", "file": "missing.jani2nnet","#);
    folder.run(&["info", "walk.jani"]).exits(0).complains(&["warning: missing.jani2nnet: no such file"]);
    folder.replace("walk.jani", r#""op": "PA","#, r#""op": "other","#);
    folder.run(&["info", "walk.jani"]).exits(0).prints(&[
        "(other)",
        "not supported: ",
        "passes      need a property",
    ]);
    folder.run(&["info", "walk.jani", "--policy", "missing.jani2nnet"]).exits(3);
}

#[test]
fn models_with_real_variables_can_be_shown() {
    let folder = Folder::walk("4.5");
    let real = r#"{"name": "speed", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1.5}, "initial-value": 0.5},
      {"name": "moved""#;
    folder.replace("walk.jani", r#"{"name": "moved""#, real);
    folder.run(&["info", "walk.jani"]).exits(0).prints(&["some of them real-valued", "speed", "real 0..1.5"]);
}
