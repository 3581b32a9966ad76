//! Which region contains a box?
//!
//! The values of each variable are divided into *buckets*, by the ends of regions. For each bucket there is a row of
//! bits, one bit per region: whether the region has values there. A region that contains a box has its bit set in the
//! rows of all ends of the box. Where a variable has more ends than buckets, some buckets hold several; so bits only
//! suggest candidates, which are then compared with the box itself. A second row of bits says which words of the first
//! one are not zero: neighbours in a long list of regions are often alike.

use crate::certificate::{Bound, Domain, Fact, Region};
use crate::part::{Cut, Part};

/// Buckets per variable.
const MOST_BUCKETS: usize = 128;

/// The buckets of one variable.
#[derive(Debug)]
struct Buckets {
    /// The first value of each bucket but the first.
    starts: Vec<i64>,
    /// Per bucket, the regions with values in it.
    rows: Vec<Row>,
}

/// A set of regions.
#[derive(Debug, Clone)]
struct Row {
    /// One bit per region.
    bits: Vec<u64>,
    /// One bit per word of `bits`: whether it has any.
    words: Vec<u64>,
}

/// The regions of a certificate, ready to be searched.
#[derive(Debug)]
pub(crate) struct Cover<'c> {
    regions: &'c [Region],
    /// The variables that regions bound, and their buckets.
    buckets: Vec<(usize, Buckets)>,
    /// The region that answered last.
    recent: usize,
}

impl<'c> Cover<'c> {
    pub fn new(domains: &[Domain], regions: &'c [Region]) -> Cover<'c> {
        let buckets = domains.iter().enumerate().filter_map(|(variable, domain)| {
            let bound = |region: &Region| {
                let found = region.bounds.binary_search_by_key(&(variable as u32), |bound| bound.variable);
                found.ok().map(|at| (region.bounds[at].lower, region.bounds[at].upper))
            };
            regions.iter().any(|region| bound(region).is_some()).then(|| {
                let range = |region| bound(region).unwrap_or((domain.lower, domain.upper));
                (variable, Buckets::new(&regions.iter().map(range).collect::<Vec<_>>()))
            })
        });
        Cover { regions, buckets: buckets.collect(), recent: 0 }
    }

    /// A region whose bounds contain a box and whose facts hold, as `entails` decides.
    pub fn containing(&mut self, part: &Part, entails: impl Fn(&Fact) -> bool) -> Option<usize> {
        let holds = |bound: &Bound| {
            let (lower, upper) = part.0[bound.variable as usize];
            bound.lower <= lower && upper <= bound.upper
        };
        let contains = |region: usize| {
            let region = self.regions.get(region);
            region.is_some_and(|region| region.bounds.iter().all(holds) && region.facts.iter().all(&entails))
        };
        if contains(self.recent) {
            return Some(self.recent);
        }
        let rows = self.buckets.iter().flat_map(|(variable, buckets)| {
            let (lower, upper) = part.0[*variable];
            [buckets.row(lower), buckets.row(upper)]
        });
        let rows: Vec<&Row> = rows.collect();
        let common = |word: usize, of: fn(&Row) -> &[u64]| {
            rows.iter().fold(u64::MAX, |bits, row| if bits == 0 { 0 } else { bits & of(row)[word] })
        };
        let blocks = 0..self.regions.len().div_ceil(64 * 64);
        let words = blocks.flat_map(|block| ones(block, common(block, |row| &row.words)));
        let mut candidates = words.flat_map(|word| ones(word, common(word, |row| &row.bits)));
        let found = candidates.find(|&region| contains(region));
        self.recent = found.unwrap_or(self.recent);
        found
    }

    /// A region that contains every state of a part that satisfies the facts that are `known`.
    pub fn of_part(&mut self, part: &Part, known: &[Fact]) -> Option<usize> {
        self.containing(part, |fact| part.entails(fact, known))
    }

    /// The variables of a region's facts.
    pub fn fact_variables(&self, region: usize) -> impl Iterator<Item = usize> {
        self.regions[region].facts.iter().flat_map(Fact::variables)
    }

    /// Where a part leaves the bounds of a region: the first value outside, seen from inside, as a cut, and how much is
    /// inside of all that there is.
    pub fn faces(&self, region: usize, part: &Part) -> Vec<(Cut, f64)> {
        let mut faces = Vec::new();
        for bound in &self.regions[region].bounds {
            let variable = bound.variable as usize;
            let (lower, upper) = part.0[variable];
            let all = f64::from(part.width(variable)) + 1.0;
            let inside = f64::from(bound.upper.min(upper)) - f64::from(bound.lower.max(lower)) + 1.0;
            if lower < bound.lower {
                faces.push((Cut { variable, at: bound.lower }, inside / all));
            }
            if upper > bound.upper {
                // The bound is below another value, so there is a next one.
                faces.push((Cut { variable, at: bound.upper + 1 }, inside / all));
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
        let empty =
            Row { bits: vec![0; ranges.len().div_ceil(64)], words: vec![0; ranges.len().div_ceil(64 * 64)] };
        let rows = vec![empty; starts.len() + 1];
        let mut buckets = Buckets { starts, rows };
        for (region, &(lower, upper)) in ranges.iter().enumerate() {
            for bucket in buckets.of(lower)..=buckets.of(upper) {
                let Row { bits, words } = &mut buckets.rows[bucket];
                let word = region / 64;
                bits[word] |= 1 << (region % 64);
                words[word / 64] |= 1 << (word % 64);
            }
        }
        buckets
    }

    fn of(&self, value: i32) -> usize {
        self.starts.partition_point(|&start| start <= value.into())
    }

    fn row(&self, value: i32) -> &Row {
        &self.rows[self.of(value)]
    }
}

/// Where the bits of a word are set, in a row of bits.
fn ones(word: usize, bits: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
}
