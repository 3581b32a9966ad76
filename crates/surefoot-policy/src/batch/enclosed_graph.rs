//! Networks over enclosures, arranged for batches: what [`crate::enclosure`] computes, side by side for the states of a
//! chunk.

use super::LANES;
use super::dense::DenseLayer;
use super::instruction_set::InstructionSet;
use super::kernel;
use super::plan::Plan;
use super::sparse::SparseLayer;
use crate::enclosure::{self, Enclosure, Rounding};
use crate::layer::{Activation, Layer};
use crate::network::{Network, Node, Source};
use crate::parameter::Parameter;

/// A network that maps enclosures to enclosures.
#[derive(Debug)]
pub(super) struct EnclosedGraph {
    rounding: Rounding,
    plan: Plan,
    steps: Vec<Step>,
}

/// A row of lanes per value.
#[derive(Debug, Clone, Default)]
pub(super) struct Enclosures {
    pub(super) centres: Vec<f64>,
    pub(super) radii: Vec<f64>,
}

/// Working memory of a network.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    slots: Vec<Enclosures>,
    /// What the inputs of a layer contribute to radii.
    spreads: Vec<f64>,
}

/// A node; what it reads are slots.
#[derive(Debug)]
enum Step {
    Dense {
        from: usize,
        layer: EnclosedLayer,
        activation: Activation,
    },
    Sparse {
        from: usize,
        inputs: usize,
        layer: SparseLayer<Parameter>,
        constants: Vec<SparseConstants>,
        activation: Activation,
    },
    /// Slots and the first lanes of the values there.
    Arrange(Vec<(usize, usize)>),
    Maximum {
        left: usize,
        right: usize,
        lanes: usize,
    },
    Quotient {
        from: usize,
        divisors: Vec<Parameter>,
    },
}

/// A layer that maps centres to centres and spreads to radii.
#[derive(Debug)]
struct EnclosedLayer {
    centres: DenseLayer<f64>,
    radii: DenseLayer<f64>,
    growth: f64,
}

/// What the sum of one sparse row needs besides its weights.
#[derive(Debug)]
struct SparseConstants {
    bias: f64,
    radius: f64,
    growth: f64,
}

impl EnclosedGraph {
    pub(super) fn new(network: &Network, rounding: Rounding) -> Self {
        let plan = Plan::new(network);
        let step = |node: &Node| match node {
            Node::Layer { from, layer } => Step::layer(plan.slot(*from), layer, &rounding),
            Node::Arrange { elements } => {
                let place = |source, index| (plan.slot(source), index as usize * LANES);
                Step::Arrange(elements.iter().map(|element| place(element.source, element.index)).collect())
            }
            Node::Maximum { left, right } => {
                let lanes = network.size(*left) * LANES;
                Step::Maximum { left: plan.slot(*left), right: plan.slot(*right), lanes }
            }
            Node::Quotient { from, divisors } => {
                Step::Quotient { from: plan.slot(*from), divisors: divisors.clone() }
            }
        };
        let steps = network.nodes().iter().map(step).collect();
        EnclosedGraph { rounding, plan, steps }
    }

    pub(super) fn memory(&self) -> Memory {
        let lanes = |size: &usize| vec![0.0; size * LANES];
        let sizes = self.plan.sizes();
        let slot = |size| Enclosures { centres: lanes(size), radii: lanes(size) };
        let largest = sizes.iter().max().unwrap_or(&0);
        Memory { slots: sizes.iter().map(slot).collect(), spreads: lanes(largest) }
    }

    /// Computes the enclosures of the last node for a chunk.
    pub(super) fn run<'m>(
        &self,
        set: InstructionSet,
        columns: &[i32],
        memory: &'m mut Memory,
    ) -> &'m Enclosures {
        let Memory { slots, spreads } = memory;
        let Enclosures { centres, radii } = &mut slots[self.plan.slot(Source::Input)];
        for (centre, &value) in centres.iter_mut().zip(columns) {
            *centre = self.rounding.input(value);
        }
        radii[..columns.len()].fill(0.0);
        let mut slot = 0;
        for (index, step) in self.steps.iter().enumerate() {
            slot = self.plan.slot(Source::Node(index as u32));
            let mut to = std::mem::take(&mut slots[slot]);
            step.run(set, &self.rounding, slots, spreads, &mut to);
            slots[slot] = to;
        }
        &memory.slots[slot]
    }
}

impl Step {
    fn layer(from: usize, layer: &Layer, rounding: &Rounding) -> Self {
        let activation = layer.activation();
        let constants = |neuron| enclosure::constants(layer, neuron, rounding);
        if layer.is_sparse() {
            let row = |neuron| {
                let (bias, radius) = constants(neuron);
                SparseConstants { bias, radius, growth: rounding.growth(layer.terms(neuron)) }
            };
            let constants = (0..layer.neurons()).map(row).collect();
            let inputs = layer.inputs();
            let layer = SparseLayer::new(layer, |parameter| parameter);
            return Step::Sparse { from, inputs, layer, constants, activation };
        }
        let centres =
            DenseLayer::new(layer, false, |weight| rounding.number(weight), |neuron| constants(neuron).0);
        let radii =
            DenseLayer::new(layer, false, |weight| rounding.magnitude(weight), |neuron| constants(neuron).1);
        let growth = rounding.growth(layer.inputs());
        Step::Dense { from, layer: EnclosedLayer { centres, radii, growth }, activation }
    }

    fn run(
        &self,
        set: InstructionSet,
        rounding: &Rounding,
        slots: &[Enclosures],
        spreads: &mut [f64],
        to: &mut Enclosures,
    ) {
        match self {
            Step::Dense { from, layer, activation } => {
                layer.run(set, rounding, &slots[*from], spreads, to, *activation);
            }
            Step::Sparse { from, inputs, layer, constants, activation } => {
                let from = &slots[*from];
                let unknown = from.unknown_lanes(*inputs);
                for (neuron, ((entries, _), constants)) in layer.rows().zip(constants).enumerate() {
                    for (lane, &unknown) in unknown.iter().enumerate() {
                        let sum = if unknown {
                            Enclosure::UNKNOWN
                        } else {
                            constants.sum(entries, from, lane, rounding)
                        };
                        to.set(neuron * LANES + lane, sum.activate(*activation, rounding));
                    }
                }
            }
            Step::Arrange(elements) => {
                for (row, &(slot, lane)) in elements.iter().enumerate() {
                    let (from, target) = (&slots[slot], row * LANES..(row + 1) * LANES);
                    to.centres[target.clone()].copy_from_slice(&from.centres[lane..][..LANES]);
                    to.radii[target].copy_from_slice(&from.radii[lane..][..LANES]);
                }
            }
            Step::Maximum { left, right, lanes } => {
                for lane in 0..*lanes {
                    to.set(lane, slots[*left].get(lane).maximum(slots[*right].get(lane), rounding));
                }
            }
            Step::Quotient { from, divisors } => {
                for (row, &divisor) in divisors.iter().enumerate() {
                    for lane in row * LANES..(row + 1) * LANES {
                        to.set(lane, slots[*from].get(lane).quotient(divisor, rounding));
                    }
                }
            }
        }
    }
}

impl EnclosedLayer {
    fn run(
        &self,
        set: InstructionSet,
        rounding: &Rounding,
        from: &Enclosures,
        spreads: &mut [f64],
        to: &mut Enclosures,
        activation: Activation,
    ) {
        let used = self.centres.inputs * LANES;
        kernel::spread(set, &from.centres[..used], &from.radii[..used], self.growth, &mut spreads[..used]);
        kernel::dense(set, &self.centres, &from.centres, &mut to.centres);
        kernel::dense(set, &self.radii, spreads, &mut to.radii);
        let used = self.centres.neurons() * LANES;
        let (centres, radii) = (&mut to.centres[..used], &mut to.radii[..used]);
        let relu = activation == Activation::Relu;
        kernel::enclose(set, centres, radii, rounding.limit(self.growth), relu);
        if !relu && activation != Activation::Identity {
            for lane in 0..used {
                to.set(lane, to.get(lane).activate(activation, rounding));
            }
        }
    }
}

impl SparseConstants {
    /// The sum of one row in one lane.
    fn sum(
        &self,
        entries: &[(u32, Parameter)],
        from: &Enclosures,
        lane: usize,
        rounding: &Rounding,
    ) -> Enclosure {
        let terms = entries.iter().map(|&(input, weight)| {
            let value = from.get(input as usize * LANES + lane);
            let spread = value.spread(self.growth);
            (rounding.number(weight) * value.centre, rounding.magnitude(weight) * spread)
        });
        let total = terms.reduce(|sum, term| (sum.0 + term.0, sum.1 + term.1));
        let (centre, radius) = total
            .map_or((self.bias, self.radius), |(centre, radius)| (centre + self.bias, radius + self.radius));
        Enclosure::of_sum(centre, radius, rounding.limit(self.growth))
    }
}

impl Enclosures {
    /// The lanes in which one of the first `rows` values is unknown.
    fn unknown_lanes(&self, rows: usize) -> [bool; LANES] {
        let mut unknown = [false; LANES];
        for row in self.radii.chunks_exact(LANES).take(rows) {
            for (unknown, &radius) in unknown.iter_mut().zip(row) {
                *unknown |= radius == f64::INFINITY;
            }
        }
        unknown
    }

    pub(super) fn get(&self, lane: usize) -> Enclosure {
        Enclosure { centre: self.centres[lane], radius: self.radii[lane] }
    }

    pub(super) fn set(&mut self, lane: usize, value: Enclosure) {
        Enclosure { centre: self.centres[lane], radius: self.radii[lane] } = value;
    }
}
