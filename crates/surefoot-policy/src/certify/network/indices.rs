//! Lists of indices that know how large they can be, so that the kernels need not look at each of them.

use std::ops::Deref;

/// Indices in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Indices {
    list: Vec<u32>,
    /// The list was selected from this many: all indices are less.
    bound: usize,
}

impl Indices {
    /// Takes over the indices of what is wanted.
    #[inline]
    pub(super) fn select(&mut self, are_wanted: impl ExactSizeIterator<Item = bool>) {
        self.bound = are_wanted.len();
        self.list.resize(self.bound, 0);
        let mut count = 0;
        let list = &mut self.list[..];
        for (place, is_wanted) in are_wanted.enumerate() {
            // Without a branch: what is wanted is hard to predict.
            list[count] = place as u32;
            count += usize::from(is_wanted);
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
