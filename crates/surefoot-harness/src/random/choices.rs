//! Decisions taken from a list of random numbers.

/// The genes that are left. The end of the list is followed by zeros without end.
pub struct Choices<'g> {
    genes: std::slice::Iter<'g, u16>,
}

impl<'g> Choices<'g> {
    pub fn new(genes: &'g [u16]) -> Self {
        Choices { genes: genes.iter() }
    }

    /// A number below `count`. A smaller gene never gives a larger number, so shrinking goes straight to the simplest choice.
    pub fn below(&mut self, count: usize) -> usize {
        let gene = self.genes.next().copied().unwrap_or(0);
        (usize::from(gene) * count) >> 16
    }

    /// Position of one of the weights, in proportion to them.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut rest = self.below(weights.iter().sum());
        for (position, &weight) in weights.iter().enumerate() {
            if rest < weight {
                return position;
            }
            rest -= weight;
        }
        unreachable!("the number is below the sum")
    }

    /// True once in `count` times; false is the simple choice.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// A number between the two, the first one being the simplest.
    pub fn between(&mut self, lower: i32, upper: i32) -> i32 {
        let count = i64::from(upper) - i64::from(lower) + 1;
        (i64::from(lower) + self.below(count as usize) as i64) as i32
    }

    /// An element of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Some different elements of a list in any order, at least `least`.
    pub fn some<T: Copy>(&mut self, list: &[T], least: usize) -> Vec<T> {
        let mut rest = list.to_vec();
        let count = least + self.below(list.len() + 1 - least);
        (0..count).map(|_| rest.remove(self.below(rest.len()))).collect()
    }
}
