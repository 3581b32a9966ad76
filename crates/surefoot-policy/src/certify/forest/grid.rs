//! Leaf values on a grid, and how far sums of them are from scores.
//!
//! All values are rounded to multiples of one power of two, the *unit*, and kept as numbers of units. The unit is so
//! large that every sum of them is below 2⁵³ units: sums and differences of them are exact in double precision, in any
//! order. So bounds can be updated by adding and subtracting for as long as one likes, without drift.
//!
//! # How far sums are from scores
//!
//! Let `M` be the largest magnitude of an output: that of its base score plus, for each tree, that of its largest leaf
//! value. Let `n` be the number of trees with leaf values other than 0 for the output; adding 0 is exact.
//!
//! - *Rounding to the grid*: half a unit for the base score and for each tree that has a value off the grid.
//! - *`f64` and `f32`*: the score is a sum with `n` rounded additions, so it is within `γ_n·M` of the exact sum, with
//!   `γ_n = n·u / (1 − n·u)` and `u` = 2⁻⁵³ or 2⁻²⁴ (an addition with a subnormal result is exact). If all values are
//!   multiples of a power of two and `M` is at most 2⁵³ or 2²⁴ times that power, every partial sum is representable:
//!   the score *is* the exact sum. That makes ties decidable by bounds, for integral votes for example.
//! - *`any-f32`*: by [`crate::enclosure`], the score lies in `Σv ± (g·Σ|v| + c)`. Both ends are sums over trees, of
//!   `v + g·|v|` and `v − g·|v|`: these are the high and the low value of a leaf. The definition computes the ends in
//!   double precision with `n` additions for each of the two sums and a few operations more; so do we with our values.
//!   All that is less than `2·(n + 24)·2⁻⁵³·M·(1 + g)`, where `M` includes `c`.
//!
//! The argument needs that nothing overflows, which `M` well below the largest number excludes, and that `n` is below
//! 2²⁰. Otherwise the error is infinite: then bounds decide nothing, and boxes are split until all their points share
//! their leaves.

use super::compiled::CompiledForest;
use crate::arithmetic::Arithmetic;
use crate::enclosure::{self, Rounding};
use crate::ensemble::{Ensemble, Tree};
use crate::parameter::Parameter;

/// Ensembles with this many trees are too large for the argument.
const TOO_MANY_TREES: usize = 1 << 20;

/// Leaf values and base scores in units.
#[derive(Debug)]
pub(super) struct Grid {
    /// The unit is 2 to this power.
    exponent: i32,
    /// Of each output: the base score, high and low end.
    pub(super) base: Vec<[f64; 2]>,
    /// Of each output: how far its sum can be from an end of its score, in units.
    pub(super) errors: Vec<f64>,
    pub(super) trees: Vec<Columns>,
    /// The outputs of all trees' columns.
    pub(super) outputs: Vec<u32>,
    high: Vec<f64>,
    /// Empty if it is the same as `high`.
    low: Vec<f64>,
}

/// The outputs that a tree has values other than 0 for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    /// A range of [`Grid::outputs`].
    pub(super) first: u32,
    pub(super) end: u32,
    /// Where the rows of its leaves begin, and their length: 1, 4 or a multiple of 8. If there are several values, zeros follow.
    row: usize,
    width: usize,
}

/// The values of a tree's leaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'g> {
    pub(super) high: &'g [f64],
    pub(super) low: &'g [f64],
    pub(super) width: usize,
}

impl Grid {
    pub(super) fn new(ensemble: &Ensemble, arithmetic: Arithmetic, forest: &CompiledForest) -> Self {
        let ends = Ends::new(ensemble, arithmetic);
        let statistics: Vec<Statistics> =
            (0..ensemble.outputs()).map(|output| Statistics::new(ensemble, &ends, forest, output)).collect();
        let largest = statistics.iter().map(|one| one.magnitude).fold(0.0, f64::max);
        let bounded = largest < ends.overflow_limit() && ensemble.trees().len() < TOO_MANY_TREES;
        // Both ends of all scores are below twice the largest magnitude, and 16 times that below 2⁵³ units.
        let exponent = if bounded && largest > 0.0 { libm::ilogb(largest) + 2 + 4 - 53 } else { 0 };
        let units = |value: f64| if bounded { libm::scalbn(value, -exponent).round() } else { 0.0 };
        let errors =
            statistics.iter().map(|one| if bounded { ends.error(one, exponent) } else { f64::INFINITY });
        let mut grid = Grid {
            exponent,
            base: ensemble.base().iter().map(|&base| ends.of_base(base).map(units)).collect(),
            errors: errors.collect(),
            trees: Vec::new(),
            outputs: Vec::new(),
            high: Vec::new(),
            low: Vec::new(),
        };
        for (index, tree) in ensemble.trees().iter().enumerate() {
            grid.add(tree, leaf_indices(forest, index), &ends, units);
        }
        if ends.are_equal() {
            grid.low = Vec::new();
        }
        grid
    }

    fn add(
        &mut self,
        tree: &Tree,
        leaves: impl Iterator<Item = u32> + Clone,
        ends: &Ends,
        units: impl Fn(f64) -> f64,
    ) {
        let first = self.outputs.len() as u32;
        let row = self.high.len();
        let is_used =
            |output: &usize| leaves.clone().any(|leaf| ends.value(tree.values(leaf)[*output]) != 0.0);
        self.outputs.extend((0..self.base.len()).filter(is_used).map(|output| output as u32));
        let end = self.outputs.len() as u32;
        let columns = (end - first) as usize;
        let width = match columns {
            0 | 1 => columns,
            2 | 3 => 4,
            _ => (columns + 1).next_multiple_of(8),
        };
        for leaf in leaves {
            let values = tree.values(leaf);
            for &output in &self.outputs[first as usize..] {
                let [high, low] = ends.of_leaf(values[output as usize]).map(&units);
                self.high.push(high);
                self.low.push(low);
            }
            self.high.resize(self.high.len() + width - columns, 0.0);
            self.low.resize(self.high.len(), 0.0);
        }
        self.trees.push(Columns { first, end, row, width });
    }

    /// The outputs that a tree has values for.
    pub(super) fn outputs(&self, tree: usize) -> &[u32] {
        let columns = self.trees[tree];
        &self.outputs[columns.first as usize..columns.end as usize]
    }

    /// The values of a tree, a row per leaf.
    pub(super) fn rows(&self, tree: usize) -> Rows<'_> {
        let Columns { row, width, .. } = self.trees[tree];
        let low = if self.low.is_empty() { &self.high } else { &self.low };
        Rows { high: &self.high[row..], low: &low[row..], width }
    }

    /// A double that is not below a number of units plus an error.
    pub(super) fn value_above(&self, units: f64, error: f64) -> f64 {
        let sum = if error == 0.0 { units } else { (units + error).next_up() };
        let value = libm::scalbn(sum, self.exponent);
        if libm::scalbn(value, -self.exponent) == sum { value } else { value.next_up() }
    }
}

fn leaf_indices(forest: &CompiledForest, tree: usize) -> impl Iterator<Item = u32> + Clone + '_ {
    let tree = forest.trees[tree];
    forest.leaves[tree.first_leaf as usize..tree.end_leaf as usize].iter().map(|leaf| leaf.index)
}

/// What the error of an output depends on.
struct Statistics {
    /// At least the sum of the magnitudes of the base score and of the largest leaf value of each tree.
    magnitude: f64,
    /// All values are multiples of 2 to this power.
    granularity: i32,
    /// Trees with values other than 0.
    trees: usize,
}

impl Statistics {
    fn new(ensemble: &Ensemble, ends: &Ends, forest: &CompiledForest, output: usize) -> Self {
        let base = ends.value(ensemble.base()[output]);
        let mut magnitude = base.abs() + ends.constant;
        let mut least = granularity(base);
        let mut trees = 0;
        for (index, tree) in ensemble.trees().iter().enumerate() {
            let values = leaf_indices(forest, index).map(|leaf| ends.value(tree.values(leaf)[output]));
            let largest = values.clone().map(f64::abs).fold(0.0, f64::max);
            least = values.map(granularity).fold(least, i32::min);
            magnitude += largest;
            trees += usize::from(largest > 0.0);
        }
        // The sum of fewer than 2²⁰ terms loses less than the fraction 2⁻³².
        Statistics { magnitude: magnitude * (1.0 + 1.0 / (1_u64 << 32) as f64), granularity: least, trees }
    }
}

/// The power of the last bit of a number.
fn granularity(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return i32::MAX;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 {
        fraction.trailing_zeros() as i32 - 1074
    } else {
        (fraction | 1 << 52).trailing_zeros() as i32 + exponent - 1075
    }
}

/// What an arithmetic makes of the numbers in an ensemble.
struct Ends {
    arithmetic: Arithmetic,
    /// The radius of a score is this times the sum of magnitudes, plus a constant.
    growth: f64,
    constant: f64,
}

impl Ends {
    fn new(ensemble: &Ensemble, arithmetic: Arithmetic) -> Self {
        match arithmetic {
            Arithmetic::F64 | Arithmetic::F32 | Arithmetic::Real => {
                Ends { arithmetic, growth: 0.0, constant: 0.0 }
            }
            Arithmetic::AnyF32 => {
                let rounding = Rounding::ANY_F32;
                let terms = enclosure::leaf_terms(ensemble, &rounding);
                let constant = enclosure::of_leaves(0.0, 0.0, terms, &rounding).radius;
                Ends { arithmetic, growth: rounding.growth(terms), constant }
            }
        }
    }

    fn are_equal(&self) -> bool {
        self.growth == 0.0
    }

    /// The number that is computed with.
    fn value(&self, parameter: Parameter) -> f64 {
        match self.arithmetic {
            Arithmetic::F64 | Arithmetic::Real => parameter.double,
            Arithmetic::F32 | Arithmetic::AnyF32 => parameter.single.into(),
        }
    }

    /// The high and the low value of a leaf.
    fn of_leaf(&self, parameter: Parameter) -> [f64; 2] {
        let value = self.value(parameter);
        [value + self.growth * value.abs(), value - self.growth * value.abs()]
    }

    fn of_base(&self, parameter: Parameter) -> [f64; 2] {
        let [high, low] = self.of_leaf(parameter);
        [high + self.constant, low - self.constant]
    }

    /// If all magnitudes are below, nothing overflows.
    fn overflow_limit(&self) -> f64 {
        match self.arithmetic {
            Arithmetic::F64 | Arithmetic::Real => 2.0_f64.powi(1000),
            // In `any-f32`, a growth that is NaN makes the constant and thereby all magnitudes infinite.
            Arithmetic::F32 | Arithmetic::AnyF32 => 2.0_f64.powi(120),
        }
    }

    /// How far sums of units can be from an end of a score, in units of 2 to the power `exponent`.
    fn error(&self, statistics: &Statistics, exponent: i32) -> f64 {
        let Statistics { magnitude, granularity, trees } = *statistics;
        // 1.02 is more than 1 / (1 − n·u), and makes up for roundings in this formula.
        let rounded =
            |additions: usize, unit: f64| 1.02 * additions as f64 * unit * libm::scalbn(magnitude, -exponent);
        let is_exact = |bits: i32| {
            granularity == i32::MAX
                || magnitude <= libm::scalbn(1.0, granularity.saturating_add(bits).min(1100))
        };
        let off_grid = if granularity >= exponent { 0.0 } else { 0.5 * (trees + 1) as f64 };
        match self.arithmetic {
            Arithmetic::Real => off_grid,
            Arithmetic::F64 if is_exact(53) => off_grid,
            Arithmetic::F64 => off_grid + rounded(trees, f64::EPSILON / 2.0),
            Arithmetic::F32 if is_exact(24) => off_grid,
            Arithmetic::F32 => off_grid + rounded(trees, f64::from(f32::EPSILON) / 2.0),
            Arithmetic::AnyF32 => {
                0.5 * (trees + 1) as f64 + rounded(2 * (trees + 24), f64::EPSILON / 2.0) * (1.0 + self.growth)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::space::InputOrigin;
    use crate::ensemble::TreeNode;

    /// An ensemble of stumps whose two leaves have the same value for the only output.
    fn grid(base: f64, values: &[f64], arithmetic: Arithmetic) -> Grid {
        let stump = |&value: &f64| {
            let split = TreeNode::Split { feature: 0, threshold: Parameter::from(0.5), left: 1, right: 2 };
            let nodes = vec![split, TreeNode::Leaf(0), TreeNode::Leaf(1)];
            Tree::new(1, nodes, vec![Parameter::from(value); 2]).expect("well formed")
        };
        let trees = values.iter().map(stump).collect();
        let ensemble = Ensemble::new(1, vec![Parameter::from(base)], trees).expect("trees fit");
        let forest = CompiledForest::new(&ensemble, arithmetic, &[InputOrigin::Dimension(0)]);
        Grid::new(&ensemble, arithmetic, &forest)
    }

    #[test]
    fn the_last_bit_of_a_number() {
        assert_eq!(granularity(1.0), 0);
        assert_eq!(granularity(-6.0), 1);
        assert_eq!(granularity(0.75), -2);
        assert_eq!(granularity(5e-324), -1074);
        assert_eq!(granularity(f64::MIN_POSITIVE), -1022);
        assert_eq!(granularity(0.0), i32::MAX);
    }

    #[test]
    fn sums_of_few_bits_have_no_error() {
        for arithmetic in [Arithmetic::F64, Arithmetic::F32] {
            assert_eq!(grid(-1.5, &[0.25, 3.0, -7.0], arithmetic).errors, [0.0]);
        }
        // More than half a unit for the base score and for each tree.
        assert!(grid(0.0, &[0.1, 0.2, 0.3], Arithmetic::F64).errors[0] > 2.0);
        // 2²⁴ + 1 is no single.
        assert_eq!(grid(16_777_216.0, &[1.0], Arithmetic::F64).errors, [0.0]);
        assert!(grid(16_777_216.0, &[1.0], Arithmetic::F32).errors[0] > 0.0);
        assert!(grid(0.0, &[1.0], Arithmetic::AnyF32).errors[0] > 0.0);
    }

    #[test]
    fn single_precision_errs_by_a_unit_in_the_last_place_per_tree() {
        let grid = grid(16_777_216.0, &[1.0, 1.0], Arithmetic::F32);
        let error = grid.value_above(0.0, grid.errors[0]);
        assert!((2.0..2.1).contains(&error), "{error}");
    }

    #[test]
    fn what_may_overflow_has_infinite_errors() {
        for (value, arithmetic) in
            [(1e300, Arithmetic::F32), (1e38, Arithmetic::AnyF32), (1e308, Arithmetic::F64)]
        {
            assert_eq!(grid(value, &[value], arithmetic).errors, [f64::INFINITY]);
        }
    }
}
