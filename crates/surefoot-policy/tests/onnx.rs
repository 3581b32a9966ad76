//! ONNX models as libraries write them, compared with what ONNX Runtime and scikit-learn compute.
//!
//! `libraries/onnx_models.py` makes the fixtures. Where the runtime adds in our order, or sums are exact, the scores
//! must be equal bit for bit. Elsewhere both must lie within the rounding errors that single precision can make in
//! any order of summation, accumulated through the network.

use std::path::{Path, PathBuf};

use surefoot_model::json::{Document, Json};
use surefoot_model::{Label, Sources, TransitionSystem, Variable, VariableType};
use surefoot_policy::point::{activate, ensemble_values, network_values};
use surefoot_policy::{Activation, Layer, Network, Node, Policy, ReadOptions, Scorer, Source, parse};

struct Cases {
    inputs: Vec<Vec<i32>>,
    scores: Vec<Vec<f32>>,
    exact: bool,
    choices: Option<Vec<Option<usize>>>,
    /// Whether the runtime derives the first of two scores from the second.
    derived: bool,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries").join(name)
}

fn list<T>(json: Json<'_>, item: impl Fn(Json<'_>) -> T) -> Vec<T> {
    json.array().expect("a list").map(item).collect()
}

fn read_cases(name: &str) -> Cases {
    let path = folder(name).join("cases.json");
    let text = std::fs::read_to_string(&path).expect("the fixture is there");
    let document = Document::parse(&path, &text).expect("JSON");
    let root = document.root();
    let get = |key| root.require(key).expect("it is there");
    let int = |json: Json<'_>| i32::try_from(json.i64().expect("an integer")).expect("a small integer");
    let bits = |json: Json<'_>| {
        f32::from_bits(u32::from_str_radix(json.str().expect("bits"), 16).expect("hexadecimal"))
    };
    let choice = |json: Json<'_>| json.i64().ok().map(|choice| choice as usize);
    assert_eq!(get("arithmetic").str().expect("a name"), "f32");
    Cases {
        inputs: list(get("inputs"), |row| list(row, int)),
        scores: list(get("scores"), |row| list(row, bits)),
        exact: get("exact").bool().expect("a truth value"),
        choices: root.get("choices").map(|choices| list(choices, choice)),
        derived: root.get("derived").is_some_and(|derived| derived.bool().expect("a truth value")),
    }
}

fn read_policy(name: &str, inputs: usize, outputs: usize) -> (Policy, usize) {
    let int = VariableType::Int { lower: -100, upper: 100 };
    let names = |prefix: &str, count: usize| (0..count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let variables = names("v", inputs).iter().map(|name| Variable::new(name.as_str(), int)).collect();
    let labels = names("l", outputs).into_iter().map(|name| Label { name }).collect();
    let system = TransitionSystem { variables, labels, ..TransitionSystem::default() };
    let inputs: Vec<String> =
        names("v", inputs).iter().map(|name| format!(r#"{{"name": "{name}", "automaton": null}}"#)).collect();
    let outputs: Vec<String> = names("l", outputs).iter().map(|name| format!("\"{name}\"")).collect();
    let interface = format!(
        r#"{{"file": "policy.onnx", "input": [{}], "output": [{}]}}"#,
        inputs.join(", "),
        outputs.join(", ")
    );
    let mut warnings = Vec::new();
    let open = |file: &Path| Sources::default().read_bytes(file);
    let path = folder(name).join("policy.jani2nnet");
    let policy = parse(&path, &interface, &system, &ReadOptions::default(), open, &mut warnings);
    (policy.unwrap_or_else(|error| panic!("{error}")), warnings.len())
}

fn values(scorer: &Scorer, inputs: &[i32]) -> Vec<f32> {
    match scorer {
        Scorer::Network(network) => network_values(network, inputs),
        Scorer::Ensemble(ensemble) => ensemble_values(ensemble, inputs),
    }
}

fn highest(scores: &[f32]) -> usize {
    (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("there are scores")
}

/// Compares all cases of a fixture; gives the policy for further questions, and the number of warnings.
fn compare(name: &str) -> (Policy, usize) {
    let cases = read_cases(name);
    let (policy, warnings) = read_policy(name, cases.inputs[0].len(), cases.scores[0].len());
    assert!(cases.inputs.len() >= 40 && cases.inputs.len() == cases.scores.len());
    for (case, (inputs, expected)) in cases.inputs.iter().zip(&cases.scores).enumerate() {
        let mut found = values(&policy.scorer, inputs);
        if cases.derived {
            assert_eq!(highest(&found), highest(expected), "{name}, case {case}: {found:?} {expected:?}");
            found[0] = expected[0];
        }
        if cases.exact {
            let bits = |scores: &[f32]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
            // The sign of a zero is no part of a score.
            let plus = |scores: &[f32]| bits(&scores.iter().map(|score| score + 0.0).collect::<Vec<_>>());
            assert_eq!(plus(&found), plus(expected), "{name}, case {case}: {found:?} {expected:?}");
        } else {
            let Scorer::Network(network) = &policy.scorer else { panic!("trees are exact") };
            check_bounds(network, inputs, &[&found, expected], &format!("{name}, case {case}"));
        }
        if let Some(choice) = cases.choices.as_ref().and_then(|choices| choices[case]) {
            assert_eq!(highest(&values(&policy.scorer, inputs)), choice, "{name}, case {case}");
        }
    }
    (policy, warnings)
}

/// Asserts that results in single precision are as close to the exact ones as any evaluation order guarantees.
fn check_bounds(network: &Network, inputs: &[i32], results: &[&[f32]], place: &str) {
    let (exact, errors) = enclosure(network, inputs);
    for (output, (&exact, &error)) in exact.iter().zip(&errors).enumerate() {
        for result in results {
            let distance = (f64::from(result[output]) - exact).abs();
            assert!(distance <= error, "{place}, output {output}: {distance} > {error}");
        }
        // The bound must mean something.
        assert!(error < 1e-3, "{place}, output {output}: {error}");
    }
}

const UNIT: f64 = 1.0 / 16_777_216.0;

/// The outputs in double precision, and how far from them single precision can be.
fn enclosure(network: &Network, inputs: &[i32]) -> (Vec<f64>, Vec<f64>) {
    let first: Vec<(f64, f64)> = inputs.iter().map(|&value| (f64::from(value), 0.0)).collect();
    let mut all: Vec<Vec<(f64, f64)>> = Vec::new();
    for node in network.nodes() {
        let of = |source| match source {
            Source::Input => &first,
            Source::Node(node) => &all[node as usize],
        };
        let next = match node {
            Node::Layer { from, layer } => {
                (0..layer.neurons()).map(|neuron| neuron_enclosure(layer, neuron, of(*from))).collect()
            }
            Node::Arrange { elements } => {
                elements.iter().map(|element| of(element.source)[element.index as usize]).collect()
            }
            Node::Maximum { .. } | Node::Quotient { .. } => panic!("not in these fixtures"),
        };
        all.push(next);
    }
    all.pop().expect("there are nodes").into_iter().unzip()
}

/// A sum of `n` products and a bias is off by at most `(n + 2) u Σ |w x|`, besides what its operands are off by. The
/// factor 1.001 covers higher orders of `u` and the rounding of these few sums in double precision.
fn neuron_enclosure(layer: &Layer, neuron: usize, inputs: &[(f64, f64)]) -> (f64, f64) {
    let bias = layer.bias(neuron).double;
    let (mut sum, mut inherited, mut magnitude, mut terms) = (0.0, 0.0, bias.abs(), 0.0);
    for (input, weight) in layer.row(neuron) {
        let (value, error) = inputs[input];
        sum += weight.double * value;
        inherited += weight.double.abs() * error;
        magnitude += weight.double.abs() * (value.abs() + error);
        terms += 1.0;
    }
    let value = activate(layer.activation(), sum + bias);
    // All these functions have slopes of at most 1. Library functions may be off by 4 units in the last place of
    // numbers up to 1, which is what ONNX Runtime documents no better.
    let library = match layer.activation() {
        Activation::Identity | Activation::Relu => 0.0,
        _ => 8.0 * UNIT,
    };
    (value, 1.001 * (inherited + (terms + 2.0) * UNIT * magnitude) + library)
}

#[test]
fn perceptrons() {
    let (policy, _) = compare("onnx-mlp-relu");
    let Scorer::Network(network) = &policy.scorer else { panic!("a network") };
    assert_eq!(network.sizes(), [6, 32, 32, 4]);
    let chain = network.chain().expect("a chain");
    assert!(chain.iter().all(|layer| !layer.is_sparse()));
    assert_eq!(chain[1].activation(), Activation::Relu);
}

#[test]
fn actors_with_critics() {
    let (policy, warnings) = compare("onnx-actor-critic");
    let Scorer::Network(network) = &policy.scorer else { panic!("a network") };
    assert_eq!(network.sizes(), [5, 24, 24, 3]);
    assert_eq!(network.chain().expect("a chain")[0].activation(), Activation::Tanh);
    // The logarithm of the probability needs an operator that is not read.
    assert_eq!(warnings, 1);
}

#[test]
fn smooth_activations() {
    compare("onnx-activations");
}

#[test]
fn graphs_with_exact_sums() {
    compare("onnx-graph");
}

#[test]
fn pointwise_arithmetic_rounds_as_written() {
    compare("onnx-pointwise");
}

#[test]
fn trees_with_all_comparisons() {
    compare("onnx-tree-modes");
}

#[test]
fn forests_of_scikit_learn() {
    for name in ["sklearn-forest", "sklearn-forest-two", "sklearn-extra-trees"] {
        compare(name);
    }
}

#[test]
fn boosted_trees_of_scikit_learn() {
    for name in ["sklearn-boosted", "sklearn-boosted-two"] {
        compare(name);
    }
}

#[test]
fn perceptrons_of_scikit_learn() {
    compare("sklearn-mlp");
}
