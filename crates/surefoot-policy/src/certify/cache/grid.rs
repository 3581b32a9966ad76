//! Levels: a coarse scale for each variable, by which records are filtered.
//!
//! The level of a value is monotone in the value. So if `a ≤ b`, then the level of `a` is at most that of `b`: a filter
//! by levels loses nothing. What passes it is compared by values.

/// Levels of a variable at most. Small domains have one per value.
const LEVELS: i64 = 16;

/// Variables that are filtered by; of policies with more, some are left to the comparison of values.
const INDEXED: usize = 64;

/// The scales of all variables that a policy reads, and the numbers of the rows of bits that belong to them.
///
/// A record has two values per variable, `a` and `b`. Of a variable with `n` levels, row `k < n - 1` of its first
/// rows marks the records where `a` has level `k` or less, and row `k` of its second rows those where `b` has level
/// `k + 1` or more. The other two conditions of that form always hold.
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
    least: i64,
    greatest: i64,
    shift: u32,
    levels: usize,
    first_row: usize,
}

impl Scale {
    fn level(&self, value: i32) -> usize {
        ((i64::from(value).clamp(self.least, self.greatest) - self.least) >> self.shift) as usize
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
            let (least, greatest) = (i64::from(domains[variable].0), i64::from(domains[variable].1));
            let width = greatest - least;
            if width > 0 {
                let shift = (0..32).find(|shift| width >> shift < LEVELS).unwrap_or(32);
                let levels = (width >> shift) as usize + 1;
                scales.push(Scale { variable, least, greatest, shift, levels, first_row: rows });
                rows += 2 * (levels - 1);
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
            let second = scale.first_row + scale.levels - 1;
            for level in 0..scale.levels - 1 {
                mark(scale.first_row + level, a <= level);
                mark(second + level, b > level);
            }
        }
    }

    /// Calls `require` with rows in which every record is marked that has `a ≤ most` and `b ≥ least` everywhere.
    #[inline]
    pub(super) fn require(&self, most: &[i32], least: &[i32], mut require: impl FnMut(usize)) {
        for scale in &self.scales {
            let (most, least) = (scale.level(most[scale.variable]), scale.level(least[scale.variable]));
            if most < scale.levels - 1 {
                require(scale.first_row + most);
            }
            if least > 0 {
                require(scale.first_row + scale.levels - 1 + least - 1);
            }
        }
    }
}
