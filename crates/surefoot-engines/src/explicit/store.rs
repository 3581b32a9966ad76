//! The set of visited states: packed, each once, numbered in order of arrival.
//!
//! States are spread over a fixed number of shards by their hash, so that threads can insert without locks and the numbering
//! does not depend on the number of threads. A shard keeps its states in order in segments that never move, and an open-addressing
//! table of 32-bit entries: some bits of the state's number, the rest a fingerprint of its hash, so that
//! most probes of a new state touch one cache line. The table grows by half, which keeps it between 53 and 80 % full:
//! 5 to 7.5 bytes per state besides the packed state itself.

/// Number of shards: more than enough for the threads of one machine, few enough that buffers stay long.
pub const SHARDS: usize = 64;

/// States per segment.
const SEGMENT: usize = 4096;

/// The number of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateId {
    pub shard: u32,
    pub local: u32,
}

/// Words of a packed state, known at compile time for small states: `W` words, or as many as the slice has if `W` is 0.
#[expect(clippy::inline_always, reason = "the loops over words must be unrolled in the caller")]
#[inline(always)]
fn known<const W: usize>(packed: &[u64]) -> &[u64] {
    if W == 0 { packed } else { &packed[..W] }
}

/// Hash of a packed state. The high bits choose the shard, the middle ones the slot, the low ones are the fingerprint.
#[inline]
pub fn hash(packed: &[u64]) -> u64 {
    let mut h = 0x9e37_79b9_7f4a_7c15u64;
    for &word in packed {
        let product = u128::from(h ^ word) * u128::from(0xa076_1d64_78bd_642fu64);
        h = (product as u64) ^ (product >> 64) as u64;
    }
    // A second round: the product of a small word has weak high bits.
    let product = u128::from(h) * u128::from(0xe703_7ed1_a0b4_28dbu64);
    (product as u64) ^ (product >> 64) as u64
}

/// The shard of a state with this hash.
#[inline]
pub fn shard_of(hash: u64) -> usize {
    (hash >> (64 - SHARDS.trailing_zeros())) as usize
}

/// One part of the set.
#[derive(Debug)]
pub struct Shard {
    words: usize,
    segments: Vec<Vec<u64>>,
    len: usize,
    /// 0 is empty; else number + 1 in the low bits, fingerprint in the others.
    table: Vec<u32>,
    number_bits: u32,
}

impl Shard {
    /// An empty part for states of this many words.
    pub fn new(words: usize) -> Self {
        Shard { words, segments: Vec::new(), len: 0, table: Vec::new(), number_bits: 1 }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        let segments: usize = self.segments.iter().map(Vec::capacity).sum();
        (segments * 8 + self.table.capacity() * 4) as u64
    }

    /// The state with this number.
    #[inline]
    pub fn state(&self, local: usize) -> &[u64] {
        &self.segments[local / SEGMENT][local % SEGMENT * self.words..][..self.words]
    }

    /// Appends the states `from..to` to `packed`.
    pub fn copy_states(&self, from: usize, to: usize, packed: &mut Vec<u64>) {
        let mut next = from;
        while next < to {
            let end = to.min((next / SEGMENT + 1) * SEGMENT);
            let start = next % SEGMENT * self.words;
            packed
                .extend_from_slice(&self.segments[next / SEGMENT][start..start + (end - next) * self.words]);
            next = end;
        }
    }

    /// Inserts states, one after the other, given as their words; returns how many were new.
    pub fn insert_all(&mut self, packed: &[u64]) -> usize {
        match self.words {
            1 => self.insert_words::<1>(packed),
            2 => self.insert_words::<2>(packed),
            _ => self.insert_words::<0>(packed),
        }
    }

    fn insert_words<const W: usize>(&mut self, packed: &[u64]) -> usize {
        /// Probes of this many states are begun before the first is finished, so that their cache misses overlap.
        const AHEAD: usize = 32;
        let words = if W == 0 { self.words } else { W };
        let before = self.len;
        let mut hashes = [0u64; AHEAD];
        for group in packed.chunks(AHEAD * words) {
            self.reserve(AHEAD);
            let count = group.len() / words;
            for (h, state) in hashes.iter_mut().zip(group.chunks_exact(words)) {
                *h = hash(known::<W>(state));
            }
            // First the table, then the states that look alike: only reads, to have them in the cache.
            let mut touched = 0;
            let mut entries = [0u32; AHEAD];
            for (entry, &h) in entries.iter_mut().zip(&hashes[..count]) {
                *entry = self.table[self.slot(h)];
            }
            for (&entry, &h) in entries.iter().zip(&hashes[..count]) {
                if let Some(local) = self.candidate(entry, self.fingerprint(h)) {
                    touched ^= self.state(local as usize)[0];
                }
            }
            std::hint::black_box(touched);
            for (state, &h) in group.chunks_exact(words).zip(&hashes) {
                self.insert::<W>(known::<W>(state), h);
            }
        }
        self.len - before
    }

    /// The number of a state, if it is in this part.
    pub fn find(&self, packed: &[u64]) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        self.probe::<0>(packed, hash(packed)).ok()
    }

    #[inline]
    fn insert<const W: usize>(&mut self, packed: &[u64], hash: u64) {
        if let Err(slot) = self.probe::<W>(packed, hash) {
            self.table[slot] = self.entry(self.len, hash);
            if self.len.is_multiple_of(SEGMENT) {
                self.segments.push(Vec::with_capacity(SEGMENT * self.words));
            }
            let segment = self.segments.last_mut().expect("just made");
            for &word in packed {
                segment.push(word);
            }
            self.len += 1;
        }
    }

    /// The number of a state, or the empty slot where it belongs.
    #[inline]
    fn probe<const W: usize>(&self, packed: &[u64], hash: u64) -> Result<u32, usize> {
        let fingerprint = self.fingerprint(hash);
        let mut slot = self.slot(hash);
        loop {
            let entry = self.table[slot];
            if entry == 0 {
                return Err(slot);
            }
            if let Some(local) = self.candidate(entry, fingerprint)
                && known::<W>(self.state(local as usize)) == packed
            {
                return Ok(local);
            }
            slot += 1;
            if slot == self.table.len() {
                slot = 0;
            }
        }
    }

    /// The number in an entry, if its fingerprint is this one.
    #[inline]
    fn candidate(&self, entry: u32, fingerprint: u32) -> Option<u32> {
        let number_mask = ((1u64 << self.number_bits) - 1) as u32;
        (entry != 0 && entry & !number_mask == fingerprint).then(|| (entry & number_mask) - 1)
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let middle = (hash >> 26) & 0xffff_ffff;
        ((middle * self.table.len() as u64) >> 32) as usize
    }

    #[inline]
    fn fingerprint(&self, hash: u64) -> u32 {
        (hash << self.number_bits) as u32
    }

    fn entry(&self, local: usize, hash: u64) -> u32 {
        self.fingerprint(hash) | (local as u32 + 1)
    }

    /// Makes room for some more states.
    fn reserve(&mut self, more: usize) {
        let needed = self.len + more;
        assert!(needed < u32::MAX as usize, "a shard holds less than 2^32 states");
        if needed * 5 <= self.table.len() * 4 {
            return;
        }
        let size = (self.table.len() + self.table.len() / 2).max(64);
        self.number_bits = usize::BITS - size.leading_zeros();
        self.table = Vec::new();
        self.table = vec![0; size];
        for local in 0..self.len {
            let h = hash(self.state(local));
            let mut slot = self.slot(h);
            while self.table[slot] != 0 {
                slot += 1;
                if slot == size {
                    slot = 0;
                }
            }
            self.table[slot] = self.entry(local, h);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_shard_is_a_set_in_order_of_arrival(states in prop::collection::vec((0u64..40, 0u64..30), 0..2000)) {
            let mut shard = Shard::new(2);
            let mut expected: Vec<[u64; 2]> = Vec::new();
            for part in states.chunks(37) {
                let words: Vec<u64> = part.iter().flat_map(|&(a, b)| [a, b << 60]).collect();
                let before = expected.len();
                for state in words.chunks(2) {
                    if !expected.iter().any(|e| e == state) {
                        expected.push([state[0], state[1]]);
                    }
                }
                prop_assert_eq!(shard.insert_all(&words), expected.len() - before);
            }
            prop_assert_eq!(shard.len(), expected.len());
            for (i, state) in expected.iter().enumerate() {
                prop_assert_eq!(shard.state(i), state);
                prop_assert_eq!(shard.find(state), Some(i as u32));
            }
            prop_assert_eq!(shard.find(&[41, 0]), None);
        }
    }

    #[test]
    fn many_states_survive_growth() {
        let mut shard = Shard::new(1);
        let words: Vec<u64> = (0..100_000).map(|i| i * 3).collect();
        assert_eq!(shard.insert_all(&words), words.len());
        assert_eq!(shard.insert_all(&words), 0);
        assert!(words.iter().enumerate().all(|(i, w)| shard.find(&[*w]) == Some(i as u32)));
    }
}
