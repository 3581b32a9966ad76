//! The terms that pay for rounding: sums in which the computation of a bound loses every small term.

use super::claims::{check_bounds, policy};
use super::{dense, ones};
use crate::arithmetic::Arithmetic;
use crate::batch::InstructionSet;
use crate::certify::network::backward::{Backward, ScoreFunction};
use crate::certify::network::bounds::{Arguments, Bounds};
use crate::certify::network::graph::{Graph, Operation};
use crate::certify::network::kernel::PADDING;
use crate::certify::network::rounding::{Deviation, UNIT};
use crate::layer::{Activation, Layer};
use crate::network::Network;
use crate::parameter::Parameter;

/// Small terms of each sum, each less than half a unit in the last place of 1.
const SMALL: usize = 40;
const TERM: f64 = 0.49 * UNIT;

/// What the small terms are worth together, a bit less.
const LOST: f64 = 19.0 * UNIT;

/// Bounds of a network over inputs between -1 and 1.
fn bounded(network: &Network) -> (Graph, Bounds, Backward) {
    let graph = Graph::new(network, Arithmetic::F64);
    let leaders = (0..network.inputs() as u32).collect();
    let (mut bounds, mut backward) = (Bounds::new(&graph), Backward::new(&graph, leaders));
    let mut arguments = Arguments::default();
    let set = InstructionSet::best();
    bounds.compute(&graph, set, |_| (-1.0, 1.0), None, None, &mut arguments, &mut backward, true);
    (graph, bounds, backward)
}

fn chain(layers: Vec<Layer>) -> Network {
    Network::new(layers).expect("fits")
}

/// One large weight and many small ones, which vanish next to it one by one.
fn lossy_sum() -> Vec<f64> {
    let mut weights = vec![0.75];
    weights.extend([TERM / 2.0; SMALL]);
    weights
}

#[test]
fn intervals_pay_for_their_rounding() {
    let weights = lossy_sum();
    let network = chain(vec![dense(weights.len(), &weights, &[0.0], Activation::Identity)]);
    let (_, bounds, _) = bounded(&network);
    let slot = &bounds.slots[1];
    assert!(slot.low[0] <= -0.75 - LOST / 2.0 && slot.high[0] >= 0.75 + LOST / 2.0, "{slot:?}");
    assert!(slot.low[0] >= -0.75 - 1e-12, "{slot:?}");
}

#[test]
fn backward_passes_pay_for_their_rounding() {
    let weights = lossy_sum();
    let network = chain(vec![dense(weights.len(), &weights, &[0.0], Activation::Identity)]);
    let (graph, bounds, mut backward) = bounded(&network);
    let function = ScoreFunction { plus: Some(0), minus: None };
    backward.scores(&graph, InstructionSet::best(), &bounds.slots, std::iter::once(function));
    assert!(backward.minimum(0) <= -0.75 - LOST / 2.0, "{}", backward.minimum(0));
    assert!(backward.minimum(0) >= -0.75 - 1e-12, "{}", backward.minimum(0));
}

/// Constants vanish next to the bias with which a pass begins.
#[test]
fn the_bias_of_a_refined_sum_is_paid_for() {
    let hidden = dense(1, &[0.0; SMALL], &[-1.0; SMALL], Activation::Identity);
    let last = dense(SMALL, &[TERM; SMALL], &[1.0], Activation::Tanh);
    let (graph, bounds, mut backward) = bounded(&chain(vec![hidden, last]));
    let Operation::Layer(layer) = &graph.slots[2].operation else { panic!("a layer") };
    let (mut low, mut high) = ([f64::NEG_INFINITY; PADDING], [f64::INFINITY; PADDING]);
    let ends = (&mut low[..], &mut high[..]);
    backward.refine(&graph, InstructionSet::best(), &bounds.slots, (layer, &layer.biases), &[0], ends);
    let exact = 1.0 - LOST;
    let (low, high) = (low[0], high[0]);
    assert!(low <= exact && exact <= high, "{low} to {high}");
    assert!(high - low <= 1e-12, "{low} to {high}");
}

/// The centres of enclosures of real numbers are rounded, too.
#[test]
fn centres_of_real_enclosures_are_paid_for() {
    const TERMS: usize = 1000;
    let mut weights = vec![1.0 + 2.0 * UNIT];
    weights.extend([0.98 * UNIT; TERMS]);
    let network = chain(vec![dense(TERMS + 1, &weights, &[0.0], Activation::Identity)]);
    let graph = Graph::new(&network, Arithmetic::Real);
    let deviation = Deviation::new(&graph, Arithmetic::Real);
    let bound = deviation.of_difference(&ones(&graph)) / 2.0;
    let scores = policy(network).scores(Arithmetic::Real, &[1; TERMS + 1]);
    let nominal = 1.0 + (2.0 + 0.98 * TERMS as f64) * UNIT;
    assert!(bound >= nominal - scores[0].lower, "{bound} of {}", nominal - scores[0].lower);
}

/// The sum of many small terms, each of them lost, is all that tells two scores apart.
#[test]
fn rounded_scores_are_within_bounds() {
    for arithmetic in Arithmetic::ALL {
        let unit = match arithmetic {
            Arithmetic::F64 | Arithmetic::Real => UNIT,
            Arithmetic::F32 | Arithmetic::AnyF32 => f64::from(f32::EPSILON) / 2.0,
        };
        let mut up = vec![1.0; 1];
        up.extend([0.98 * unit; SMALL]);
        let mut down = vec![1.0; 1];
        down.extend([-0.48 * unit; SMALL]);
        let last = Parameter::from(1.0);
        let hidden =
            Layer::new(1, vec![Parameter::from(0.0); SMALL + 1], vec![last; SMALL + 1], Activation::Relu);
        let output = dense(SMALL + 1, &[up, down].concat(), &[0.0, 0.0], Activation::Identity);
        let policy = policy(chain(vec![hidden.expect("well formed"), output]));
        super::check_claims(&policy, arithmetic, &[0], &[90]);
        check_bounds(&policy, arithmetic, &[0], &[90]);
    }
}

/// Coefficients that cancel leave nothing at the inputs that would pay for what was lost on the way.
#[test]
fn coefficients_that_cancel_are_paid_for() {
    let mut weights = lossy_sum();
    weights.push(-0.75);
    let size = weights.len();
    let hidden = dense(1, &vec![1.0; size], &vec![0.0; size], Activation::Identity);
    let network = chain(vec![hidden, dense(size, &weights, &[0.0], Activation::Identity)]);
    let (graph, bounds, mut backward) = bounded(&network);
    let function = ScoreFunction { plus: Some(0), minus: None };
    backward.scores(&graph, InstructionSet::best(), &bounds.slots, std::iter::once(function));
    assert!(backward.minimum(0) <= -LOST / 2.0, "{}", backward.minimum(0));
}
