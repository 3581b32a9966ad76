//! A table of records that finds one which dominates a query.
//!
//! A record has two values per variable, `a` and `b`, and a query asks for `a ≤ most` and `b ≥ least` everywhere.
//! With the ends of a box as `a` and `b`, that is a box which contains the box of the query. With a point as both, it
//! is a point inside of it.
//!
//! Records stand in blocks. A block has a row of bits for each condition of the [`Grid`], one bit per record: a few
//! conjunctions of rows leave the candidates among 512 records, mostly none. That needs no balance, no order of
//! insertion is bad for it, and its cost is the same for hits and misses: proportional to the number of blocks, with
//! a small factor.

use std::sync::atomic::{AtomicBool, Ordering};

use super::grid::{Grid, ROWS};

/// Machine words of a row.
const WORDS: usize = 8;

/// Records of a block.
pub(super) const RECORDS: usize = WORDS * 64;

/// Outputs share tables; a row per class of outputs separates most of them.
pub(super) const CLASSES: usize = 16;

/// Records that are compared by values in one search. More pass the filter only if they fail for their competitors.
const COMPARED: usize = 64;

/// Of the records that were inserted last, those that a new one may replace.
const REPLACED: usize = 16;

type Row = [u64; WORDS];

/// How the competitors of a record that answers a query relate to those of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Competitors {
    /// The record has no others than the query.
    Subset,
    /// The record has all of the query.
    Superset,
}

impl Competitors {
    fn allow(self, record: &[u64], query: &[u64]) -> bool {
        let within = |(part, whole): (&u64, &u64)| part & !whole == 0;
        match self {
            Competitors::Subset => record.iter().zip(query).all(within),
            Competitors::Superset => query.iter().zip(record).all(within),
        }
    }
}

/// A record, or what is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'r> {
    /// The output in question.
    pub(super) output: usize,
    /// Its competitors, 64 per word.
    pub(super) competing: &'r [u64],
    /// `a` of a record, `most` of a query.
    pub(super) first: &'r [i32],
    /// `b` of a record, `least` of a query.
    pub(super) second: &'r [i32],
}

#[derive(Debug)]
struct Block {
    rows: Box<[Row]>,
    /// The records that there are.
    live: Row,
    count: usize,
    /// `a` and `b` of each record; `a` alone if they are equal.
    values: Vec<i32>,
    competing: Vec<u64>,
    outputs: Vec<u32>,
    /// Whether it answered something since eviction last came by.
    used: AtomicBool,
}

/// The table.
#[derive(Debug)]
pub(super) struct Table {
    competitors: Competitors,
    /// Whether `a` and `b` are always equal.
    points: bool,
    /// Words of a set of competitors.
    words: usize,
    blocks: Vec<Block>,
    /// How many records are marked in each row.
    marked: Vec<u32>,
    records: usize,
}

impl Table {
    pub(super) fn new(grid: &Grid, competitors: Competitors, points: bool, words: usize) -> Self {
        Table { competitors, points, words, blocks: Vec::new(), marked: vec![0; grid.rows()], records: 0 }
    }

    /// Number of records.
    pub(super) fn records(&self) -> usize {
        self.records
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes of a block.
    pub(super) fn block_bytes(&self, grid: &Grid) -> usize {
        let record = self.width(grid) * size_of::<i32>() + self.words * size_of::<u64>() + size_of::<u32>();
        grid.rows() * size_of::<Row>() + RECORDS * record + size_of::<Block>()
    }

    /// Numbers that are stored per record.
    fn width(&self, grid: &Grid) -> usize {
        grid.variables() * if self.points { 1 } else { 2 }
    }

    /// Whether it has as many blocks as lookups should have to search. Old witnesses hardly ever answer anything:
    /// known states serve the questions about their neighbours, which come soon after.
    pub(super) fn is_full(&self) -> bool {
        let most = if self.points { 4096 } else { 8192 };
        self.blocks.len() >= most / RECORDS
    }

    pub(super) fn has_room(&self) -> bool {
        self.blocks.last().is_some_and(|block| block.count < RECORDS)
    }

    /// Makes room for more records.
    pub(super) fn add_block(&mut self, grid: &Grid) {
        self.blocks.push(Block {
            rows: vec![[0; WORDS]; grid.rows()].into_boxed_slice(),
            live: [0; WORDS],
            count: 0,
            values: Vec::with_capacity(RECORDS * self.width(grid)),
            competing: Vec::with_capacity(RECORDS * self.words),
            outputs: Vec::with_capacity(RECORDS),
            used: AtomicBool::new(false),
        });
    }

    /// Removes the oldest block that answered nothing since this function last saw it; the oldest of all if there is
    /// none. The block that is being filled stays as long as there is another. How many records that were.
    pub(super) fn evict(&mut self) -> usize {
        let full = self.blocks.len().saturating_sub(1).max(1).min(self.blocks.len());
        let unused = self.blocks[..full].iter().position(|block| !block.used.swap(false, Ordering::Relaxed));
        if self.blocks.is_empty() {
            return 0;
        }
        let block = self.blocks.remove(unused.unwrap_or(0));
        for (marked, row) in self.marked.iter_mut().zip(&block.rows) {
            *marked -= row.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        self.records -= block.count;
        block.count
    }

    /// Adds a record. There must be room. Whether it took the place of one that answers nothing more than it does.
    pub(super) fn insert(&mut self, grid: &Grid, record: Record<'_>) -> bool {
        let width = self.width(grid);
        let replaced = self.replaceable(grid, record);
        let Some(block) = self.blocks.last_mut() else { return false };
        let slot = replaced.unwrap_or(block.count);
        let (word, bit) = (slot / 64, 1_u64 << (slot % 64));
        // While it is written, it is not there.
        block.live[word] &= !bit;
        let second = if self.points { &[][..] } else { record.second };
        if replaced.is_some() {
            let values = &mut block.values[slot * width..][..width];
            values[..record.first.len()].copy_from_slice(record.first);
            values[record.first.len()..].copy_from_slice(second);
            block.competing[slot * self.words..][..self.words].copy_from_slice(record.competing);
            block.outputs[slot] = record.output as u32;
        } else {
            block.values.extend_from_slice(record.first);
            block.values.extend_from_slice(second);
            block.competing.extend_from_slice(record.competing);
            block.outputs.push(record.output as u32);
            block.count += 1;
            self.records += 1;
        }
        let marked = &mut self.marked;
        let mut mark = |row: usize, is_marked: bool| {
            let bits = &mut block.rows[row][word];
            marked[row] = marked[row] - u32::from(*bits & bit != 0) + u32::from(is_marked);
            *bits = if is_marked { *bits | bit } else { *bits & !bit };
        };
        for class in 0..CLASSES {
            mark(class, class == class_of(record.output));
        }
        grid.mark(record.first, record.second, mark);
        block.live[word] |= bit;
        replaced.is_some()
    }

    /// The slot of a recent record that answers nothing which the new one does not answer. Boxes that grow step by
    /// step leave many of them.
    fn replaceable(&self, grid: &Grid, new: Record<'_>) -> Option<usize> {
        let block = self.blocks.last()?;
        (block.count.saturating_sub(REPLACED)..block.count).rev().find(|&slot| {
            let old = self.record(grid, block, slot);
            let dominated = new.first.iter().zip(old.first).all(|(new, old)| new <= old)
                && new.second.iter().zip(old.second).all(|(new, old)| new >= old);
            dominated && new.output == old.output && self.competitors.allow(new.competing, old.competing)
        })
    }

    fn record<'r>(&self, grid: &Grid, block: &'r Block, slot: usize) -> Record<'r> {
        let width = self.width(grid);
        let values = &block.values[slot * width..][..width];
        let variables = grid.variables();
        Record {
            output: block.outputs[slot] as usize,
            competing: &block.competing[slot * self.words..][..self.words],
            first: &values[..variables],
            second: if self.points { values } else { &values[variables..] },
        }
    }

    /// Finds a record with `a ≤ first` and `b ≥ second` that has the same output, allowed competitors and is
    /// `accepted`. The newest blocks come first.
    pub(super) fn find<'t, R>(
        &'t self,
        grid: &Grid,
        query: Record<'_>,
        mut accept: impl FnMut(Record<'t>) -> Option<R>,
    ) -> Option<R> {
        if self.records == 0 {
            return None;
        }
        let mut rows = [0; 1 + ROWS];
        let count = self.choose_rows(grid, query, &mut rows);
        let rows = &rows[..count];
        let mut left = COMPARED;
        for block in self.blocks.iter().rev() {
            let candidates = candidates(block, rows);
            for (word, &bits) in candidates.iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    let slot = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let record = self.record(grid, block, slot);
                    if self.answers(record, query)
                        && let Some(found) = accept(record)
                    {
                        // A plain store would take the cache line from other threads each time.
                        if !block.used.load(Ordering::Relaxed) {
                            block.used.store(true, Ordering::Relaxed);
                        }
                        return Some(found);
                    }
                    left -= 1;
                    if left == 0 {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// The rows that a record must be marked in, those with few marks first; their number.
    #[inline]
    fn choose_rows(&self, grid: &Grid, query: Record<'_>, rows: &mut [u32; 1 + ROWS]) -> usize {
        rows[0] = class_of(query.output) as u32;
        let (few, very_few) = (self.records as u32 / 3, self.records as u32 / 8);
        let (mut count, mut after_few, mut after_very_few) = (1, 1, 1);
        grid.require(query.first, query.second, |row| {
            let marked = self.marked[row as usize];
            rows[count] = row;
            if marked < few {
                rows.swap(count, after_few);
                if marked < very_few {
                    rows.swap(after_few, after_very_few);
                    after_very_few += 1;
                }
                after_few += 1;
            }
            count += 1;
        });
        count
    }

    fn answers(&self, record: Record<'_>, query: Record<'_>) -> bool {
        record.first.iter().zip(query.first).all(|(a, most)| a <= most)
            && record.second.iter().zip(query.second).all(|(b, least)| b >= least)
            && record.output == query.output
            && self.competitors.allow(record.competing, query.competing)
    }
}

fn class_of(output: usize) -> usize {
    output / super::SHARDS % CLASSES
}

/// The records of a block that are marked in all rows, or one that is marked in many.
#[inline]
fn candidates(block: &Block, rows: &[u32]) -> Row {
    let mut left = block.live;
    for rows in rows.chunks(4) {
        for &row in rows {
            for (left, row) in left.iter_mut().zip(&block.rows[row as usize]) {
                *left &= row;
            }
        }
        // One candidate is compared by values sooner than by rows.
        let some = left.iter().fold(0, |some, word| some | word);
        let words = left.iter().filter(|&&word| word != 0).count();
        if words == 0 || words == 1 && some.is_power_of_two() {
            break;
        }
    }
    left
}
