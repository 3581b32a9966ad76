//! Levels: a coarse scale for each variable, by which records are filtered.
//!
//! The level of a value is monotone in the value. So if `a ≤ b`, then the level of `a` is at most that of `b`: a
//! filter by levels loses nothing. What passes it is compared by values.

/// Levels of a variable at most. Small domains have one per value.
const LEVELS: u32 = 16;

/// Variables that are filtered by; of policies with more, some are left to the comparison of values.
const INDEXED: usize = 64;

/// Rows that a query needs at most.
pub(super) const ROWS: usize = 2 * INDEXED;

/// The scales of all variables that a policy reads, and the numbers of the rows of bits that belong to them.
///
/// A record has two values per variable, `a` and `b`. Of a variable with levels from 0 to `n`, row `k < n` of its
/// first `n` rows marks the records where `a` has level `k` or less, and row `k` of its other `n` rows those where
/// `b` has level `k + 1` or more. That `a` has level `n` or less and `b` level 0 or more is always so.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    scales: Vec<Scale>,
    /// Number of variables, with those that have no scale.
    variables: usize,
    rows: usize,
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    variable: usize,
    least: i32,
    greatest: i32,
    shift: u32,
    /// The highest level.
    top: u32,
    /// The first of its rows.
    first: u32,
}

impl Scale {
    #[inline]
    fn level(&self, value: i32) -> u32 {
        value.max(self.least).min(self.greatest).abs_diff(self.least) >> self.shift
    }
}

impl Grid {
    /// Scales for variables with these least and greatest values. Rows are numbered from `first_row`.
    pub(super) fn new(domains: &[(i32, i32)], first_row: usize) -> Self {
        let mut scales: Vec<Scale> = Vec::new();
        let mut rows = first_row;
        let variables = domains.len();
        let count = variables.min(INDEXED);
        for variable in (0..count).map(|index| index * variables / count) {
            let (least, greatest) = domains[variable];
            if least < greatest {
                let width = greatest.abs_diff(least);
                let shift = (u32::BITS - width.leading_zeros()).saturating_sub(LEVELS.ilog2());
                let top = width >> shift;
                scales.push(Scale { variable, least, greatest, shift, top, first: rows as u32 });
                rows += 2 * top as usize;
            }
        }
        Grid { scales, variables, rows }
    }

    /// Number of variables.
    pub(super) fn variables(&self) -> usize {
        self.variables
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Calls `mark` with each row, and whether a record is marked in it.
    pub(super) fn mark(&self, a: &[i32], b: &[i32], mut mark: impl FnMut(usize, bool)) {
        for scale in &self.scales {
            let (a, b) = (scale.level(a[scale.variable]), scale.level(b[scale.variable]));
            for level in 0..scale.top {
                mark((scale.first + level) as usize, a <= level);
                mark((scale.first + scale.top + level) as usize, b > level);
            }
        }
    }

    /// Calls `require` with rows, at most [`ROWS`], in which every record is marked that has `a ≤ most` and `b ≥
    /// least` everywhere.
    #[inline]
    pub(super) fn require(&self, most: &[i32], least: &[i32], mut require: impl FnMut(u32)) {
        for scale in &self.scales {
            let (most, least) = (scale.level(most[scale.variable]), scale.level(least[scale.variable]));
            if most < scale.top {
                require(scale.first + most);
            }
            if least > 0 {
                require(scale.first + scale.top + least - 1);
            }
        }
    }
}
