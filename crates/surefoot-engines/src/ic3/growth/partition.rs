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

#[cfg(test)]
mod tests {
    use super::*;

    fn states(ranges: &[(i32, i32)]) -> Reason {
        let (lower, upper) = ranges.iter().copied().unzip();
        Reason { lower, upper }
    }

    /// Keys on the first variable, and cuts of the others where the first is 1.
    fn partition() -> Partition {
        let mut partition = Partition::new(&states(&[(0, 2), (-3, 3), (0, 9)]), vec![0]);
        partition.cut(&[1, 0, 0], 2, 5);
        partition.cut(&[1, 0, 7], 1, -1);
        partition.cut(&[1, 0, 7], 2, 8);
        partition
    }

    #[test]
    fn a_cell_is_what_cuts_leave() {
        let partition = partition();
        assert_eq!(partition.cell(&[0, 2, 6]), states(&[(0, 0), (-3, 3), (0, 9)]));
        assert_eq!(partition.cell(&[1, 2, 4]), states(&[(1, 1), (-3, 3), (0, 4)]));
        assert_eq!(partition.cell(&[1, -2, 6]), states(&[(1, 1), (-3, -2), (5, 9)]));
        assert_eq!(partition.cell(&[1, -1, 7]), states(&[(1, 1), (-1, 3), (5, 7)]));
        assert_eq!(partition.cell(&[1, 3, 8]), states(&[(1, 1), (-1, 3), (8, 9)]));
    }

    #[test]
    fn parts_of_a_box_are_all_of_it_once() {
        let partition = partition();
        let whole = states(&[(0, 2), (-2, 1), (3, 9)]);
        let parts = partition.parts(&whole).expect("few cells");
        assert_eq!(parts.len(), 6);
        for first in 0..=2 {
            for second in -3..=3 {
                for third in 0..=9 {
                    let state = [first, second, third];
                    let holding: Vec<_> = parts.iter().filter(|(part, _)| part.contains(&state)).collect();
                    assert_eq!(holding.len(), usize::from(whole.contains(&state)), "{state:?}");
                    assert!(holding.iter().all(|(_, cell)| *cell == partition.cell(&state)));
                }
            }
        }
    }

    #[test]
    fn too_many_cells_are_none() {
        let domain = states(&[(0, 999)]);
        assert!(Partition::new(&domain, vec![0]).parts(&domain).is_none());
        assert!(Partition::new(&domain, Vec::new()).parts(&domain).is_some());
    }
}
