//! Bounds of scores and of margins over boxes.

use super::ForestBounder;
use crate::score::Score;

// The certifier offers them once all kinds of policies have them.
impl ForestBounder {
    /// Encloses the score of an output at all points of a box, given by the ends of the policy's dimensions.
    pub(in crate::certify) fn score_bounds(&mut self, lower: &[i32], upper: &[i32], output: usize) -> Score {
        self.reach.find(&self.forest, &self.masks, &self.grid, lower, upper);
        let [high, low] = self.grid.base[output];
        self.enclose(Some(output), None, Score { lower: low, upper: high })
    }

    /// Encloses the score of an output minus that of another at all points of a box.
    pub(in crate::certify) fn margin_bounds(
        &mut self,
        lower: &[i32],
        upper: &[i32],
        output: usize,
        other: usize,
    ) -> Score {
        self.reach.find(&self.forest, &self.masks, &self.grid, lower, upper);
        let ([high, low], [other_high, other_low]) = (self.grid.base[output], self.grid.base[other]);
        let base = Score { lower: low - other_high, upper: high - other_low };
        self.enclose(Some(output), Some(other), base)
    }

    /// Adds the extremes of all trees to a number of units, and the errors.
    fn enclose(&self, output: Option<usize>, other: Option<usize>, base: Score) -> Score {
        let ForestBounder { grid, masks, reach, .. } = self;
        let mut sum = base;
        for tree in 0..reach.leaves.counts.len() {
            let column = |output: Option<usize>| {
                grid.outputs(tree).iter().position(|&one| Some(one as usize) == output)
            };
            let (minuend, subtrahend) = (column(output), column(other));
            if minuend.is_none() && subtrahend.is_none() {
                continue;
            }
            let rows = grid.rows(tree);
            let mut range = Score { lower: f64::INFINITY, upper: f64::NEG_INFINITY };
            reach.leaves.visit(masks.words(tree), |leaf| {
                let value = |values: &[f64], column: Option<usize>| {
                    column.map_or(0.0, |column| values[leaf * rows.width + column])
                };
                range.lower = range.lower.min(value(rows.low, minuend) - value(rows.high, subtrahend));
                range.upper = range.upper.max(value(rows.high, minuend) - value(rows.low, subtrahend));
            });
            sum.lower += range.lower;
            sum.upper += range.upper;
        }
        let error: f64 = [output, other].into_iter().flatten().map(|one| grid.errors[one]).sum();
        Score { lower: -grid.value_above(-sum.lower, error), upper: grid.value_above(sum.upper, error) }
    }
}
