//! Limits, cancellation and progress: what a run is told from outside and what it tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use surefoot_solve::Poll;

use crate::outcome::StopReason;
use crate::{ic3, pa};

/// Most bytes of a decision cache, and the part of a memory limit that it may take.
const CACHE: u64 = 256 << 20;
const CACHE_SHARE: u64 = 4;

/// How a run is limited, stopped and watched.
#[derive(Clone)]
pub struct Control<'o> {
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Bytes of memory for the engine's own data.
    pub memory_limit: Option<u64>,
    /// Set from outside to stop the run (Ctrl-C).
    pub cancelled: Arc<AtomicBool>,
    /// Number of worker threads, at least 1. Results do not depend on it.
    pub threads: usize,
    /// Told about progress.
    pub observer: &'o dyn Observer,
}

impl Control<'_> {
    /// No limits, one thread, nobody watching.
    pub fn unlimited() -> Control<'static> {
        Control {
            deadline: None,
            memory_limit: None,
            cancelled: Arc::new(AtomicBool::new(false)),
            threads: 1,
            observer: &NoObserver,
        }
    }

    /// Whether the run must stop for time or by cancellation.
    pub fn interrupted(&self) -> Option<StopReason> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(StopReason::Cancelled);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| StopReason::Time)
    }

    /// The same question, for solvers.
    pub(crate) fn poll(&self) -> Poll {
        let (cancelled, deadline) = (self.cancelled.clone(), self.deadline);
        Arc::new(move || {
            cancelled.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        })
    }

    /// Half of the time and memory that is left, for what is tried first.
    #[must_use]
    pub(crate) fn half(&self) -> Self {
        let now = Instant::now();
        let deadline = self.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2);
        Control { deadline, memory_limit: self.memory_limit.map(|limit| limit / 2), ..self.clone() }
    }

    /// Bytes that a cache of decisions may take.
    pub(crate) fn cache(&self) -> usize {
        self.memory_limit.map_or(CACHE, |limit| CACHE.min(limit / CACHE_SHARE)) as usize
    }

    /// Whether the run must stop, given the bytes that it uses.
    pub fn exhausted(&self, memory: u64) -> Option<StopReason> {
        self.memory_limit
            .filter(|limit| memory > *limit)
            .map(|_| StopReason::Memory)
            .or_else(|| self.interrupted())
    }
}

/// A moment of a run.
#[derive(Debug, Clone)]
pub enum Progress {
    /// Of the explicit engine.
    Explicit {
        /// Time since the run began.
        elapsed: Duration,
        /// Distinct states so far.
        states: u64,
        /// States whose successors are known.
        expanded: u64,
        /// Transitions so far.
        transitions: u64,
        /// Length of the longest shortest run so far.
        depth: u64,
        /// Bytes used by the engine.
        memory: u64,
    },
    /// Of IC3.
    Ic3(Box<ic3::Statistics>),
    /// Of predicate abstraction.
    Pa(Box<pa::Statistics>),
}

/// Is told about progress, often: slow it down before showing it.
pub trait Observer: Sync {
    /// Called every few milliseconds of work.
    fn progress(&self, progress: &Progress);
}

/// Watches nothing.
pub struct NoObserver;

impl Observer for NoObserver {
    fn progress(&self, _: &Progress) {}
}
