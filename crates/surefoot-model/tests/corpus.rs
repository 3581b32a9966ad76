//! The corpus of the fuzz targets, and thousands of changes of it: no text makes the JANI reader panic.

#[path = "../../../fuzz/body/model.rs"]
mod body;
#[path = "../../../fuzz/body/replay.rs"]
mod replay;

#[test]
fn models() {
    replay::replay("jani", body::jani);
}

#[test]
fn properties() {
    replay::replay("property", body::property);
}
