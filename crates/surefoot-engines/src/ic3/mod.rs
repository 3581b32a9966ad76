//! IC3 for policies (POLIC3; paper 000): a proof that no unsafe state is reachable, without enumerating states.
//!
//! The algorithm is the paper's Algorithm 1, with its four procedures in files of their own:
//!
//! | procedure | file |
//! |---|---|
//! | `selectStartState` | `start.rs` |
//! | `selectSuccessorState` | `successor.rs` |
//! | `generalizeReason` | `generalize.rs` |
//! | `propagateClauses` | `propagate.rs` |
//!
//! They rest on frames (`frames.rs`) of reasons (`reason.rs`), on a queue of obligations (`obligations.rs`), to which random runs
//! (`samples.rs`) contribute, and on two kinds of questions:
//! about states (`states.rs`) and about steps of the policy from a box into a frame (`steps.rs`). `docs/ic3.md` says where this differs from
//! the paper, and why it is right. What a run has when a limit stops it can be saved (`saved.rs`), and another run goes on with it (`resume.rs`).

mod frames;
mod generalize;
mod growth;
mod listing;
mod obligations;
mod propagate;
mod reason;
mod regions;
mod resume;
mod samples;
mod saved;
mod start;
mod states;
mod statistics;
mod steps;
mod successor;
mod visits;

use std::time::{Duration, Instant};

use surefoot_certificate::Certificate;
pub use surefoot_solve::Backend;

pub use crate::certificate::Checked;
use crate::control::{Control, Progress};
use crate::explicit::list::Listed;
use crate::outcome::{self, Outcome, StopReason, Trace};
use crate::step::{Status, Stepper, Transition};
use crate::symbolic::{Conclusion, End, POLICY_BOXES, Problem, Stop, conclude, describe_laws, laws, suits};
use crate::task::{Task, TaskError};
use frames::{FOREVER, Frames};
use growth::Growth;
use obligations::{Obligation, Obligations};
use reason::Reason;
use samples::Samples;
pub use saved::{SavedError, SavedFrames};
use states::StateQueries;
pub use statistics::{Kept, Resumed, Sizes, Statistics, Tests, Times};
use steps::StepQueries;
use successor::Successor;

/// What reasons look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// Boxes.
    Box,
    /// Partial assignments, as in the paper.
    Assignment,
}

/// In which order variables are widened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those with the largest domains first.
    Widest,
    /// Those with the smallest domains first.
    Narrowest,
    /// As in the model.
    Declared,
}

/// Choices of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one improvement off, whatever the others are"
)]
pub struct Options {
    /// What reasons look like.
    pub reasons: Reasons,
    /// In which order variables are widened.
    pub order: Order,
    /// Whether reasons are generalised at all (without: the paper's POLIC3-nog).
    pub generalize: bool,
    /// Whether an obligation that was met is put back with one step more.
    pub reschedule: bool,
    /// How many states of random runs become obligations.
    pub samples: usize,
    /// How many reachable states may be listed.
    pub list: usize,
    /// How many questions growing regions may ask.
    pub growth: usize,
    /// How often a box may be split to make one test of one command exact.
    pub splits: usize,
    /// How many boxes a test of a network may bound. Those of trees are exact.
    pub bounds: u64,
    /// How many cores are remembered for each step.
    pub cores: usize,
    /// How many remembered states, and how many random ones, are tried before a question about a box is asked.
    pub trials: usize,
    /// Whether steps back into a box do no harm.
    pub relative: bool,
    /// Whether a new reason is moved up at once.
    pub push: bool,
    /// Whether sums that no step changes are made use of.
    pub laws: bool,
    /// Who answers questions about the environment.
    pub solver: Backend,
    /// Whether a proof is checked before the verdict is SAFE.
    pub check: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            reasons: Reasons::Box,
            order: Order::Widest,
            generalize: true,
            reschedule: false,
            samples: 20_000,
            list: 300_000,
            growth: 1_000_000,
            splits: 64,
            bounds: POLICY_BOXES,
            cores: 12,
            trials: 6,
            relative: true,
            push: true,
            laws: true,
            solver: Backend::Sat,
            check: true,
        }
    }
}

impl Options {
    /// POLIC3 as in the paper, with none of the improvements: reasons are partial assignments, tests of the policy look once at a box
    /// (`APFT`), no step from a state of a reason leads into the frame below, back into the reason neither (Assertion 4), and nothing
    /// but frames decides.
    #[must_use]
    pub fn paper() -> Options {
        Options {
            reasons: Reasons::Assignment,
            samples: 0,
            list: 0,
            growth: 0,
            splits: 0,
            bounds: 1,
            cores: 0,
            trials: 0,
            relative: false,
            push: false,
            laws: false,
            ..Options::default()
        }
    }
}

/// Obligations before regions begin to grow: where a few reasons are enough, nothing is faster.
const HEAD_START: u64 = 8;

/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(50);

/// The state of a run.
struct Run<'p> {
    problem: &'p Problem,
    control: &'p Control<'p>,
    options: Options,
    began: Instant,
    stepper: Stepper<'p>,
    frames: Frames,
    /// The number of frames besides that of the unsafe states: `N` of the paper.
    levels: usize,
    obligations: Obligations,
    samples: Samples,
    /// How many of them are known to be outside of the last frame.
    blocked_samples: usize,
    growth: Growth<'p>,
    states: StateQueries<'p>,
    steps: StepQueries<'p>,
    /// Frames of another run, until they are tested.
    saved: Option<SavedFrames>,
    resumed: Option<Resumed>,
    /// Obligations that were taken from the queue.
    handled: u64,
    /// States that were looked at.
    visited: u64,
    /// All reachable states, if they were listed.
    listed: u64,
    /// How many variables a projection left out of them.
    left_out: usize,
    times: Times,
    /// When progress was last reported.
    reported: Instant,
    /// The limit that was reached, unless a solver met it.
    stopped: Option<StopReason>,
}

/// The verdict, and the proof if it is SAFE.
#[derive(Debug)]
pub struct Proof {
    /// The outcome.
    pub outcome: Outcome,
    /// What the search has done.
    pub statistics: Statistics,
    /// The proof if the verdict is SAFE. It names no files.
    pub certificate: Option<Certificate>,
    /// How the proof was checked.
    pub check: Option<Checked>,
    /// What all reachable states obey, whatever the policy does, as text.
    pub laws: Vec<String>,
    /// The frames if the verdict is UNKNOWN, for [`resume`]. They do not say what they are about.
    pub saved: Option<SavedFrames>,
}

/// Verifies a task by IC3.
///
/// # Errors
/// The task does not suit this engine, or its model is wrong at a reachable state.
pub fn verify(task: &Task, options: Options, control: &Control<'_>) -> Result<Proof, TaskError> {
    prove(task, None, options, control)
}

/// Verifies a task by IC3, and begins with what is true of saved frames, whatever they claim.
///
/// # Errors
/// The task does not suit this engine, or its model is wrong at a reachable state, or the frames are not about states of the task.
pub fn resume(
    task: &Task,
    saved: SavedFrames,
    options: Options,
    control: &Control<'_>,
) -> Result<Proof, TaskError> {
    prove(task, Some(saved), options, control)
}

fn prove(
    task: &Task,
    saved: Option<SavedFrames>,
    options: Options,
    control: &Control<'_>,
) -> Result<Proof, TaskError> {
    suits(task, "ic3")?;
    let began = Instant::now();
    let mut problem = Problem::new(task);
    if options.laws {
        problem.obey(laws(&problem, options.solver, control.poll()));
    }
    if let Some(saved) = &saved {
        saved.fit(&problem).map_err(TaskError::Saved)?;
    }
    let mut run = Run::new(&problem, saved, options, began, control);
    let found = run.search();
    let mut statistics = run.statistics();
    let stopped = run.stopped.or_else(|| control.exhausted(run.memory()));
    let conclusion = conclude(task, found, stopped, options.solver, options.check, control)?;
    statistics.times.check = conclusion.check.map_or(Duration::ZERO, |check| check.time);
    let counts = outcome::Statistics {
        states: statistics.states,
        depth: statistics.depth,
        time: run.began.elapsed(),
        memory: statistics.memory,
        variables: task.system.variables.len(),
        ..outcome::Statistics::default()
    };
    let outcome = conclusion.outcome(counts);
    let saved = outcome.stopped.map(|_| run.into_saved());
    let Conclusion { certificate, check, .. } = conclusion;
    let laws = describe_laws(&problem.laws, &task.system.variables);
    Ok(Proof { outcome, statistics, certificate, check, laws, saved })
}

impl<'p> Run<'p> {
    fn new(
        problem: &'p Problem,
        saved: Option<SavedFrames>,
        options: Options,
        began: Instant,
        control: &'p Control<'p>,
    ) -> Run<'p> {
        let (poll, cache) = (control.poll(), control.cache());
        Run {
            problem,
            control,
            options,
            began,
            stepper: Stepper::new(&problem.task),
            frames: Frames::default(),
            levels: 1,
            obligations: Obligations::default(),
            samples: Samples::new(options.samples),
            blocked_samples: 0,
            growth: Growth::new(problem, options.growth),
            states: StateQueries::new(problem, options.solver, poll.clone()),
            steps: StepQueries::new(problem, &options, cache, poll),
            resumed: saved.as_ref().map(|saved| Resumed {
                depth: saved.depth() as u64,
                reasons: saved.reasons() as u64,
                kept: None,
            }),
            saved,
            handled: 0,
            visited: 0,
            listed: 0,
            left_out: 0,
            times: Times::default(),
            reported: Instant::now(),
            stopped: None,
        }
    }

    /// The frames, for another run.
    fn into_saved(self) -> SavedFrames {
        let Run { saved, frames, levels, problem, .. } = self;
        saved.unwrap_or_else(|| SavedFrames::new(&frames, levels, &problem.domain))
    }

    /// Algorithm 1, in turn with growing regions.
    fn search(&mut self) -> Result<End, Stop> {
        if let Some(trace) = self.timed(|times| &mut times.start, Run::unsafe_start)? {
            return Ok(End::Unsafe(trace));
        }
        if let Some(saved) = self.saved.take() {
            self.timed(|times| &mut times.resume, |run| run.resume(saved))?;
        }
        if self.options.list > 0 {
            match self.timed(|times| &mut times.listing, Run::list)? {
                Listed::TooMany => {}
                Listed::Unsafe(trace) => return Ok(End::Unsafe(trace)),
                Listed::All(states) => {
                    self.listed = states.states.len() as u64;
                    self.left_out = states.free.len();
                    let describe = |run: &mut Run<'_>| run.listed_regions(&states);
                    return Ok(End::Safe(self.timed(|times| &mut times.certificate, describe)?));
                }
            }
        }
        if let Some(trace) = self.timed(|times| &mut times.samples, Run::sample)? {
            return Ok(End::Unsafe(trace));
        }
        let level = loop {
            let is_turn = self.handled >= HEAD_START
                && (!self.growth.is_warm() || self.times.growth <= self.times.frames());
            if is_turn && !self.growth.is_over() {
                if let Some(trace) = self.timed(|times| &mut times.growth, Run::grow)? {
                    return Ok(End::Unsafe(trace));
                }
                if self.is_closed()? {
                    break FOREVER - 1;
                }
            } else if let Some(visit) = self.timed(|times| &mut times.start, Run::select_state)? {
                if let Some(rest) = self.block(self.samples.state(visit).to_vec())? {
                    let mut trace = self.samples.trace(visit);
                    trace.steps.extend(rest.steps);
                    return Ok(End::Unsafe(trace));
                }
            } else {
                self.levels += 1;
                self.blocked_samples = 0;
                if let Some(level) = self.timed(|times| &mut times.propagate, Run::propagate_clauses)? {
                    break level;
                }
            }
        };
        Ok(End::Safe(self.timed(|times| &mut times.certificate, |run| run.regions(level))?))
    }

    /// A visit of a state that must leave the last frame: one that runs have seen, or a start state.
    fn select_state(&mut self) -> Result<Option<usize>, Stop> {
        while self.blocked_samples < self.samples.len() {
            if !self.frames.blocks(self.samples.state(self.blocked_samples), self.levels) {
                return Ok(Some(self.blocked_samples));
            }
            self.blocked_samples += 1;
        }
        Ok(self.select_start_state()?.map(|start| self.samples.start(start)))
    }

    /// Shows that a state is outside of the last frame, or finds a run from it to an unsafe state.
    fn block(&mut self, start: Vec<i32>) -> Result<Option<Trace>, Stop> {
        self.obligations.start(start, self.levels);
        while let Some(obligation) = self.obligations.pop() {
            self.handled += 1;
            self.look_around()?;
            let Obligation { visit, steps } = obligation;
            if self.frames.blocks(self.obligations.state(visit), steps) {
                self.reschedule(obligation);
                continue;
            }
            let selected =
                self.timed(|times| &mut times.successor, |run| run.select_successor_state(obligation))?;
            match selected {
                Successor::Unsafe(step) => {
                    let last = self.obligations.visit(visit, step);
                    return Ok(Some(self.obligations.trace(last)));
                }
                Successor::Inside(step) => {
                    let next = self.obligations.visit(visit, step);
                    self.obligations.insert(obligation);
                    self.obligations.insert(Obligation { visit: next, steps: steps - 1 });
                }
                Successor::Outside(level) => {
                    let state = self.obligations.state(visit).to_vec();
                    let generalize = |run: &mut Run<'_>| run.generalize_reason(&state, level);
                    let reason = self.timed(|times| &mut times.generalize, generalize)?;
                    self.timed(|times| &mut times.propagate, |run| run.learn(reason, level + 1))?;
                    self.reschedule(obligation);
                }
            }
        }
        Ok(None)
    }

    /// Adds a reason and moves it up as far as it holds.
    fn learn(&mut self, reason: Reason, level: usize) -> Result<(), Stop> {
        self.tell(&reason, level);
        let index = self.frames.add(reason, level);
        while self.options.push && self.frames.entries()[index].level <= self.levels && self.push(index)? {}
        Ok(())
    }

    /// Tells the solvers of a reason.
    fn tell(&mut self, reason: &Reason, level: usize) {
        self.states.add(reason, level);
        self.steps.add(reason, level);
    }

    fn reschedule(&mut self, Obligation { visit, steps }: Obligation) {
        if self.options.reschedule && steps < self.levels {
            self.obligations.insert(Obligation { visit, steps: steps + 1 });
        }
    }

    fn status(&mut self, state: &[i32]) -> Result<Status, Stop> {
        self.stepper.status(state).map_err(|error| Stop::Error(TaskError::Model(error)))
    }

    fn successors(&mut self, state: &[i32]) -> Result<Vec<Transition>, Stop> {
        self.visited += 1;
        self.stepper.successors(state).map_err(|error| Stop::Error(TaskError::Model(error)))
    }

    /// Runs a procedure and adds its time to a part of the whole.
    fn timed<R>(
        &mut self,
        part: impl FnOnce(&mut Times) -> &mut Duration,
        procedure: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let began = Instant::now();
        let result = procedure(self);
        *part(&mut self.times) += began.elapsed();
        result
    }

    /// Bytes of everything that grows, roughly.
    fn memory(&self) -> u64 {
        self.obligations.memory()
            + self.samples.memory()
            + self.growth.memory()
            + self.frames.memory()
            + self.states.memory()
            + self.steps.memory()
    }

    fn statistics(&self) -> Statistics {
        let entries = self.frames.entries();
        let mut levels = vec![0; self.levels + 1];
        for entry in entries.iter().filter(|entry| entry.level < FOREVER) {
            levels[entry.level - 1] += 1;
        }
        Statistics {
            depth: self.levels as u64,
            reasons: entries.len() as u64,
            closed: self.frames.count(FOREVER) as u64,
            levels,
            sizes: Sizes::of(entries, &self.problem.domain),
            obligations: self.handled,
            states: self.visited,
            samples: self.samples.len() as u64,
            listed: self.listed,
            left_out: self.left_out,
            time: self.began.elapsed(),
            times: self.times,
            tests: Tests { state: self.states.asked, ..self.steps.tests() },
            memory: self.memory(),
            resumed: self.resumed,
        }
    }

    /// Looks at the limits and reports progress.
    fn look_around(&mut self) -> Result<(), Stop> {
        self.look_around_with(0)
    }

    /// Looks at the limits and reports progress, where so many bytes more are in use.
    fn look_around_with(&mut self, more: u64) -> Result<(), Stop> {
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.control.observer.progress(&Progress::Ic3(Box::new(self.statistics())));
            self.reported = Instant::now();
        }
        self.stopped = self.control.exhausted(self.memory() + more);
        if self.stopped.is_some() { Err(Stop::Limit) } else { Ok(()) }
    }
}
