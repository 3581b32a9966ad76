//! Predicate abstraction of what a policy does (papers 001 and 004), for predicates that are given.
//!
//! States that no predicate tells apart are one *abstract state* (`cell.rs`). The engine lists all abstract states that the policy can reach, with
//! exact transitions between them (`abstraction.rs`). If none of them holds an unsafe state, the policy is safe, and the abstract states are the certificate
//! (`certificate.rs`). Otherwise nothing is known: [`crate::ppa`] finds out whether the way to an unsafe abstract state is real, and adds
//! predicates if it is not. There, abstract states may hold only states that obey the laws of the task (`Problem::obey`). Start states do, and steps lead from these to
//! others that do, so nothing else changes.

pub(crate) mod abstraction;
pub(crate) mod ancestor;
pub(crate) mod cell;
mod certificate;
mod predicates;
mod states;
mod statistics;

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use surefoot_certificate::Certificate;
pub use surefoot_solve::Backend;

use crate::certificate::Checked;
use crate::control::{Control, Progress};
use crate::outcome::{self, Outcome, StopReason, Trace};
use crate::symbolic::{Conclusion, End, Problem, Stop, conclude, suits};
use crate::task::{Task, TaskError};
use abstraction::Abstraction;
use cell::Cell;
pub use statistics::{Cause, Described, Iteration, PredicateCounts, Source, Statistics, Tests};

/// What paper 001 (§4) does to make abstract transitions faster, as far as it means something here: each can be switched off, to see what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is switched off by itself")]
pub struct Enhancements {
    /// PER-OP-DISJ: a label takes choices away in a box if one of its commands is enabled everywhere in it. Without: only in single states.
    pub per_operator: bool,
    /// OPT-SLACK-VAR: bounds of the same linear term know of each other.
    pub shared_terms: bool,
    /// ENTAIL-OP: commands that can be enabled nowhere in the box are passed over.
    pub entailed_operators: bool,
    /// ENTAIL-GEN: boxes are clipped by what guards and targets entail.
    pub entailed_bounds: bool,
}

impl Default for Enhancements {
    fn default() -> Self {
        Enhancements {
            per_operator: true,
            shared_terms: true,
            entailed_operators: true,
            entailed_bounds: true,
        }
    }
}

/// Choices of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How abstract transitions are found.
    pub enhancements: Enhancements,
    /// Who answers questions about the environment.
    pub solver: Backend,
    /// Whether a proof is checked before the verdict is SAFE.
    pub check: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { enhancements: Enhancements::default(), solver: Backend::Sat, check: true }
    }
}

/// The verdict, and the proof if it is SAFE.
#[derive(Debug)]
pub struct Proof {
    /// The outcome.
    pub outcome: Outcome,
    /// What the abstraction is, and what it took.
    pub statistics: Statistics,
    /// Its predicates.
    pub predicates: Vec<Described>,
    /// What all reachable states obey, as text.
    pub laws: Vec<String>,
    /// The proof if the verdict is SAFE. It names no files.
    pub certificate: Option<Certificate>,
    /// How the proof was checked.
    pub check: Option<Checked>,
}

/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(50);

/// Abstracts a task by the predicates of its property.
///
/// # Errors
/// The task does not suit this engine, or the model is wrong at a start state.
pub fn verify(task: &Task, options: Options, control: &Control<'_>) -> Result<Proof, TaskError> {
    suits(task, "pa")?;
    let problem = Problem::new(task);
    let mut run = Run::new(&problem, options, control);
    let found = run.search();
    let mut statistics = run.statistics();
    let stopped = run.stopped.or(run.abstraction.stopped).or_else(|| control.exhausted(run.memory()));
    let conclusion = conclude(task, found, stopped, options.solver, options.check, control)?;
    statistics.check = conclusion.check.map_or(Duration::ZERO, |check| check.time);
    let counts = outcome::Statistics {
        time: run.began.elapsed(),
        memory: statistics.memory,
        variables: task.system.variables.len(),
        ..outcome::Statistics::default()
    };
    let outcome = conclusion.outcome(counts);
    let Conclusion { certificate, check, .. } = conclusion;
    let predicates = run.abstraction.predicates.describe();
    Ok(Proof { outcome, statistics, predicates, laws: Vec::new(), certificate, check })
}

/// The state of a run.
struct Run<'p> {
    problem: &'p Problem,
    control: &'p Control<'p>,
    began: Instant,
    abstraction: Abstraction<'p>,
    /// Abstract states in the order in which they were found.
    cells: Vec<Cell>,
    known: FxHashSet<Cell>,
    bytes: u64,
    counts: Statistics,
    reported: Instant,
    stopped: Option<StopReason>,
}

impl<'p> Run<'p> {
    fn new(problem: &'p Problem, options: Options, control: &'p Control<'p>) -> Run<'p> {
        let mut abstraction = Abstraction::new(problem, options.enhancements, options.solver, control);
        abstraction.add_conditions(&problem.task.property.predicates);
        Run {
            problem,
            control,
            began: Instant::now(),
            abstraction,
            cells: Vec::new(),
            known: FxHashSet::default(),
            bytes: 0,
            counts: Statistics::default(),
            reported: Instant::now(),
            stopped: None,
        }
    }

    /// Lists all abstract states that are reachable, and proves the policy safe if none of them is bad.
    fn search(&mut self) -> Result<End, Stop> {
        if let Some(trace) = self.start()? {
            return Ok(End::Unsafe(trace));
        }
        while self.counts.expanded < self.cells.len() as u64 {
            self.look_around()?;
            let cell = self.cells[self.counts.expanded as usize].clone();
            if self.abstraction.states.unsafe_state(&cell)?.is_some() {
                self.counts.unsafe_states += 1;
            }
            let is_wrong = self.abstraction.states.undefined(&cell)?.is_some();
            let expansion = self.abstraction.expand(&cell)?;
            self.counts.errors += u64::from(is_wrong || expansion.error.is_some());
            self.counts.transitions += expansion.successors.len() as u64;
            if self.counts.expanded < self.counts.start_states {
                self.counts.start_transitions += expansion.successors.len() as u64;
            }
            self.counts.expanded += 1;
            for target in expansion.successors.into_keys() {
                self.add(target);
            }
        }
        if self.counts.unsafe_states + self.counts.errors > 0 {
            return Ok(End::Unknown(StopReason::Abstraction));
        }
        let began = Instant::now();
        let Run { abstraction, cells, control, bytes, stopped, .. } = self;
        let regions = abstraction.regions(cells, |memory| {
            *stopped = control.exhausted(memory + *bytes);
            if stopped.is_some() { Err(Stop::Limit) } else { Ok(()) }
        });
        self.counts.certificate = began.elapsed();
        Ok(End::Safe(regions?))
    }

    /// Finds the abstract states that hold start states; a trace if a start state is unsafe.
    fn start(&mut self) -> Result<Option<Trace>, Stop> {
        if let Some(state) = self.abstraction.states.undefined_start()? {
            return Err(self.problem.undefined_start(&state));
        }
        if let Some(start) = self.abstraction.states.unsafe_start()?
            && self.abstraction.is_unsafe(&start)?
        {
            return Ok(Some(Trace { start, steps: Vec::new() }));
        }
        let mut listed = self.problem.task.property.start.listed.iter();
        let seen = self.abstraction.states.list_nothing();
        while let Some(state) = listed
            .next()
            .map_or_else(|| self.abstraction.states.start(seen), |state| Ok(Some(state.clone())))?
        {
            self.look_around()?;
            let cell = self.abstraction.predicates.cell(&state);
            self.abstraction.plant(&cell, &state);
            if !self.known.contains(&cell) {
                self.abstraction.states.list(seen, &cell);
            }
            self.add(cell);
            if self.abstraction.is_unsafe(&state)? {
                return Ok(Some(Trace { start: state, steps: Vec::new() }));
            }
        }
        self.counts.start_states = self.cells.len() as u64;
        Ok(None)
    }

    fn add(&mut self, cell: Cell) {
        if self.known.insert(cell.clone()) {
            self.bytes += 3 * cell.memory();
            self.cells.push(cell);
        }
    }

    /// Bytes of everything that grows, roughly.
    fn memory(&self) -> u64 {
        self.bytes + self.abstraction.memory()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            predicates: self.abstraction.predicates.counts().all(),
            states: self.cells.len() as u64,
            tests: self.abstraction.tests(),
            time: self.began.elapsed(),
            memory: self.memory(),
            ..self.counts.clone()
        }
    }

    /// Looks at the limits and reports progress.
    fn look_around(&mut self) -> Result<(), Stop> {
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.control.observer.progress(&Progress::Pa(Box::new(self.statistics())));
            self.reported = Instant::now();
        }
        self.stopped = self.control.exhausted(self.memory());
        if self.stopped.is_some() { Err(Stop::Limit) } else { Ok(()) }
    }
}
