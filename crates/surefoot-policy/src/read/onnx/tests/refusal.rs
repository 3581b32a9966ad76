//! Models that are refused, and what the messages say.

use super::*;

fn batch(n: i64) -> Draft {
    Draft::new(17, &[0, n])
}

#[test]
fn operators_are_named() {
    let mut model = batch(2).node("Relu", "x", "r", vec![]).node("LSTM", "r", "y", vec![]);
    model.graph().nodes[1].name = "memory".into();
    let message = model.refused(2, 2);
    assert!(
        message.starts_with("m.onnx: node 1 `memory` (LSTM): this operator is not supported"),
        "{message}"
    );
    assert!(message.contains("supported are Add, ArgMax,"), "{message}");
    let custom = batch(2).node_of("com.acme", "Relu", "x", "y", vec![]).refused(2, 2);
    assert!(custom.contains("operators of the domain `com.acme`"), "{custom}");
}

#[test]
fn versions_must_be_known() {
    for version in [6, 29] {
        let message = Draft::new(version, &[0, 1]).node("Relu", "x", "y", vec![]).refused(1, 1);
        assert!(message.contains(&format!("version {version} of the operators of ONNX")), "{message}");
    }
}

#[test]
fn inputs_must_fit_the_interface() {
    let message = batch(2).node("Relu", "x", "y", vec![]).refused(3, 2);
    assert!(
        message.contains("the input `x` has the shape [1, 2], but the interface lists 3 inputs"),
        "{message}"
    );
    let open = Draft::new(17, &[1, 0]).node("Relu", "x", "y", vec![]).refused(3, 2);
    assert!(open.contains("an open extent `batch` on axis 1"), "{open}");
    let mut two = batch(2).node("Add", "x z", "y", vec![]);
    let other = info("z", data_type::FLOAT, &[0, 2]);
    two.graph().inputs.push(other);
    assert!(two.clone().refused(2, 2).contains("must have one input, found `x`, `z`"));
    // Old files list initial values as inputs, too.
    assert_eq!(two.floats("z", &[2], &[1.0, 2.0]).values(&[5, 5], 2), [6.0, 7.0]);
    let half = batch(2).input_type(10).node("Relu", "x", "y", vec![]).refused(2, 2);
    assert!(half.contains("is of type float16"), "{half}");
}

#[test]
fn weights_must_be_in_the_file_and_finite() {
    let model = |tensor: Tensor| {
        let mut model = batch(1).node("Mul", "x w", "y", vec![]);
        model.graph().initializers.push(tensor);
        model.refused(1, 1)
    };
    let message = model(Tensor { location: 1, ..tensor("w", data_type::FLOAT, &[1]) });
    assert!(
        message.contains("the initial value `w` cannot be read: its values are in another file"),
        "{message}"
    );
    assert!(message.contains("hint: save the model again"), "{message}");
    assert!(model(tensor("w", 16, &[1])).contains("bfloat16"));
    let nan = Tensor { floats: vec![f32::NAN], ..tensor("w", data_type::FLOAT, &[1]) };
    assert!(model(nan).contains("node 0 (Mul): operand 1 holds infinity or NaN"));
}

#[test]
fn numbers_beyond_single_precision_are_worth_a_warning() {
    let mut model = batch(1).node("Mul", "x w", "y", vec![]);
    model.graph().initializers.push(Tensor { doubles: vec![1e39], ..tensor("w", data_type::DOUBLE, &[1]) });
    let mut warnings = Vec::new();
    let read = crate::read::onnx::read(Path::new("m.onnx"), &model.bytes(), (1, 1), &mut warnings);
    assert_eq!(values::<f64>(&read.expect("good").0, &[1]), [1e39]);
    assert!(warnings[0].to_string().contains("a number of `w` exceeds the range of f32"));
}

#[test]
fn names_must_be_known_and_different() {
    let unknown = batch(1).node("Add", "x z", "y", vec![]).refused(1, 1);
    assert!(unknown.contains("node 0 (Add): no node before it computes `z`"), "{unknown}");
    let twice = batch(1).node("Relu", "x", "y", vec![]).node("Relu", "x", "y", vec![]).refused(1, 1);
    assert!(twice.contains("the name `y` is used twice"), "{twice}");
    let missing = batch(1).outputs(&["q"]).refused(1, 1);
    assert!(missing.contains("no node computes the output `q`"), "{missing}");
}

#[test]
fn small_files_cannot_make_large_networks() {
    let huge = batch(1).ints("s", &[1 << 40, 1 << 40]).node("Expand", "x s", "y", vec![]);
    assert!(huge.refused(1, 1).contains("the model becomes too large here"));
    let mut doubling = batch(1);
    for step in 0..40 {
        let (from, to) = (if step == 0 { "x".into() } else { format!("a{step}") }, format!("a{}", step + 1));
        doubling = doubling.node("Concat", &format!("{from} {from}"), &to, vec![int("axis", 1)]);
    }
    assert!(doubling.outputs(&["a40"]).refused(1, 1).contains("the model becomes too large here"));
    let axes: Vec<i64> = (0..5000).collect();
    let deep = batch(1).ints("a", &axes).node("Unsqueeze", "x a", "y", vec![]);
    assert!(deep.refused(1, 1).contains("5002 axes"));
}

#[test]
fn files_are_recognised_by_extension_or_contents() {
    let recognise = |name: &str, contents: &[u8]| crate::read::onnx::recognise(Path::new(name), contents);
    let bytes = [8, 7];
    assert!(recognise("m.onnx", &bytes) && recognise("m.ONNX", b"2") && recognise("policy", &bytes));
    assert!(
        !recognise("m.json", b"{}") && !recognise("m.onnx", b" {}") && !recognise("m.onnx", b"// a network")
    );
    assert!(!recognise("m.nnet", b"2,3") && !recognise("m.txt", b"tree\nversion=v4") && !recognise("m", b""));
}

#[test]
fn garbage_is_no_model() {
    let read = |bytes: &[u8]| {
        let read = crate::read::onnx::read(Path::new("m.onnx"), bytes, (1, 1), &mut Vec::new());
        read.unwrap_err().to_string()
    };
    assert!(read(&[8]).contains("this is no ONNX model"));
    assert!(read(&[]).contains("there is no graph"));
    // Without its end, a model has lost the versions of its operators at least.
    let whole = batch(1).node("Relu", "x", "y", vec![]).bytes();
    for length in 0..whole.len() - 20 {
        read(&whole[..length]);
    }
}
