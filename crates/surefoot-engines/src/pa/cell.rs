//! Abstract states: the values of all predicates.

/// The values of predicates, in their order. As a set of states: those in which all predicates have these values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(Box<[u64]>);

impl Cell {
    /// The abstract state with these values.
    pub fn of_values(values: impl ExactSizeIterator<Item = bool>) -> Cell {
        let mut words = vec![0_u64; values.len().div_ceil(64)];
        for (index, value) in values.enumerate() {
            words[index / 64] |= u64::from(value) << (index % 64);
        }
        Cell(words.into())
    }

    /// The abstract state with these values of the first predicates, `count` of them, and further ones.
    pub fn extended(&self, count: usize, values: &[bool]) -> Cell {
        let value = |index| if index < count { self.value(index) } else { values[index - count] };
        Cell::of_values((0..count + values.len()).map(value))
    }

    /// The values of the first predicates alone.
    pub fn truncated(&self, count: usize) -> Cell {
        Cell::of_values((0..count).map(|index| self.value(index)))
    }

    /// The value of a predicate.
    pub fn value(&self, predicate: usize) -> bool {
        self.0[predicate / 64] >> (predicate % 64) & 1 == 1
    }

    /// Bytes.
    pub fn memory(&self) -> u64 {
        (size_of::<Cell>() + size_of_val(&*self.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept() {
        let values: Vec<bool> = (0..150).map(|index| index % 3 == 0 || index == 64).collect();
        let cell = Cell::of_values(values.iter().copied());
        assert!((0..150).all(|index| cell.value(index) == values[index]));
        assert_ne!(cell, Cell::of_values(values.iter().map(|value| !value)));
    }
}
