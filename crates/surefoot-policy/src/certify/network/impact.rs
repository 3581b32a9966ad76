//! The impact of inputs on a bound: how much less it would lose, roughly, if an input were narrower by one.
//!
//! That is the sum over undecided activations of the magnitude of the coefficient that meets them, times half of what the input
//! contributes to the width of their argument.
//!
//! This is for chains of dense layers.

use super::backward::Backward;
use super::bounds::SlotBounds;
use super::graph::Graph;
use super::kernel;
use super::priced::dense;
use crate::batch::InstructionSet;

/// Impacts of the values of a slot, in the end of the inputs.
#[derive(Debug, Clone, Default)]
pub(super) struct Impacts {
    impacts: Vec<f64>,
    /// The same for the arguments of a slot.
    arguments: Vec<f64>,
}

impl Impacts {
    /// Finds the impacts on the bound of a lane of the last backward pass from the scores.
    pub(super) fn find(
        &mut self,
        graph: &Graph,
        set: InstructionSet,
        slots: &[SlotBounds],
        backward: &Backward,
        lane: usize,
    ) {
        let Impacts { impacts, arguments } = self;
        impacts.clear();
        impacts.resize(slots[slots.len() - 1].low.len(), 0.0);
        for index in (1..slots.len()).rev() {
            let Some((layer, rows, _)) = dense(graph, index) else { return };
            let SlotBounds { alive, lines, .. } = &slots[index];
            arguments.resize(arguments.len().max(impacts.len()), 0.0);
            for &value in alive {
                let met = backward.met(index, value, lane).abs();
                let own = if lines.is_open(value) { 0.5 * met } else { 0.0 };
                let value = value as usize;
                arguments[value] = impacts[value] * lines.high_slopes[value] + own;
            }
            impacts.clear();
            impacts.resize(slots[layer.from].low.len(), 0.0);
            kernel::add_magnitudes(set, rows, alive, arguments, impacts);
        }
    }

    /// The impact of an input.
    pub(super) fn of(&self, input: u32) -> f64 {
        self.impacts[input as usize]
    }
}
