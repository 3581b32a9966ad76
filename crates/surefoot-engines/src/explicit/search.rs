//! Breadth-first search in layers.
//!
//! A layer is cut into chunks: pieces of shards, put together to enough states for a thread. Threads expand the chunks of a round and sort the successors
//! by shard; then each shard takes its successors in the order of the chunks. So the store's contents and numbering, and with
//! them every result, are the same for any number of threads and any length of rounds.
//!
//! For traces each shard remembers only which chunk its states first came from; the parent is found by expanding that chunk again.

use rayon::prelude::*;
use std::sync::Mutex;
use std::time::Instant;

use super::expand::{BATCH, Compiled, Counts, Found, Worker};
use super::store::{SHARDS, Shard, StateId, hash, shard_of};
use crate::control::{Control, Progress};
use crate::outcome::StopReason;

/// States of a chunk.
const CHUNK: usize = 2048;
/// Chunks of a round, after which limits are looked at.
const ROUND: usize = 256;

/// States `from..to` of a shard.
#[derive(Debug, Clone, Copy)]
struct Piece {
    shard: u32,
    from: u32,
    to: u32,
}

/// A part of a layer: consecutive pieces, by position among all.
type Chunk = std::ops::Range<u32>;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every reachable state was expanded.
    Complete,
    /// This state is unsafe.
    Unsafe(StateId),
    /// The model is wrong at this state.
    Wrong(StateId),
    /// There are more states than were asked for.
    TooMany,
    /// A limit was reached.
    Stopped(StopReason),
}

/// The visited states and how they were reached.
pub struct Search<'c> {
    pub compiled: &'c Compiled,
    pub shards: Vec<Shard>,
    /// Every piece that was expanded, in order.
    pieces: Vec<Piece>,
    /// Every chunk that was expanded, in order.
    chunks: Vec<Chunk>,
    /// Per shard: the first state that came from a chunk, and that chunk; ascending.
    births: Vec<Vec<(u32, u32)>>,
    pub counts: Counts,
    pub depth: u64,
    /// The first unsafe state that was expanded.
    pub first_unsafe: Option<StateId>,
    workers: Vec<Mutex<Worker>>,
    /// Chunks of a round.
    pub round: usize,
    /// How many states are asked for, roughly.
    pub most: usize,
}

/// What a chunk gave.
struct Expansion {
    /// The chunk's states.
    packed: Vec<u64>,
    /// Packed successors by shard.
    successors: Vec<Vec<u64>>,
    counts: Counts,
    found: Option<Found>,
    first_unsafe: Option<usize>,
    stopped: Option<StopReason>,
}

impl<'c> Search<'c> {
    /// An empty search.
    pub fn new(compiled: &'c Compiled, threads: usize) -> Self {
        Search {
            compiled,
            shards: (0..SHARDS).map(|_| Shard::new(compiled.layout.words())).collect(),
            pieces: Vec::new(),
            chunks: Vec::new(),
            births: vec![Vec::new(); SHARDS],
            counts: Counts::default(),
            depth: 0,
            first_unsafe: None,
            workers: (0..threads.max(1)).map(|_| Mutex::new(compiled.worker())).collect(),
            round: ROUND,
            most: usize::MAX,
        }
    }

    /// Adds packed start states.
    pub fn add_start(&mut self, packed: &[u64]) {
        self.shards[shard_of(hash(packed))].insert_all(packed);
    }

    fn is_full(&self) -> bool {
        self.states() > self.most as u64
    }

    /// Number of states.
    pub fn states(&self) -> u64 {
        self.shards.iter().map(|s| s.len() as u64).sum()
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        let births: usize = self.births.iter().map(|b| b.capacity() * 8).sum();
        self.shards.iter().map(Shard::memory).sum::<u64>()
            + (births + self.chunks.capacity() * 8 + self.pieces.capacity() * 12) as u64
    }

    /// Runs to the end. Unless `exhaustive`, the first unsafe state ends it.
    pub fn run(&mut self, exhaustive: bool, control: &Control<'_>, began: Instant) -> End {
        let pool = (self.workers.len() > 1).then(|| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(self.workers.len())
                .build()
                .expect("threads can be started")
        });
        let mut expansions: Vec<Expansion> = (0..self.round).map(|_| Expansion::new()).collect();
        let mut expanded: Vec<usize> = vec![0; SHARDS];
        loop {
            if self.is_full() {
                return End::TooMany;
            }
            let layer_end: Vec<usize> = self.shards.iter().map(Shard::len).collect();
            let layer = self.cut(&expanded, &layer_end);
            if layer.is_empty() {
                return End::Complete;
            }
            for round in layer.chunks(self.round) {
                let expansions = &mut expansions[..round.len()];
                self.expand_round(round, expansions, exhaustive, control, pool.as_ref());
                if let Some(end) = self.take_findings(round, expansions) {
                    return end;
                }
                self.insert_round(round, expansions, pool.as_ref());
                if self.is_full() {
                    return End::TooMany;
                }
                let memory = self.memory();
                if let Some(reason) = control.exhausted(memory) {
                    return End::Stopped(reason);
                }
                control.observer.progress(&Progress::Explicit {
                    elapsed: began.elapsed(),
                    states: self.states(),
                    expanded: self.counts.expanded,
                    transitions: self.counts.transitions,
                    depth: self.depth,
                    memory,
                });
            }
            let grown = self.shards.iter().zip(&layer_end).any(|(shard, &end)| shard.len() > end);
            self.depth += u64::from(grown);
            expanded = layer_end;
        }
    }

    fn expand_round(
        &self,
        round: &[Chunk],
        expansions: &mut [Expansion],
        exhaustive: bool,
        control: &Control<'_>,
        pool: Option<&rayon::ThreadPool>,
    ) {
        let expand = |worker: usize, chunk: &Chunk, expansion: &mut Expansion| {
            let mut worker = self.workers[worker].lock().expect("workers do not panic");
            expansion.fill(self, &mut worker, chunk, exhaustive, control);
        };
        match pool {
            Some(pool) if round.len() > 1 => pool.install(|| {
                round.par_iter().zip(expansions).for_each(|(chunk, expansion)| {
                    let worker = rayon::current_thread_index().expect("runs in the pool");
                    expand(worker, chunk, expansion);
                });
            }),
            _ => round.iter().zip(expansions).for_each(|(chunk, expansion)| expand(0, chunk, expansion)),
        }
    }

    /// Adds up the counts of a round; the end, if a chunk gives a reason for one.
    fn take_findings(&mut self, round: &[Chunk], expansions: &[Expansion]) -> Option<End> {
        if let Some(reason) = expansions.iter().find_map(|e| e.stopped) {
            return Some(End::Stopped(reason));
        }
        for (chunk, expansion) in round.iter().zip(expansions) {
            self.counts += expansion.counts;
            self.first_unsafe =
                self.first_unsafe.or(expansion.first_unsafe.map(|index| self.id_in(chunk, index)));
            match expansion.found {
                Some(Found::Unsafe(index)) => return Some(End::Unsafe(self.id_in(chunk, index))),
                Some(Found::Error(index)) => return Some(End::Wrong(self.id_in(chunk, index))),
                None => {}
            }
        }
        None
    }

    fn insert_round(&mut self, round: &[Chunk], expansions: &[Expansion], pool: Option<&rayon::ThreadPool>) {
        let first_chunk = self.chunks.len();
        self.chunks.extend_from_slice(round);
        let insert = |index: usize, shard: &mut Shard, births: &mut Vec<(u32, u32)>| {
            for (chunk, expansion) in expansions.iter().enumerate() {
                let first = shard.len() as u32;
                if shard.insert_all(&expansion.successors[index]) > 0 {
                    births.push((first, (first_chunk + chunk) as u32));
                }
            }
        };
        let parts = self.shards.iter_mut().zip(&mut self.births).enumerate();
        match pool {
            Some(pool) if round.len() > 1 => pool.install(|| {
                parts.par_bridge().for_each(|(index, (shard, births))| insert(index, shard, births));
            }),
            _ => parts.for_each(|(index, (shard, births))| insert(index, shard, births)),
        }
    }

    /// The packed words of a state.
    pub fn packed(&self, id: StateId) -> &[u64] {
        self.shards[id.shard as usize].state(id.local as usize)
    }

    /// The values of a state.
    pub fn unpacked(&self, id: StateId) -> Vec<i32> {
        let mut values = vec![0; self.compiled.layout.fields().len()];
        self.compiled.layout.unpack(self.packed(id), &mut values);
        values
    }

    /// The states from which a state was first reached, with the command and outcome of each step, start state first.
    pub fn path_to(&self, id: StateId) -> (StateId, Vec<(u32, u32, StateId)>) {
        let mut steps = Vec::new();
        let mut current = id;
        while let Some((parent, command, outcome)) = self.parent(current) {
            steps.push((command, outcome, current));
            current = parent;
        }
        steps.reverse();
        (current, steps)
    }

    /// The start state of that path, and the states after its steps.
    pub fn states_to(&self, id: StateId) -> (Vec<i32>, Vec<Vec<i32>>) {
        let (start, steps) = self.path_to(id);
        (self.unpacked(start), steps.into_iter().map(|(_, _, id)| self.unpacked(id)).collect())
    }

    /// The first state that the given one is a successor of, with the step; `None` for a start state.
    fn parent(&self, id: StateId) -> Option<(StateId, u32, u32)> {
        let births = &self.births[id.shard as usize];
        let after = births.partition_point(|&(first, _)| first <= id.local);
        let (_, chunk) = births[..after].last()?;
        let chunk = &self.chunks[*chunk as usize];
        let target = self.packed(id);
        let mut found = None;
        self.expand_again(chunk, |index, command, outcome, after| {
            if found.is_none() && after == target {
                found = Some((self.id_in(chunk, index), command, outcome));
            }
        });
        Some(found.expect("a state comes from its chunk"))
    }

    /// Expands a chunk that was expanded before: `emit(index in the chunk, command, outcome, successor)`.
    fn expand_again(&self, chunk: &Chunk, mut emit: impl FnMut(usize, u32, u32, &[u64])) {
        let mut worker = self.workers[0].lock().expect("workers do not panic");
        let words = self.compiled.layout.words();
        let mut packed = Vec::new();
        self.gather(chunk, &mut packed);
        for (number, batch) in packed.chunks(BATCH * words).enumerate() {
            let mut emit = |lane: usize, command: u32, outcome: u32, after: &[u64]| {
                emit(number * BATCH + lane, command, outcome, after);
            };
            // Errors and unsafe states were met before; here only the steps matter.
            let _ = self.compiled.expand(&mut worker, batch, true, &mut Counts::default(), &mut emit);
        }
    }

    /// Cuts the states `from[s]..to[s]` of all shards into chunks.
    fn cut(&mut self, from: &[usize], to: &[usize]) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut first = self.pieces.len() as u32;
        let mut room = CHUNK;
        for (shard, (&from, &to)) in from.iter().zip(to).enumerate() {
            let mut next = from;
            while next < to {
                let end = to.min(next + room);
                self.pieces.push(Piece { shard: shard as u32, from: next as u32, to: end as u32 });
                room -= end - next;
                next = end;
                if room == 0 {
                    let after = self.pieces.len() as u32;
                    chunks.push(first..after);
                    (first, room) = (after, CHUNK);
                }
            }
        }
        if room < CHUNK {
            chunks.push(first..self.pieces.len() as u32);
        }
        chunks
    }

    fn pieces_of(&self, chunk: &Chunk) -> &[Piece] {
        &self.pieces[chunk.start as usize..chunk.end as usize]
    }

    /// Copies the packed states of a chunk together.
    fn gather(&self, chunk: &Chunk, packed: &mut Vec<u64>) {
        packed.clear();
        for piece in self.pieces_of(chunk) {
            self.shards[piece.shard as usize].copy_states(piece.from as usize, piece.to as usize, packed);
        }
    }

    /// The state at a position of a chunk.
    fn id_in(&self, chunk: &Chunk, index: usize) -> StateId {
        let mut rest = index as u32;
        for piece in self.pieces_of(chunk) {
            if rest < piece.to - piece.from {
                return StateId { shard: piece.shard, local: piece.from + rest };
            }
            rest -= piece.to - piece.from;
        }
        unreachable!("the position is within the chunk")
    }

    /// Expands all states again and calls `edge(from, to)` for each transition, both as positions among all states.
    /// Only after a complete run.
    pub fn for_each_edge(
        &self,
        control: &Control<'_>,
        mut edge: impl FnMut(u32, u32),
    ) -> Result<(), StopReason> {
        let offsets = self.offsets();
        for chunk in &self.chunks {
            if let Some(reason) = control.interrupted() {
                return Err(reason);
            }
            self.expand_again(chunk, |index, _, _, after| {
                let from = self.id_in(chunk, index);
                let to = self.position(&offsets, after).expect("successors are stored");
                edge(offsets[from.shard as usize] + from.local, to);
            });
        }
        Ok(())
    }

    /// Position of each shard's first state among all states.
    pub fn offsets(&self) -> Vec<u32> {
        let mut next = 0;
        let lens = self.shards.iter().map(|shard| shard.len() as u32);
        lens.map(|len| {
            next += len;
            next - len
        })
        .collect()
    }

    /// Position of a packed state among all states.
    pub fn position(&self, offsets: &[u32], packed: &[u64]) -> Option<u32> {
        let shard = shard_of(hash(packed));
        self.shards[shard].find(packed).map(|local| offsets[shard] + local)
    }

    /// Positions of the unsafe states among all states. Only after a complete run.
    pub fn unsafe_positions(&self) -> Vec<u32> {
        let words = self.compiled.layout.words();
        let mut worker = self.workers[0].lock().expect("workers do not panic");
        let mut positions = Vec::new();
        let mut packed = Vec::new();
        let mut position = 0;
        for shard in &self.shards {
            packed.clear();
            shard.copy_states(0, shard.len(), &mut packed);
            for batch in packed.chunks(BATCH * words) {
                let flags = self.compiled.unsafe_flags(&mut worker, batch);
                positions
                    .extend(flags.enumerate().filter(|(_, is)| *is).map(|(lane, _)| position + lane as u32));
                position += (batch.len() / words) as u32;
            }
        }
        positions
    }
}

impl Expansion {
    fn new() -> Self {
        Expansion {
            packed: Vec::new(),
            successors: vec![Vec::new(); SHARDS],
            counts: Counts::default(),
            found: None,
            first_unsafe: None,
            stopped: None,
        }
    }

    fn fill(
        &mut self,
        search: &Search<'_>,
        worker: &mut Worker,
        chunk: &Chunk,
        exhaustive: bool,
        control: &Control<'_>,
    ) {
        self.successors.iter_mut().for_each(Vec::clear);
        self.counts = Counts::default();
        (self.found, self.first_unsafe, self.stopped) = (None, None, None);
        let words = search.compiled.layout.words();
        search.gather(chunk, &mut self.packed);
        for (number, batch) in self.packed.chunks(BATCH * words).enumerate() {
            let position = number * BATCH;
            self.stopped = control.interrupted();
            if self.stopped.is_some() {
                return;
            }
            let successors = &mut self.successors;
            let mut emit = |_: usize, _: u32, _: u32, after: &[u64]| {
                let own = &mut successors[shard_of(hash(after))];
                match after {
                    [word] => own.push(*word),
                    words => own.extend_from_slice(words),
                }
            };
            let result = search.compiled.expand(worker, batch, exhaustive, &mut self.counts, &mut emit);
            self.first_unsafe = self.first_unsafe.or(worker.first_unsafe.map(|lane| position + lane));
            if let Err(found) = result {
                self.found = Some(match found {
                    Found::Unsafe(lane) => Found::Unsafe(position + lane),
                    Found::Error(lane) => Found::Error(position + lane),
                });
                return;
            }
        }
    }
}
