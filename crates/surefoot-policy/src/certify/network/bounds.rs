//! Bounds of all values of a network over a box, slot by slot from the inputs to the outputs.
//!
//! Weighted sums are first bounded by intervals, as centres and radii. Sums that still have both signs, and so leave an
//! activation undecided, are bounded again by a backward pass with parallel lines (see [`super::backward`]). The
//! bounds of a box are also bounds of its parts, so those of the parent are kept where they are better.
// Without branches: whether a neuron is open or alive is hard to predict.
#![allow(clippy::needless_bitwise_bool)]

use super::super::evidence::Phase;
use super::EXPENSIVE;
use super::backward::Backward;
use super::graph::{Affine, Function, Graph, Matrix, Operation, Slot};
use super::indices::Indices;
use super::kernel::{self, padded};
use super::lines::{self, Lines, Values};
use super::rounding::UNIT;
use crate::batch::InstructionSet;

/// What is known of a slot's values: numbers for each of them, padded.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotBounds {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    /// The same as centres and radii.
    pub(super) centres: Vec<f64>,
    pub(super) radii: Vec<f64>,
    /// Values that can differ from 0, and are not folded into the biases of the layers that read them.
    pub(super) alive: Indices,
    /// For layers: lines around their activations.
    pub(super) lines: Lines,
    /// The largest magnitude of a value.
    pub(super) largest: f64,
}

/// What is known of all slots.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    pub(super) slots: Vec<SlotBounds>,
    /// Inputs that are fixed, but not at 0; the layers that read them have them in their biases.
    fixed: Indices,
    centres: Vec<f64>,
    radii: Vec<f64>,
    reaches: Vec<f64>,
    open: Indices,
}

/// Bounds of the arguments of all activations: lower ends, then upper ends, slot by slot, padded.
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
        let slot = |slot: &Slot| {
            let mut bounds = SlotBounds::default();
            let size = padded(slot.size);
            for numbers in [&mut bounds.low, &mut bounds.high, &mut bounds.centres, &mut bounds.radii] {
                numbers.resize(size, 0.0);
            }
            if let Operation::Layer(_) = slot.operation {
                bounds.lines.resize(size);
            }
            bounds
        };
        Bounds {
            slots: graph.slots.iter().map(slot).collect(),
            fixed: Indices::default(),
            centres: Vec::new(),
            radii: Vec::new(),
            reaches: Vec::new(),
            open: Indices::default(),
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
        arguments.phases.clear();
        arguments.phases.extend(parent.iter().flat_map(|parent| &parent.phases));
        arguments.phases.extend(phase);
        self.inputs(graph, input);
        let mut start = 0;
        for (index, slot) in graph.slots.iter().enumerate() {
            match &slot.operation {
                Operation::Input => {}
                Operation::Layer(layer) => {
                    // Backward passes are better than intervals, which only pay where they save expensive ones.
                    let is_inherited = refine
                        && graph.refinable[index]
                        && graph.refine_cost <= EXPENSIVE
                        && parent.is_some();
                    self.sums(set, index, layer, is_inherited);
                    let end = start + padded(slot.size);
                    let sums = Sums { index, layer, start, end, is_inherited };
                    self.ends(graph, set, &sums, parent, phase, arguments);
                    // Intervals of what reads the inputs are exact but for facts.
                    let has_facts = !backward.facts.is_empty();
                    let is_first = has_facts && layer.from == 0 && graph.refine_cost <= EXPENSIVE;
                    if refine && (graph.refinable[index] || is_first) && !self.open.is_empty() {
                        let ends = (&mut arguments.low[start..end], &mut arguments.high[start..end]);
                        let biases = if is_first { &self.slots[index].lines.biases } else { &layer.biases };
                        backward.refine(graph, set, &self.slots, (layer, biases), &self.open, ends);
                    }
                    if has_facts && arguments.phases.is_empty() {
                        uncross(&mut arguments.low[start..end], &mut arguments.high[start..end]);
                    }
                    // Without phases there are states, and ends that cross are those of values beyond what the proofs cover.
                    let size = start..start + slot.size;
                    let crosses = |(low, high): (&f64, &f64)| low > high;
                    if !arguments.phases.is_empty()
                        && arguments.low[size.clone()].iter().zip(&arguments.high[size]).any(crosses)
                    {
                        return false;
                    }
                    self.values(graph, set, &sums, arguments);
                    start = end;
                }
                Operation::Arrange(elements) => self.arrange(index, elements),
                Operation::Maximum(left, right) => self.maximum(graph, index, *left, *right),
            }
        }
        true
    }

    fn inputs(&mut self, graph: &Graph, input: impl Fn(usize) -> (f64, f64)) {
        let size = graph.slots[0].size;
        let slot = &mut self.slots[0];
        slot.largest = 0.0;
        for index in 0..size {
            let (low, high) = input(index);
            slot.set(index, low, high);
        }
        let SlotBounds { low, high, alive, .. } = slot;
        let ends = || low[..size].iter().zip(&high[..size]);
        let folds = graph.folds_inputs;
        alive.select(ends().map(|(low, high)| (low != high) | !folds));
        self.fixed.select(ends().map(|(low, high)| (low == high) & folds & (*low != 0.0)));
    }

    /// Bounds the weighted sums of a layer, whose centres and radii are computed, and notes which of them leave an activation
    /// undecided.
    fn ends(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        &Sums { index, layer, start, end, is_inherited }: &Sums<'_>,
        parent: Option<&Arguments>,
        phase: Option<Phase>,
        arguments: &mut Arguments,
    ) {
        let Arguments { low, high, .. } = arguments;
        for ends in [&mut *low, &mut *high] {
            if ends.len() < end {
                ends.resize(end, 0.0);
            }
        }
        let (low, high) = (&mut low[start..end], &mut high[start..end]);
        let slack = (2.0 * layer.terms as f64 + 20.0) * 1.01 * UNIT;
        let largest = self.slots[layer.from].largest;
        let (norms, biases) = (&layer.norms, &layer.biases);
        let others = parent.map(|parent| (&parent.low[start..end], &parent.high[start..end]));
        self.reaches.resize(end - start, 0.0);
        let sums = (!is_inherited).then_some((&*self.centres, &*self.radii));
        let reaches = &mut self.reaches;
        lines::bound_sums(set, slack, largest, norms, biases, sums, others, low, high, reaches);
        if let Some(phase) = phase.filter(|phase| phase.node as usize + 1 == index) {
            let neuron = phase.neuron as usize;
            if phase.active {
                low[neuron] = low[neuron].max(0.0);
            } else {
                high[neuron] = high[neuron].min(0.0);
            }
        }
        let size = graph.slots[index].size;
        let ends = low[..size].iter().zip(&high[..size]);
        match layer.function {
            Function::Relu => self.open.select(ends.map(|(low, high)| (*low < 0.0) & (*high > 0.0))),
            function => self.open.select(ends.map(|(low, high)| is_open(function, *low, *high))),
        }
    }

    /// Bounds the values of a layer, whose weighted sums are bounded.
    fn values(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        &Sums { index, layer, start, end, .. }: &Sums<'_>,
        arguments: &Arguments,
    ) {
        let SlotBounds { low, high, centres, radii, alive, lines, largest } = &mut self.slots[index];
        let ends = (&arguments.low[start..end], &arguments.high[start..end]);
        let mut values = Values { low, high, centres, radii, largest };
        let size = graph.slots[index].size;
        lines::relax_layer(set, layer.function, size, ends, &self.reaches, lines, &mut values);
        let ends = low[..size].iter().zip(&high[..size]);
        let is_alive = ends.map(|(low, high)| (*low != 0.0) | (*high != 0.0));
        if arguments.phases.is_empty() {
            alive.select(is_alive);
        } else {
            let has_phase = |neuron: usize| arguments.has_phase(index, neuron);
            alive.select(is_alive.enumerate().map(|(neuron, is_alive)| is_alive || has_phase(neuron)));
        }
    }

    /// Computes the biases of weighted sums, with fixed inputs folded in, and unless bounds of the parent are enough, their centres and
    /// radii.
    fn sums(&mut self, set: InstructionSet, index: usize, layer: &Affine, is_inherited: bool) {
        let Bounds { slots, fixed, centres, radii, .. } = self;
        let (before, rest) = slots.split_at_mut(index);
        let (source, biases) = (&before[layer.from], &mut rest[0].lines.biases);
        biases.copy_from_slice(&layer.biases);
        if is_inherited {
            return;
        }
        radii.clear();
        radii.resize(layer.biases.len(), 0.0);
        match &layer.matrix {
            Matrix::Dense { columns, .. } => {
                if layer.from == 0 {
                    kernel::add_products(set, columns, fixed, &source.centres, biases);
                }
                centres.clone_from(biases);
                let SlotBounds { alive, centres: from_centres, radii: from_radii, .. } = source;
                kernel::forward(set, columns, alive, from_centres, from_radii, centres, radii);
            }
            Matrix::Sparse { starts, entries } => {
                centres.clone_from(biases);
                for (neuron, range) in starts.windows(2).enumerate() {
                    for &(input, weight) in &entries[range[0]..range[1]] {
                        centres[neuron] += weight * source.centres[input as usize];
                        radii[neuron] += weight.abs() * source.radii[input as usize];
                    }
                }
            }
        }
    }

    fn arrange(&mut self, index: usize, elements: &[(u32, u32)]) {
        let (before, rest) = self.slots.split_at_mut(index);
        let slot = &mut rest[0];
        slot.largest = 0.0;
        for (place, &(source, element)) in elements.iter().enumerate() {
            let source = &before[source as usize];
            slot.set(place, source.low[element as usize], source.high[element as usize]);
        }
        slot.alive.select(elements.iter().map(|_| true));
    }

    fn maximum(&mut self, graph: &Graph, index: usize, left: usize, right: usize) {
        let (before, rest) = self.slots.split_at_mut(index);
        let slot = &mut rest[0];
        slot.largest = 0.0;
        let (left, right) = (&before[left], &before[right]);
        let size = graph.slots[index].size;
        for place in 0..size {
            slot.set(place, left.low[place].max(right.low[place]), left.high[place].max(right.high[place]));
        }
        slot.alive.select((0..size).map(|_| true));
    }
}

/// Exchanges ends that cross. If facts made them cross, there are no states, and anything is a bound.
fn uncross(low: &mut [f64], high: &mut [f64]) {
    for (low, high) in low.iter_mut().zip(high) {
        if *low > *high {
            std::mem::swap(low, high);
        }
    }
}

/// The weighted sums of a layer, in its slot.
struct Sums<'g> {
    index: usize,
    layer: &'g Affine,
    /// Where their ends stand in [`Arguments`].
    start: usize,
    end: usize,
    /// Whether their ends are those of the parent, to begin with.
    is_inherited: bool,
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
    #[inline]
    fn set(&mut self, value: usize, low: f64, high: f64) {
        let centre = 0.5 * (low + high);
        (self.low[value], self.high[value]) = (low, high);
        self.centres[value] = centre;
        self.radii[value] = (high - centre).max(centre - low);
        let magnitude = high.max(-low);
        // `max` would ignore NaN.
        self.largest = if magnitude <= self.largest { self.largest } else { magnitude };
    }

    /// The largest magnitude of each value.
    pub(super) fn magnitudes(&self) -> impl Iterator<Item = f64> {
        self.low.iter().zip(&self.high).map(|(low, high)| high.max(-low))
    }
}
