//! Sets of a policy's outputs.

/// A set of outputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct OutputSet {
    words: Vec<u64>,
}

impl OutputSet {
    /// The empty set.
    pub fn new() -> OutputSet {
        OutputSet::default()
    }

    /// The outputs from 0 to `count - 1`.
    pub fn all(count: usize) -> OutputSet {
        (0..count).collect()
    }

    /// Adds an output; whether it was new.
    pub fn insert(&mut self, output: usize) -> bool {
        let word = output / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = !self.contains(output);
        self.words[word] |= 1 << (output % 64);
        is_new
    }

    /// Removes an output.
    pub fn remove(&mut self, output: usize) {
        if let Some(word) = self.words.get_mut(output / 64) {
            *word &= !(1 << (output % 64));
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// Removes all outputs.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Whether the output is in the set.
    pub fn contains(&self, output: usize) -> bool {
        self.words.get(output / 64).is_some_and(|word| word >> (output % 64) & 1 == 1)
    }

    /// Number of outputs.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether all outputs of this set are in the other.
    pub fn is_subset(&self, other: &OutputSet) -> bool {
        let of_other = |index: usize| other.words.get(index).copied().unwrap_or(0);
        self.words.iter().enumerate().all(|(index, word)| word & !of_other(index) == 0)
    }

    /// The outputs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let next = |&word: &u64| Some(word & word.wrapping_sub(1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), next)
                .map(move |word| index * 64 + word.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for OutputSet {
    fn from_iter<I: IntoIterator<Item = usize>>(outputs: I) -> OutputSet {
        let mut set = OutputSet::new();
        for output in outputs {
            set.insert(output);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    proptest! {
        #[test]
        fn is_a_set(first: BTreeSet<u8>, second: BTreeSet<u8>) {
            let set = |outputs: &BTreeSet<u8>| -> OutputSet { outputs.iter().map(|&k| k.into()).collect() };
            let (one, two) = (set(&first), set(&second));
            prop_assert_eq!(one.len(), first.len());
            prop_assert!(one.iter().eq(first.iter().map(|&k| usize::from(k))));
            prop_assert_eq!(one.is_subset(&two), first.is_subset(&second));
            prop_assert_eq!(one == two, first == second);
            let mut rest = one.clone();
            for output in second.iter().map(|&k| k.into()) {
                rest.remove(output);
            }
            prop_assert_eq!(rest, set(&first.difference(&second).copied().collect()));
        }
    }
}
