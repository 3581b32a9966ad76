//! Optimised slopes: better lines below `ReLU`s, found by a few steps of gradient ascent (α-CROWN, Xu et al., 2021).
//!
//! Where a `ReLU` has arguments of both signs, any line through the origin with a slope between 0 and 1 (for leaky ones, between
//! the slope below 0 and 1) is below it. The bound is concave in the slopes of the last layer, and its derivative with
//! respect to a slope is the coefficient that meets the line times the argument at the point where the bound is least.
//! Each function has its own slopes, a lane per function. Whatever the slopes, the bound is sound.
//!
//! This pays for bounds of scores and margins, which are asked once per box. In a search it does not: the bounds of two hidden layers
//! improve by a few per cent, and splits that are chosen from optimised functions are worse, so that there are more boxes.

use super::bounds::SlotBounds;
use super::graph::{Function, Graph, Matrix, Operation};
use super::kernel::{self, Constants, Lines};
use crate::batch::InstructionSet;

/// Slopes of all lanes, and what the last backward pass left for their next step.
#[derive(Debug, Clone, Default)]
pub(super) struct Slopes {
    /// Per slot, a row of lanes per value that can differ from 0.
    current: Vec<Vec<f64>>,
    /// Per slot, the coefficients that met the lines in the last pass.
    met: Vec<Vec<f64>>,
    /// Per slot, arguments at the point where the bound is least.
    arguments: Vec<Vec<f64>>,
    /// The largest derivative of each lane in a slot.
    steepest: Vec<f64>,
}

impl Slopes {
    /// Begins with the slopes of the lines that are there.
    pub(super) fn start(&mut self, graph: &Graph, slots: &[SlotBounds], lanes: usize) {
        for all in [&mut self.current, &mut self.met, &mut self.arguments] {
            all.resize(graph.slots.len(), Vec::new());
        }
        for (index, slot) in slots.iter().enumerate() {
            self.current[index].clear();
            for lines in &slot.lines {
                self.current[index].extend(std::iter::repeat_n(lines.low.0, lanes));
            }
            self.met[index].clear();
            self.met[index].resize(slot.lines.len() * lanes, 0.0);
        }
    }

    /// Replaces the values of a slot by their arguments, as [`kernel::relax`] does, with a slope per lane.
    pub(super) fn relax(
        &mut self,
        index: usize,
        slot: &SlotBounds,
        lanes: usize,
        coefficients: &mut [f64],
        constants: &mut Constants,
    ) {
        for (place, (&value, lines)) in slot.alive.iter().zip(&slot.lines).enumerate() {
            let row = &mut coefficients[value as usize * lanes..][..lanes];
            let slopes = &self.current[index][place * lanes..][..lanes];
            let met = &mut self.met[index][place * lanes..][..lanes];
            for lane in 0..lanes {
                let coefficient = row[lane];
                met[lane] = coefficient;
                let (slope, constant) =
                    if coefficient > 0.0 { (slopes[lane], lines.low.1) } else { lines.high };
                row[lane] = coefficient * slope;
                constants.low[lane] += coefficient * constant + row[lane] * lines.bias;
                constants.magnitude[lane] += coefficient.abs() * lines.magnitude;
            }
        }
    }

    /// Moves all slopes in the direction in which the bounds grow, by at most `step`.
    ///
    /// `inputs` are the points where the bounds are least, a row of lanes per input.
    pub(super) fn ascend(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        (inputs, lanes): (&[f64], usize),
        step: f64,
    ) {
        self.arguments[0].clear();
        self.arguments[0].extend_from_slice(inputs);
        for (index, slot) in graph.slots.iter().enumerate().skip(1) {
            let Operation::Layer(layer) = &slot.operation else { return };
            let Matrix::Dense { columns, .. } = &layer.matrix else { return };
            let bounds = &slots[index];
            let (before, rest) = self.arguments.split_at_mut(index);
            let values = &mut rest[0];
            values.clear();
            values.resize(slot.size * lanes, 0.0);
            for (&value, lines) in bounds.alive.iter().zip(&bounds.lines) {
                values[value as usize * lanes..][..lanes].fill(lines.bias);
            }
            let rows = &slots[layer.from].alive;
            let (stride, alive) = (layer.biases.len(), &bounds.alive);
            kernel::backward(set, columns, stride, rows, alive, lanes, &before[layer.from], values);
            let least = match layer.function {
                Function::Relu => Some(0.0),
                Function::LeakyRelu(slope) => Some(slope),
                _ => None,
            };
            let (met, slopes) = (&self.met[index], &mut self.current[index]);
            let gradient =
                |place: usize, lane: usize, argument: f64| met[place * lanes + lane].max(0.0) * argument;
            let is_open = |lines: &Lines| lines.low.0 != lines.high.0;
            self.steepest.clear();
            self.steepest.resize(lanes, f64::MIN_POSITIVE);
            for (place, (&value, _)) in
                alive.iter().zip(&bounds.lines).enumerate().filter(|(_, (_, lines))| is_open(lines))
            {
                for (lane, steepest) in self.steepest.iter_mut().enumerate() {
                    *steepest =
                        steepest.max(gradient(place, lane, values[value as usize * lanes + lane]).abs());
                }
            }
            for (place, (&value, lines)) in alive.iter().zip(&bounds.lines).enumerate() {
                for (lane, argument) in values[value as usize * lanes..][..lanes].iter_mut().enumerate() {
                    let slope = &mut slopes[place * lanes + lane];
                    let meets_low = met[place * lanes + lane] > 0.0;
                    let line = if meets_low { (*slope, lines.low.1) } else { lines.high };
                    if let (Some(least), true, true) = (least, is_open(lines), meets_low) {
                        let change = step * gradient(place, lane, *argument) / self.steepest[lane];
                        *slope = (*slope + change).clamp(least, 1.0);
                    }
                    *argument = line.0 * *argument + line.1;
                }
            }
        }
    }
}
