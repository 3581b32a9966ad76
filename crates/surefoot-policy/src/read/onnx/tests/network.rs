//! Operators that compute.

use super::*;
use crate::enclosure::{Rounding, scores};
use crate::layer::Activation;

/// `x` has the extents `[batch, n]`.
fn batch(n: i64) -> Draft {
    Draft::new(17, &[0, n])
}

#[test]
fn perceptrons_become_chains_of_dense_layers() {
    let model = batch(2)
        .floats("w0", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .floats("b0", &[3], &[0.5, -50.0, 0.0])
        .floats("w1", &[3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, -1.0])
        .floats("b1", &[2], &[0.25, 0.0])
        .node("Gemm", "x w0 b0", "h", vec![int("transB", 1)])
        .node("Relu", "h", "r", vec![])
        .node("MatMul", "r w1", "p", vec![])
        .node("Add", "b1 p", "y", vec![]);
    let network = model.clone().network(2, 2);
    let chain = network.chain().expect("a chain");
    assert_eq!(
        chain.iter().map(|layer| layer.activation()).collect::<Vec<_>>(),
        [Activation::Relu, Activation::Identity]
    );
    assert!(chain.iter().all(|layer| !layer.is_sparse()));
    // Hidden: 1·1 + 2·2 + 0.5 = 5.5, (3 + 8 - 50) < 0, 5 + 12 = 17.
    assert_eq!(model.values(&[1, 2], 2), [22.75, -17.0]);
}

#[test]
fn gemm_scales_and_transposes() {
    let model = Draft::new(13, &[2, 1])
        .floats("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0])
        .floats("c", &[1], &[10.0])
        .node("Gemm", "x w c", "y", vec![int("transA", 1), float("alpha", 0.5), float("beta", 3.0)]);
    assert_eq!(model.clone().network(2, 2).nodes().len(), 2);
    // 0.5 · (5 + 21, 10 + 28) + 30.
    assert_eq!(model.values(&[5, 7], 2), [43.0, 49.0]);
    let without =
        batch(2).floats("w", &[2, 1], &[2.0, 3.0]).node("Gemm", "x w", "y", vec![float("beta", 0.0)]);
    assert_eq!(without.values(&[5, 7], 1), [31.0]);
}

#[test]
fn a_factor_of_gemm_is_a_rounding_of_its_own() {
    let (weight, alpha) = (0.9_f32, 0.7_f32);
    let model =
        batch(1).floats("w", &[1, 1], &[weight]).node("Gemm", "x w", "y", vec![float("alpha", alpha)]);
    assert_eq!(model.singles(&[3], 1), [(weight * 3.0) * alpha]);
    assert_ne!((weight * 3.0) * alpha, (weight * alpha) * 3.0);
}

#[test]
fn matrices_multiply_rows_columns_and_batches() {
    // Two rows by a 2×2 matrix: (1, 2; 3, 4) · (1, 2; 3, 4).
    let rows = Draft::new(13, &[2, 2]).floats("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]).node(
        "MatMul",
        "x w",
        "y",
        vec![],
    );
    assert_eq!(rows.values(&[1, 2, 3, 4], 4), [7.0, 10.0, 15.0, 22.0]);
    let left = Draft::new(13, &[2]).floats("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).node(
        "MatMul",
        "w x",
        "y",
        vec![],
    );
    assert_eq!(left.values(&[1, 10], 3), [21.0, 43.0, 65.0]);
    // A stack of two vectors times a stack of two matrices.
    let stack = Draft::new(13, &[2, 1, 2]).floats("w", &[2, 2, 1], &[1.0, 2.0, 3.0, 4.0]).node(
        "MatMul",
        "x w",
        "y",
        vec![],
    );
    assert_eq!(stack.values(&[1, 10, 100, 1000], 2), [21.0, 4300.0]);
    let shared = Draft::new(13, &[2, 2]).floats("w", &[2, 1, 2, 1], &[1.0, 0.0, 0.0, 1.0]).node(
        "MatMul",
        "x w",
        "y",
        vec![],
    );
    // The matrix x is used for both matrices of w, whose leading axes are [2, 1].
    assert_eq!(shared.values(&[1, 2, 3, 4], 4), [1.0, 3.0, 2.0, 4.0]);
    let rows =
        Draft::new(13, &[2, 1, 2]).floats("w", &[1, 2, 1], &[3.0, 4.0]).node("MatMul", "x w", "y", vec![]);
    assert_eq!(rows.values(&[1, 10, 100, 1000], 2), [43.0, 4300.0]);
    let dot = Draft::new(13, &[2]).floats("w", &[2], &[3.0, 4.0]).node("MatMul", "x w", "y", vec![]);
    assert_eq!(dot.values(&[1, 2], 1), [11.0]);
}

#[test]
fn constants_are_stretched() {
    let model = |operator: &str, inputs: &str| {
        Draft::new(13, &[2, 1]).floats("c", &[3], &[1.0, 2.0, 4.0]).node(operator, inputs, "y", vec![])
    };
    assert_eq!(model("Add", "x c").values(&[1, 10], 6), [2.0, 3.0, 5.0, 11.0, 12.0, 14.0]);
    assert_eq!(model("Sub", "x c").values(&[1, 10], 6), [0.0, -1.0, -3.0, 9.0, 8.0, 6.0]);
    assert_eq!(model("Sub", "c x").values(&[1, 10], 6), [0.0, 1.0, 3.0, -9.0, -8.0, -6.0]);
    assert_eq!(model("Mul", "c x").values(&[1, 10], 6), [1.0, 2.0, 4.0, 10.0, 20.0, 40.0]);
    assert_eq!(model("Div", "x c").values(&[1, 10], 6), [1.0, 0.5, 0.25, 10.0, 5.0, 2.5]);
    assert!(model("Div", "c x").refused(2, 6).contains("node 0 (Div): operand 0 must not be constant"));
}

#[test]
fn quotients_round_as_divisions_do() {
    let model = batch(1).floats("c", &[], &[3.0]).node("Div", "x c", "y", vec![]);
    assert_eq!(model.clone().singles(&[5], 1), [5.0_f32 / 3.0]);
    assert_ne!(5.0_f32 / 3.0, 5.0_f32 * (1.0 / 3.0));
    let zero = batch(1).floats("c", &[], &[0.0]).node("Div", "x c", "y", vec![]);
    assert!(zero.refused(1, 1).contains("division by zero"));
}

#[test]
fn sums_of_computed_values_are_skip_connections() {
    let model = |operator: &str, inputs: &str| {
        batch(2).floats("w", &[2, 2], &[0.0, 1.0, 1.0, 0.0]).node("MatMul", "x w", "s", vec![]).node(
            operator,
            inputs,
            "y",
            vec![],
        )
    };
    assert_eq!(model("Add", "x s").values(&[1, 10], 2), [11.0, 11.0]);
    assert_eq!(model("Sub", "x s").values(&[1, 10], 2), [-9.0, 9.0]);
    assert_eq!(model("Sum", "x s x").values(&[1, 10], 2), [12.0, 21.0]);
    assert_eq!(model("Add", "s s").values(&[1, 10], 2), [20.0, 2.0]);
    assert!(model("Mul", "x s").refused(2, 2).contains("product of two computed"));
    let negated = batch(1).node("Neg", "x", "y", vec![]);
    assert_eq!(negated.values(&[3], 1), [-3.0]);
}

#[test]
fn activations_have_their_parameters() {
    let one = |operator: &str, attributes: Vec<Attribute>| batch(2).node(operator, "x", "y", attributes);
    assert_eq!(one("Relu", vec![]).values(&[-1, 2], 2), [0.0, 2.0]);
    assert_eq!(one("Tanh", vec![]).values(&[-1, 2], 2), [libm::tanh(-1.0), libm::tanh(2.0)]);
    assert_eq!(one("Sigmoid", vec![]).values(&[0, 2], 2)[0], 0.5);
    assert_eq!(one("LeakyRelu", vec![]).values(&[-1, 2], 2), [-f64::from(0.01_f32), 2.0]);
    assert_eq!(one("LeakyRelu", vec![float("alpha", 0.5)]).values(&[-1, 2], 2), [-0.5, 2.0]);
    assert_eq!(one("Elu", vec![float("alpha", 2.0)]).values(&[-1, 2], 2), [2.0 * libm::expm1(-1.0), 2.0]);
    assert!(one("LeakyRelu", vec![float("alpha", 2.0)]).refused(2, 2).contains("between 0 and 1"));
    assert!(one("Elu", vec![float("alpha", f32::NAN)]).refused(2, 2).contains("no number"));
}

#[test]
fn activations_follow_each_other_in_order() {
    let model = batch(1)
        .floats("w", &[1, 1], &[-1.0])
        .floats("c", &[], &[-2.0])
        .node("MatMul", "x w", "m", vec![])
        .node("Relu", "m", "r", vec![])
        .node("Add", "r c", "s", vec![])
        .node("Tanh", "s", "t", vec![])
        .node("Relu", "t", "y", vec![]);
    assert_eq!(model.clone().network(1, 1).nodes().len(), 3);
    // relu(-5) - 2 < 0 and relu(5) - 2 = 3.
    assert_eq!(model.clone().values(&[5], 1), [0.0]);
    assert_eq!(model.values(&[-5], 1), [libm::tanh(3.0)]);
}

#[test]
fn clip_takes_attributes_or_operands() {
    let old = Draft::new(10, &[0, 3]).node("Clip", "x", "y", vec![float("min", -1.0), float("max", 2.0)]);
    assert_eq!(old.values(&[-5, 1, 5], 3), [-1.0, 1.0, 2.0]);
    let new = |inputs: &str| {
        Draft::new(11, &[0, 3]).floats("low", &[], &[-1.0]).floats("high", &[], &[2.0]).node(
            "Clip",
            inputs,
            "y",
            vec![],
        )
    };
    assert_eq!(new("x low high").values(&[-5, 1, 5], 3), [-1.0, 1.0, 2.0]);
    assert_eq!(new("x low").values(&[-5, 1, 5], 3), [-1.0, 1.0, 5.0]);
    assert_eq!(new("x _ high").values(&[-5, 1, 5], 3), [-5.0, 1.0, 2.0]);
    assert!(new("x high low").refused(3, 3).contains("min is 2, which is above max, -1"));
}

#[test]
fn extrema_with_constants_and_of_tensors() {
    let model = |operator: &str, inputs: &str| {
        batch(2)
            .floats("zero", &[], &[0.0])
            .floats("two", &[2], &[2.0, 2.0])
            .floats("mixed", &[2], &[-4.0, 4.0])
            .node("Neg", "x", "n", vec![])
            .node(operator, inputs, "y", vec![])
    };
    assert_eq!(model("Max", "x zero").values(&[-1, 3], 2), [0.0, 3.0]);
    assert_eq!(model("Max", "x two").values(&[-1, 3], 2), [2.0, 3.0]);
    assert_eq!(model("Min", "two x").values(&[-1, 3], 2), [-1.0, 2.0]);
    assert_eq!(model("Max", "x mixed").values(&[-1, 3], 2), [-1.0, 4.0]);
    assert_eq!(model("Min", "x mixed").values(&[-1, 3], 2), [-4.0, 3.0]);
    assert_eq!(model("Max", "x n zero").values(&[-1, 3], 2), [1.0, 3.0]);
    assert_eq!(model("Min", "x n").values(&[-1, 3], 2), [-1.0, -3.0]);
    let endless = batch(2).floats("c", &[], &[f32::INFINITY]).node("Max", "x c", "y", vec![]);
    assert!(endless.refused(2, 2).contains("no finite value"));
    let network = model("Max", "x zero").network(2, 2);
    assert_eq!(network.chain().expect("a chain")[0].activation(), Activation::Relu);
}

#[test]
fn reductions_along_axes() {
    let model = |version, operator: &str, inputs: &str, attributes| {
        Draft::new(version, &[2, 3]).ints("axis", &[1]).node(operator, inputs, "y", attributes)
    };
    let x = [1, 5, 3, -2, -9, -4];
    assert_eq!(model(13, "ReduceSum", "x axis", vec![]).values(&x, 2), [9.0, -15.0]);
    assert_eq!(model(11, "ReduceSum", "x", vec![ints("axes", &[-2])]).values(&x, 3), [-1.0, -4.0, -1.0]);
    assert_eq!(model(17, "ReduceMean", "x", vec![ints("axes", &[1])]).values(&x, 2), [3.0, -5.0]);
    assert_eq!(model(18, "ReduceMean", "x axis", vec![int("keepdims", 0)]).values(&x, 2), [3.0, -5.0]);
    assert_eq!(model(18, "ReduceMax", "x axis", vec![]).values(&x, 2), [5.0, -2.0]);
    assert_eq!(model(17, "ReduceMax", "x", vec![ints("axes", &[0])]).values(&x, 3), [1.0, 5.0, 3.0]);
    assert_eq!(model(18, "ReduceMin", "x axis", vec![]).values(&x, 2), [1.0, -9.0]);
    assert_eq!(model(13, "ReduceMax", "x", vec![]).values(&x, 1), [5.0]);
    assert_eq!(model(13, "ReduceSum", "x", vec![int("noop_with_empty_axes", 1)]).values(&x, 6)[1], 5.0);
}

#[test]
fn batch_normalisation_is_a_diagonal_map() {
    let model = batch(2)
        .floats("s", &[2], &[2.0, 1.0])
        .floats("b", &[2], &[0.5, 0.0])
        .floats("m", &[2], &[1.0, 3.0])
        .floats("v", &[2], &[3.0, 0.0])
        .node("BatchNormalization", "x s b m v", "y", vec![float("epsilon", 1.0)]);
    // Products and constants, and their sum.
    assert_eq!(model.clone().network(2, 2).sizes(), [2, 10, 2]);
    // 2 · (5 - 1) / √4 + 0.5 and (5 - 3) / √1.
    assert_eq!(model.values(&[5, 5], 2), [4.5, 2.0]);
    let scaled = batch(2).node_of(
        "ai.onnx.ml",
        "Scaler",
        "x",
        "y",
        vec![floats("offset", &[1.0, 2.0]), floats("scale", &[0.5])],
    );
    assert_eq!(scaled.values(&[5, 8], 2), [2.0, 3.0]);
}

/// A product and its normalisation, as the model says it and as runtimes fold it: `Σ (wᵢ·s)·xᵢ + (shift − mean·s)` with
/// another `s`, or `(Σ wᵢ·xᵢ − mean)·i·scale + shift`, from the first input to the last or back.
#[test]
fn folded_normalisation_lies_in_the_enclosure() {
    let mut state = 1_u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    for round in 0..2000 {
        let inputs = 1 + round % 7;
        let weights: Vec<f32> = (0..inputs).map(|_| number()).collect();
        let x: Vec<i32> = (0..inputs).map(|_| (number() * 9.0) as i32).collect();
        let (scale, mean, variance) = (number(), 100.0 * number(), 1.0 + number());
        let single = scale * (1.0 / (variance + 1e-5).sqrt());
        // What is left of the constants is small.
        let shift = mean * single + 1e-5 * number();
        let model = batch(inputs as i64)
            .floats("w", &[inputs as i64, 1], &weights)
            .floats("s", &[1], &[scale])
            .floats("b", &[1], &[shift])
            .floats("m", &[1], &[mean])
            .floats("v", &[1], &[variance])
            .node("MatMul", "x w", "p", vec![])
            .node("BatchNormalization", "p s b m v", "y", vec![]);
        let plain = weights.iter().zip(&x).fold(0.0, |sum, (weight, &x)| sum + weight * x as f32);
        let ours = plain * single + (shift - mean * single);
        let scorer = model.read(inputs, 1).expect("good");
        assert_eq!(values::<f32>(&scorer, &x), [ours]);
        let other = scale / (variance + 1e-5).sqrt();
        let bias = shift - mean * other;
        let folded = |sum: f32, (weight, &x): (&f32, &i32)| (weight * other).mul_add(x as f32, sum);
        let forwards = weights.iter().zip(&x).fold(bias, folded);
        let backwards = weights.iter().zip(&x).rev().fold(bias, folded);
        let literal = (plain - mean) * (1.0 / (variance + 1e-5).sqrt()) * scale + shift;
        let score = scores(&scorer, &x, &Rounding::ANY_F32)[0];
        for theirs in [ours, forwards, backwards, literal].map(f64::from) {
            assert!(score.lower <= theirs && theirs <= score.upper, "{theirs} in {score:?}, round {round}");
        }
        assert!(score.upper - score.lower < 1e-2 * (1.0 + f64::from(shift.abs())));
    }
}

#[test]
fn constants_outside_of_a_type_are_not_cast_to_it() {
    let cast = |numbers: &[i64], to| {
        Draft::new(13, &[2]).ints("n", numbers).node("Cast", "n", "i", vec![int("to", to)]).node(
            "Gather",
            "x i",
            "y",
            vec![],
        )
    };
    // 2³² + 1 would wrap to 1.
    let message = cast(&[(1 << 32) + 1, 0], 6).refused(2, 2);
    assert!(
        message.contains("node 0 (Cast): a number of operand 0 is outside of the range of int32"),
        "{message}"
    );
    assert_eq!(cast(&[1, -2], 6).values(&[3, 4], 2), [4.0, 3.0]);
    let float = |number: f32| {
        Draft::new(13, &[2])
            .floats("n", &[2], &[number, 0.0])
            .node("Cast", "n", "i", vec![int("to", 7)])
            .node("Gather", "x i", "y", vec![])
    };
    for number in [f32::NAN, f32::INFINITY, 9.3e18, -9.3e18] {
        assert!(float(number).refused(2, 2).contains("outside of the range of int64"));
    }
    assert_eq!(float(1.75).values(&[3, 4], 2), [4.0, 3.0]);
}

#[test]
fn models_with_integer_inputs_cast_them() {
    let model = |operator: &str| {
        batch(1)
            .input_type(data_type::INT64)
            .floats("c", &[], &[0.5])
            .node(operator, "x", "f", vec![int("to", 1)])
            .node("Mul", "f c", "y", vec![])
    };
    assert_eq!(model("Cast").values(&[3], 1), [1.5]);
    assert!(model("Identity").refused(1, 1).contains("node 1 (Mul): operand 0 holds integers"));
    let back = batch(1).node("Relu", "x", "r", vec![]).node("Cast", "r", "y", vec![int("to", 7)]);
    assert!(back.refused(1, 1).contains("node 1 (Cast): a cast to int64"));
}

#[test]
fn constants_are_folded_in_each_precision() {
    let model = batch(1)
        .floats("a", &[], &[0.1])
        .floats("b", &[], &[3.0])
        .node("Mul", "a b", "c", vec![])
        .node("Add", "x c", "y", vec![]);
    assert_eq!(model.clone().singles(&[1], 1), [1.0 + 0.1_f32 * 3.0]);
    assert_eq!(model.values(&[1], 1), [1.0 + f64::from(0.1_f32) * 3.0]);
    let value = Tensor { floats: vec![2.0], ..tensor("", data_type::FLOAT, &[1]) };
    let filled = batch(2)
        .node("Shape", "x", "s", vec![])
        .node("ConstantOfShape", "s", "c", vec![with_tensor("value", value)])
        .node("Constant", "", "d", vec![floats("value_floats", &[1.0, 5.0])])
        .node("Mul", "x c", "p", vec![])
        .node("Add", "p d", "y", vec![]);
    assert_eq!(filled.values(&[3, 4], 2), [7.0, 13.0]);
}

#[test]
fn dropout_keeps_everything_outside_of_training() {
    let model = batch(1).node("Dropout", "x", "y mask", vec![]);
    assert_eq!(model.values(&[3], 1), [3.0]);
    let on = Tensor { ints: vec![1], ..tensor("on", data_type::BOOL, &[]) };
    let mut training = batch(1).node("Dropout", "x _ on", "y", vec![]);
    training.graph().initializers.push(on);
    assert!(training.refused(1, 1).contains("training"));
}
