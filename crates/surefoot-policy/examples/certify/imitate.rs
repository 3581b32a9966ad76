//! Networks that imitate the teacher, as files.

use std::fmt::{Display, Write as _};

use surefoot_model::domains::policy::{Interface, PolicyFiles, random_network};
use surefoot_model::domains::{Generated, InputVariable};

use crate::random::Random;
use crate::teacher::Arrangement;
use crate::train::{Layer, Lesson, Trained};

const STEPS: usize = 6000;
/// One in so many arrangements is not seen in training.
const HELD_OUT: usize = 5;
/// How often each of those is tested, with other costs each time.
const TESTS: usize = 10;

/// A trained network, and how many held-out states it treats as the teacher does, between 0 and 1.
pub fn imitate(
    generated: &Generated,
    interface: &Interface,
    blocks: usize,
    hidden: &[usize],
    seed: u64,
) -> (PolicyFiles, f64) {
    let variables = &generated.variables;
    let mut random = Random(seed);
    let mut arrangements = Arrangement::all(blocks);
    random.shuffle(&mut arrangements);
    let (unseen, seen) = arrangements.split_at(arrangements.len() / HELD_OUT);
    let mut sizes = vec![variables.len()];
    sizes.extend_from_slice(hidden);
    sizes.push(generated.labels.len());
    let mut network = Trained::new(&sizes, &mut random);
    network.learn(STEPS, || lesson(&seen[random.below(seen.len())], variables, &mut random));
    let tests = unseen.iter().flat_map(|arrangement| std::iter::repeat_n(arrangement, TESTS));
    let tests: Vec<Lesson> = tests.map(|arrangement| lesson(arrangement, variables, &mut random)).collect();
    // The files of a random network of the same shape, with the other weights.
    let mut files = random_network(interface, hidden, seed).expect("valid parameters");
    files.policy.contents = text(&network, &sizes, variables);
    (files, network.accuracy(&tests))
}

fn lesson(arrangement: &Arrangement, variables: &[InputVariable], random: &mut Random) -> Lesson {
    let state = arrangement.state(variables, random);
    let scaled = |(variable, value): (&InputVariable, i32)| {
        let (centre, half) = scale(variable);
        ((f64::from(value) - centre) / half) as f32
    };
    let input = variables.iter().zip(state).map(scaled).collect();
    Lesson { input, output: arrangement.teach().label() }
}

/// Centre and half of the width of a domain. Networks are trained on inputs between −1 and 1.
fn scale(variable: &InputVariable) -> (f64, f64) {
    let (lower, upper) = (variable.lower as f64, variable.upper as f64);
    (f64::midpoint(lower, upper), ((upper - lower) / 2.0).max(0.5))
}

/// The network as an `NNet` file. Scaling is part of the first layer, not of the header.
fn text(network: &Trained, sizes: &[usize], variables: &[InputVariable]) -> String {
    let mut text = String::from("// trained policy\n");
    let widest = sizes.iter().max().expect("there are layers");
    write_row(&mut text, [sizes.len() - 1, sizes[0], sizes[sizes.len() - 1], *widest]);
    write_row(&mut text, sizes);
    write_row(&mut text, [0]);
    write_row(&mut text, variables.iter().map(|variable| variable.lower));
    write_row(&mut text, variables.iter().map(|variable| variable.upper));
    write_row(&mut text, vec![0; variables.len() + 1]);
    write_row(&mut text, vec![1; variables.len() + 1]);
    for (index, layer) in network.layers.iter().enumerate() {
        let scales: Option<Vec<_>> = (index == 0).then(|| variables.iter().map(scale).collect());
        write_layer(&mut text, layer, scales.as_deref());
    }
    text
}

fn write_layer(text: &mut String, layer: &Layer, scales: Option<&[(f64, f64)]>) {
    let outputs = layer.biases.len();
    let mut biases: Vec<f64> = layer.biases.iter().copied().map(f64::from).collect();
    for (output, bias) in biases.iter_mut().enumerate() {
        let mut row: Vec<f64> =
            layer.weights.iter().skip(output).step_by(outputs).copied().map(f64::from).collect();
        for (weight, &(centre, half)) in row.iter_mut().zip(scales.unwrap_or(&[])) {
            *weight /= half;
            *bias -= *weight * centre;
        }
        write_row(text, row.into_iter().map(|weight| format!("{weight:.8}")));
    }
    for bias in biases {
        write_row(text, [format!("{bias:.8}")]);
    }
}

fn write_row<T: Display>(text: &mut String, entries: impl IntoIterator<Item = T>) {
    for entry in entries {
        write!(text, "{entry},").expect("a string");
    }
    text.push('\n');
}
