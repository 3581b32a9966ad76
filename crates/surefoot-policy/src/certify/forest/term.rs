//! What a tree adds to a margin.

use std::ops::Range;

use super::grid::Rows;
use super::reach::{Extremes, LeafSets, visit};

/// Marks a column that a term does not have, and a leaf that is not known.
pub(super) const NONE: u32 = u32::MAX;

/// A part of one margin, or of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// The competing output, by its place among them; their number for a part of all margins.
    pub(super) competitor: u32,
    /// The column of the output in question.
    pub(super) minuend: u32,
    /// The column of the competing output.
    subtrahend: u32,
    /// The best leaf that can be reached, counted within the tree.
    pub(super) leaf: u32,
    /// Its value.
    pub(super) value: f64,
    /// How much the values of leaves differ in the box of the question.
    pub(super) weight: f64,
}

impl Term {
    /// A term whose bound is not known yet.
    pub(super) fn new(competitor: usize, minuend: u32, subtrahend: u32) -> Self {
        Term { competitor: competitor as u32, minuend, subtrahend, leaf: NONE, value: 0.0, weight: 0.0 }
    }

    /// The best of the leaves that are given as words of bits, and its value.
    #[inline]
    pub(super) fn best(&self, rows: &Rows<'_>, words: impl Iterator<Item = u64>) -> (u32, f64) {
        let Rows { high, low, width } = *rows;
        let (minuend, subtrahend) = (self.minuend as usize, self.subtrahend as usize);
        match (self.minuend, self.subtrahend) {
            (_, NONE) => best(words, |leaf| high[leaf * width + minuend]),
            (NONE, _) => best(words, |leaf| -low[leaf * width + subtrahend]),
            _ => best(words, |leaf| high[leaf * width + minuend] - low[leaf * width + subtrahend]),
        }
    }

    /// Its value at a leaf.
    pub(super) fn value_at(&self, rows: &Rows<'_>, leaf: u32) -> f64 {
        let row = leaf as usize * rows.width;
        let value =
            |values: &[f64], column: u32| if column == NONE { 0.0 } else { values[row + column as usize] };
        value(rows.high, self.minuend) - value(rows.low, self.subtrahend)
    }

    /// By how much its bound exceeds its value at a leaf.
    pub(super) fn loss_at(&self, rows: &Rows<'_>, leaf: u32) -> f64 {
        if self.leaf == leaf { 0.0 } else { self.value - self.value_at(rows, leaf) }
    }

    /// The bound for a tree with values for one output.
    pub(super) fn look_up(&mut self, extremes: &Extremes) {
        (self.leaf, self.value) = if self.minuend == NONE {
            (extremes.least_leaf, -extremes.least)
        } else {
            (extremes.most_leaf, extremes.most)
        };
        self.weight = extremes.most - extremes.least;
    }

    /// The bound for a tree with values for several outputs. The best leaf is not known then: it is rarely needed.
    pub(super) fn take(&mut self, scan: &Scan) {
        let column = self.column(scan);
        self.value = scan.most[column];
        self.weight = scan.most[column] - scan.least[column];
    }

    /// The same in a part of the box, where the weight remains.
    pub(super) fn take_again(&mut self, scan: &Scan) {
        self.leaf = NONE;
        self.value = scan.most[self.column(scan)];
    }

    fn column(&self, scan: &Scan) -> usize {
        if self.subtrahend == NONE { scan.zero } else { self.subtrahend as usize }
    }
}

#[inline]
fn best(words: impl Iterator<Item = u64>, value: impl Fn(usize) -> f64) -> (u32, f64) {
    let (mut best, mut highest) = (NONE, f64::NEG_INFINITY);
    visit(words, |leaf| {
        let value = value(leaf);
        if value > highest {
            (best, highest) = (leaf as u32, value);
        }
    });
    (best, highest)
}

/// The extremes of the differences between one output and all others, over the leaves of a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    most: Vec<f64>,
    least: Vec<f64>,
    /// A column of zeros.
    zero: usize,
}

impl Scan {
    /// Scans the leaves that can be reached, all columns side by side.
    pub(super) fn run(&mut self, minuend: u32, rows: &Rows<'_>, leaves: &LeafSets, words: &Range<usize>) {
        self.most.resize(rows.width, 0.0);
        self.least.resize(rows.width, 0.0);
        self.zero = rows.width - 1;
        if rows.width == 4 {
            self.columns::<4>(0, minuend, rows, &leaves.words[words.clone()]);
        } else {
            for column in (0..rows.width).step_by(8) {
                self.columns::<8>(column, minuend, rows, &leaves.words[words.clone()]);
            }
        }
    }

    fn columns<const WIDTH: usize>(&mut self, column: usize, minuend: u32, rows: &Rows<'_>, words: &[u64]) {
        let Rows { high, low, width } = *rows;
        let mut most = [f64::NEG_INFINITY; WIDTH];
        let mut least = [f64::INFINITY; WIDTH];
        visit(words.iter().copied(), |leaf| {
            let value = if minuend == NONE { 0.0 } else { high[leaf * width + minuend as usize] };
            let row: &[f64; WIDTH] =
                low[leaf * width + column..][..WIDTH].try_into().expect("as long as asked for");
            for ((most, least), low) in most.iter_mut().zip(&mut least).zip(row) {
                let difference = value - low;
                // Written such that it compiles to one instruction.
                *most = if difference > *most { difference } else { *most };
                *least = if difference < *least { difference } else { *least };
            }
        });
        self.most[column..column + WIDTH].copy_from_slice(&most);
        self.least[column..column + WIDTH].copy_from_slice(&least);
    }
}
