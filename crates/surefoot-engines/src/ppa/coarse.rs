//! How far an abstract state is from a bad one in the abstraction of the last iteration, which had fewer predicates.
//!
//! Every path of the new abstraction is one of the old, so the distance there is at most the distance here, as far as the old abstraction was looked at.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::pa::cell::Cell;

/// Distances in the abstraction of some of the predicates.
#[derive(Default)]
pub struct Coarse {
    /// How many predicates it had.
    count: usize,
    distances: FxHashMap<Cell, u32>,
    bytes: u64,
}

impl Coarse {
    /// Distances to bad abstract states, given these and the transitions that are known.
    pub fn new<'c>(
        count: usize,
        bad: impl Iterator<Item = &'c Cell>,
        transitions: impl Iterator<Item = (&'c Cell, &'c Cell)>,
    ) -> Coarse {
        let mut before: FxHashMap<&Cell, Vec<&Cell>> = FxHashMap::default();
        for (source, target) in transitions {
            before.entry(target).or_default().push(source);
        }
        let mut coarse = Coarse { count, ..Coarse::default() };
        let mut queue: VecDeque<(&Cell, u32)> = bad.map(|cell| (cell, 0)).collect();
        while let Some((cell, distance)) = queue.pop_front() {
            if coarse.distances.contains_key(cell) {
                continue;
            }
            coarse.bytes += 2 * cell.memory();
            coarse.distances.insert(cell.clone(), distance);
            queue.extend(before.get(cell).into_iter().flatten().map(|&source| (source, distance + 1)));
        }
        coarse
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.bytes
    }

    /// The distance of an abstract state that has at least these predicates; `None` if no way is known.
    pub fn of(&self, cell: &Cell) -> Option<u32> {
        self.distances.get(&cell.truncated(self.count)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_shortest_known_way() {
        let cell = |number: usize| Cell::of_values((0..3).map(|bit| number >> bit & 1 == 1));
        let cells: Vec<Cell> = (0..8).map(cell).collect();
        let steps = [(0, 1), (1, 2), (2, 7), (0, 3), (3, 7), (5, 0)];
        let steps = steps.iter().map(|&(source, target)| (&cells[source], &cells[target]));
        let coarse = Coarse::new(3, [&cells[7]].into_iter(), steps);
        let expected = [Some(2), Some(2), Some(1), Some(1), None, Some(3), None, Some(0)];
        for (cell, expected) in cells.iter().zip(expected) {
            assert_eq!(coarse.of(cell), expected);
            assert_eq!(coarse.of(&cell.extended(3, &[true, false])), expected);
        }
    }
}
