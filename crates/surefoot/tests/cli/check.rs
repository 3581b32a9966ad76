//! `surefoot check`: certificates of this task are accepted, all others are not.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use surefoot_certificate::{Bound, Certificate, Region, TreeNode};

use crate::support::{Folder, network};

/// A task that is safe, and its certificate as `safe.cert`.
fn with_certificate() -> Folder {
    let folder = Folder::walk("4.5");
    folder.verify(&["--engine", "ic3", "--certificate", "safe.cert"]).exits(0);
    folder
}

fn bytes(folder: &Folder) -> Vec<u8> {
    std::fs::read(folder.path("safe.cert")).expect("a readable file")
}

fn write(folder: &Folder, contents: &[u8]) {
    std::fs::write(folder.path("safe.cert"), contents).expect("a writable folder");
}

/// Changes what the certificate claims; it remains well formed.
fn change(folder: &Folder, edit: impl Fn(&mut Certificate)) {
    let mut certificate = Certificate::read(&bytes(folder)).expect("a certificate");
    edit(&mut certificate);
    write(folder, &certificate.write());
}

/// The values of `x` from one to another, where the policy may choose some outputs.
fn region(certificate: &Certificate, lower: i32, upper: i32, outputs: &[u32]) -> Region {
    let variable = certificate.variables.iter().position(|domain| domain.name == "x").expect("x");
    Region {
        bounds: vec![Bound { variable: variable as u32, lower, upper }],
        facts: Vec::new(),
        tree: vec![TreeNode::Leaf(outputs.to_vec())],
    }
}

#[test]
fn a_certificate_is_accepted() {
    let folder = with_certificate();
    let run = folder.check(&[]).exits(0).prints(&[
        "model     walk.jani: 3 variables, 2 labels, 2 commands",
        "property  below the top",
        "policy    policy.jani2nnet: neural network 1-1-2",
        "reading   arithmetic f64, filter off, goal ignore, out-of-domain error",
        "proof     safe.cert: ",
        "leaves            ",
        "parts             start ",
        "states evaluated  ",
    ]);
    assert!(run.verdict().starts_with("ACCEPTED  SAFE is proved: "), "{}", run.verdict());
    assert_eq!(run.stderr, "");
}

/// The certificate may have chosen the reading, so the verdict says which one it is.
#[test]
fn another_reading_is_part_of_the_verdict() {
    let folder = Folder::walk("4.5");
    folder.verify(&["--engine", "ic3", "--filter", "on", "--certificate", "safe.cert"]).exits(0);
    let run = folder.check(&[]).exits(0);
    let verdict =
        "ACCEPTED  SAFE is proved with arithmetic f64, filter on, goal ignore, out-of-domain error: ";
    assert!(run.verdict().starts_with(verdict), "{}", run.verdict());
}

#[test]
fn json_has_the_documented_members() {
    let folder = with_certificate();
    let document = folder.check(&["--json"]).exits(0).json();
    let members: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "schema",
        "surefoot",
        "accepted",
        "reason",
        "failed",
        "model",
        "property",
        "policy",
        "constants",
        "arithmetic",
        "semantics",
        "certificate",
        "check",
        "time_seconds",
        "warnings",
        "files",
    ];
    assert_eq!(members, expected);
    assert_eq!((&document["schema"], &document["accepted"]), (&json!("surefoot-check/1"), &json!(true)));
    assert_eq!((&document["reason"], &document["failed"]), (&json!(null), &json!(null)));
    assert_eq!(document["certificate"]["file"], "safe.cert");
    assert_eq!(document["certificate"]["bytes"], bytes(&folder).len());
    assert!(document["check"]["parts"]["successor"].as_u64().is_some_and(|parts| parts > 0));
}

#[test]
fn the_second_checker_agrees() {
    let folder = with_certificate();
    folder.check(&["--dump", "task.json"]).exits(0);
    let python =
        |arguments: &[&str]| Command::new("python3").args(arguments).current_dir(folder.path("")).output();
    if !python(&["--version"]).is_ok_and(|output| output.status.success()) {
        eprintln!("there is no python3: the second checker is not tested");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/check_certificate.py");
    let script = script.to_str().expect("a path in UTF-8");
    let code = || python(&[script, "task.json", "safe.cert"]).expect("Python runs").status.code();
    assert_eq!(code(), Some(0));
    change(&folder, |certificate| certificate.regions.clear());
    assert_eq!(code(), Some(1));
    folder.check(&["--dump", "nowhere/task.json"]).exits(2).complains(&["`--dump`: there is no folder"]);
}

#[test]
fn the_reading_is_that_of_the_certificate() {
    let folder = Folder::walk("4.5");
    let readings =
        ["--filter", "on", "--goal", "terminal", "--arithmetic", "f32", "--out-of-domain", "block"];
    folder.verify(&[&["--engine", "ic3", "--certificate", "safe.cert"], &readings[..]].concat()).exits(0);
    folder
        .check(&[])
        .exits(0)
        .prints(&["reading   arithmetic f32, filter on, goal terminal, out-of-domain block"]);
    folder.check(&readings).exits(0);
    for other in
        [["--filter", "off"], ["--goal", "ignore"], ["--arithmetic", "f64"], ["--out-of-domain", "error"]]
    {
        let run = folder.check(&other).exits(3);
        let message =
            "REJECTED  the certificate is about another task: it is for the reading `arithmetic f32,";
        assert!(run.verdict().starts_with(message), "{other:?}: {}", run.verdict());
    }
}

#[test]
fn the_environment_alone_has_certificates_too() {
    let folder = Folder::walk("100");
    // Who stands at the top has moved.
    let unmoved = r#"{"op": "∧", "left": {"op": "=", "left": "x", "right": "top"}, "right": {"op": "¬", "exp": "moved"}}"#;
    folder.replace("walk.jani", r#"{"op": "=", "left": "x", "right": "top"}"#, unmoved);
    let verify = ["verify", "walk.jani", "--no-policy", "--engine", "ic3", "--certificate", "safe.cert"];
    folder.run(&verify).exits(0);
    let check = ["check", "safe.cert", "--model", "walk.jani"];
    folder.run(&[&check[..], &["--no-policy"]].concat()).exits(0).prints(&["policy    none", "ACCEPTED"]);
    folder.check(&[]).exits(3).prints(&["REJECTED  the certificate is about another task: its policy"]);
    folder.run(&check).exits(3).complains(&["names no policy"]);
}

#[test]
fn certificates_are_bound_to_files() {
    let other = "REJECTED  the certificate is about another task: its ";
    let folder = with_certificate();
    folder.write("policy.nnet", &network("4.4"));
    folder.check(&[]).exits(3).prints(&[other, "policy has SHA-256 "]);
    let folder = with_certificate();
    folder.replace("policy.jani2nnet", "\n}", "\n\n}");
    folder.check(&[]).exits(3).prints(&[other, "policy interface has SHA-256 "]);
    let folder = with_certificate();
    folder.replace("walk.jani", "\"name\": \"walk\",", "\"name\":  \"walk\",");
    folder.check(&[]).exits(3).prints(&[other, "model has SHA-256 "]);
    let document = folder.check(&["--json"]).exits(3).json();
    assert_eq!((&document["accepted"], &document["failed"]), (&json!(false), &json!(null)));
    assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("SHA-256")));

    let folder = Folder::walk("4.5");
    let property = r#"{"properties": [{"name": "p", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 9}}}]}"#;
    folder.write("more.jani", property);
    let question = ["--property", "more.jani"];
    let certificate = ["--engine", "ic3", "--certificate", "safe.cert"];
    folder.verify(&[&question[..], &certificate].concat()).exits(0);
    folder.check(&question).exits(0).prints(&["property  p"]);
    folder.check(&[]).exits(3).prints(&["REJECTED  the certificate is about another task: "]);
    folder.write("more.jani", &property.replace('9', "8"));
    folder.check(&question).exits(3).prints(&[other, "property has SHA-256 "]);
}

#[test]
fn another_property_or_other_constants_are_another_task() {
    let folder = Folder::walk("4.5");
    let second = r#""properties": [{"name": "not five", "expression": {"op": "PA", "reach": {"op": "=", "left": "x", "right": 5}}},"#;
    folder.replace("walk.jani", r#""properties": ["#, second);
    let safe = ["--property", "below the top"];
    folder.verify(&[&safe[..], &["--engine", "ic3", "--certificate", "safe.cert"]].concat()).exits(0);
    folder.check(&safe).exits(0);
    // The files are the same, so an obligation must fail.
    folder.check(&["--property", "not five"]).exits(3).prints(&["REJECTED  ", "the state ", "is unsafe"]);
    folder
        .check(&[&safe[..], &["--const", "top=10"]].concat())
        .exits(3)
        .prints(&["REJECTED  the certificate is about another task: it has a variable `x` in 0..9"]);
}

#[test]
fn the_first_obligation_that_fails_is_named_with_a_state() {
    type Edit = fn(&mut Certificate);
    let cases: [(&str, Edit, &str); 4] = [
        ("start", |c| c.regions.clear(), "start states: the state "),
        ("safe", |c| c.regions = vec![region(c, 0, 9, &[0, 1])], "safety of regions: the state "),
        ("choice", |c| c.regions = vec![region(c, 0, 6, &[0])], "choices of the policy: the state "),
        ("successor", |c| c.regions = vec![region(c, 0, 5, &[0, 1])], "successors: the state "),
    ];
    for (obligation, edit, message) in cases {
        let folder = with_certificate();
        change(&folder, edit);
        let run = folder.check(&[]).exits(3);
        assert!(run.verdict().starts_with(&format!("REJECTED  {message}")), "{}", run.verdict());
        assert!(run.verdict().contains("x = "), "{}", run.verdict());
        let document = folder.check(&["--json"]).exits(3).json();
        let failed = &document["failed"];
        assert_eq!((&document["accepted"], &failed["obligation"]), (&json!(false), &json!(obligation)));
        assert!(failed["state"]["x"].is_i64() && failed["state"]["moved"].is_boolean(), "{failed}");
        assert_eq!(document["check"], json!(null));
    }
    // The edits fail for the reasons above, not by being edits.
    let folder = with_certificate();
    change(&folder, |certificate| {
        let tree = vec![
            TreeNode::Split { variable: region(certificate, 0, 0, &[]).bounds[0].variable, at: 5 },
            TreeNode::Leaf(vec![0]),
            TreeNode::Leaf(vec![1]),
        ];
        certificate.regions = vec![Region { tree, ..region(certificate, 0, 6, &[]) }];
    });
    folder.check(&[]).exits(0);
}

#[test]
fn damaged_files_are_errors() {
    let folder = with_certificate();
    let whole = bytes(&folder);
    for end in (0..whole.len()).step_by(11).chain([whole.len() - 1]) {
        write(&folder, &whole[..end]);
        let run = folder.check(&[]).exits(3).complains(&["error: safe.cert: "]);
        assert_eq!(run.stdout, "", "cut at {end}");
    }
    write(&folder, &[&whole[..], b"!"].concat());
    folder.check(&["--json"]).exits(3).complains(&["error: safe.cert: 1 bytes follow the end"]);
    // Large counts that nothing follows.
    let huge = [&whole[..9], &[0xff; 8], &[0x7f]].concat();
    write(&folder, &huge);
    folder.check(&[]).exits(3).complains(&["error: safe.cert: "]);
    // Noise, from a linear congruential generator.
    let mut seed = 1_u32;
    for round in 0..40 {
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let mut contents: Vec<u8> = whole[..if round % 2 == 0 { 0 } else { 9 }].to_vec();
        contents.extend((0..round * 7).map(|_| noise()));
        write(&folder, &contents);
        let run = folder.check(&[]).exits(3).complains(&["error: safe.cert: "]);
        assert_eq!(run.stdout, "");
    }
    write(&folder, b"{}");
    folder.check(&[]).exits(3).complains(&["error: safe.cert: this is not a certificate of surefoot"]);
}

/// Whether the regions hold the start states, no unsafe state, and all successors: the walk by hand, up below 4.5 and down above.
fn is_invariant(certificate: &Certificate) -> bool {
    let position =
        |name: &str| certificate.variables.iter().position(|domain| domain.name == name).expect(name);
    let (x, moved) = (position("x"), position("moved"));
    let inside = |state: (i32, i32)| {
        certificate.regions.iter().any(|region| {
            region.bounds.iter().all(|bound| {
                let variable = bound.variable as usize;
                let value = if variable == x {
                    state.0
                } else if variable == moved {
                    state.1
                } else {
                    0
                };
                (bound.lower..=bound.upper).contains(&value)
            })
        })
    };
    let leads_inside = |(x, moved): (i32, i32)| {
        if x < 5 { inside((x + 1, 1)) && inside((x + 2, 1)) } else { inside((x - 1, moved)) }
    };
    let states = || (0..=9).flat_map(|x| [(x, 0), (x, 1)]);
    (0..=3).all(|x| inside((x, 0)))
        && states().filter(|&state| inside(state)).all(|state| state.0 != 9 && leads_inside(state))
}

/// Whatever bit of a certificate is flipped: it is accepted only if it still is a proof.
#[test]
fn flipped_bits_do_no_harm() {
    let folder = with_certificate();
    let whole = bytes(&folder);
    assert!(is_invariant(&Certificate::read(&whole).expect("a certificate")));
    for position in 0..whole.len() {
        let mut contents = whole.clone();
        contents[position] ^= 1 << (position % 8);
        write(&folder, &contents);
        let run = folder.check(&[]);
        match run.code {
            // Wider regions, or leaves that list more, may be a proof as well.
            Some(0) => {
                let changed = Certificate::read(&contents).expect("it was accepted");
                assert!(is_invariant(&changed), "byte {position}");
            }
            Some(3) => {}
            other => panic!("exit code {other:?} after byte {position}: {}", run.stderr),
        }
    }
}

#[test]
fn a_limit_gives_unknown() {
    let folder = with_certificate();
    let run = folder.check(&["--time-limit", "0"]).exits(11);
    assert!(run.verdict().starts_with("UNKNOWN  time limit after 0.0"), "{}", run.verdict());
    let document = folder.check(&["--time-limit", "0", "--json"]).exits(11).json();
    assert_eq!((&document["accepted"], &document["reason"]), (&json!(null), &json!("time")));
}

#[test]
fn real_variables_are_named() {
    let folder = with_certificate();
    let real = r#"{"name": "speed", "type": {"kind": "bounded", "base": "real", "lower-bound": 0, "upper-bound": 1}, "initial-value": 0.5},
      {"name": "moved""#;
    folder.replace("walk.jani", r#"{"name": "moved""#, real);
    folder
        .check(&["--dump", "task.json"])
        .exits(3)
        .prints(&["REJECTED  the variable `speed` is real-valued"])
        .complains(&["note: task.json was not written"]);
    assert!(!folder.path("task.json").exists());
}

#[test]
fn wrong_arguments_exit_with_two() {
    let folder = with_certificate();
    folder.run(&["check", "safe.cert"]).exits(2).complains(&["--model"]);
    folder.run(&["check", "--model", "walk.jani"]).exits(2);
    folder.check(&["--no-policy"]).exits(2);
    folder.check(&["--time-limit", "soon"]).exits(2);
    let missing = ["check", "missing.cert", "--model", "walk.jani", "--policy", "policy.jani2nnet"];
    folder.run(&missing).exits(3).complains(&["error: missing.cert: no such file"]);
}
