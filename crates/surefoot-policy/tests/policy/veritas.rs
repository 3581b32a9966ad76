//! Reading tree ensembles.

use surefoot_model::InputError;
use surefoot_policy::{Arithmetic, Policy, Shape};

use crate::fixture::{assert_error, read};

const INTERFACE: &str = r#"{"file": "e.json", "input": [{"name": "x", "automaton": null}, {"name": "b", "automaton": null}],
"output": ["left", "right"]}"#;

const GOOD: &str = r#"{"at_type": "CLF_SOFTMAX", "base_scores": [0.5, 0.0], "trees": [
{"num_leaf_values": 2, "split_type": "LtSplit", "value_type": "FloatT", "structure":
{"feat_id": 0, "split_value": 2.5,
"left": {"leaf_value": [1.0, 0.0]},
"right": {"feat_id": 1, "split_value": 0.5, "left": {"leaf_value": [0, 2]}, "right": {"leaf_value": [0, -1e-2]}}}},
{"num_leaf_values": 2, "structure": {"leaf_value": [0, 0.25]}}]}"#;

fn policy(text: &str) -> (Result<Policy, InputError>, Vec<InputError>) {
    read(INTERFACE, text)
}

#[track_caller]
fn error(from: &str, to: &str) -> InputError {
    assert!(GOOD.contains(from), "{from:?} is not in the text");
    policy(&GOOD.replacen(from, to, 1)).0.expect_err("a mistake")
}

#[test]
fn a_good_file_is_read() {
    let (read, warnings) = policy(GOOD);
    let read = read.expect("good");
    assert_eq!(warnings, []);
    assert_eq!(read.scorer.shape(), Shape::Ensemble { inputs: 2, outputs: 2, trees: 2, leaves: 4, depth: 2 });
    assert_eq!(read.scorer.shape().to_string(), "tree ensemble 2-2 with 2 trees, 4 leaves, depth 2");
    let chosen = |state: [i32; 2]| read.possible(Arithmetic::F64, &state, |_| true);
    assert_eq!((chosen([2, 1]), chosen([3, 0]), chosen([3, 1])), (vec![0], vec![1], vec![0]));
}

#[test]
fn all_types_are_read_alike() {
    for kind in ["REGR", "CLF", "REGR_MEAN", "CLF_MEAN", "CLF_SOFTMAX"] {
        assert_eq!(policy(&GOOD.replace("CLF_SOFTMAX", kind)).0, policy(GOOD).0);
    }
    assert_error(
        &error("CLF_SOFTMAX", "SVM"),
        1,
        13,
        &["expected one of REGR, CLF,", "\"SVM\"", "$.at_type"],
    );
}

#[test]
fn sizes_are_checked() {
    assert_error(&error("[0.5, 0.0]", "[0.5]"), 1, 43, &["one score per state is no action policy"]);
    assert_error(&error("[0.5, 0.0]", "[1, 2, 3]"), 1, 43, &["expected 2 numbers", "found 3"]);
    assert_error(&error("values\": 2", "values\": 3"), 2, 21, &["3 values, but there are 2 outputs"]);
    assert_error(&error("[1.0, 0.0]", "[1.0]"), 4, 24, &["expected 2 numbers, one per output, found 1"]);
    assert_error(
        &error("feat_id\": 1", "feat_id\": 2"),
        5,
        22,
        &["tests input 2, but the interface lists 2", "$.trees[0].structure.right.feat_id"],
    );
    assert_error(&error("feat_id\": 1", "feat_id\": -1"), 5, 22, &["tests input -1"]);
}

#[test]
fn values_are_checked() {
    assert_error(&error("2.5", "1e999"), 3, 31, &["too large"]);
    assert_error(&error("2.5", "\"2.5\""), 3, 31, &["expected a number"]);
    assert_error(&error("[0, 2]", "[0, null]"), 5, 72, &["expected a number, found null"]);
    assert_error(&error("\"LtSplit\"", "\"EqSplit\""), 2, 38, &["expected \"LtSplit\""]);
    assert_error(&error("\"leaf_value\": [1.0, 0.0]", ""), 4, 9, &["expected a split", "or a leaf"]);
    assert_error(&error("\"split_value\": 2.5,", ""), 3, 1, &["\"split_value\" is missing"]);
    assert_error(&error("\"left\": {\"leaf_value\": [1.0, 0.0]},", ""), 3, 1, &["\"left\" is missing"]);
}

#[test]
fn oddities_are_warned_about() {
    let (read, warnings) =
        policy(&GOOD.replace("FloatT", "IntT").replace("\"left\": {", "\"left\": {\"n\": 1, "));
    assert!(read.is_ok());
    assert_error(&warnings[0], 2, 63, &["the value type", "IntT"]);
    assert_error(&warnings[1], 4, 15, &["\"n\" is unknown here"]);
    let (read, warnings) = policy(&GOOD.replace("2.5", "1e40").replace("[1.0, 0.0]", "[1e50, 0]"));
    assert!(read.is_ok());
    assert_eq!(warnings.len(), 1);
    assert_error(&warnings[0], 3, 31, &["exceeds the range of f32"]);
    let interface = INTERFACE.replace("\"file\"", "\"elements\": [3], \"file\"");
    let (policy, warnings) = crate::fixture::read(&interface, GOOD);
    assert!(policy.is_ok());
    assert_error(&warnings[0], 1, 14, &["a tree ensemble has no layers"]);
}

#[test]
fn the_old_format_is_recognised() {
    let text = r#"{"base_score": 0.5, "trees": [{"feat_id": 0, "split_value": 1, "lt": {"leaf_value": 1}}]}"#;
    assert_error(&policy(text).0.unwrap_err(), 1, 16, &["old dump format of Veritas"]);
    let text = r#"{"at_type": "REGR", "base_scores": [0, 0], "trees": [
{"feat_id": 0, "split_value": 1, "lt": {"leaf_value": 1}, "gteq": {"leaf_value": 2}}]}"#;
    assert_error(&policy(text).0.unwrap_err(), 2, 1, &["old dump format of Veritas"]);
}

#[test]
fn deep_trees_are_read_and_evaluated() {
    const DEPTH: usize = 8000;
    let mut text = String::from(
        r#"{"at_type": "REGR", "base_scores": [0, 0], "trees": [{"num_leaf_values": 2, "structure": "#,
    );
    for level in 0..DEPTH {
        let threshold = level + 1;
        let split = format!(
            r#"{{"feat_id": 0, "split_value": {threshold}, "left": {{"leaf_value": [{level}, 4000]}}, "right": "#
        );
        text.push_str(&split);
    }
    text += "{\"leaf_value\": [0, 0]}";
    text += &"}".repeat(DEPTH + 1);
    text += "]}";
    let policy = policy(&text).0.expect("good");
    assert!(matches!(policy.scorer.shape(), Shape::Ensemble { depth: DEPTH, .. }));
    let states: Vec<i32> = (0..100).map(|i| i * 81).collect();
    let zeros = vec![0; states.len()];
    let mut evaluator = policy.evaluator(Arithmetic::F64);
    evaluator.run(states.len(), |input| if input == 0 { &states } else { &zeros });
    for (index, &x) in states.iter().enumerate() {
        let expected = usize::from(x < 4000);
        assert_eq!(evaluator.best(index, |_| true), Some(if x >= 8000 { 0 } else { expected }), "x = {x}");
    }
}
