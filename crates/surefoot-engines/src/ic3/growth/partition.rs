//! How states are divided into cells: those that agree in the keys, cut further where that was necessary.

use rustc_hash::FxHashMap;

use crate::ic3::reason::Reason;

/// Cells that one box may meet.
const CELLS: usize = 256;

/// A division of all states into boxes.
#[derive(Debug)]
pub struct Partition {
    domain: Reason,
    keys: Vec<usize>,
    /// For values of the keys, how their states are cut; the first cut concerns all of them.
    cuts: FxHashMap<Vec<i32>, Vec<Cut>>,
}

/// States with less than so much in a variable, and the others; each side may be cut again.
#[derive(Debug)]
struct Cut {
    variable: usize,
    at: i32,
    low: Option<usize>,
    high: Option<usize>,
}

impl Partition {
    /// The cells of states that agree in the keys.
    pub fn new(domain: &Reason, keys: Vec<usize>) -> Partition {
        Partition { domain: domain.clone(), keys, cuts: FxHashMap::default() }
    }

    /// The cell of a state.
    pub fn cell(&self, state: &[i32]) -> Reason {
        let mut cell = self.domain.clone();
        for &key in &self.keys {
            (cell.lower[key], cell.upper[key]) = (state[key], state[key]);
        }
        let cuts = self.cuts.get(&self.values(state)).map_or(&[][..], |cuts| cuts);
        let mut next = (!cuts.is_empty()).then_some(0);
        while let Some(index) = next {
            let Cut { variable, at, low, high } = cuts[index];
            if state[variable] < at {
                cell.upper[variable] = at - 1;
                next = low;
            } else {
                cell.lower[variable] = at;
                next = high;
            }
        }
        cell
    }

    /// The parts of a box in all the cells that it meets, with their cells; `None` if these are too many.
    pub fn parts(&self, states: &Reason) -> Option<Vec<(Reason, Reason)>> {
        let mut parts = Vec::new();
        let mut rest = vec![states.clone()];
        while let Some(states) = rest.pop() {
            let cell = self.cell(&states.lower);
            let part = states.intersection(&cell).expect("a corner is in both");
            rest.extend(without(states, &part));
            parts.push((part, cell));
            if parts.len() + rest.len() > CELLS {
                return None;
            }
        }
        Some(parts)
    }

    /// Cuts the cell of a state; the number is inside of it.
    pub fn cut(&mut self, state: &[i32], variable: usize, at: i32) {
        let cuts = self.cuts.entry(self.values(state)).or_default();
        let added = cuts.len();
        let mut next = (added > 0).then_some(0);
        while let Some(index) = next {
            let cut = &mut cuts[index];
            let side = if state[cut.variable] < cut.at { &mut cut.low } else { &mut cut.high };
            next = *side;
            side.get_or_insert(added);
        }
        cuts.push(Cut { variable, at, low: None, high: None });
    }

    fn values(&self, state: &[i32]) -> Vec<i32> {
        self.keys.iter().map(|&key| state[key]).collect()
    }
}

/// Disjoint boxes that hold the states of a box outside of a part of it.
fn without(mut states: Reason, part: &Reason) -> Vec<Reason> {
    let mut rest = Vec::new();
    for index in 0..states.lower.len() {
        if states.lower[index] < part.lower[index] {
            let mut below = states.clone();
            below.upper[index] = part.lower[index] - 1;
            rest.push(below);
            states.lower[index] = part.lower[index];
        }
        if states.upper[index] > part.upper[index] {
            let mut above = states.clone();
            above.lower[index] = part.upper[index] + 1;
            rest.push(above);
            states.upper[index] = part.upper[index];
        }
    }
    rest
}
