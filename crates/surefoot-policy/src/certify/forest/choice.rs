//! Where to look for a witness, and where to split.
//!
//! Each term would like the point to be in its best leaf. Where all best leaves of a margin overlap, its bound is
//! reached. Otherwise some of them exclude each other, and a split between them lowers the bound in both parts. What
//! the terms stand to lose gives an estimate of by how much, for all splits at once. Of the most promising ones the
//! real losses are computed.

use super::compiled::CompiledForest;
use super::path::Path;

/// So many splits are tried. Measured: more of them save few boxes.
const TRIED: usize = 3;

/// A split between two cells of a dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SplitChoice {
    pub(super) dimension: usize,
    /// The last cell of the low part.
    pub(super) limit: u32,
    pub(super) low_first: bool,
}

/// What terms stand to lose, by the cells of each dimension.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    /// Where the cells of each dimension begin; one more at the end.
    starts: Vec<usize>,
    /// What terms lose below a cell.
    from: Vec<f64>,
    /// What terms lose above a cell.
    to: Vec<f64>,
    /// The cell of each dimension where terms lose least.
    pub(super) favourites: Vec<u32>,
    /// The best splits, the best first, with their scores.
    pub(super) splits: Vec<(f64, SplitChoice)>,
}

impl Wishes {
    pub(super) fn new(forest: &CompiledForest) -> Self {
        let mut starts = vec![0];
        for limits in &forest.limits {
            starts.push(starts[starts.len() - 1] + limits.len() + 1);
        }
        let cells = starts[forest.dimensions()];
        Wishes {
            starts,
            from: vec![0.0; cells],
            to: vec![0.0; cells],
            favourites: vec![0; forest.dimensions()],
            splits: Vec::with_capacity(TRIED + 1),
        }
    }

    /// Adds the wishes of the parts of the selected margin.
    pub(super) fn add(&mut self, forest: &CompiledForest, path: &Path) {
        for (tree, term) in path.parts() {
            for side in forest.sides(forest.trees[tree].first_leaf + term.leaf) {
                let dimension = side.dimension as usize;
                let [lower, upper] = path.cells[dimension];
                let start = self.starts[dimension];
                if side.lower > lower {
                    self.from[start + side.lower as usize] += term.weight;
                }
                if side.upper < upper {
                    self.to[start + side.upper as usize] += term.weight;
                }
            }
        }
    }

    /// Finds the favourite cells and the best splits; forgets all wishes. There is no split if all wishes can be
    /// fulfilled together.
    pub(super) fn weigh(&mut self, path: &Path) {
        self.splits.clear();
        for (dimension, &[lower, upper]) in path.cells.iter().enumerate() {
            self.favourites[dimension] = lower;
            if lower < upper {
                self.weigh_dimension(dimension, lower, upper);
            }
        }
    }

    fn weigh_dimension(&mut self, dimension: usize, lower: u32, upper: u32) {
        let start = self.starts[dimension];
        // What is lost at the current cell: by wishes for cells above it, and for cells below it.
        let mut above: f64 = self.from[start + lower as usize..=start + upper as usize].iter().sum();
        let mut below = 0.0;
        let mut least = f64::INFINITY;
        for cell in lower..=upper {
            let place = start + cell as usize;
            above -= std::mem::take(&mut self.from[place]);
            if above + below < least {
                least = above + below;
                self.favourites[dimension] = cell;
            }
            below += std::mem::take(&mut self.to[place]);
            // A split after this cell: its low part loses `above`, its high part `below`.
            if cell < upper && above > 0.0 && below > 0.0 {
                let choice = SplitChoice { dimension, limit: cell, low_first: above <= below };
                self.rank(score(above, below), choice);
            }
        }
    }

    fn rank(&mut self, score: f64, choice: SplitChoice) {
        let place = self.splits.iter().position(|&(other, _)| score > other).unwrap_or(self.splits.len());
        if place < TRIED {
            self.splits.insert(place, (score, choice));
            self.splits.truncate(TRIED);
        }
    }
}

/// How good a split is by what its two parts lose: both should. Measured: the product is far better than the minimum.
pub(super) fn score(low: f64, high: f64) -> f64 {
    low * high
}
