//! What the fuzz target `state` does with a file. The test `corpus` of `surefoot-engines` does it too.

#[path = "certificate.rs"]
#[allow(dead_code)]
mod certificate;

use std::time::{Duration, Instant};

use surefoot_certificate::{Input, Role};
use surefoot_engines::ic3::{Options, SavedFrames, resume};
use surefoot_engines::{Control, Task, TaskError, Verdict};

/// Reads `bytes` as a saved state; whether it is one. So does whoever forges the hash at its end.
pub fn state(bytes: &[u8]) -> bool {
    let contents = &bytes[..bytes.len().saturating_sub(32)];
    let hash = Input::new(Role::Model, contents).sha256;
    if bytes[contents.len()..] != hash {
        read(&[contents, &hash].concat());
    }
    read(bytes)
}

/// What is read must be written alike, and must not make an unsafe task safe.
fn read(bytes: &[u8]) -> bool {
    let frames = match SavedFrames::read(bytes) {
        Ok(frames) => frames,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert_eq!(frames.write(), bytes, "a saved state has one form");
    let options = Options { samples: 0, list: 0, growth: 0, check: false, ..Options::default() };
    let deadline = Instant::now().checked_add(Duration::from_secs(1));
    match resume(&unsafe_task(), frames, options, &Control { deadline, ..Control::unlimited() }) {
        Ok(proof) => assert_ne!(proof.outcome.verdict, Verdict::Safe, "the task is unsafe"),
        Err(TaskError::Saved(error)) => assert!(!error.to_string().is_empty()),
        Err(error) => panic!("{error}"),
    }
    true
}

/// The counter of the target `certificate`, where 4, which it reaches, is unsafe.
fn unsafe_task() -> Task {
    let (mut system, mut property, policy) = certificate::task();
    let exprs = &mut system.exprs;
    let (x, four) =
        (exprs.variable_of_type(surefoot_model::VarId(0), surefoot_model::Type::Int), exprs.int(4));
    property.unsafe_states = exprs.le(four, x).expect("integers");
    Task { system, property, policy: Some(policy), semantics: certificate::SEMANTICS }
}
