//! Upper bounds of margins along a path of nested boxes.
//!
//! The *margin* of the output in question over a competing one is the high end of its score minus the low end of the
//! other's: the output can be chosen if no margin is negative (or zero, if the other wins ties). A margin is a sum over
//! trees. Each tree has at most one *term* per margin, whose bound is its largest value among the leaves that can be
//! reached, so bounds only fall on the way down. A narrower box takes leaves away; a term changes only if its best
//! leaf goes. Everything that changes is logged and restored on the way up.

use super::grid::Grid;
use super::reach::{LeafMasks, LeafSets, Reach, Removal};
use super::term::{NONE, Scan, Term};
use crate::certify::question::Question;

/// A competing output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Competitor {
    pub(super) output: u32,
    /// How far the sum can be from the margin.
    error: f64,
    /// Whether it wins ties.
    is_first: bool,
}

impl Competitor {
    /// Whether a bound of the margin excludes that the output in question is chosen.
    pub(super) fn wins(self, bound: f64) -> bool {
        if self.is_first { bound <= -self.error } else { bound < -self.error }
    }

    /// Whether a lower bound of the margin excludes that this competitor excludes the output in question.
    fn loses(self, bound: f64) -> bool {
        if self.is_first { bound > self.error } else { bound >= self.error }
    }
}

/// A box within a box within a box, and what is known there.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    pub(super) competitors: Vec<Competitor>,
    /// The terms of all trees, and where those of each tree begin; one more at the end.
    terms: Vec<Term>,
    starts: Vec<u32>,
    /// The parts of the selected margin.
    parts: Vec<Part>,
    /// The leaves that can be reached from the current box, of trees that have terms.
    pub(super) leaves: LeafSets,
    /// The cells of the current box.
    pub(super) cells: Vec<[u32; 2]>,
    /// Bounds of the margins but for the last element, which is to be added to all.
    sums: Vec<f64>,
    /// Trees with several leaves that can be reached.
    open: usize,
    marks: Vec<Mark>,
    saved_sums: Vec<f64>,
    saved_cells: Vec<(u32, [u32; 2])>,
    saved_words: Vec<(u32, u32, u64)>,
    saved_terms: Vec<(u32, u32, f64)>,
    /// Trees that lost leaves, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// The column of each output in the tree at hand.
    column_of: Vec<u32>,
    scan: Scan,
}

/// A term of the selected margin, of a tree with several leaves that can be reached. Its best leaf is known.
#[derive(Debug, Clone, Copy)]
struct Part {
    tree: u32,
    /// The term, by its place among all.
    term: u32,
    /// The bit of its best leaf among those of all trees.
    bit: u32,
}

/// Lengths of the logs.
#[derive(Debug, Clone, Copy)]
struct Mark {
    cells: usize,
    words: usize,
    terms: usize,
}

/// The start of a path.
impl Path {
    /// Begins with the box of a question, from which `reach` can be reached.
    pub(super) fn begin(&mut self, question: &Question<'_>, masks: &LeafMasks, grid: &Grid, reach: &Reach) {
        self.marks.clear();
        self.saved_sums.clear();
        self.saved_cells.clear();
        self.saved_words.clear();
        self.saved_terms.clear();
        self.leaves.copy_from(&reach.leaves);
        self.cells.clone_from(&reach.cells);
        self.competitors.clear();
        self.sums.clear();
        let output = question.output;
        for other in question.competing.iter().filter(|&other| other != output) {
            let error = grid.errors[output] + grid.errors[other];
            self.competitors.push(Competitor { output: other as u32, error, is_first: other < output });
            self.sums.push(grid.base[output][0] - grid.base[other][1]);
        }
        self.sums.push(0.0);
        self.terms.clear();
        self.starts.clear();
        self.column_of.clear();
        self.column_of.resize(grid.base.len(), NONE);
        self.open = 0;
        let trees = reach.leaves.counts.len();
        self.is_touched.resize(trees, false);
        for tree in 0..trees {
            let first = self.terms.len();
            self.starts.push(first as u32);
            self.add_terms(tree, output as u32, grid);
            self.bound_terms(tree, first, output as u32, masks, grid, reach);
        }
        self.starts.push(self.terms.len() as u32);
    }

    /// Adds the terms of a tree.
    fn add_terms(&mut self, tree: usize, output: u32, grid: &Grid) {
        let outputs = grid.outputs(tree);
        for (column, &output) in outputs.iter().enumerate() {
            self.column_of[output as usize] = column as u32;
        }
        let minuend = self.column_of[output as usize];
        if minuend != NONE && outputs.len() == 1 {
            self.terms.push(Term::new(self.competitors.len(), minuend, NONE));
        } else {
            for (index, competitor) in self.competitors.iter().enumerate() {
                let subtrahend = self.column_of[competitor.output as usize];
                if minuend != NONE || subtrahend != NONE {
                    self.terms.push(Term::new(index, minuend, subtrahend));
                }
            }
        }
        for &output in outputs {
            self.column_of[output as usize] = NONE;
        }
    }

    /// Bounds the terms of a tree, which begin at `first`. If the tree has one leaf, they are constants: removes them.
    fn bound_terms(
        &mut self,
        tree: usize,
        first: usize,
        output: u32,
        masks: &LeafMasks,
        grid: &Grid,
        reach: &Reach,
    ) {
        let rows = grid.rows(tree);
        if rows.width > 1 && self.terms.len() > first {
            let column = grid.outputs(tree).iter().position(|&other| other == output);
            let minuend = column.map_or(NONE, |column| column as u32);
            self.scan.run(minuend, &rows, &self.leaves, &masks.words(tree));
        }
        for term in &mut self.terms[first..] {
            if rows.width == 1 {
                term.look_up(&reach.extremes[tree]);
            } else {
                term.take(&self.scan);
            }
            self.sums[term.competitor as usize] += term.value;
        }
        if self.leaves.counts[tree] == 1 {
            self.terms.truncate(first);
        }
        if self.terms.len() > first {
            self.open += 1;
        } else {
            // It is of no interest any more: without leaves it never changes.
            self.leaves.words[masks.words(tree)].fill(0);
            self.leaves.counts[tree] = 1;
        }
    }
}

/// Moves.
impl Path {
    /// Moves to a box at a depth: a part of the last box at the depth before. `cells` gets a dimension and its cells there.
    pub(super) fn enter(
        &mut self,
        depth: usize,
        cells: impl Fn(usize, [u32; 2]) -> [u32; 2],
        masks: &LeafMasks,
        grid: &Grid,
    ) {
        while self.marks.len() > depth {
            self.leave();
        }
        debug_assert_eq!(self.marks.len(), depth, "boxes are nested");
        self.marks.push(Mark {
            cells: self.saved_cells.len(),
            words: self.saved_words.len(),
            terms: self.saved_terms.len(),
        });
        self.saved_sums.extend_from_slice(&self.sums);
        for dimension in 0..self.cells.len() {
            let old = self.cells[dimension];
            // A part of one cell is in that cell.
            let new = if old[0] == old[1] { old } else { cells(dimension, old) };
            if old == new {
                continue;
            }
            self.saved_cells.push((dimension as u32, old));
            self.cells[dimension] = new;
            if new[0] > old[0] {
                masks.raise_lower_end(dimension, new[0], |removal| self.remove(&removal, masks));
            }
            if new[1] < old[1] {
                masks.lower_upper_end(dimension, new[1], |removal| self.remove(&removal, masks));
            }
        }
        for index in 0..self.touched.len() {
            let tree = self.touched[index] as usize;
            self.is_touched[tree] = false;
            self.update(tree, masks, grid);
        }
        self.touched.clear();
    }

    fn remove(&mut self, removal: &Removal<'_>, masks: &LeafMasks) {
        match *removal {
            Removal::AllBut(kept) => {
                for (place, &kept) in kept.iter().enumerate() {
                    self.keep(place, kept, masks);
                }
            }
            Removal::Bits(bits) => {
                for &bit in bits {
                    self.keep(bit as usize / 64, !(1 << (bit % 64)), masks);
                }
            }
        }
    }

    /// Takes the leaves that are not kept out of a word.
    #[inline]
    fn keep(&mut self, place: usize, kept: u64, masks: &LeafMasks) {
        let old = self.leaves.words[place];
        if old & !kept == 0 {
            return;
        }
        let tree = masks.tree(place);
        self.saved_words.push((tree as u32, place as u32, old));
        self.leaves.words[place] = old & kept;
        self.leaves.counts[tree] -= (old & !kept).count_ones();
        if !self.is_touched[tree] {
            self.is_touched[tree] = true;
            self.touched.push(tree as u32);
        }
    }

    /// Bounds the terms of a tree again, where their best leaves were taken away or are not known.
    fn update(&mut self, tree: usize, masks: &LeafMasks, grid: &Grid) {
        self.open -= usize::from(self.leaves.counts[tree] == 1);
        let rows = grid.rows(tree);
        let range = masks.words(tree);
        let words = &self.leaves.words[range.clone()];
        let terms = &mut self.terms[self.starts[tree] as usize..self.starts[tree + 1] as usize];
        let (scans, mut is_scanned) = (rows.width > 1 && terms.len() > 1, false);
        for (index, term) in (self.starts[tree]..).zip(terms) {
            if term.leaf != NONE && words[term.leaf as usize / 64] >> (term.leaf % 64) & 1 == 1 {
                continue;
            }
            self.saved_terms.push((index, term.leaf, term.value));
            let before = term.value;
            if scans {
                if !is_scanned {
                    self.scan.run(term.minuend, &rows, &self.leaves, &range);
                    is_scanned = true;
                }
                term.take_again(&self.scan);
            } else {
                (term.leaf, term.value) = term.best(&rows, words.iter().copied());
            }
            self.sums[term.competitor as usize] += term.value - before;
        }
    }

    /// Undoes the last [`Path::enter`].
    fn leave(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        let saved = self.saved_sums.len() - self.sums.len();
        self.sums.copy_from_slice(&self.saved_sums[saved..]);
        self.saved_sums.truncate(saved);
        for (dimension, cells) in self.saved_cells.drain(mark.cells..).rev() {
            self.cells[dimension as usize] = cells;
        }
        for (tree, place, word) in self.saved_words.drain(mark.words..).rev() {
            let returned = word & !self.leaves.words[place as usize];
            let count = &mut self.leaves.counts[tree as usize];
            // Only trees with several leaves lose some.
            self.open += usize::from(*count == 1);
            *count += returned.count_ones();
            self.leaves.words[place as usize] = word;
        }
        for (index, leaf, value) in self.saved_terms.drain(mark.terms..).rev() {
            let term = &mut self.terms[index as usize];
            (term.leaf, term.value) = (leaf, value);
        }
    }
}

/// What is known in the current box.
impl Path {
    /// Whether every tree has one leaf that can be reached.
    pub(super) fn is_uniform(&self) -> bool {
        self.open == 0
    }

    /// The upper bound of the margin over a competitor.
    pub(super) fn bound(&self, competitor: usize) -> f64 {
        self.sums[competitor] + self.sums[self.competitors.len()]
    }

    /// The trees that have several leaves which can be reached, and their terms.
    pub(super) fn open_trees(&self) -> impl Iterator<Item = (usize, &[Term])> {
        let is_open = |&tree: &usize| self.leaves.counts[tree] > 1;
        (0..self.leaves.counts.len()).filter(is_open).map(|tree| (tree, self.terms(tree)))
    }

    fn terms(&self, tree: usize) -> &[Term] {
        &self.terms[self.starts[tree] as usize..self.starts[tree + 1] as usize]
    }

    /// Whether a term is part of the margin over a competitor.
    fn is_part(&self, term: &Term, competitor: usize) -> bool {
        term.competitor as usize == competitor || term.competitor as usize == self.competitors.len()
    }

    /// Selects the margin over a competitor: finds its parts, and their best leaves where they are not known.
    pub(super) fn select(&mut self, competitor: usize, masks: &LeafMasks, grid: &Grid) {
        self.parts.clear();
        for tree in 0..self.leaves.counts.len() {
            if self.leaves.counts[tree] == 1 {
                continue;
            }
            let Some(index) = self.part_of(tree, competitor) else { continue };
            let words = masks.words(tree);
            let term = &mut self.terms[index];
            if term.leaf == NONE {
                self.saved_terms.push((index as u32, NONE, term.value));
                let leaves = &self.leaves.words[words.clone()];
                (term.leaf, _) = term.best(&grid.rows(tree), leaves.iter().copied());
            }
            let bit = words.start as u32 * 64 + term.leaf;
            self.parts.push(Part { tree: tree as u32, term: index as u32, bit });
        }
    }

    /// The term of a tree that is part of the margin over a competitor. There is at most one.
    fn part_of(&self, tree: usize, competitor: usize) -> Option<usize> {
        let terms = self.starts[tree] as usize..self.starts[tree + 1] as usize;
        if terms.len() == self.competitors.len() {
            // One for each competitor, or for all of one.
            return Some(terms.start + competitor);
        }
        terms.into_iter().find(|&index| self.is_part(&self.terms[index], competitor))
    }

    /// The parts of the selected margin, and their trees.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, &Term)> {
        self.parts.iter().map(|part| (part.tree as usize, &self.terms[part.term as usize]))
    }

    /// By how much the bound of the selected margin falls if only these leaves are kept.
    pub(super) fn loss(&self, kept: &[u64], masks: &LeafMasks, grid: &Grid) -> f64 {
        let mut loss = 0.0;
        for part in &self.parts {
            if kept[part.bit as usize / 64] >> (part.bit % 64) & 1 == 0 {
                let (tree, term) = (part.tree as usize, &self.terms[part.term as usize]);
                let words = masks.words(tree);
                let left = self.leaves.words[words.clone()].iter().zip(&kept[words]);
                let left = left.map(|(word, kept)| word & kept);
                loss += term.value - term.best(&grid.rows(tree), left).1;
            }
        }
        loss
    }

    /// Whether lower bounds of all margins prove that the output in question can be chosen everywhere.
    pub(super) fn is_won(&self, masks: &LeafMasks, grid: &Grid) -> bool {
        (0..self.competitors.len()).all(|competitor| {
            let mut sum = self.bound(competitor);
            for (tree, terms) in self.open_trees() {
                let rows = grid.rows(tree);
                for term in terms.iter().filter(|term| self.is_part(term, competitor)) {
                    let mut least = f64::INFINITY;
                    self.leaves.visit(masks.words(tree), |leaf| {
                        least = least.min(term.value_at(&rows, leaf as u32));
                    });
                    sum -= term.value - least;
                }
            }
            self.competitors[competitor].loses(sum)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first() {
        let competitor = |error, is_first| Competitor { output: 0, error, is_first };
        assert!(competitor(0.0, true).wins(0.0) && !competitor(0.0, false).wins(0.0));
        assert!(!competitor(0.0, true).loses(0.0) && competitor(0.0, false).loses(0.0));
        // Within the error nothing is certain.
        for bound in [-1.5, 0.0, 1.5] {
            let unsure = competitor(2.0, true);
            assert!(!unsure.wins(bound) && !unsure.loses(bound));
        }
        assert!(
            !competitor(f64::INFINITY, true).wins(-1e300) && !competitor(f64::INFINITY, false).loses(1e300)
        );
    }
}
