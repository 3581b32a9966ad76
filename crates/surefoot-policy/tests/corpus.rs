//! The corpus of the fuzz targets, and thousands of changes of it: no file makes a policy reader panic.

#[path = "../../../fuzz/body/policy.rs"]
mod body;
#[path = "../../../fuzz/body/replay.rs"]
mod replay;

#[test]
fn networks() {
    replay::replay("nnet", body::nnet);
}

#[test]
fn interfaces() {
    replay::replay("interface", body::interface);
}

#[test]
fn ensembles() {
    replay::replay("ensemble", body::ensemble);
}

#[test]
fn onnx_models() {
    replay::replay_bytes("onnx", body::onnx);
}

#[test]
fn models_of_xgboost() {
    replay::replay("xgboost", body::xgboost);
}

#[test]
fn models_of_lightgbm() {
    replay::replay("lightgbm", body::lightgbm);
}

#[test]
fn safetensors() {
    replay::replay_bytes("safetensors", body::safetensors);
}

#[test]
fn archives() {
    replay::replay_bytes("archive", body::archive);
}

#[test]
fn pickles() {
    replay::replay_bytes("pickle", body::pickle);
}

#[test]
fn settings_of_stable_baselines() {
    replay::replay("sb3", body::sb3);
}
