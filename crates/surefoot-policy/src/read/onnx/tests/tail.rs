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

/// The choice between two scores is `a`.
fn chosen() -> Draft {
    doubled(13).node("ArgMax", "s", "a", vec![int("axis", 1), int("keepdims", 0)])
}

#[test]
fn a_table_at_the_choice_is_not_taken_for_the_choice() {
    let looked_up = |numbers: &[i64]| chosen().ints("t", numbers).node("Gather", "t a", "y", vec![]);
    for table in [&[1, 0][..], &[0, 0], &[0, 1, 2], &[0]] {
        let message = looked_up(table).outputs(&[]).output("y", data_type::INT64).refused(2, 2);
        assert!(message.contains("only in a table of the indices 0, 1, 2, …"), "{message}");
        let beside = looked_up(table).outputs(&["s"]).output("y", data_type::INT64).refused(2, 2);
        assert!(beside.contains("the output `y` may be the choice, and cannot be read"), "{beside}");
    }
    assert_eq!(looked_up(&[0, 1]).values(&[1, 3], 2), [2.0, 6.0]);
}

#[test]
fn rows_of_scores_at_the_choice_are_not_taken_for_the_scores() {
    let rows = chosen().floats("t", &[2, 2], &[0.0, 1.0, 1.0, 0.0]).node("Gather", "t a", "y", vec![]);
    assert!(rows.refused(2, 2).contains("only in a table of the indices"));
    let highest = chosen().node("Gather", "s a", "y", vec![int("axis", 1)]);
    assert!(highest.refused(2, 2).contains("only in a table of the indices"));
}

fn named(draft: Draft) -> Draft {
    draft.node_of("ai.onnx.ml", "ArrayFeatureExtractor", "names a", "l", vec![]).outputs(&["s"])
}

#[test]
fn names_that_a_node_holds_are_the_classes() {
    let names = ["down", "up"];
    let mut initial = named(chosen());
    initial.graph().initializers.push(strings("names", &names));
    let value = vec![with_tensor("value", strings("", &names))];
    let models = [
        initial,
        named(chosen().node("Constant", "", "names", value)),
        named(chosen().node("Constant", "", "names", vec![texts("value_strings", &names)])),
    ];
    for model in models {
        let model = model.output("l", data_type::STRING);
        assert_eq!(model.classes((2, 2)).expect("good"), names);
    }
}

#[test]
fn names_that_are_not_known_are_refused() {
    let moved = chosen().node("Constant", "", "n", vec![texts("value_strings", &["down", "up"])]).node(
        "Identity",
        "n",
        "names",
        vec![],
    );
    let message = named(moved).output("l", data_type::STRING).refused(2, 2);
    assert!(message.contains("operand 0 must be a constant row of names or whole numbers"), "{message}");
    let three = chosen().ints("names", &[1, 2, 3]);
    let message = named(three).output("l", data_type::INT64).refused(2, 2);
    assert!(message.contains("there are 3 classes for 2 scores"), "{message}");
    let other = chosen().ints("m", &[5, 7]).ints("names", &[7, 5]).node_of(
        "ai.onnx.ml",
        "ArrayFeatureExtractor",
        "m a",
        "k",
        vec![],
    );
    let message = named(other).output("l", data_type::INT64).refused(2, 2);
    assert!(message.contains("others than those of another operator"), "{message}");
}

#[test]
fn a_class_is_not_looked_up_again() {
    let model = named(chosen().ints("names", &[1, 0])).node_of(
        "ai.onnx.ml",
        "ArrayFeatureExtractor",
        "names l",
        "y",
        vec![],
    );
    let message = model.clone().output("y", data_type::INT64).refused(2, 2);
    assert!(message.contains("looked up in a table of classes already"), "{message}");
    let gathered = model.ints("t", &[0, 1]).node("Gather", "t l", "g", vec![]);
    assert!(gathered.output("g", data_type::INT64).refused(2, 2).contains("table of the indices"));
}

#[test]
fn a_cast_that_changes_the_choice_is_refused() {
    let cast = |to: i32| chosen().node("Cast", "a", "y", vec![int("to", to.into())]);
    for to in [data_type::BOOL, data_type::FLOAT16, data_type::BFLOAT16, data_type::STRING] {
        let message = cast(to).refused(2, 2);
        assert!(
            message.contains(&format!("a cast to {} is not supported", data_type::name(to))),
            "{message}"
        );
    }
    for to in [data_type::UINT8, data_type::INT32, data_type::UINT64, data_type::FLOAT, data_type::DOUBLE] {
        assert_eq!(cast(to).values(&[1, 3], 2), [2.0, 6.0]);
    }
    let label = |to: i32, numbers: &[i64]| {
        named(chosen().ints("names", numbers))
            .node("Cast", "l", "y", vec![int("to", to.into())])
            .output("y", data_type::INT64)
    };
    assert!(label(data_type::INT8, &[3, 300]).refused(2, 2).contains("a cast to int8"));
    assert!(label(data_type::FLOAT, &[0, (1 << 24) + 1]).refused(2, 2).contains("a cast to float"));
    assert!(label(data_type::UINT32, &[-1, 1]).refused(2, 2).contains("a cast to uint32"));
    assert_eq!(label(data_type::INT16, &[3, 300]).values(&[1, 3], 2), [2.0, 6.0]);
}

#[test]
fn names_of_numbers_are_not_cast_to_numbers() {
    let names = chosen().node("Constant", "", "names", vec![texts("value_strings", &["1", "0"])]);
    let model = named(names).node("Cast", "l", "y", vec![int("to", 7)]).output("y", data_type::INT64);
    assert!(model.refused(2, 2).contains("a cast to int64"));
}

#[test]
fn a_normaliser_that_reduces_nothing_is_refused() {
    let model = |more: Vec<Attribute>| {
        doubled(18).node("ReduceLogSumExp", "s", "n", more).node("Sub", "s n", "y", vec![])
    };
    assert_eq!(model(vec![]).values(&[1, 3], 2), [2.0, 6.0]);
    let message = model(vec![int("noop_with_empty_axes", 1)]).refused(2, 2);
    assert!(message.contains("node 1 (ReduceLogSumExp): it must work on all values at once"), "{message}");
}

#[test]
fn more_axes_of_a_normaliser_or_a_factor_do_not_get_lost() {
    let moved = doubled(17)
        .ints("axes", &[0])
        .node("ReduceLogSumExp", "s", "k", vec![])
        .node("Unsqueeze", "k axes", "n", vec![])
        .node("Sub", "s n", "y", vec![]);
    assert!(moved.refused(2, 2).contains("node 2 (Unsqueeze)"));
    let scaled = doubled(17).floats("c", &[1, 1, 1], &[2.0]).node("Softmax", "s", "p", vec![]).node(
        "Mul",
        "p c",
        "y",
        vec![],
    );
    assert!(scaled.refused(2, 2).contains("may only be scaled by one positive number"));
}

#[test]
fn a_map_of_scores_is_not_made_of_a_choice() {
    let model = chosen().node_of("ai.onnx.ml", "ZipMap", "a", "y", vec![]);
    assert!(model.refused(2, 2).contains("operand 0 is the chosen label"));
}
