//! Which leaves can be reached from a box.
//!
//! A leaf can be reached if it overlaps the box in every dimension. The leaves that overlap in one dimension are the
//! bits of a mask, so the leaves that a box can reach are found by a few operations on words, and those of a narrower
//! box by one or two.

use super::compiled::CompiledForest;
use super::grid::{Grid, Rows};

/// A good size of all masks together, in words.
pub(super) const MOST_WORDS: usize = 1 << 22;

/// Masks of the leaves that overlap a range of cells.
#[derive(Debug)]
pub(super) struct LeafMasks {
    /// Where the words of each tree begin; one more at the end.
    pub(super) starts: Vec<u32>,
    /// The tree of each word.
    trees: Vec<u32>,
    /// All leaves.
    all: Vec<u64>,
    /// Every cell whose number is a multiple of it has masks.
    stride: usize,
    dimensions: Vec<DimensionMasks>,
}

#[derive(Debug)]
struct DimensionMasks {
    /// For each block of cells, the leaves that begin in it or before it.
    beginning: Vec<u64>,
    /// For each block of cells, the leaves that end in it or after it.
    ending: Vec<u64>,
    /// The bits of the leaves that begin in each cell but the first, and of those that end in each but the last.
    begins: ByCell,
    ends: ByCell,
}

/// Bits of leaves, sorted by a cell.
#[derive(Debug, Default)]
struct ByCell {
    /// Where those of each cell begin; one more at the end.
    starts: Vec<u32>,
    bits: Vec<u32>,
}

/// Sets of leaves that can be reached.
#[derive(Debug, Clone, Default)]
pub(super) struct LeafSets {
    pub(super) words: Vec<u64>,
    /// Number of leaves of each tree.
    pub(super) counts: Vec<u32>,
}

impl LeafMasks {
    /// The masks of an ensemble. Where they would take more than so many words, only some cells have masks.
    pub(super) fn new(forest: &CompiledForest, most_words: usize) -> Self {
        let mut starts = vec![0];
        let mut trees = Vec::new();
        let mut all = Vec::new();
        for (index, tree) in forest.trees.iter().enumerate() {
            let leaves = (tree.end_leaf - tree.first_leaf) as usize;
            let words = leaves.div_ceil(64);
            trees.resize(trees.len() + words, index as u32);
            all.resize(all.len() + words, u64::MAX);
            all[trees.len() - 1] >>= (words * 64 - leaves) % 64;
            starts.push(all.len() as u32);
        }
        let blocks = |stride: usize| -> usize {
            forest.limits.iter().map(|limits| (limits.len() + 1).div_ceil(stride)).sum()
        };
        let fits = |stride: &usize| 2 * blocks(*stride) * all.len() <= most_words;
        let strides = std::iter::successors(Some(1), |stride| Some(stride * 2));
        let stride = strides.take_while(|&stride| stride < 1 << 31).find(fits).unwrap_or(1 << 31);
        let mut sides: Vec<Vec<(u32, u32, u32)>> = vec![Vec::new(); forest.dimensions()];
        for (tree, &start) in forest.trees.iter().zip(&starts) {
            for leaf in tree.first_leaf..tree.end_leaf {
                let bit = start * 64 + leaf - tree.first_leaf;
                for side in forest.sides(leaf) {
                    sides[side.dimension as usize].push((bit, side.lower, side.upper));
                }
            }
        }
        let dimensions = sides.iter().zip(&forest.limits);
        let dimensions = dimensions
            .map(|(sides, limits)| DimensionMasks::new(sides, limits.len() + 1, &all, stride))
            .collect();
        LeafMasks { starts, trees, all, stride, dimensions }
    }

    /// Begins with all leaves.
    pub(super) fn fill(&self, sets: &mut LeafSets) {
        sets.words.clear();
        sets.words.extend_from_slice(&self.all);
    }

    /// Takes away the leaves that begin above a cell of a dimension.
    pub(super) fn lower_upper_end(&self, dimension: usize, upper: u32, mut clear: impl FnMut(Removal<'_>)) {
        let masks = &self.dimensions[dimension];
        let block = upper as usize / self.stride;
        clear(Removal::AllBut(&masks.beginning[block * self.all.len()..][..self.all.len()]));
        clear(Removal::Bits(masks.begins.cells(upper as usize + 1, (block + 1) * self.stride)));
    }

    /// Takes away the leaves that end below a cell of a dimension.
    pub(super) fn raise_lower_end(&self, dimension: usize, lower: u32, mut clear: impl FnMut(Removal<'_>)) {
        let masks = &self.dimensions[dimension];
        let block = lower as usize / self.stride;
        clear(Removal::AllBut(&masks.ending[block * self.all.len()..][..self.all.len()]));
        clear(Removal::Bits(masks.ends.cells(block * self.stride, lower as usize)));
    }

    /// The words of a tree.
    pub(super) fn words(&self, tree: usize) -> std::ops::Range<usize> {
        self.starts[tree] as usize..self.starts[tree + 1] as usize
    }

    /// The tree of a word.
    pub(super) fn tree(&self, word: usize) -> usize {
        self.trees[word] as usize
    }

    /// Counts the leaves of all trees.
    pub(super) fn count(&self, sets: &mut LeafSets) {
        sets.counts.clear();
        for pair in self.starts.windows(2) {
            let words = &sets.words[pair[0] as usize..pair[1] as usize];
            sets.counts.push(words.iter().map(|word| word.count_ones()).sum());
        }
    }
}

/// Leaves that are taken away.
pub(super) enum Removal<'m> {
    AllBut(&'m [u64]),
    Bits(&'m [u32]),
}

impl DimensionMasks {
    fn new(sides: &[(u32, u32, u32)], cells: usize, all: &[u64], stride: usize) -> Self {
        let begins = ByCell::new(cells, sides.iter().map(|&(bit, lower, _)| (bit, lower)), |lower| lower > 0);
        let last = cells as u32 - 1;
        let ends =
            ByCell::new(cells, sides.iter().map(|&(bit, _, upper)| (bit, upper)), |upper| upper < last);
        let blocks = cells.div_ceil(stride);
        let mut beginning = all.repeat(blocks);
        let mut ending = beginning.clone();
        for block in 0..blocks {
            let place = block * all.len();
            for &bit in begins.cells((block + 1) * stride, cells) {
                beginning[place + bit as usize / 64] &= !(1 << (bit % 64));
            }
            for &bit in ends.cells(0, block * stride) {
                ending[place + bit as usize / 64] &= !(1 << (bit % 64));
            }
        }
        DimensionMasks { beginning, ending, begins, ends }
    }
}

impl ByCell {
    fn new(cells: usize, bits: impl Iterator<Item = (u32, u32)>, is_wanted: impl Fn(u32) -> bool) -> Self {
        let mut sorted: Vec<(u32, u32)> =
            bits.filter(|&(_, cell)| is_wanted(cell)).map(|(bit, cell)| (cell, bit)).collect();
        sorted.sort_unstable();
        let starts =
            (0..=cells).map(|cell| sorted.partition_point(|&(other, _)| (other as usize) < cell) as u32);
        ByCell { starts: starts.collect(), bits: sorted.into_iter().map(|(_, bit)| bit).collect() }
    }

    /// The leaves of the cells from `first` up to but excluding `end`.
    fn cells(&self, first: usize, end: usize) -> &[u32] {
        let last = self.starts.len() - 1;
        let (first, end) = (first.min(last), end.min(last));
        if first >= end { &[] } else { &self.bits[self.starts[first] as usize..self.starts[end] as usize] }
    }
}

impl LeafSets {
    /// Becomes equal to other sets, in the same memory.
    pub(super) fn copy_from(&mut self, other: &LeafSets) {
        self.words.clone_from(&other.words);
        self.counts.clone_from(&other.counts);
    }

    /// Calls `found` with the leaves of a tree, given by its words.
    #[inline]
    pub(super) fn visit(&self, words: std::ops::Range<usize>, found: impl FnMut(usize)) {
        visit(self.words[words].iter().copied(), found);
    }

    /// Takes leaves away.
    pub(super) fn remove(&mut self, removal: &Removal<'_>) {
        match *removal {
            Removal::AllBut(kept) => self.words.iter_mut().zip(kept).for_each(|(word, kept)| *word &= kept),
            Removal::Bits(bits) => {
                for &bit in bits {
                    self.words[bit as usize / 64] &= !(1 << (bit % 64));
                }
            }
        }
    }
}

/// Calls `found` with the numbers of all bits.
#[inline]
pub(super) fn visit(words: impl Iterator<Item = u64>, mut found: impl FnMut(usize)) {
    for (index, word) in words.enumerate() {
        let mut rest = word;
        while rest != 0 {
            found(index * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// What a box can reach. It does not depend on the output in question, so it is kept from one question to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// The cells of the box, per dimension.
    pub(super) cells: Vec<[u32; 2]>,
    pub(super) leaves: LeafSets,
    /// The extremes of each tree that has values for one output.
    pub(super) extremes: Vec<Extremes>,
}

/// The largest high and the smallest low value of a tree, and their leaves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extremes {
    pub(super) most: f64,
    pub(super) most_leaf: u32,
    pub(super) least: f64,
    pub(super) least_leaf: u32,
}

impl Reach {
    /// Finds what a box can reach, unless that is known from the last time.
    pub(super) fn find(
        &mut self,
        forest: &CompiledForest,
        masks: &LeafMasks,
        grid: &Grid,
        lower: &[i32],
        upper: &[i32],
    ) {
        if self.lower == lower && self.upper == upper && !self.cells.is_empty() {
            return;
        }
        self.lower.clear();
        self.lower.extend_from_slice(lower);
        self.upper.clear();
        self.upper.extend_from_slice(upper);
        self.cells.clear();
        masks.fill(&mut self.leaves);
        for dimension in 0..forest.dimensions() {
            let cells = [lower[dimension], upper[dimension]].map(|end| forest.cell(dimension, end));
            self.cells.push(cells);
            if cells[0] > 0 {
                masks.raise_lower_end(dimension, cells[0], |removal| self.leaves.remove(&removal));
            }
            if (cells[1] as usize) < forest.limits[dimension].len() {
                masks.lower_upper_end(dimension, cells[1], |removal| self.leaves.remove(&removal));
            }
        }
        masks.count(&mut self.leaves);
        self.extremes.clear();
        for tree in 0..forest.trees.len() {
            self.extremes.push(self.extremes_of(tree, masks, grid));
        }
    }

    fn extremes_of(&self, tree: usize, masks: &LeafMasks, grid: &Grid) -> Extremes {
        let Rows { high, low, width } = grid.rows(tree);
        if width != 1 {
            return Extremes::default();
        }
        let mut found = Extremes { most: f64::NEG_INFINITY, least: f64::INFINITY, ..Extremes::default() };
        self.leaves.visit(masks.words(tree), |leaf| {
            if high[leaf] > found.most {
                (found.most, found.most_leaf) = (high[leaf], leaf as u32);
            }
            if low[leaf] < found.least {
                (found.least, found.least_leaf) = (low[leaf], leaf as u32);
            }
        });
        found
    }
}
