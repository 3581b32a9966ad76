//! Backward passes: linear functions of some slots, replaced step by step by linear functions of the inputs.
//!
//! This is CROWN (Zhang et al., 2018), many functions at once. A *lane* is one function. Where a coefficient of an
//! activation's value is positive, the lower line takes its place, else the upper one: what results is below the function
//! everywhere in the box. With parallel lines both choices have the same slope, so that one pass bounds the function from both
//! sides: that halves the work for hidden neurons.

use super::bounds::SlotBounds;
use super::facts::Facts;
use super::graph::{Affine, Graph, Matrix, Operation};
use super::indices::Indices;
use super::kernel::{self, LANE_BLOCK};
use super::lanes::{self, Constants};
use super::rounding::UNIT;
use super::slopes::Slopes;
use crate::batch::InstructionSet;

/// Neurons that are bounded in one pass.
const CHUNK: usize = 64;

/// Networks whose hidden values cost not more are bounded from each side by lines of their own.
const CHEAP: f64 = 2e5;

/// Steps of gradient ascent for optimised slopes.
const OPTIMISED_STEPS: i32 = 10;

/// The working memory of backward passes, and the result of the last one.
#[derive(Debug, Clone)]
pub(super) struct Backward {
    /// Per slot, a row of lanes per value.
    coefficients: Vec<Vec<f64>>,
    /// The same for the arguments of the slot that is being replaced.
    arguments: Vec<f64>,
    /// Slots whose coefficients are in use.
    used: Vec<bool>,
    constants: Constants,
    lanes: usize,
    /// The neurons that lanes stand for, and the first ones of their blocks.
    neurons: Vec<u32>,
    blocks: Vec<u32>,
    /// For each input, the first one that reads the same variable.
    leaders: Vec<u32>,
    /// `G` of [`super::rounding`].
    growth: f64,
    rises: Vec<f64>,
    /// The largest minima so far, while slopes are optimised.
    best: Vec<f64>,
    optimised: Slopes,
    /// Points where the bounds of the last pass are least, a row of lanes per input.
    corners: Vec<f64>,
    /// What holds in the states that are bounded.
    pub(super) facts: Facts,
}

/// One score minus another; either may be missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreFunction {
    pub(super) plus: Option<usize>,
    pub(super) minus: Option<usize>,
}

/// Which lines a pass uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Tight,
    Parallel,
    /// Tight lines with slopes that differ from lane to lane.
    Optimised,
}

impl Backward {
    pub(super) fn new(graph: &Graph, leaders: Vec<u32>) -> Self {
        Backward {
            coefficients: vec![Vec::new(); graph.slots.len()],
            arguments: Vec::new(),
            used: vec![false; graph.slots.len()],
            constants: Constants::default(),
            lanes: 0,
            neurons: Vec::new(),
            blocks: Vec::new(),
            leaders,
            growth: (2.0 * graph.values as f64 + 64.0 + Facts::ROUNDINGS as f64) * 1.01 * UNIT,
            rises: Vec::new(),
            best: Vec::new(),
            optimised: Slopes::default(),
            corners: Vec::new(),
            facts: Facts::default(),
        }
    }

    /// Narrows the ends, padded, of a layer's weighted sums, at least for the neurons in `open`. Biases are those of the layer, with what
    /// is folded into them if it reads the inputs.
    pub(super) fn refine(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        (layer, biases): (&Affine, &[f64]),
        open: &[u32],
        (low, high): (&mut [f64], &mut [f64]),
    ) {
        let is_cheap = graph.refine_cost <= CHEAP || layer.from == 0;
        let (style, sides) = if is_cheap { (Style::Tight, 2) } else { (Style::Parallel, 1) };
        let mut neurons = std::mem::take(&mut self.neurons);
        let blocks = Backward::choose(graph, layer, open, &mut neurons);
        for neurons in neurons.chunks(CHUNK / sides) {
            let above = neurons.len().next_multiple_of(LANE_BLOCK);
            self.start(sides * above);
            self.load_biases(biases, neurons);
            if layer.from == 0 {
                // What is folded into biases was rounded there.
                for (magnitude, &neuron) in self.constants.magnitude.iter_mut().zip(neurons) {
                    *magnitude += layer.norms[neuron as usize] * slots[0].largest;
                }
            }
            if blocks {
                self.relax_rows(graph, set, slots, layer, neurons, style);
                self.run(graph, set, slots, layer.from - 1, style);
            } else {
                self.load_rows(graph, slots, layer, neurons);
                if style == Style::Tight {
                    self.negate(&slots[layer.from].alive, layer.from, above);
                }
                self.run(graph, set, slots, layer.from, style);
            }
            if style == Style::Tight {
                let (functions, negated) = self.constants.low.split_at(above);
                self.constants.high.clear();
                self.constants.high.extend(negated.iter().map(|minimum| -minimum));
                narrow(neurons, blocks, (functions, &self.constants.high), (low, high));
            } else {
                narrow(neurons, blocks, (&self.constants.low, &self.constants.high), (low, high));
            }
        }
        self.neurons = neurons;
    }

    /// Chooses the neurons to bound if those in `open`, in ascending order, have to be: they alone, or where that is not much more,
    /// whole blocks of neighbours, whose weights need not be copied. Whether they are blocks.
    fn choose(graph: &Graph, layer: &Affine, open: &[u32], neurons: &mut Vec<u32>) -> bool {
        const BLOCK: u32 = LANE_BLOCK as u32;
        neurons.clear();
        let is_layer = |slot: usize| matches!(graph.slots[slot].operation, Operation::Layer(_));
        if matches!(layer.matrix, Matrix::Dense { .. }) && is_layer(layer.from) {
            for &neuron in open {
                if neurons.last().is_none_or(|&last| last < neuron) {
                    let first = neuron - neuron % BLOCK;
                    neurons.extend(first..first + BLOCK);
                }
            }
            if neurons.len() <= 2 * open.len().next_multiple_of(LANE_BLOCK) {
                return true;
            }
            neurons.clear();
        }
        neurons.extend_from_slice(open);
        false
    }

    /// Loads the constants of the weighted sums of neurons, one per lane.
    fn load_biases(&mut self, biases: &[f64], neurons: &[u32]) {
        let Constants { low, high, magnitude } = &mut self.constants;
        for ((low, high), (magnitude, &neuron)) in
            low.iter_mut().zip(high).zip(magnitude.iter_mut().zip(neurons))
        {
            *low = biases[neuron as usize];
            *high = *low;
            *magnitude = low.abs();
        }
    }

    /// Replaces the values in the weighted sums of blocks of neurons, straight from the weights.
    fn relax_rows(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        layer: &Affine,
        neurons: &[u32],
        style: Style,
    ) {
        let (Matrix::Dense { columns, .. }, Operation::Layer(source)) =
            (&layer.matrix, &graph.slots[layer.from].operation)
        else {
            unreachable!("blocks are chosen for dense layers that read layers")
        };
        self.blocks.clear();
        self.blocks.extend(neurons.iter().step_by(LANE_BLOCK));
        let SlotBounds { alive, lines, .. } = &slots[layer.from];
        let size = graph.slots[layer.from].size * self.lanes;
        self.arguments.resize(self.arguments.len().max(size), 0.0);
        let Backward { blocks, arguments, constants, .. } = self;
        let stride = layer.biases.len();
        if style == Style::Parallel {
            let lines = lines.parallel();
            lanes::relax_weights_parallel(set, alive, lines, columns, stride, blocks, arguments, constants);
        } else {
            lanes::relax_weights(set, alive, lines.tight(), columns, stride, blocks, arguments, constants);
        }
        self.replace_sums(graph, set, slots, layer.from, source);
    }

    /// Loads the functions of the lanes before `above` once more, negated, from there on: their minima bound the functions from
    /// above.
    fn negate(&mut self, alive: &Indices, slot: usize, above: usize) {
        for &value in alive {
            let row = &mut self.coefficients[slot][value as usize * self.lanes..][..self.lanes];
            let (functions, negated) = row.split_at_mut(above);
            for (to, from) in negated.iter_mut().zip(functions) {
                *to = -*from;
            }
        }
        for lane in 0..above {
            self.constants.low[above + lane] = -self.constants.low[lane];
            self.constants.magnitude[above + lane] = self.constants.magnitude[lane];
        }
    }

    /// Bounds functions of the scores from below. Results are in [`Backward::minimum`] and [`Backward::coefficient`],
    /// lane by lane.
    pub(super) fn scores(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        functions: impl ExactSizeIterator<Item = ScoreFunction>,
    ) {
        let last = self.load_scores(graph, slots, functions);
        self.run(graph, set, slots, last, Style::Tight);
    }

    /// Improves on the minima of the last [`Backward::scores`] of the same functions by optimised slopes. Coefficients are no longer
    /// those of the minima.
    pub(super) fn optimise(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        functions: &[ScoreFunction],
    ) {
        self.best.clone_from(&self.constants.low);
        self.optimised.start(graph, slots, self.lanes);
        for step in 0..OPTIMISED_STEPS {
            self.load_corners(graph, slots);
            let size = 0.7_f64.powi(step);
            self.optimised.ascend(graph, set, slots, &self.coefficients, (&self.corners, self.lanes), size);
            let last = self.load_scores(graph, slots, functions.iter().copied());
            self.run(graph, set, slots, last, Style::Optimised);
            for (best, &minimum) in self.best.iter_mut().zip(&self.constants.low) {
                // False for NaN.
                if minimum > *best {
                    *best = minimum;
                }
            }
        }
        std::mem::swap(&mut self.constants.low, &mut self.best);
    }

    /// For each input, the first one that reads the same variable; and `G` of [`super::rounding`].
    pub(super) fn rounding(&self) -> (&[u32], f64) {
        (&self.leaders, self.growth)
    }

    /// Loads functions of the scores, one per lane; the slot that they are functions of.
    fn load_scores(
        &mut self,
        graph: &Graph,
        slots: &[SlotBounds],
        functions: impl ExactSizeIterator<Item = ScoreFunction>,
    ) -> usize {
        self.start(functions.len());
        let last = graph.slots.len() - 1;
        self.take(graph, slots, last);
        let lanes = self.lanes;
        let coefficients = &mut self.coefficients[last];
        for (lane, ScoreFunction { plus, minus }) in functions.enumerate() {
            if let Some(plus) = plus {
                coefficients[plus * lanes + lane] += 1.0;
            }
            if let Some(minus) = minus {
                coefficients[minus * lanes + lane] -= 1.0;
            }
        }
        last
    }

    /// Finds the points where the bounds of the last pass are least.
    fn load_corners(&mut self, graph: &Graph, slots: &[SlotBounds]) {
        let lanes = self.lanes;
        self.corners.clear();
        self.corners.resize(graph.slots[0].size * lanes, 0.0);
        for &input in &slots[0].alive {
            let input = input as usize;
            let (low, high) = (slots[0].low[input], slots[0].high[input]);
            let leader = self.leaders[input] as usize;
            for lane in 0..lanes {
                let is_rising = self.coefficients[0][leader * lanes + lane] > 0.0;
                self.corners[input * lanes + lane] = if is_rising { low } else { high };
            }
        }
    }

    /// A lower bound of a lane's function over the box; NaN or infinite if there is none.
    pub(super) fn minimum(&self, lane: usize) -> f64 {
        self.constants.low[lane]
    }

    /// The coefficient of an input in the linear function that bounds a lane from below. Inputs that read the same variable share
    /// the coefficient of the first one.
    pub(super) fn coefficient(&self, input: usize, lane: usize) -> f64 {
        self.coefficients[0][input * self.lanes + lane]
    }

    /// Finds by how much one variable alone can raise the linear functions of the last pass above their minima; see
    /// [`Backward::rise`].
    pub(super) fn find_rises(&mut self, slots: &[SlotBounds]) {
        let lanes = self.lanes;
        self.rises.clear();
        self.rises.resize(lanes, 0.0);
        for &input in &slots[0].alive {
            let width = 2.0 * slots[0].radii[input as usize];
            let row = &self.coefficients[0][input as usize * lanes..][..lanes];
            for (most, coefficient) in self.rises.iter_mut().zip(row) {
                let rise = coefficient.abs() * width;
                *most = if rise > *most { rise } else { *most };
            }
        }
    }

    /// The most that one variable alone can raise the linear function of a lane.
    pub(super) fn rise(&self, lane: usize) -> f64 {
        self.rises[lane]
    }

    /// The coefficient of a slot's value in a lane of the last pass, if the slot was replaced.
    pub(super) fn met(&self, slot: usize, value: u32, lane: usize) -> f64 {
        self.coefficients[slot][value as usize * self.lanes + lane]
    }

    fn start(&mut self, functions: usize) {
        self.lanes = functions.next_multiple_of(LANE_BLOCK);
        self.constants.reset(self.lanes);
        self.used.fill(false);
    }

    /// Makes room for the coefficients of a slot; whether they were not in use.
    fn claim(&mut self, graph: &Graph, slot: usize) -> bool {
        let size = graph.slots[slot].size * self.lanes;
        let coefficients = &mut self.coefficients[slot];
        if coefficients.len() < size {
            coefficients.resize(size, 0.0);
        }
        !std::mem::replace(&mut self.used[slot], true)
    }

    /// Makes sure that a slot has coefficients; they are 0 where they were not in use.
    fn take(&mut self, graph: &Graph, slots: &[SlotBounds], slot: usize) {
        if self.claim(graph, slot) {
            let lanes = self.lanes;
            for &value in &slots[slot].alive {
                self.coefficients[slot][value as usize * lanes..][..lanes].fill(0.0);
            }
        }
    }

    /// Loads the weighted sums of neurons, one per lane.
    fn load_rows(&mut self, graph: &Graph, slots: &[SlotBounds], layer: &Affine, neurons: &[u32]) {
        let lanes = self.lanes;
        match &layer.matrix {
            Matrix::Dense { columns, .. } => {
                self.claim(graph, layer.from);
                let coefficients = &mut self.coefficients[layer.from];
                let stride = layer.biases.len();
                for &input in &slots[layer.from].alive {
                    let column = &columns[input as usize * stride..][..stride];
                    let row = &mut coefficients[input as usize * lanes..][..lanes];
                    for (coefficient, &neuron) in row.iter_mut().zip(neurons) {
                        *coefficient = column[neuron as usize];
                    }
                    row[neurons.len()..].fill(0.0);
                }
            }
            Matrix::Sparse { starts, entries } => {
                self.take(graph, slots, layer.from);
                let coefficients = &mut self.coefficients[layer.from];
                for (lane, &neuron) in neurons.iter().enumerate() {
                    let range = starts[neuron as usize]..starts[neuron as usize + 1];
                    for &(input, weight) in &entries[range] {
                        coefficients[input as usize * lanes + lane] = weight;
                    }
                }
            }
        }
    }

    /// Replaces slots from `slot` down to the inputs, then takes the extremes over the box.
    fn run(&mut self, graph: &Graph, set: InstructionSet, slots: &[SlotBounds], slot: usize, style: Style) {
        for index in (1..=slot).rev() {
            if !self.used[index] {
                continue;
            }
            match &graph.slots[index].operation {
                Operation::Input => {}
                Operation::Layer(layer) => self.replace_layer(graph, set, slots, index, layer, style),
                Operation::Arrange(elements) => self.replace_copies(graph, slots, index, elements),
                Operation::Maximum(left, right) => {
                    self.replace_maxima(graph, slots, index, [*left, *right], style);
                }
            }
        }
        self.concretise(graph, set, slots, style);
    }

    fn replace_layer(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        index: usize,
        layer: &Affine,
        style: Style,
    ) {
        let slot = &slots[index];
        let lanes = self.lanes;
        let (coefficients, constants) = (&self.coefficients[index], &mut self.constants);
        if self.arguments.len() < coefficients.len() {
            self.arguments.resize(coefficients.len(), 0.0);
        }
        let from = &mut self.arguments;
        match style {
            Style::Tight => {
                lanes::relax(set, &slot.alive, slot.lines.tight(), lanes, coefficients, from, constants);
            }
            Style::Parallel => {
                let lines = slot.lines.parallel();
                lanes::relax_parallel(set, &slot.alive, lines, lanes, coefficients, from, constants);
            }
            Style::Optimised => self.optimised.relax(index, slot, lanes, coefficients, from, constants),
        }
        self.replace_sums(graph, set, slots, index, layer);
    }

    /// Replaces the weighted sums of a layer, whose coefficients are in `arguments`.
    fn replace_sums(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        index: usize,
        layer: &Affine,
    ) {
        let lanes = self.lanes;
        let slot = &slots[index];
        let columns = &slots[layer.from].alive;
        match &layer.matrix {
            Matrix::Dense { inputs, rows, .. } => {
                let is_new = self.claim(graph, layer.from);
                let (from, to) = (&self.arguments, &mut self.coefficients[layer.from]);
                let stride = kernel::padded(*inputs);
                kernel::backward(set, rows, stride, &slot.alive, columns, lanes, from, to, is_new);
            }
            Matrix::Sparse { starts, entries } => {
                self.take(graph, slots, layer.from);
                let (from, to) = (&self.arguments, &mut self.coefficients[layer.from]);
                for &neuron in &slot.alive {
                    let from = &from[neuron as usize * lanes..][..lanes];
                    for &(input, weight) in &entries[starts[neuron as usize]..starts[neuron as usize + 1]] {
                        let to = &mut to[input as usize * lanes..][..lanes];
                        for (to, from) in to.iter_mut().zip(from) {
                            *to += weight * from;
                        }
                    }
                }
            }
        }
    }

    fn replace_copies(&mut self, graph: &Graph, slots: &[SlotBounds], index: usize, elements: &[(u32, u32)]) {
        let lanes = self.lanes;
        for (place, &(source, element)) in elements.iter().enumerate() {
            self.take(graph, slots, source as usize);
            let (before, rest) = self.coefficients.split_at_mut(index);
            let to = &mut before[source as usize][element as usize * lanes..][..lanes];
            let largest = slots[source as usize].largest;
            for (lane, (to, from)) in to.iter_mut().zip(&rest[0][place * lanes..][..lanes]).enumerate() {
                *to += from;
                self.constants.magnitude[lane] += from.abs() * largest;
            }
        }
    }

    /// `max(a, b)` is above both operands. With `d = b − a` between `l` and `u` it is `a + max(0, d)`, which is below
    /// `a + s·d + t` for any slope `s` and `t = max(−s·l, (1 − s)·u)`.
    /// It is also above `a + s·d` for slopes between 0 and 1, which gives parallel lines.
    fn replace_maxima(
        &mut self,
        graph: &Graph,
        slots: &[SlotBounds],
        index: usize,
        [left, right]: [usize; 2],
        style: Style,
    ) {
        let lanes = self.lanes;
        self.take(graph, slots, left);
        self.take(graph, slots, right);
        let coefficients = std::mem::take(&mut self.coefficients[index]);
        let largest = slots[left].largest.max(slots[right].largest);
        for place in 0..graph.slots[index].size {
            let (a, b) = (
                (slots[left].low[place], slots[left].high[place]),
                (slots[right].low[place], slots[right].high[place]),
            );
            let (l, u) = (b.0 - a.1, b.1 - a.0);
            let (low, high, constant) = if u <= 0.0 {
                (0.0, 0.0, 0.0)
            } else if l >= 0.0 {
                (1.0, 1.0, 0.0)
            } else {
                let slope = u / (u - l);
                let constant = (-slope * l).max((1.0 - slope) * u) + 16.0 * UNIT * largest;
                let low = match style {
                    Style::Tight | Style::Optimised => f64::from(u8::from(u > -l)),
                    Style::Parallel => slope,
                };
                (low, slope, constant)
            };
            for lane in 0..lanes {
                let coefficient = coefficients[place * lanes + lane];
                let share = if coefficient > 0.0 { low } else { high };
                self.coefficients[left][place * lanes + lane] += coefficient * (1.0 - share);
                self.coefficients[right][place * lanes + lane] += coefficient * share;
                if coefficient > 0.0 {
                    self.constants.high[lane] += coefficient * constant;
                } else {
                    self.constants.low[lane] += coefficient * constant;
                }
                self.constants.magnitude[lane] += coefficient.abs() * (4.0 * largest + constant);
            }
        }
        self.coefficients[index] = coefficients;
    }

    /// Takes the extremes of the linear functions over the box. Where parallel lines bound a function from both sides, facts are left
    /// out: a price is for one side.
    fn concretise(&mut self, graph: &Graph, set: InstructionSet, slots: &[SlotBounds], style: Style) {
        let lanes = self.lanes;
        self.take(graph, slots, 0);
        let SlotBounds { alive, centres, radii, .. } = &slots[0];
        let coefficients = &mut self.coefficients[0];
        for &input in alive {
            let (input, leader) = (input as usize, self.leaders[input as usize] as usize);
            if leader != input {
                let largest = centres[input].abs() + radii[input];
                let (before, rest) = coefficients.split_at_mut(input * lanes);
                let pairs = before[leader * lanes..][..lanes].iter_mut().zip(&mut rest[..lanes]);
                for ((to, from), magnitude) in pairs.zip(&mut self.constants.magnitude) {
                    *magnitude += from.abs() * largest;
                    *to += std::mem::take(from);
                }
            }
        }
        if style != Style::Parallel && !self.facts.is_empty() {
            self.facts.price(&slots[0], lanes, coefficients, &mut self.constants);
        }
        lanes::concretise(set, alive, centres, radii, lanes, coefficients, self.growth, &mut self.constants);
    }
}

/// Narrows the ends of neurons to the minima and maxima of their lanes. Neurons may be whole blocks of neighbours.
fn narrow(
    neurons: &[u32],
    are_blocks: bool,
    (minima, maxima): (&[f64], &[f64]),
    (low, high): (&mut [f64], &mut [f64]),
) {
    // Comparisons with NaN are false and keep the old ends.
    let raise = |low: &mut f64, minimum: f64| *low = if minimum > *low { minimum } else { *low };
    let lower = |high: &mut f64, maximum: f64| *high = if maximum < *high { maximum } else { *high };
    if are_blocks {
        for (block, first) in neurons.iter().step_by(LANE_BLOCK).enumerate() {
            let lanes = block * LANE_BLOCK..(block + 1) * LANE_BLOCK;
            let places = *first as usize..*first as usize + LANE_BLOCK;
            let (minima, maxima) = (&minima[lanes.clone()], &maxima[lanes]);
            low[places.clone()].iter_mut().zip(minima).for_each(|(low, &minimum)| raise(low, minimum));
            high[places].iter_mut().zip(maxima).for_each(|(high, &maximum)| lower(high, maximum));
        }
    } else {
        for (&neuron, (&minimum, &maximum)) in neurons.iter().zip(minima.iter().zip(maxima)) {
            raise(&mut low[neuron as usize], minimum);
            lower(&mut high[neuron as usize], maximum);
        }
    }
}
