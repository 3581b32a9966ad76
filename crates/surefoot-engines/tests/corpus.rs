//! The corpus of the fuzz target, and thousands of changes of it: no file makes the reader panic, and none makes an unsafe task safe.

#[path = "../../../fuzz/body/state.rs"]
mod body;
#[path = "../../../fuzz/body/replay.rs"]
#[allow(dead_code)]
mod replay;

#[test]
fn states() {
    replay::replay_bytes("state", body::state);
}
