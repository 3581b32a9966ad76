//! Which region contains a box?
//!
//! For each variable and some of its values there is a row of bits, one bit per region: whether its lower bound is at
//! most that value; and the same for upper bounds that are at least a value. A box lies within the bounds of a region
//! if the region's bits are set in the rows of all its ends. Where a variable has more distinct bounds than rows, the
//! row of the next wider value is taken; so bits only suggest candidates, which are then compared with the box itself.

use crate::certificate::{Domain, Fact, Region};
use crate::part::{Cut, Part};

/// Rows per variable and end.
const MOST_ROWS: usize = 64;

/// The rows of one end of one variable. Upper ends are stored negated, so that both kinds are lower ends.
#[derive(Debug, Default)]
struct Rows {
    /// Whether every end has a row of its own.
    complete: bool,
    /// Ends that rows stand for, ascending; the last one stands for all regions.
    levels: Vec<i64>,
    /// Per level, the regions whose end is at most that.
    bits: Vec<Vec<u64>>,
    /// Per level, the number of those regions.
    counts: Vec<usize>,
}

/// The regions of a certificate, ready to be searched.
#[derive(Debug)]
pub(crate) struct Cover<'c> {
    regions: &'c [Region],
    boxes: Vec<Part>,
    /// Lower ends of variable 0, upper ends of variable 0, lower ends of variable 1, …
    rows: Vec<Rows>,
    /// The region that answered last.
    recent: usize,
}

impl<'c> Cover<'c> {
    pub fn new(domains: &[Domain], regions: &'c [Region]) -> Cover<'c> {
        let boxes: Vec<Part> = regions.iter().map(|region| Part::of_region(domains, region)).collect();
        let rows = (0..domains.len()).flat_map(|variable| {
            let ends = |end: fn((i32, i32)) -> i64| {
                Rows::new(&boxes.iter().map(|part| end(part.0[variable])).collect::<Vec<_>>())
            };
            [ends(|range| range.0.into()), ends(|range| -i64::from(range.1))]
        });
        let rows = rows.collect();
        Cover { regions, boxes, rows, recent: 0 }
    }

    /// A region whose bounds contain a box and whose facts hold, as `entails` decides.
    pub fn containing(&mut self, part: &Part, entails: impl Fn(&Fact) -> bool) -> Option<usize> {
        let contains = |region: usize| {
            let mut ranges = self.boxes[region].0.iter().zip(&part.0);
            ranges.all(|(outer, inner)| outer.0 <= inner.0 && inner.1 <= outer.1)
                && self.regions[region].facts.iter().all(&entails)
        };
        if self.boxes.is_empty() {
            return None;
        }
        if contains(self.recent) {
            return Some(self.recent);
        }
        let mut rows: Vec<(usize, &[u64])> = Vec::new();
        for (variable, range) in part.0.iter().enumerate() {
            for (rows_of_end, end) in
                self.rows[2 * variable..].iter().zip([range.0.into(), -i64::from(range.1)])
            {
                let (count, bits) = rows_of_end.up_to(end)?;
                if count < self.boxes.len() {
                    rows.push((count, bits));
                }
            }
        }
        rows.sort_unstable_by_key(|row| row.0);
        for word in 0..self.boxes.len().div_ceil(64) {
            let mut bits =
                rows.iter().fold(u64::MAX, |bits, row| if bits == 0 { 0 } else { bits & row.1[word] });
            while bits != 0 {
                let region = word * 64 + bits.trailing_zeros() as usize;
                if region < self.boxes.len() && contains(region) {
                    self.recent = region;
                    return Some(region);
                }
                bits &= bits - 1;
            }
        }
        None
    }

    /// A region that contains every state of a part.
    pub fn of_part(&mut self, part: &Part) -> Option<usize> {
        self.containing(part, |fact| part.entails(fact))
    }

    /// The variables of a region's facts.
    pub fn fact_variables(&self, region: usize) -> impl Iterator<Item = usize> {
        self.regions[region].facts.iter().flat_map(Fact::variables)
    }

    /// Where a part leaves the bounds of a region: the first value outside, seen from inside, as a cut, and how much is
    /// inside of all that there is.
    pub fn faces(&self, region: usize, part: &Part) -> Vec<(Cut, f64)> {
        let mut faces = Vec::new();
        for (variable, (inner, outer)) in self.boxes[region].0.iter().zip(&part.0).enumerate() {
            let all = f64::from(part.width(variable)) + 1.0;
            let inside = (f64::from(inner.1.min(outer.1)) - f64::from(inner.0.max(outer.0)) + 1.0) / all;
            if outer.0 < inner.0 {
                faces.push((Cut { variable, at: inner.0 }, inside));
            }
            if outer.1 > inner.1 {
                // The bound is below another value, so there is a next one.
                faces.push((Cut { variable, at: inner.1 + 1 }, inside));
            }
        }
        faces
    }
}

impl Rows {
    fn new(ends: &[i64]) -> Rows {
        let mut levels = ends.to_vec();
        levels.sort_unstable();
        levels.dedup();
        let step = levels.len().div_ceil(MOST_ROWS).max(1);
        let mut levels: Vec<i64> = levels.iter().rev().step_by(step).copied().collect();
        levels.reverse();
        let row = |&level: &i64| {
            let mut row = vec![0_u64; ends.len().div_ceil(64)];
            let within = ends.iter().enumerate().filter(|end| *end.1 <= level);
            within.for_each(|(region, _)| row[region / 64] |= 1 << (region % 64));
            row
        };
        let bits: Vec<Vec<u64>> = levels.iter().map(row).collect();
        let counts = bits.iter().map(|row| row.iter().map(|word| word.count_ones() as usize).sum()).collect();
        Rows { complete: step == 1, levels, bits, counts }
    }

    /// The row of regions whose end is at most a value, and perhaps of more; `None` if there is no such region.
    fn up_to(&self, value: i64) -> Option<(usize, &[u64])> {
        let level = if self.complete {
            self.levels.partition_point(|&level| level <= value).checked_sub(1)?
        } else {
            self.levels.partition_point(|&level| level < value).min(self.levels.len() - 1)
        };
        Some((self.counts[level], &self.bits[level]))
    }
}
