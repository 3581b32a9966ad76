//! The limits of what the proofs cover: overflow, underflow, very long sums.

use surefoot_model::VarId;

use super::claims::{check_answers, check_bounds, check_claims, policy, policy_over};
use super::{dense, numbers, ones};
use crate::arithmetic::Arithmetic;
use crate::certify::network::graph::Graph;
use crate::certify::network::rounding::Deviation;
use crate::layer::{Activation, Layer};
use crate::network::{Element, Network, Node, Source};
use crate::parameter::Parameter;
use crate::policy::PolicyInput;

fn from(source: Source, layer: Layer) -> Node {
    Node::Layer { from: source, layer }
}

/// Values of a clip can be larger than its argument: the sums after it overflow to equal infinities.
#[test]
fn clips_that_lift_values_to_overflow() {
    let number = Parameter::from;
    for (low, high) in [(1e38, 2e38), (-2e38, -1e38)] {
        let sign = f64::signum(low);
        let lifted = Activation::Clip { low: number(low), high: number(high) };
        let hidden = dense(1, &[1.0], &[0.0], lifted);
        let last = dense(1, &[sign * 5.0, sign * 10.0], &[0.0, 0.0], Activation::Identity);
        let policy = policy(Network::new(vec![hidden, last]).expect("fits"));
        for arithmetic in [Arithmetic::F32, Arithmetic::AnyF32] {
            check_claims(&policy, arithmetic, &[0], &[20]);
            check_bounds(&policy, arithmetic, &[0], &[20]);
        }
    }
}

/// The error that is assumed of a library's ELU can overflow later sums, however small its values are; then all scores
/// that read them, even by a weight of 0, are unknown.
#[test]
fn errors_of_functions_that_overflow() {
    let elu = Activation::Elu { scale: Parameter::from(1e30) };
    let input = Element { source: Source::Input, index: 0 };
    let nodes = vec![
        from(Source::Input, dense(1, &[0.0], &[0.0], elu)),
        from(Source::Node(0), dense(1, &[1e20], &[0.0], Activation::Identity)),
        Node::Arrange { elements: vec![Element { source: Source::Node(1), index: 0 }, input] },
        from(Source::Node(2), dense(2, &[0.0, 1e9, 0.0, -1e9], &[0.0, 0.0], Activation::Identity)),
    ];
    let policy = policy(Network::from_nodes(1, nodes).expect("fits"));
    check_claims(&policy, Arithmetic::AnyF32, &[1_000_000_000], &[1_000_000_090]);
}

/// Coefficients of huge values can be subnormal, so that their rounding errors are large.
#[test]
fn subnormal_coefficients_of_huge_values() {
    let tiny = f64::from_bits(1);
    let half = tiny / 1e-160;
    let layers = vec![
        dense(1, &[1e200], &[0.0], Activation::Identity),
        dense(1, &[0.9 * half, -1.4 * half], &[0.0; 2], Activation::Identity),
        dense(2, &[1e-160, 1e-160, 0.0, 0.0], &[1e-130, 0.0], Activation::Identity),
    ];
    let policy = policy(Network::new(layers).expect("fits"));
    for arithmetic in [Arithmetic::F64, Arithmetic::Real] {
        check_claims(&policy, arithmetic, &[1], &[90]);
        check_bounds(&policy, arithmetic, &[1], &[90]);
    }
}

/// Bounds of values beyond what the proofs cover can contradict each other. That does not make a box empty.
#[test]
fn bounds_that_cross_without_phases() {
    let power = |exponent: i32| f64::exp2(f64::from(exponent));
    let tiny = f64::from_bits(1);
    let relu = Activation::Relu;
    let layers = vec![
        dense(1, &[power(1000), 1.0, 1.0, 1.0], &[0.0, -1233.0, -1234.0, -1235.0], relu),
        dense(
            4,
            &[0.4, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            &[0.0; 4],
            relu,
        ),
        dense(4, &[tiny, 0.0, 0.0, 0.0, 0.0, 1.0, -2.0, 1.0], &[-600.0 * power(-74), 0.0], relu),
        dense(2, &[0.0, 2.0, 0.0, 0.0], &[0.0, 1.0], Activation::Identity),
    ];
    let policy = policy(Network::new(layers).expect("fits"));
    for arithmetic in [Arithmetic::F64, Arithmetic::Real] {
        check_claims(&policy, arithmetic, &[1000], &[2000]);
        check_answers(&policy, arithmetic, &[1000], &[2000]);
    }
}

/// Enclosures of real numbers are never narrower than a constant.
#[test]
fn real_scores_that_differ_by_next_to_nothing() {
    for difference in [1e-299, 1e-301, 1e-303, 1e-305] {
        let layers = vec![
            dense(1, &[1e-306], &[0.0], Activation::Tanh),
            dense(1, &[1.0, 1.0], &[0.0, difference], Activation::Identity),
        ];
        let policy = policy(Network::new(layers).expect("fits"));
        check_claims(&policy, Arithmetic::Real, &[0], &[90]);
        check_bounds(&policy, Arithmetic::Real, &[0], &[90]);
    }
}

/// Each maximum of enclosures is wider than its operands.
#[test]
fn long_chains_of_maxima() {
    let (scale, step) = (1e-34, 1e-35);
    let zero = Element { source: Source::Input, index: 1 };
    let mut nodes = vec![
        Node::Arrange { elements: vec![zero; 2] },
        from(Source::Input, dense(2, &[0.0; 4], &[scale, scale + step], Activation::Relu)),
    ];
    for index in 1..300 {
        nodes.push(Node::Maximum { left: Source::Node(index), right: Source::Node(0) });
    }
    let network = Network::from_nodes(2, nodes).expect("fits");
    let policy = policy_over(network, vec![PolicyInput::Variable(VarId(0)), PolicyInput::Constant(0)]);
    check_claims(&policy, Arithmetic::AnyF32, &[0], &[90]);
    check_bounds(&policy, Arithmetic::AnyF32, &[0], &[90]);
}

/// Sums that are too long for the proof have no bound.
#[test]
fn sums_that_are_too_long() {
    let inputs = (1 << 20) + 1;
    let row = (0..inputs as u32).map(|input| (input, Parameter::from(1.0))).collect();
    let layer = Layer::sparse(inputs, vec![row], numbers(&[0.0]), Activation::Identity).expect("ascends");
    let network = Network::new(vec![layer]).expect("fits");
    for arithmetic in Arithmetic::ALL {
        let graph = Graph::new(&network, arithmetic);
        let deviation = Deviation::new(&graph, arithmetic);
        let bound = deviation.of_difference(&ones(&graph));
        assert!(!bound.is_finite(), "{arithmetic}: {bound}");
    }
}

/// Inputs that go straight to the outputs are rounded, too.
#[test]
fn copied_inputs_are_converted() {
    let element = |index| Element { source: Source::Input, index };
    let nodes = vec![Node::Arrange { elements: vec![element(0), element(1)] }];
    let policy = policy(Network::from_nodes(2, nodes).expect("fits"));
    for arithmetic in Arithmetic::ALL {
        let (lower, upper) = ([(1 << 24) - 2; 2], [(1 << 24) + 9; 2]);
        check_claims(&policy, arithmetic, &lower, &upper);
        check_bounds(&policy, arithmetic, &lower, &upper);
    }
}

/// The product of a leaky activation is rounded on top of the sum that it reads.
#[test]
fn products_of_activations_are_paid_for() {
    for slope in [1.0, 0.9, 0.5] {
        let leaky = Activation::LeakyRelu { slope: Parameter::from(slope) };
        let policy = policy(Network::new(vec![dense(1, &[1.0, 0.7], &[0.0; 2], leaky)]).expect("fits"));
        for arithmetic in Arithmetic::ALL {
            check_claims(&policy, arithmetic, &[-90], &[-1]);
            check_bounds(&policy, arithmetic, &[-90], &[-1]);
        }
    }
}

/// In `any-f32`, even weights of 0 may meet inputs that are flushed.
#[test]
fn weights_of_zero_are_paid_for() {
    let policy =
        policy(Network::new(vec![dense(1, &[0.0; 2], &[0.0, 1e-28], Activation::Identity)]).expect("fits"));
    check_claims(&policy, Arithmetic::AnyF32, &[i32::MAX - 90], &[i32::MAX]);
    check_bounds(&policy, Arithmetic::AnyF32, &[i32::MAX - 90], &[i32::MAX]);
}
