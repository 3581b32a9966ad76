//! Operators that move values.

use super::*;

/// `x` is a 2×3 matrix.
fn matrix(version: i64) -> Draft {
    Draft::new(version, &[2, 3])
}

const X: [i32; 6] = [1, 2, 3, 4, 5, 6];

#[test]
fn reshaping_keeps_the_order() {
    let model = |shape: &[i64]| matrix(14).ints("s", shape).node("Reshape", "x s", "y", vec![]);
    assert_eq!(model(&[3, -1]).values(&X, 6), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(model(&[0, 3]).values(&X, 6)[5], 6.0);
    for wrong in [&[4][..], &[-1, -1], &[-1, 4], &[i64::MAX, 2], &[0, 0, 0], &[-2, -3], &[-1, 0, 0, 0]] {
        let message = model(wrong).refused(6, 6);
        assert!(message.contains("cannot become"), "{message}");
    }
    let flat = matrix(13).node("Flatten", "x", "f", vec![int("axis", 0)]).node("Softmax", "f", "y", vec![]);
    assert_eq!(flat.values(&X, 6)[5], 6.0);
}

#[test]
fn transposition_and_slices() {
    let model = matrix(13).node("Transpose", "x", "y", vec![ints("perm", &[1, 0])]);
    assert_eq!(model.values(&X, 6), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let slice = matrix(13)
        .ints("a", &[0, -1])
        .ints("b", &[1, -3])
        .ints("c", &[0, 1])
        .ints("d", &[1, -1])
        .node("Slice", "x a b c d", "y", vec![]);
    assert_eq!(slice.values(&X, 2), [3.0, 2.0]);
    let old = matrix(9).node(
        "Slice",
        "x",
        "y",
        vec![ints("starts", &[1]), ints("ends", &[i64::MAX]), ints("axes", &[1])],
    );
    assert_eq!(old.values(&X, 4), [2.0, 3.0, 5.0, 6.0]);
}

#[test]
fn gathering_and_splitting() {
    let gather = matrix(13).ints("i", &[2, -3]).node("Gather", "x i", "y", vec![int("axis", 1)]);
    assert_eq!(gather.values(&X, 4), [3.0, 1.0, 6.0, 4.0]);
    let outside = matrix(13).ints("i", &[3]).node("Gather", "x i", "y", vec![int("axis", 1)]);
    assert!(outside.refused(6, 2).contains("index 3 is outside of axis 1"));
    let split = matrix(13).ints("s", &[1, 2]).node("Split", "x s", "a y", vec![int("axis", 1)]);
    assert_eq!(split.values(&X, 4), [2.0, 3.0, 5.0, 6.0]);
    let old = matrix(11).node("Split", "x", "a y", vec![int("axis", 0), ints("split", &[1, 1])]);
    assert_eq!(old.values(&X, 3), [4.0, 5.0, 6.0]);
    let equal = matrix(18).node("Split", "x", "y a", vec![int("axis", 1), int("num_outputs", 2)]);
    assert_eq!(equal.values(&X, 4), [1.0, 2.0, 4.0, 5.0]);
}

#[test]
fn joining_with_constants() {
    let model =
        matrix(13).floats("c", &[2, 1], &[7.0, 8.0]).node("Concat", "c x", "y", vec![int("axis", -1)]);
    assert_eq!(model.values(&X, 8), [7.0, 1.0, 2.0, 3.0, 8.0, 4.0, 5.0, 6.0]);
    let wrong = matrix(13).floats("c", &[1, 1], &[7.0]).node("Concat", "c x", "y", vec![int("axis", -1)]);
    assert!(wrong.refused(6, 8).contains("shapes [1, 1] and [2, 3] cannot be joined"));
}

#[test]
fn axes_of_one_value_come_and_go() {
    let model = |version, operator: &str, inputs: &str, attributes| {
        Draft::new(version, &[1, 2]).ints("a", &[0]).node(operator, inputs, "z", attributes).node(
            "Concat",
            "z z",
            "y",
            vec![int("axis", 0)],
        )
    };
    assert_eq!(model(13, "Squeeze", "x a", vec![]).values(&[1, 2], 4), [1.0, 2.0, 1.0, 2.0]);
    assert_eq!(model(12, "Squeeze", "x", vec![ints("axes", &[0])]).values(&[1, 2], 4)[2], 1.0);
    assert_eq!(model(13, "Squeeze", "x", vec![]).values(&[1, 2], 4)[3], 2.0);
    assert_eq!(model(13, "Unsqueeze", "x a", vec![]).values(&[1, 2], 4)[3], 2.0);
    assert_eq!(model(11, "Unsqueeze", "x", vec![ints("axes", &[0, 3])]).values(&[1, 2], 4)[3], 2.0);
    assert!(
        model(12, "Squeeze", "x", vec![ints("axes", &[1])]).refused(2, 4).contains("axis 1 has 2 values")
    );
}

#[test]
fn shapes_are_computed_from_shapes() {
    // reshape(x, concat(shape(x)[0:1], [-1])) as exporters write it.
    let model = Draft::new(13, &[0, 2, 2])
        .ints("zero", &[0])
        .ints("open", &[-1])
        .node("Shape", "x", "s", vec![])
        .node("Gather", "s zero", "n", vec![])
        .node("Concat", "n open", "t", vec![int("axis", 0)])
        .node("Reshape", "x t", "f", vec![])
        .node("Softmax", "f", "y", vec![]);
    assert_eq!(model.values(&[1, 2, 3, 4], 4), [1.0, 2.0, 3.0, 4.0]);
    let expand = Draft::new(13, &[2, 1]).ints("s", &[2, 2]).node("Expand", "x s", "y", vec![]);
    assert_eq!(expand.values(&[1, 2], 4), [1.0, 1.0, 2.0, 2.0]);
}
