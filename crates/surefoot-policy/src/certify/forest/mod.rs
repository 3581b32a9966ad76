//! Bounds of tree ensembles: exact, with the rounding of their sums.
//!
//! On load, thresholds become limits between cells of integers ([`compiled`]), and leaf values numbers of units on a
//! grid, whose sums are exact ([`grid`]). The leaves that a box can reach are sets of bits ([`reach`]). The margins of
//! the output in question over its competitors are bounded by sums of the best leaves, kept up to date along the path
//! of boxes that the search follows ([`path`]). Best leaves that exclude each other say where to split ([`choice`]).
//!
//! # Why the answers are right
//!
//! *Dominated*: a point of the box is in one leaf of each tree, which the box can reach. So the sum of units at the
//! point is at most the sum of the best leaves, and the margin is at most that plus the errors of both outputs, which
//! [`grid`] derives: rounding to the grid and the roundings of the score itself. If that is negative (or zero, and the
//! competitor wins ties), the competitor wins at every point.
//!
//! *Won*: the same with the least values of leaves, for all competitors.
//!
//! *Uniform*: if every tree with a value for the output in question or a competitor has one leaf left, all points of
//! the box have the same values to add, so the same scores, in every arithmetic. The search then evaluates one. That is
//! how ties within the error are decided, and everything where sums may overflow: errors are infinite there.
//!
//! *Complete*: unless a box is uniform, some tree has a split that the box does not decide, and every split made here is
//! between two cells of the box. There are finitely many cells.

mod bounds;
mod choice;
mod compiled;
mod grid;
mod path;
mod reach;
mod term;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::evidence::Phase;
use super::question::Question;
use super::search::{Bounder, Candidates, Finding};
use super::space::{Cut, InputOrigin};
use crate::arithmetic::Arithmetic;
use crate::ensemble::Ensemble;
use choice::{SplitChoice, Wishes};
use compiled::{Child, CompiledForest, Node};
use grid::Grid;
use path::Path;
use reach::{LeafMasks, MOST_WORDS, Reach, Removal};
use term::{NONE, Term};

/// Bounds the scores of a tree ensemble over boxes.
#[derive(Debug, Clone)]
pub(super) struct ForestBounder {
    forest: Arc<CompiledForest>,
    grid: Arc<Grid>,
    masks: Arc<LeafMasks>,
    reach: Reach,
    path: Path,
    wishes: Wishes,
    /// The margins at the favourite cells, but for the last element, which is to be added to all.
    margins: Vec<f64>,
    /// The leaf of each tree at the favourite cells, where it is known.
    leaves: Vec<u32>,
}

impl ForestBounder {
    pub(super) fn new(ensemble: &Ensemble, arithmetic: Arithmetic, origins: &[InputOrigin]) -> Self {
        let forest = CompiledForest::new(ensemble, arithmetic, origins);
        ForestBounder {
            grid: Grid::new(ensemble, arithmetic, &forest).into(),
            masks: LeafMasks::new(&forest, MOST_WORDS).into(),
            reach: Reach::default(),
            path: Path::default(),
            wishes: Wishes::new(&forest),
            margins: Vec::new(),
            leaves: Vec::new(),
            forest: forest.into(),
        }
    }

    /// Makes a box the current one.
    fn enter(&mut self, depth: usize, lower: &[i32], upper: &[i32]) {
        let forest = &self.forest;
        let cells = |dimension: usize, [low, high]: [u32; 2]| {
            let cell = |ends: &[i32], guess| forest.cell_near(dimension, ends[dimension], guess);
            [cell(lower, low), cell(upper, high)]
        };
        self.path.enter(depth, cells, &self.masks, &self.grid);
    }

    /// An output that wins everywhere in the current box.
    fn winner(&self) -> Option<usize> {
        let path = &self.path;
        let wins = |&competitor: &usize| path.competitors[competitor].wins(path.bound(competitor));
        let winner = (0..path.competitors.len()).find(wins)?;
        Some(path.competitors[winner].output as usize)
    }

    /// The competitor with the smallest margin where every dimension has its favourite cell, if it wins there. The
    /// target, whose margin is selected, is tried first.
    fn winner_at_favourites(&mut self, target: usize) -> Option<usize> {
        let ForestBounder { forest, grid, path, wishes, margins, leaves, .. } = self;
        let shared = path.competitors.len();
        margins.clear();
        margins.extend((0..shared).map(|competitor| path.bound(competitor)));
        margins.push(0.0);
        leaves.clear();
        leaves.resize(forest.trees.len(), NONE);
        for (tree, term) in path.parts() {
            leaves[tree] = forest.leaf(tree, &wishes.favourites);
            margins[term.competitor as usize] -= term.loss_at(&grid.rows(tree), leaves[tree]);
        }
        if path.competitors[target].wins(margins[target] + margins[shared]) {
            return Some(target);
        }
        for (tree, terms) in path.open_trees() {
            let is_left = |term: &&Term| ![target, shared].contains(&(term.competitor as usize));
            for term in terms.iter().filter(is_left) {
                if leaves[tree] == NONE {
                    leaves[tree] = forest.leaf(tree, &wishes.favourites);
                }
                margins[term.competitor as usize] -= term.loss_at(&grid.rows(tree), leaves[tree]);
            }
        }
        let worst = (0..shared).min_by(|&a, &b| margins[a].total_cmp(&margins[b]))?;
        path.competitors[worst].wins(margins[worst] + margins[shared]).then_some(worst)
    }

    /// Where to split: by the real losses of the most promising splits. The margin over the target is selected.
    fn best_split(&self, target: usize) -> Option<SplitChoice> {
        let bound = self.path.bound(target);
        // Beyond the bound there is nothing to gain; a part that loses nothing should not hide what the other does.
        let useful = |loss: f64| loss.clamp(bound.abs() * 1e-3, bound.abs());
        let mut best: Option<(f64, SplitChoice)> = None;
        for &(_, choice) in &self.wishes.splits {
            let mut losses = [0.0; 2];
            let loss = |removal: &Removal<'_>| match *removal {
                Removal::AllBut(kept) => self.path.loss(kept, &self.masks, &self.grid),
                Removal::Bits(_) => 0.0,
            };
            let SplitChoice { dimension, limit, .. } = choice;
            self.masks.lower_upper_end(dimension, limit, |removal| losses[0] += loss(&removal));
            self.masks.raise_lower_end(dimension, limit + 1, |removal| losses[1] += loss(&removal));
            let score = choice::score(useful(losses[0]), useful(losses[1]));
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, SplitChoice { low_first: losses[0] <= losses[1], ..choice }));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// Some split that the box does not decide.
    fn any_split(&self) -> SplitChoice {
        let ForestBounder { forest, path, .. } = self;
        for (tree, _) in path.open_trees() {
            let mut at = forest.trees[tree].root;
            while let Child::Node(node) = at {
                let Node { dimension, limit, children: [low, high] } = forest.nodes[node as usize];
                let [lower, upper] = path.cells[dimension as usize];
                if upper <= limit {
                    at = low;
                } else if lower > limit {
                    at = high;
                } else {
                    return SplitChoice { dimension: dimension as usize, limit, low_first: true };
                }
            }
        }
        unreachable!("an open tree has a split that is not decided")
    }
}

impl Bounder for ForestBounder {
    fn enumerated(&self) -> u64 {
        0
    }

    fn samples(&self) -> usize {
        // Measured: with fewer, more questions are bounded that have many witnesses; more take longer than bounding.
        6
    }

    fn begin(&mut self, question: &Question<'_>, lower: &[i32], upper: &[i32]) {
        self.reach.find(&self.forest, &self.masks, &self.grid, lower, upper);
        self.path.begin(question, &self.masks, &self.grid, &self.reach);
    }

    fn dominator(&mut self, lower: &[i32], upper: &[i32]) -> Option<usize> {
        self.enter(0, lower, upper);
        self.winner()
    }

    fn examine(
        &mut self,
        depth: usize,
        lower: &[i32],
        upper: &[i32],
        _phase: Option<Phase>,
        _cuts: &mut Vec<(Cut, usize)>,
        candidates: &mut Candidates<'_>,
    ) -> Finding {
        self.enter(depth, lower, upper);
        if let Some(winner) = self.winner() {
            return Finding::Dominated(winner);
        }
        let path = &self.path;
        if path.is_uniform() {
            return Finding::Uniform;
        }
        let Some(target) =
            (0..path.competitors.len()).min_by(|&a, &b| path.bound(a).total_cmp(&path.bound(b)))
        else {
            return Finding::Won;
        };
        self.path.select(target, &self.masks, &self.grid);
        self.wishes.add(&self.forest, &self.path);
        self.wishes.weigh(&self.path);
        match self.winner_at_favourites(target) {
            None => {
                let (forest, favourites) = (&self.forest, &self.wishes.favourites);
                let value = |dimension| forest.value(dimension, favourites[dimension], upper[dimension]);
                if candidates.add(value) {
                    // Splits are expensive to choose, and this is a witness in most cases.
                    if let Some(point) = candidates.ask() {
                        return Finding::Witness(point);
                    }
                } else if self.path.is_won(&self.masks, &self.grid) {
                    return Finding::Won;
                }
            }
            // The bound of the target is reached, but another competitor wins there: a compromise is needed.
            Some(winner) if self.wishes.splits.is_empty() => {
                for competitor in [winner, target] {
                    self.path.select(competitor, &self.masks, &self.grid);
                    self.wishes.add(&self.forest, &self.path);
                }
                self.wishes.weigh(&self.path);
            }
            Some(_) => {}
        }
        let SplitChoice { dimension, limit, low_first } =
            self.best_split(target).unwrap_or_else(|| self.any_split());
        Finding::Open { dimension, at: self.forest.limits[dimension][limit as usize], low_first }
    }
}
