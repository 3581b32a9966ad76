//! Arguments, help and pipes.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::Folder;

#[test]
fn help_and_version_are_no_mistakes() {
    let folder = Folder::empty();
    folder.run(&["--help"]).exits(0).prints(&[
        "verify",
        "check",
        "simulate",
        "replay",
        "explain",
        "info",
        "gen",
        "demo",
        "Exit codes",
    ]);
    folder.run(&["--version"]).exits(0).prints(&["surefoot "]);
    for command in ["verify", "check", "simulate", "replay", "explain", "info", "gen", "demo"] {
        folder.run(&[command, "--help"]).exits(0).prints(&["Usage: surefoot"]);
    }
}

#[test]
fn wrong_arguments_exit_with_two() {
    let folder = Folder::walk("4.5");
    folder.run(&[]).exits(2);
    folder.run(&["prove"]).exits(2);
    folder.run(&["verify"]).exits(2);
    folder.run(&["gen", "sokoban"]).exits(2);
    folder.verify(&["--no-policy"]).exits(2);
    folder.verify(&["--threads", "0"]).exits(2);
    folder.verify(&["--time-limit", "soon"]).exits(2).complains(&["expected a time such as"]);
    folder.verify(&["--memory-limit", "much"]).exits(2).complains(&["expected a size such as"]);
    folder.verify(&["--arithmetic", "f16"]).exits(2).complains(&["f64"]);
    folder.verify(&["--engine", "magic"]).exits(2);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    let folder = Folder::walk("100");
    let mut child = Command::new(env!("CARGO_BIN_EXE_surefoot"))
        .args(["simulate", "walk.jani", "--policy", "policy.jani2nnet", "--episodes", "100000"])
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = [0; 10];
    child.stdout.take().expect("piped").read_exact(&mut first).expect("some output");
    // The pipe is closed here; the program ends soon, and quietly.
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
