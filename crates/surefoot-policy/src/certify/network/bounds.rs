//! Bounds of all values of a network over a box, slot by slot from the inputs to the outputs.
//!
//! Weighted sums are first bounded by intervals, as centres and radii. Sums that still have both signs, and so leave an
//! activation undecided, are bounded again by a backward pass with parallel lines (see [`super::backward`]). The
//! bounds of a box are also bounds of its parts, so those of the parent are kept where they are better.

use super::super::evidence::Phase;
use super::backward::Backward;
use super::graph::{Affine, Function, Graph, Matrix, Operation};
use super::kernel::{self, Centred, Lines};
use super::relaxation::relax;
use super::rounding::UNIT;
use crate::batch::InstructionSet;

/// What is known of a slot's values.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotBounds {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// Values that can differ from 0, and are not folded into the biases of the layers that read them.
    pub(super) alive: Vec<u32>,
    /// For layers: lines for each value of `alive`, as tight as we know.
    pub(super) lines: Vec<Lines>,
    /// The same with parallel lines.
    pub(super) parallel: Vec<Lines>,
    /// The largest magnitude of a value.
    pub(super) largest: f64,
    /// Values that can differ from 0, as centres and radii.
    centred: Vec<Centred>,
}

/// What is known of all slots.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    pub(super) slots: Vec<SlotBounds>,
    /// Inputs that are fixed; the layers that read them have them in their biases.
    fixed: Vec<Centred>,
    centres: Vec<f64>,
    radii: Vec<f64>,
    biases: Vec<f64>,
    open: Vec<u32>,
}

/// Bounds of the arguments of all activations: lower ends, then upper ends, slot by slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    low: Vec<f64>,
    high: Vec<f64>,
    /// What the box was split by.
    phases: Vec<Phase>,
}

impl Arguments {
    /// Whether the box or one around it was split by the phases of a neuron.
    fn has_phase(&self, slot: usize, neuron: usize) -> bool {
        let is_it = |phase: &Phase| phase.node as usize + 1 == slot && phase.neuron as usize == neuron;
        self.phases.iter().any(is_it)
    }

    /// The phases that the box and those around it were split by.
    pub(super) fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The ends of an argument.
    pub(super) fn ends(&self, index: usize) -> (f64, f64) {
        (self.low[index], self.high[index])
    }
}

impl Bounds {
    pub(super) fn new(graph: &Graph) -> Self {
        Bounds {
            slots: vec![SlotBounds::default(); graph.slots.len()],
            fixed: Vec::new(),
            centres: Vec::new(),
            radii: Vec::new(),
            biases: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Bounds all slots. `input` gives the ends of an input; `parent` the arguments of a box around this one, from which
    /// it may differ in a phase. Backward passes are made only if `refine`. `false` if no state has all phases.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn compute(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        input: impl Fn(usize) -> (f64, f64),
        parent: Option<&Arguments>,
        phase: Option<Phase>,
        arguments: &mut Arguments,
        backward: &mut Backward,
        refine: bool,
    ) -> bool {
        arguments.low.clear();
        arguments.high.clear();
        arguments.phases.clear();
        arguments.phases.extend(parent.iter().flat_map(|parent| &parent.phases));
        arguments.phases.extend(phase);
        self.inputs(graph, input);
        for (index, slot) in graph.slots.iter().enumerate() {
            match &slot.operation {
                Operation::Input => {}
                Operation::Layer(layer) => {
                    let phase = phase.filter(|phase| phase.node as usize + 1 == index);
                    if !self.layer(graph, set, index, layer, parent, phase, arguments, backward, refine) {
                        return false;
                    }
                }
                Operation::Arrange(elements) => self.arrange(index, elements),
                Operation::Maximum(left, right) => self.maximum(index, *left, *right),
            }
        }
        true
    }

    fn inputs(&mut self, graph: &Graph, input: impl Fn(usize) -> (f64, f64)) {
        let slot = &mut self.slots[0];
        slot.reset();
        self.fixed.clear();
        for index in 0..graph.slots[0].size {
            let (low, high) = input(index);
            slot.push(low, high);
            if low == high && graph.folds_inputs {
                if low != 0.0 {
                    self.fixed.push(Centred { index: index as u32, centre: low, radius: 0.0 });
                }
            } else {
                slot.alive.push(index as u32);
                slot.centre(index);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn layer(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        index: usize,
        layer: &Affine,
        parent: Option<&Arguments>,
        phase: Option<Phase>,
        arguments: &mut Arguments,
        backward: &mut Backward,
        refine: bool,
    ) -> bool {
        self.sums(set, layer);
        let size = graph.slots[index].size;
        let largest = self.slots[layer.from].largest;
        let slack = (2.0 * layer.terms as f64 + 20.0) * 1.01 * UNIT;
        let start = arguments.low.len();
        self.open.clear();
        for neuron in 0..size {
            let reach = layer.norms[neuron] * largest + layer.biases[neuron].abs();
            let error = slack * reach + f64::MIN_POSITIVE;
            let (centre, radius) = (self.centres[neuron], self.radii[neuron] + error);
            let (mut low, mut high) = (centre - radius, centre + radius);
            if let Some(parent) = parent {
                low = low.max(parent.low[start + neuron]);
                high = high.min(parent.high[start + neuron]);
            }
            if let Some(phase) = phase
                && phase.neuron as usize == neuron
            {
                if phase.active {
                    low = low.max(0.0);
                } else {
                    high = high.min(0.0);
                }
            }
            if is_open(layer.function, low, high) {
                self.open.push(neuron as u32);
            }
            arguments.low.push(low);
            arguments.high.push(high);
        }
        if refine && graph.refinable[index] && !self.open.is_empty() {
            let ends = (&mut arguments.low[start..], &mut arguments.high[start..]);
            backward.refine(graph, set, &self.slots, layer, &self.open, ends);
        }
        // Without phases there are states, and ends that cross are those of values beyond what the proofs cover.
        let crosses = |(low, high): (&f64, &f64)| low > high;
        if !arguments.phases.is_empty()
            && arguments.low[start..].iter().zip(&arguments.high[start..]).any(crosses)
        {
            return false;
        }
        let lipschitz = layer.function.lipschitz();
        let slot = &mut self.slots[index];
        slot.reset();
        for neuron in 0..size {
            let (low, high) = (arguments.low[start + neuron], arguments.high[start + neuron]);
            let relaxation = relax(layer.function, low, high);
            slot.push(relaxation.values.0, relaxation.values.1);
            if relaxation.values == (0.0, 0.0) && !arguments.has_phase(index, neuron) {
                continue;
            }
            slot.alive.push(neuron as u32);
            slot.centre(neuron);
            let reach = layer.norms[neuron] * largest + layer.biases[neuron].abs();
            let constants =
                [relaxation.low.1, relaxation.high.1, relaxation.parallel.0, relaxation.parallel.1];
            let constant = constants.iter().map(|constant| constant.abs()).fold(0.0, f64::max);
            let magnitude = ((1.0 + lipschitz) * reach + 2.0 * constant) * 1.01;
            let bias = self.biases[neuron];
            slot.lines.push(Lines { low: relaxation.low, high: relaxation.high, bias, magnitude });
            let [low, high] =
                [relaxation.parallel.0, relaxation.parallel.1].map(|end| (relaxation.slope, end));
            slot.parallel.push(Lines { low, high, bias, magnitude });
        }
        true
    }

    /// Computes the centres and radii of weighted sums, and the biases with fixed inputs folded in.
    fn sums(&mut self, set: InstructionSet, layer: &Affine) {
        let Bounds { slots, fixed, centres, radii, biases, .. } = self;
        centres.clear();
        centres.extend_from_slice(&layer.biases);
        radii.clear();
        radii.resize(layer.biases.len(), 0.0);
        let source = &slots[layer.from];
        match &layer.matrix {
            Matrix::Dense { columns, .. } => {
                if layer.from == 0 {
                    kernel::forward(set, columns, fixed, centres, radii);
                }
                biases.clone_from(centres);
                kernel::forward(set, columns, &source.centred, centres, radii);
            }
            Matrix::Sparse { starts, entries } => {
                biases.clone_from(centres);
                for (neuron, range) in starts.windows(2).enumerate() {
                    for &(input, weight) in &entries[range[0]..range[1]] {
                        let (low, high) = (source.low[input as usize], source.high[input as usize]);
                        let centre = 0.5 * (low + high);
                        centres[neuron] += weight * centre;
                        radii[neuron] += weight.abs() * (high - centre).max(centre - low);
                    }
                }
            }
        }
    }

    fn arrange(&mut self, index: usize, elements: &[(u32, u32)]) {
        let (before, rest) = self.slots.split_at_mut(index);
        let slot = &mut rest[0];
        slot.reset();
        for (place, &(source, element)) in elements.iter().enumerate() {
            let source = &before[source as usize];
            slot.push(source.low[element as usize], source.high[element as usize]);
            slot.alive.push(place as u32);
            slot.centre(place);
        }
    }

    fn maximum(&mut self, index: usize, left: usize, right: usize) {
        let (before, rest) = self.slots.split_at_mut(index);
        let slot = &mut rest[0];
        slot.reset();
        let (left, right) = (&before[left], &before[right]);
        for place in 0..left.low.len() {
            slot.push(left.low[place].max(right.low[place]), left.high[place].max(right.high[place]));
            slot.alive.push(place as u32);
            slot.centre(place);
        }
    }
}

/// Whether the activation is no line on the interval.
fn is_open(function: Function, low: f64, high: f64) -> bool {
    match function {
        Function::Identity => false,
        Function::Relu | Function::LeakyRelu(_) | Function::Elu(_) => low < 0.0 && high > 0.0,
        Function::Clip(least, greatest) => {
            (low < least && high > least) || (low < greatest && high > greatest)
        }
        Function::Tanh | Function::Sigmoid => low < high,
    }
}

impl SlotBounds {
    fn reset(&mut self) {
        for ends in [&mut self.low, &mut self.high] {
            ends.clear();
        }
        self.alive.clear();
        self.lines.clear();
        self.parallel.clear();
        self.centred.clear();
        self.largest = 0.0;
    }

    fn push(&mut self, low: f64, high: f64) {
        self.low.push(low);
        self.high.push(high);
        let magnitude = high.max(-low);
        // `max` would ignore NaN.
        self.largest = if magnitude <= self.largest { self.largest } else { magnitude };
    }

    /// Notes centre and radius of a value, unless it is 0.
    fn centre(&mut self, value: usize) {
        let (low, high) = (self.low[value], self.high[value]);
        let centre = 0.5 * (low + high);
        let radius = (high - centre).max(centre - low);
        if centre != 0.0 || radius != 0.0 {
            self.centred.push(Centred { index: value as u32, centre, radius });
        }
    }

    /// The largest magnitude of each value.
    pub(super) fn magnitudes(&self) -> impl Iterator<Item = f64> {
        self.low.iter().zip(&self.high).map(|(low, high)| high.max(-low))
    }
}
