//! A folder with files in which the program is run.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A walk on 0..9 from `x = 0`: `up` adds two or one, `down` takes one away; 9 is unsafe. Two edges, one property.
pub const WALK: &str = r#"{
  "jani-version": 1,
  "name": "walk",
  "type": "mdp",
  "actions": [{"name": "up"}, {"name": "down"}],
  "constants": [{"name": "top", "type": "int", "value": 9}],
  "variables": [
    {"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "top"}, "initial-value": 0},
    {"name": "moved", "type": "bool", "initial-value": false}
  ],
  "automata": [{
    "name": "walker",
    "locations": [{"name": "on"}],
    "initial-locations": ["on"],
    "edges": [
      {"location": "on", "action": "up", "guard": {"exp": {"op": "≤", "left": "x", "right": 7}},
       "destinations": [
         {"location": "on", "probability": {"exp": 0.25}, "assignments": [
           {"ref": "x", "value": {"op": "+", "left": "x", "right": 2}}, {"ref": "moved", "value": true}]},
         {"location": "on", "probability": {"exp": 0.75}, "assignments": [
           {"ref": "x", "value": {"op": "+", "left": "x", "right": 1}}, {"ref": "moved", "value": true}]}]},
      {"location": "on", "action": "down", "guard": {"exp": {"op": "≥", "left": "x", "right": 1}},
       "destinations": [{"location": "on", "assignments": [
         {"ref": "x", "value": {"op": "-", "left": "x", "right": 1}}]}]}
    ]
  }],
  "system": {
    "elements": [{"automaton": "walker"}],
    "syncs": [{"synchronise": ["up"], "result": "up"}, {"synchronise": ["down"], "result": "down"}]
  },
  "properties": [{"name": "below the top", "expression": {
    "op": "PA",
    "start": {"op": "state-condition", "exp": {"op": "∧", "left": {"op": "≤", "left": "x", "right": 3}, "right": {"op": "¬", "exp": "moved"}}},
    "reach": {"op": "=", "left": "x", "right": "top"},
    "objective": {"op": "objective", "goal": {"op": "=", "left": "x", "right": 6}}
  }}]
}
"#;

/// The interface of a policy for [`WALK`].
pub const INTERFACE: &str = r#"{
  "file": "policy.nnet",
  "filter": false,
  "input": [{"name": "x", "automaton": null}],
  "elements": [1],
  "output": ["up", "down"]
}
"#;

/// A network for [`WALK`]: `up` has the score `up_score`, `down` has the score x.
pub fn network(up_score: &str) -> String {
    format!("2,1,2,2,\n1,1,2,\n0,\n0,\n9,\n0,0,\n1,1,\n1,\n0,\n0,\n1,\n{up_score},\n0,\n")
}

/// A folder with files in which the program is run.
pub struct Folder {
    folder: TempDir,
}

/// How a run of the program ended.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn empty() -> Self {
        Folder { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The model [`WALK`] as `walk.jani`, with a policy as `policy.jani2nnet` that goes up while `x < up_score`, and down at
    /// `x ≥ up_score`.
    pub fn walk(up_score: &str) -> Self {
        let folder = Folder::empty();
        folder.write("walk.jani", WALK);
        folder.write("policy.jani2nnet", INTERFACE);
        folder.write("policy.nnet", &network(up_score));
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, contents: &str) {
        std::fs::write(self.path(name), contents).expect("a writable folder");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a readable file")
    }

    /// Changes a file: `from` must stand in it exactly once.
    pub fn replace(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "{from:?} in {name}");
        self.write(name, &text.replace(from, to));
    }

    /// Runs the program in this folder.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let program = env!("CARGO_BIN_EXE_surefoot");
        let mut command = Command::new(program);
        let output =
            command.args(arguments).current_dir(self.folder.path()).env_remove("RUST_BACKTRACE").output();
        let Output { status, stdout, stderr } = output.expect("the program runs");
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let run = Run { code: status.code(), stdout: text(stdout), stderr: text(stderr) };
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        run
    }

    /// Verifies `walk.jani` with the policy.
    pub fn verify(&self, more: &[&str]) -> Run {
        self.run(&[&["verify", "walk.jani", "--policy", "policy.jani2nnet"], more].concat())
    }

    /// Checks the certificate `safe.cert` of the same.
    pub fn check(&self, more: &[&str]) -> Run {
        let task = ["check", "safe.cert", "--model", "walk.jani", "--policy", "policy.jani2nnet"];
        self.run(&[&task, more].concat())
    }
}

impl Run {
    /// Checks the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("stdout is one JSON document")
    }

    /// The last line on stdout.
    pub fn verdict(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }

    /// Checks that stdout has these parts, in this order.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        find_in_order("stdout", &self.stdout, parts);
        self
    }

    /// Checks that stderr has these parts, in this order.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Self {
        find_in_order("stderr", &self.stderr, parts);
        self
    }
}

#[track_caller]
fn find_in_order(name: &str, text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(position) = rest.find(part) else { panic!("{part:?} is missing in {name}:\n{text}") };
        rest = &rest[position + part.len()..];
    }
}
