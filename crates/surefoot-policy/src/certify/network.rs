//! Bounds of neural networks.

use super::question::Question;
use super::search::{Bounder, Candidates, Finding};
use super::space::{Cut, InputOrigin};
use crate::arithmetic::Arithmetic;
use crate::network::Network;

/// Bounds the scores of a neural network over boxes.
#[derive(Debug, Clone)]
pub(super) struct NetworkBounder {
    origins: Vec<InputOrigin>,
}

impl NetworkBounder {
    pub(super) fn new(_network: &Network, _arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        NetworkBounder { origins: origins.to_vec() }
    }
}

impl Bounder for NetworkBounder {
    fn enumerated(&self) -> u64 {
        64
    }

    fn samples(&self) -> usize {
        16
    }

    fn begin(&mut self, _question: &Question<'_>, _lower: &[i32], _upper: &[i32]) {}

    fn examine(
        &mut self,
        _depth: usize,
        lower: &[i32],
        upper: &[i32],
        _cuts: &mut Vec<(Cut, usize)>,
        _candidates: &mut Candidates<'_>,
    ) -> Finding {
        let _ = &self.origins;
        let width = |dimension: &usize| i64::from(upper[*dimension]) - i64::from(lower[*dimension]);
        let dimension = (0..lower.len()).max_by_key(width).expect("there is more than one point");
        Finding::Open {
            dimension,
            at: i32::midpoint(lower[dimension], upper[dimension] - 1),
            low_first: true,
        }
    }
}
