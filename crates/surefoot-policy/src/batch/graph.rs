//! Networks, arranged for batches: the operations of [`crate::point`], side by side for the states of a chunk.

use super::LANES;
use super::dense::DenseLayer;
use super::instruction_set::InstructionSet;
use super::kernel::{self, VectorNumber};
use super::plan::Plan;
use super::sparse::SparseLayer;
use crate::layer::{Activation, Layer};
use crate::network::{Network, Node, Source};

/// A network over numbers of one type.
#[derive(Debug)]
pub(super) struct Graph<T> {
    plan: Plan,
    steps: Vec<Step<T>>,
}

/// A node; what it reads are slots.
#[derive(Debug)]
enum Step<T> {
    /// Any activation but `ReLU` comes after the layer.
    Dense {
        from: usize,
        layer: DenseLayer<T>,
        activation: Activation,
    },
    Sparse {
        from: usize,
        layer: SparseLayer<T>,
        activation: Activation,
    },
    /// Slots and the first lanes of the values there.
    Arrange(Vec<(usize, usize)>),
    /// `lanes` is the size of both operands.
    Maximum {
        left: usize,
        right: usize,
        lanes: usize,
    },
    Quotient {
        from: usize,
        divisors: Vec<T>,
    },
}

impl<T: VectorNumber> Graph<T> {
    pub(super) fn new(network: &Network) -> Self {
        let plan = Plan::new(network);
        let step = |node: &Node| match node {
            Node::Layer { from, layer } => Step::layer(plan.slot(*from), layer),
            Node::Arrange { elements } => {
                let place = |source, index| (plan.slot(source), index as usize * LANES);
                Step::Arrange(elements.iter().map(|element| place(element.source, element.index)).collect())
            }
            Node::Maximum { left, right } => {
                let lanes = network.size(*left) * LANES;
                Step::Maximum { left: plan.slot(*left), right: plan.slot(*right), lanes }
            }
            Node::Quotient { from, divisors } => {
                let divisors = divisors.iter().map(|&divisor| T::of(divisor)).collect();
                Step::Quotient { from: plan.slot(*from), divisors }
            }
        };
        let steps = network.nodes().iter().map(step).collect();
        Graph { plan, steps }
    }

    /// Working memory: a row of lanes per value of each slot.
    pub(super) fn memory(&self) -> Vec<Vec<T>> {
        self.plan.sizes().iter().map(|size| vec![T::ZERO; size * LANES]).collect()
    }

    /// Computes the values of the last node for a chunk.
    pub(super) fn run(&self, set: InstructionSet, columns: &[i32], values: &mut [Vec<T>], scores: &mut [T]) {
        kernel::convert(set, columns, &mut values[self.plan.slot(Source::Input)]);
        let (last, steps) = self.steps.split_last().expect("networks have nodes");
        for (index, step) in steps.iter().enumerate() {
            let slot = self.plan.slot(Source::Node(index as u32));
            let mut to = std::mem::take(&mut values[slot]);
            step.run(set, values, &mut to);
            values[slot] = to;
        }
        last.run(set, values, scores);
    }
}

impl<T: VectorNumber> Step<T> {
    fn layer(from: usize, layer: &Layer) -> Self {
        let activation = layer.activation();
        if layer.is_sparse() {
            return Step::Sparse { from, layer: SparseLayer::new(layer, T::of), activation };
        }
        let relu = activation == Activation::Relu;
        let layer = DenseLayer::new(layer, relu, T::of, |neuron| T::of(layer.bias(neuron)));
        Step::Dense { from, layer, activation: if relu { Activation::Identity } else { activation } }
    }

    fn run(&self, set: InstructionSet, values: &[Vec<T>], to: &mut [T]) {
        match self {
            Step::Dense { from, layer, activation } => {
                kernel::dense(set, layer, &values[*from], to);
                kernel::activate(set, &mut to[..layer.neurons() * LANES], *activation);
            }
            Step::Sparse { from, layer, activation } => {
                kernel::sparse(set, layer, &values[*from], to);
                kernel::activate(set, &mut to[..layer.neurons() * LANES], *activation);
            }
            Step::Arrange(elements) => {
                for (row, &(slot, lane)) in to.chunks_exact_mut(LANES).zip(elements) {
                    row.copy_from_slice(&values[slot][lane..][..LANES]);
                }
            }
            Step::Maximum { left, right, lanes } => {
                let pairs = values[*left][..*lanes].iter().zip(&values[*right]);
                for (to, (&left, &right)) in to.iter_mut().zip(pairs) {
                    *to = if left < right { right } else { left };
                }
            }
            Step::Quotient { from, divisors } => {
                let rows = values[*from].chunks_exact(LANES).zip(divisors);
                for (to, (row, &divisor)) in to.chunks_exact_mut(LANES).zip(rows) {
                    for (to, &value) in to.iter_mut().zip(row) {
                        *to = value / divisor;
                    }
                }
            }
        }
    }
}
