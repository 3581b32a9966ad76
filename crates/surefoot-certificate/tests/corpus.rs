//! The corpus of the fuzz target, and thousands of changes of it: no file makes the reader or the checker panic, and
//! what the checker accepts is true.

#[path = "../../../fuzz/body/certificate.rs"]
mod body;
#[path = "../../../fuzz/body/replay.rs"]
#[allow(dead_code)]
mod replay;

#[test]
fn certificates() {
    replay::replay_bytes("certificate", body::certificate);
}
