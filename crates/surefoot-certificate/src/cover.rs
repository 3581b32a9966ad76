//! Which region contains a box?
//!
//! The values of each variable are divided into *buckets*, by the ends of regions. For each bucket there is a row of
//! bits, one bit per region: whether the region has values there. A region that contains a box has its bit set in the
//! rows of all ends of the box. Where a variable has more ends than buckets, some buckets hold several; so bits only
//! suggest candidates, which are then compared with the box itself.

use crate::certificate::{Domain, Fact, Region};
use crate::part::{Cut, Part};

/// Buckets per variable.
const MOST_BUCKETS: usize = 128;

/// The buckets of one variable.
#[derive(Debug)]
struct Buckets {
    /// The first value of each bucket but the first.
    starts: Vec<i64>,
    /// Per bucket, the regions with values in it.
    rows: Vec<Vec<u64>>,
}

/// The regions of a certificate, ready to be searched.
#[derive(Debug)]
pub(crate) struct Cover<'c> {
    regions: &'c [Region],
    boxes: Vec<Part>,
    /// By variable.
    buckets: Vec<Buckets>,
    /// The region that answered last.
    recent: usize,
}

impl<'c> Cover<'c> {
    pub fn new(domains: &[Domain], regions: &'c [Region]) -> Cover<'c> {
        let boxes: Vec<Part> = regions.iter().map(|region| Part::of_region(domains, region)).collect();
        let ranges = |variable: usize| boxes.iter().map(|part| part.0[variable]).collect::<Vec<_>>();
        let buckets = (0..domains.len()).map(|variable| Buckets::new(&ranges(variable))).collect();
        Cover { regions, boxes, buckets, recent: 0 }
    }

    /// A region whose bounds contain a box and whose facts hold, as `entails` decides.
    pub fn containing(&mut self, part: &Part, entails: impl Fn(&Fact) -> bool) -> Option<usize> {
        let contains = |region: usize| {
            let outer = self.boxes.get(region).is_some_and(|outer| outer.contains(part));
            outer && self.regions[region].facts.iter().all(&entails)
        };
        if contains(self.recent) {
            return Some(self.recent);
        }
        let ends = part.0.iter().zip(&self.buckets);
        let rows = ends.flat_map(|((lower, upper), buckets)| [buckets.row(*lower), buckets.row(*upper)]);
        let rows: Vec<&[u64]> = rows.collect();
        for word in 0..self.boxes.len().div_ceil(64) {
            let mut bits =
                rows.iter().fold(u64::MAX, |bits, row| if bits == 0 { 0 } else { bits & row[word] });
            while bits != 0 {
                let region = word * 64 + bits.trailing_zeros() as usize;
                if contains(region) {
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

impl Buckets {
    fn new(ranges: &[(i32, i32)]) -> Buckets {
        let ends = |&(lower, upper): &(i32, i32)| [i64::from(lower), i64::from(upper) + 1];
        let mut starts: Vec<i64> = ranges.iter().flat_map(ends).collect();
        starts.sort_unstable();
        starts.dedup();
        let step = starts.len().div_ceil(MOST_BUCKETS).max(1);
        let starts: Vec<i64> = starts.into_iter().step_by(step).collect();
        let rows = vec![vec![0; ranges.len().div_ceil(64)]; starts.len() + 1];
        let mut buckets = Buckets { starts, rows };
        for (region, &(lower, upper)) in ranges.iter().enumerate() {
            for bucket in buckets.of(lower)..=buckets.of(upper) {
                buckets.rows[bucket][region / 64] |= 1 << (region % 64);
            }
        }
        buckets
    }

    fn of(&self, value: i32) -> usize {
        self.starts.partition_point(|&start| start <= value.into())
    }

    fn row(&self, value: i32) -> &[u64] {
        &self.rows[self.of(value)]
    }
}
