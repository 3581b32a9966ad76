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
use super::kernel;
use super::lanes::Constants;
use crate::batch::InstructionSet;

/// Slopes of all lanes.
#[derive(Debug, Clone, Default)]
pub(super) struct Slopes {
    /// Per slot, a row of lanes per value.
    current: Vec<Vec<f64>>,
    /// Per slot, arguments at the point where the bound is least.
    arguments: Vec<Vec<f64>>,
    /// The largest derivative of each lane in a slot.
    steepest: Vec<f64>,
}

impl Slopes {
    /// Begins with the slopes of the lines that are there.
    pub(super) fn start(&mut self, graph: &Graph, slots: &[SlotBounds], lanes: usize) {
        for all in [&mut self.current, &mut self.arguments] {
            all.resize(graph.slots.len(), Vec::new());
        }
        for (index, slot) in slots.iter().enumerate() {
            self.current[index].clear();
            for &slope in &slot.lines.low_slopes {
                self.current[index].extend(std::iter::repeat_n(slope, lanes));
            }
        }
    }

    /// Replaces the values of a slot by their arguments, as [`super::lanes::relax`] does, with a slope per lane.
    pub(super) fn relax(
        &self,
        index: usize,
        slot: &SlotBounds,
        lanes: usize,
        from: &[f64],
        to: &mut [f64],
        constants: &mut Constants,
    ) {
        let lines = &slot.lines;
        for &value in &slot.alive {
            let value = value as usize;
            let row = value * lanes..(value + 1) * lanes;
            let slopes = &self.current[index][row.clone()];
            let pairs = from[row.clone()].iter().zip(&mut to[row]);
            for (lane, (&coefficient, argument)) in pairs.enumerate() {
                let (slope, constant) = if coefficient > 0.0 {
                    (slopes[lane], lines.low_constants[value])
                } else {
                    (lines.high_slopes[value], lines.high_constants[value])
                };
                *argument = coefficient * slope;
                constants.low[lane] += coefficient * constant + *argument * lines.biases[value];
                constants.magnitude[lane] += coefficient.abs() * lines.magnitudes[value];
            }
        }
    }

    /// Moves all slopes in the direction in which the bounds grow, by at most `step`.
    ///
    /// `met` are the coefficients that met the lines in the last pass, `inputs` the points where its bounds are least, a row of lanes
    /// per input.
    pub(super) fn ascend(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        met: &[Vec<f64>],
        (inputs, lanes): (&[f64], usize),
        step: f64,
    ) {
        self.arguments[0].clear();
        self.arguments[0].extend_from_slice(inputs);
        for (index, slot) in graph.slots.iter().enumerate().skip(1) {
            let Operation::Layer(layer) = &slot.operation else { return };
            let Matrix::Dense { columns, .. } = &layer.matrix else { return };
            let SlotBounds { alive, lines, .. } = &slots[index];
            let (before, rest) = self.arguments.split_at_mut(index);
            let values = &mut rest[0];
            values.clear();
            values.resize(slot.size * lanes, 0.0);
            for &value in alive {
                values[value as usize * lanes..][..lanes].fill(lines.biases[value as usize]);
            }
            let (rows, stride) = (&slots[layer.from].alive, layer.biases.len());
            kernel::backward(set, columns, stride, rows, alive, lanes, &before[layer.from], values, false);
            let least = match layer.function {
                Function::Relu => Some(0.0),
                Function::LeakyRelu(slope) => Some(slope),
                _ => None,
            };
            let (met, slopes) = (&met[index], &mut self.current[index]);
            if met.len() < values.len() {
                return;
            }
            self.steepest.clear();
            self.steepest.resize(lanes, f64::MIN_POSITIVE);
            for &value in alive.iter().filter(|&&value| lines.is_open(value)) {
                let row = value as usize * lanes;
                for (lane, steepest) in self.steepest.iter_mut().enumerate() {
                    *steepest = steepest.max((met[row + lane].max(0.0) * values[row + lane]).abs());
                }
            }
            for &value in alive {
                let (is_open, value) = (lines.is_open(value), value as usize);
                for (lane, argument) in values[value * lanes..][..lanes].iter_mut().enumerate() {
                    let (slope, met) = (&mut slopes[value * lanes + lane], met[value * lanes + lane]);
                    let line = if met > 0.0 {
                        (*slope, lines.low_constants[value])
                    } else {
                        (lines.high_slopes[value], lines.high_constants[value])
                    };
                    if let (Some(least), true, true) = (least, is_open, met > 0.0) {
                        let change = step * met * *argument / self.steepest[lane];
                        *slope = (*slope + change).clamp(least, 1.0);
                    }
                    *argument = line.0 * *argument + line.1;
                }
            }
        }
    }
}
