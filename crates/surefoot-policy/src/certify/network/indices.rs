//! Lists of indices that know how large they can be, so that the kernels need not look at each of them.

use std::ops::Deref;

/// Indices in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Indices {
    list: Vec<u32>,
    /// The list was made for this many places: all indices are less.
    bound: usize,
}

impl Indices {
    /// Takes over the indices of the places, out of `size`, that are wanted.
    #[inline]
    pub(super) fn select(&mut self, size: usize, mut is_wanted: impl FnMut(usize) -> bool) {
        self.bound = size;
        self.list.resize(size, 0);
        let mut count = 0;
        for place in 0..size {
            // Without a branch: which places are wanted is hard to predict.
            self.list[count] = place as u32;
            count += usize::from(is_wanted(place));
        }
        self.list.truncate(count);
    }

    /// All indices are less than this number.
    pub(super) fn bound(&self) -> usize {
        self.bound
    }
}

impl Deref for Indices {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.list
    }
}

impl<'i> IntoIterator for &'i Indices {
    type Item = &'i u32;
    type IntoIter = std::slice::Iter<'i, u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
