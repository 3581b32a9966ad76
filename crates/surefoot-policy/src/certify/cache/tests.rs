//! The table against a linear scan; memory and statistics.

use proptest::prelude::*;

use super::*;

/// A record that owns its parts.
#[derive(Debug, Clone)]
struct Owned {
    output: usize,
    competing: Vec<u64>,
    first: Vec<i32>,
    second: Vec<i32>,
}

impl Owned {
    fn record(&self) -> Record<'_> {
        let Owned { output, competing, first, second } = self;
        Record { output: *output, competing, first, second }
    }

    /// Makes it one that needs no comparison beyond the rows of bits.
    fn make_small(&mut self) {
        self.competing = vec![0];
        for (first, second) in self.first.iter_mut().zip(&mut self.second) {
            let ends = [first.rem_euclid(16), second.rem_euclid(16)];
            (*first, *second) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        }
    }
}

/// Domains with a level per value.
const SMALL: [(i32, i32); 4] = [(0, 15); 4];

const DOMAINS: [(i32, i32); 4] = [(0, 3), (-5, 60), (7, 7), (i32::MIN, i32::MAX)];

/// Values inside and outside of the domains.
fn value() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -7..9, 2 => 0..70, 1 => any::<i32>(), 1 => prop::sample::select(vec![i32::MIN, i32::MAX])]
}

fn owned() -> impl Strategy<Value = Owned> {
    let values = || prop::collection::vec(value(), 4);
    (0_usize..40, 0_u64..8, values(), values()).prop_map(|(output, competing, first, second)| Owned {
        // Few different ones, in several shards and classes.
        output: [0, 1, 16, 33][output % 4],
        competing: vec![competing],
        first: first.iter().zip(&second).map(|(a, b)| *a.min(b)).collect(),
        second: first.iter().zip(&second).map(|(a, b)| *a.max(b)).collect(),
    })
}

fn answers(kind: Kind, stored: &Owned, query: &Owned) -> bool {
    let competitors = match kind {
        Kind::Never => stored.competing[0] & !query.competing[0] == 0,
        Kind::Always | Kind::Witness => query.competing[0] & !stored.competing[0] == 0,
    };
    let within = |a: &[i32], b: &[i32]| a.iter().zip(b).all(|(a, b)| a <= b);
    stored.output == query.output
        && competitors
        && within(&stored.first, &query.first)
        && within(&query.second, &stored.second)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_a_scan_finds(
        stored in prop::collection::vec(owned(), 0..600),
        queries in prop::collection::vec(owned(), 40),
        which in 0_usize..3,
        is_small: bool,
    ) {
        let kind = KINDS[which];
        let domains = if is_small { SMALL } else { DOMAINS };
        let cache = DecisionCache::new(&domains, 64, 1 << 30);
        let (mut stored, mut queries) = (stored, queries);
        if is_small {
            stored.iter_mut().chain(&mut queries).for_each(Owned::make_small);
        }
        for record in &mut stored {
            if kind == Kind::Witness {
                record.second = record.first.clone();
            }
            cache.store(kind, record.record());
        }
        // Queries that are close to what is stored hit more often.
        let near = stored.iter().step_by(7).cloned();
        for mut query in queries.into_iter().chain(near) {
            if kind == Kind::Witness {
                std::mem::swap(&mut query.first, &mut query.second);
            }
            let found = cache.find(kind, query.record(), |record| {
                Some(Owned {
                    output: record.output,
                    competing: record.competing.to_vec(),
                    first: record.first.to_vec(),
                    second: record.second.to_vec(),
                })
            });
            let expected = stored.iter().any(|stored| answers(kind, stored, &query));
            // In large domains, lookups may give up on the way.
            prop_assert!(found.is_some() == expected || !is_small && expected);
            prop_assert!(found.is_none_or(|found| answers(kind, &found, &query)));
        }
        let statistics = cache.statistics();
        prop_assert_eq!(statistics.stored, stored.len() as u64);
        prop_assert_eq!(statistics.entries, statistics.stored - statistics.replaced);
    }

    #[test]
    fn memory_stays_bounded(
        records in prop::collection::vec((owned(), 0_usize..3), 0..4000),
        blocks in 0_usize..8,
    ) {
        let probe = DecisionCache::new(&DOMAINS, 64, 0);
        let block = probe.shards[0].read()[0].block_bytes(&probe.grid);
        let limit = blocks * block + block / 2;
        let cache = DecisionCache::new(&DOMAINS, 64, limit);
        for (record, kind) in &records {
            let second = if KINDS[*kind] == Kind::Witness { &record.first } else { &record.second };
            cache.store(KINDS[*kind], Record { second, ..record.record() });
            prop_assert!(cache.bytes.load(Ordering::Relaxed) <= limit);
        }
        let statistics = cache.statistics();
        prop_assert_eq!(statistics.entries, statistics.stored - statistics.replaced - statistics.evicted);
        let mut bytes = 0;
        for shard in &cache.shards {
            let of_shard: usize =
                shard.read().iter().map(|table| table.blocks() * table.block_bytes(&cache.grid)).sum();
            prop_assert_eq!(shard.bytes.load(Ordering::Relaxed), of_shard);
            bytes += of_shard;
        }
        prop_assert_eq!(statistics.bytes, bytes as u64);
        prop_assert!(blocks == 0 || records.is_empty() || statistics.entries > 0);
    }
}

/// One of 65,536 points.
fn at(number: i32) -> Owned {
    let digits: Vec<i32> = (0..4).map(|digit| number >> (4 * digit) & 15).collect();
    Owned { output: 0, competing: vec![0], first: digits.clone(), second: digits }
}

#[test]
fn blocks_that_answer_outlive_others() {
    let probe = DecisionCache::new(&SMALL, 1, 0);
    let block = probe.shards[0].read()[0].block_bytes(&probe.grid);
    let cache = DecisionCache::new(&SMALL, 1, 4 * block);
    let knows = |value| cache.find(Kind::Never, at(value).record(), |_| Some(())).is_some();
    for value in 0..20 * table::RECORDS as i32 {
        cache.store(Kind::Never, at(value).record());
        assert!(value < 5 || knows(5), "the first block answers all the time");
    }
    assert!(!knows(table::RECORDS as i32 + 5), "the second block answered nothing");
    assert!(knows(20 * table::RECORDS as i32 - 1), "the last block is new");
}

#[test]
fn growing_boxes_replace_each_other() {
    let cache = DecisionCache::new(&DOMAINS, 1, 1 << 20);
    for width in 1..51 {
        let grown = Owned { second: vec![width; 4], ..at(0) };
        cache.store(Kind::Never, grown.record());
    }
    let statistics = cache.statistics();
    assert_eq!((statistics.entries, statistics.replaced), (1, 49));
}
