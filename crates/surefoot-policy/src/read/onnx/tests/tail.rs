//! Ends of models, and which output holds the scores.

use super::*;

fn doubled(version: i64) -> Draft {
    Draft::new(version, &[0, 2]).floats("two", &[], &[2.0]).node("Mul", "x two", "s", vec![])
}

#[test]
fn softmax_and_argmax_are_left_out() {
    for operator in ["Softmax", "LogSoftmax"] {
        assert_eq!(doubled(13).node(operator, "s", "y", vec![int("axis", 1)]).values(&[1, 3], 2), [2.0, 6.0]);
        assert_eq!(doubled(11).node(operator, "s", "y", vec![]).values(&[1, 3], 2), [2.0, 6.0]);
    }
    let chosen = doubled(13)
        .node("Softmax", "s", "p", vec![])
        .node("ArgMax", "p", "a", vec![int("axis", -1), int("keepdims", 0)])
        .node("Cast", "a", "y", vec![int("to", 6)]);
    assert_eq!(chosen.values(&[1, 3], 2), [2.0, 6.0]);
}

#[test]
fn the_axis_of_a_softmax_must_hold_all_values() {
    let rows =
        |version, axis| Draft::new(version, &[2, 2]).node("Softmax", "x", "y", vec![int("axis", axis)]);
    assert!(rows(13, 1).refused(4, 4).contains("node 0 (Softmax): it must work on all values at once"));
    assert!(rows(11, 1).refused(4, 4).contains("it must work on all values at once"));
    assert_eq!(rows(11, 0).values(&[1, 2, 3, 4], 4)[3], 4.0);
    // The default axis of ArgMax is the batch.
    assert!(
        doubled(13).node("ArgMax", "s", "y", vec![]).refused(2, 2).contains("not all of them are on axis 0")
    );
    let last = doubled(13).node("ArgMax", "s", "y", vec![int("axis", 1), int("select_last_index", 1)]);
    assert!(last.refused(2, 2).contains("the last of equal scores"));
}

#[test]
fn what_follows_a_softmax_is_refused() {
    let model = doubled(13).node("Softmax", "s", "p", vec![]).node("Relu", "p", "y", vec![]);
    let message = model.refused(2, 2);
    assert!(message.contains("node 2 (Relu): operand 0 comes from a softmax"), "{message}");
    let moved = doubled(13).ints("i", &[1, 0]).node("Softmax", "s", "p", vec![]).node(
        "Gather",
        "p i",
        "y",
        vec![int("axis", 1)],
    );
    assert!(moved.refused(2, 2).contains("comes from a softmax"));
}

#[test]
fn normalised_logits_of_distributions_are_recognised() {
    let model = doubled(17)
        .node("ReduceLogSumExp", "s", "n", vec![ints("axes", &[-1]), int("keepdims", 1)])
        .node("Sub", "s n", "l", vec![])
        .node("Softmax", "l", "p", vec![])
        .node("ArgMax", "p", "y", vec![int("axis", 1)]);
    assert_eq!(model.values(&[1, 3], 2), [2.0, 6.0]);
    let other = doubled(17).node("ReduceLogSumExp", "s", "n", vec![]).node("Sub", "x n", "y", vec![]);
    assert!(other.refused(2, 2).contains("node 2 (Sub): operand 1"));
}

#[test]
fn the_output_with_the_right_size_is_taken() {
    let critic = || doubled(13).floats("w", &[2, 1], &[1.0, 1.0]).node("MatMul", "s w", "v", vec![]);
    let actor = critic().node("Softmax", "s", "p", vec![]).node("ArgMax", "p", "a", vec![int("axis", 1)]);
    assert_eq!(actor.clone().outputs(&["v", "a", "p", "s"]).values(&[1, 3], 2), [2.0, 6.0]);
    assert_eq!(actor.clone().outputs(&["v", "a"]).values(&[1, 3], 1), [8.0]);
    let message = actor.outputs(&["v", "a"]).refused(2, 3);
    assert!(
        message.contains("no output has as many values: `v` has 1 values, `a` chooses among 2"),
        "{message}"
    );
    let broken = doubled(13).node("Erf", "s", "e", vec![]).node("Relu", "e", "r", vec![]);
    assert!(
        broken.clone().outputs(&["e", "r"]).refused(2, 2).starts_with("m.onnx: node 1 (Erf): this operator")
    );
    let message = broken.node("Sin", "x", "t", vec![]).outputs(&["e", "t"]).refused(2, 2);
    assert!(
        message.contains("`e` cannot be read, `t` cannot be read\n  hint: `e` cannot be read: node 1 (Erf)"),
        "{message}"
    );
    let two = critic().node("Relu", "s", "r", vec![]).outputs(&["s", "r"]);
    assert!(two.refused(2, 2).contains("the outputs `s` and `r` both have 2 values"));
}

#[test]
fn an_output_that_cannot_be_read_is_ignored_with_a_warning() {
    let model = doubled(13).node("Erf", "s", "e", vec![]).outputs(&["e", "s"]);
    let mut warnings = Vec::new();
    let read = crate::read::onnx::read(Path::new("m.onnx"), &model.bytes(), (2, 2), &mut warnings);
    assert_eq!(values::<f64>(&read.expect("good").0, &[1, 3]), [2.0, 6.0]);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].to_string().contains("node 1 (Erf): this operator is not supported"),
        "{}",
        warnings[0]
    );
}

#[test]
fn an_output_that_may_be_another_choice_is_refused() {
    let least = doubled(13).node("ArgMin", "s", "a", vec![int("axis", 1)]);
    for kind in [data_type::INT64, data_type::INT32, data_type::STRING] {
        let message = least.clone().outputs(&["s"]).output("a", kind).refused(2, 2);
        assert!(
            message.contains("the output `a` may be the choice, and cannot be read")
                && message.contains("remove the output `a`"),
            "{message}"
        );
    }
    let last = doubled(13).node("ArgMax", "s", "a", vec![int("axis", 1), int("select_last_index", 1)]);
    let message = last.outputs(&["s"]).output("a", data_type::INT64).refused(2, 2);
    assert!(message.contains("the last of equal scores"), "{message}");
    let first = doubled(13).node("ArgMax", "s", "a", vec![int("axis", 1)]);
    assert_eq!(first.outputs(&["s"]).output("a", data_type::INT64).values(&[1, 3], 2), [2.0, 6.0]);
}
