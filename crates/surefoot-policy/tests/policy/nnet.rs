//! Reading `.nnet` files: what is accepted, and where each mistake is reported.

use surefoot_model::InputError;
use surefoot_policy::{Activation, Layer, Network, Parameter, Scorer};

use crate::fixture::{assert_error, read};

const INTERFACE: &str = r#"{"file": "n.nnet", "input": [{"name": "x", "automaton": null}, {"name": "b", "automaton": null}],
"output": ["left", "right", "stay"]}"#;

const GOOD: &str = "\
// a comment
// another
2,2,3,3,
2,1,3,
0,
-5.0,0,
5,1
0,0,0
1.0,1.0,1.0,
0.5,-1.25
0.25,
1,
-1e-3,
+2.5e2,
0,
0,
0.1,
";

fn network(text: &str) -> (Result<Network, InputError>, Vec<InputError>) {
    let (policy, warnings) = read(INTERFACE, text);
    let network = policy.map(|policy| match policy.scorer {
        Scorer::Network(network) => network,
        Scorer::Ensemble(_) => panic!("a network was given"),
    });
    (network, warnings)
}

/// The error after replacing a line (counted from 1) of the good file.
#[track_caller]
fn error_with_line(number: usize, line: &str) -> InputError {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[number - 1] = line;
    network(&lines.join("\n")).0.expect_err("a mistake")
}

#[test]
fn a_good_file_is_read() {
    let (network, warnings) = network(GOOD);
    let network = network.expect("good");
    assert_eq!(warnings, []);
    assert_eq!(network.sizes(), [2, 1, 3]);
    let layers: Vec<_> = network.layers().collect();
    let [hidden, output] = layers[..] else { panic!("two layers") };
    assert_eq!(hidden.weights(0), Some(&[0.5, -1.25].map(Parameter::from)[..]));
    assert_eq!(hidden.bias(0), Parameter::from(0.25));
    assert_eq!((hidden.activation(), output.activation()), (Activation::Relu, Activation::Identity));
    assert_eq!(output.weights(1), Some(&[Parameter::parse("-0.001").unwrap()][..]));
    assert_eq!(output.bias(2), Parameter { double: 0.1, single: 0.1 });
}

#[test]
fn blank_lines_line_ends_and_byte_order_marks_do_not_matter() {
    let expected = network(GOOD).0.expect("good");
    for text in [
        GOOD.replace('\n', "\r\n"),
        GOOD.replace('\n', "\n\n"),
        format!("\u{feff}{GOOD}\n\n"),
        GOOD.replace(",\n", "\n"),
        GOOD.replace(',', " , "),
        GOOD.trim_end().to_string(),
    ] {
        assert_eq!(network(&text).0.as_ref(), Ok(&expected), "{text}");
    }
}

#[test]
fn a_network_without_hidden_layers_is_read() {
    let text = "1,2,3,3\n2,3\n0\n0,0\n0,0\n0,0,0\n1,1,1\n1,2\n3,4\n5,6\n7\n8\n9\n";
    let network = network(text).0.expect("good");
    assert_eq!(network.sizes(), [2, 3]);
    assert_eq!(network.layers().map(Layer::activation).collect::<Vec<_>>(), [Activation::Identity]);
}

#[test]
fn the_header_is_checked() {
    assert_error(&error_with_line(3, "2,2,3,"), 3, 7, &["expected 4 numbers (the header), found 3"]);
    assert_error(&error_with_line(3, "2,2,3,3,9,"), 3, 9, &["expected 4 numbers", "found 5"]);
    assert_error(&error_with_line(3, "2, x,3,3"), 3, 4, &["expected a positive integer", "`x`"]);
    assert_error(&error_with_line(3, "0,2,3,3"), 3, 1, &["expected a positive integer", "`0`"]);
    assert_error(&error_with_line(3, "2.0,2,3,3"), 3, 1, &["positive integer"]);
    assert_error(&error_with_line(3, "2,4,3,3"), 4, 1, &["announces 4 inputs", "size 2"]);
    assert_error(&error_with_line(3, "2,2,4,3"), 4, 5, &["announces 4 outputs", "size 3"]);
    assert_error(&error_with_line(4, "2,1,1,3"), 4, 7, &["expected 3 numbers (the layer sizes), found 4"]);
    assert_error(&error_with_line(4, "2,0,3"), 4, 3, &["positive integer"]);
    assert_error(&error_with_line(3, "99999999999,2,3,3"), 3, 1, &["positive integer"]);
}

#[test]
fn ignored_lines_must_be_numbers_all_the_same() {
    assert_error(&error_with_line(5, "zero,"), 5, 1, &["the unused flag", "`zero`"]);
    assert_error(&error_with_line(6, "-5.0"), 6, 5, &["expected 2 numbers (the minima", "found 1"]);
    assert_error(&error_with_line(7, "5,nan"), 7, 3, &["finite number (the maxima"]);
    assert_error(&error_with_line(8, "0,0"), 8, 4, &["expected 3 numbers (the means"]);
    assert_error(&error_with_line(9, "1,1,1,1"), 9, 7, &["expected 3 numbers (the ranges"]);
}

#[test]
fn weights_and_biases_are_checked() {
    assert_error(
        &error_with_line(10, "0.5,"),
        10,
        5,
        &["expected 2 numbers (the weights of neuron 1 of layer 1)"],
    );
    assert_error(&error_with_line(10, "0.5,inf"), 10, 5, &["expected a finite number", "`inf`"]);
    assert_error(&error_with_line(10, "NaN,1"), 10, 1, &["expected a finite number", "`NaN`"]);
    assert_error(&error_with_line(10, "1,1e999"), 10, 3, &["expected a finite number", "`1e999`"]);
    assert_error(&error_with_line(10, "1,,1"), 10, 3, &["expected a finite number", "found nothing"]);
    assert_error(
        &error_with_line(11, "1,2"),
        11,
        3,
        &["expected 1 number (the bias of neuron 1 of layer 1)"],
    );
    assert_error(&error_with_line(13, "ä,1"), 13, 1, &["neuron 2 of layer 2", "`ä`"]);
    assert_error(&error_with_line(13, "1,ä"), 13, 3, &["neuron 2 of layer 2", "`ä`"]);
    let long = "9".repeat(50) + "x";
    assert_error(&error_with_line(17, &long), 17, 1, &["the bias of neuron 3 of layer 2", "…`"]);
}

#[test]
fn truncated_files_say_what_is_missing() {
    let lines: Vec<&str> = GOOD.lines().collect();
    for kept in 0..lines.len() {
        let error = network(&lines[..kept].join("\n")).0.expect_err("truncated");
        assert_error(&error, kept as u64 + 1, 1, &["the file ends, but", "must follow", "truncated"]);
    }
}

#[test]
fn text_after_the_network_is_refused() {
    assert_error(&network(&format!("{GOOD}\n 1,\n")).0.unwrap_err(), 19, 2, &["there is more text"]);
}

#[test]
fn absurd_sizes_cost_nothing() {
    let text = "4294967295,4294967295,4294967295,1\n1,2\n";
    assert_error(&network(text).0.unwrap_err(), 2, 4, &["expected 4294967296 numbers", "found 2"]);
    let text = "1,2,4294967295,1\n2,4294967295\n0\n0,0\n0,0\n0,0,0\n1,1,1\n1,1\n";
    assert_error(&network(text).0.unwrap_err(), 9, 1, &["the weights of neuron 2 of layer 1"]);
}

#[test]
fn normalisation_is_warned_about() {
    let text = GOOD.replace("0,0,0\n", "0,2.5,0\n").replace("1.0,1.0,1.0,\n", "1,1,100\n");
    let (network, warnings) = network(&text);
    assert!(network.is_ok());
    let [means, ranges] = &warnings[..] else { panic!("two warnings: {warnings:?}") };
    assert_error(means, 8, 3, &["the means are ignored", "should be 0"]);
    assert_error(ranges, 9, 5, &["the ranges are ignored", "should be 1"]);
}

#[test]
fn numbers_beyond_single_precision_are_warned_about_once() {
    let text = GOOD.replace("0.5,-1.25", "0.5,1e39").replace("0.25,", "-1e300,");
    let (network, warnings) = network(&text);
    let network = network.expect("fits double precision");
    let layer = network.layers().next().expect("there is one");
    assert_eq!(layer.weights(0).expect("dense")[1].single, f32::INFINITY);
    assert_eq!(warnings.len(), 1);
    assert_error(&warnings[0], 10, 5, &["exceeds the range of f32"]);
}
