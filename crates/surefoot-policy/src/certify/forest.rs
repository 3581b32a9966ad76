//! Bounds of tree ensembles.

use super::question::Question;
use super::search::{Bounder, Candidates, Finding};
use super::space::{Cut, InputOrigin};
use crate::arithmetic::Arithmetic;
use crate::ensemble::Ensemble;

/// Bounds the scores of a tree ensemble over boxes.
#[derive(Debug, Clone)]
pub(super) struct ForestBounder {
    origins: Vec<InputOrigin>,
}

impl ForestBounder {
    pub(super) fn new(_ensemble: &Ensemble, _arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        ForestBounder { origins: origins.to_vec() }
    }
}

impl Bounder for ForestBounder {
    fn enumerated(&self) -> u64 {
        64
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
