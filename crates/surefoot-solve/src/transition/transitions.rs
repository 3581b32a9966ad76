//! Steps from a box into a frame.
//!
//! Each outcome of each command has a solver of its own, made when it is first asked about. There, the state after the step is not
//! a second copy of the variables: it is a function of the state before. A variable that is not assigned has the same
//! literals before and after; an assigned one has constants, literals of another variable (`x := y + 2`), or
//! conditions on the assigned expression. So a clause of a frame becomes a clause over the state before, often a shorter
//! one, and a question never meets the clauses of other outcomes.
//!
//! What frames demand is kept in one log. A solver reads what it missed when it is asked.

use rustc_hash::FxHashMap;
use surefoot_model::{ExprId, TransitionSystem};

use super::outcome::OutcomeSolver;
use super::{Bound, FrameId};
use crate::UnsupportedVariable;
use crate::encode::Limits;
use crate::literal::{Answer, Lit};
use crate::solver::{Arithmetic, Interrupt, Poll, SolveIncremental};

/// An outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// Index of the command.
    pub command: usize,
    /// Index of its outcome.
    pub outcome: usize,
}

/// Why there is no step: these parts of the question are enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Core {
    /// Bounds on the state before the step.
    pub bounds: Vec<Bound>,
    /// Frames of the state after it.
    pub frames: Vec<FrameId>,
    /// Whether the answer rests on the box that the step should leave, see [`Transitions::query_leaving`].
    pub is_relative: bool,
}

/// What solvers must know.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// The state before a step gives this condition this value.
    Source(ExprId, bool),
    /// The frame demands that the condition is true.
    Condition(FrameId, ExprId),
    /// The frame demands that one of the bounds holds.
    Clause(FrameId, Box<[Bound]>),
}

/// Solvers for the steps of a system. Steps are those of `--out-of-domain block`: the guard is true, the probability is above 0, requirements hold,
/// and new values are defined and in their domains. `--out-of-domain error` has the same steps, where it has no errors.
#[derive(Debug)]
pub struct Transitions<'m, S> {
    system: &'m TransitionSystem,
    make: fn() -> S,
    solvers: FxHashMap<Step, OutcomeSolver<S>>,
    frames: usize,
    /// Bytes of all solvers when each was last asked.
    solver_bytes: u64,
    log: Vec<Entry>,
    /// Bounds in all clauses of the log.
    log_bounds: usize,
    poll: Option<PollHandle>,
    limits: Limits,
    /// The last question.
    step: Option<Step>,
    current: Vec<Bound>,
    asked: Vec<FrameId>,
    /// Of the last question, if its answer was no.
    core: Core,
}

/// A [`Poll`] that can be printed.
struct PollHandle(Poll);

impl std::fmt::Debug for PollHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Poll")
    }
}

impl<'m, S: Arithmetic + Default> Transitions<'m, S> {
    /// Solvers for the steps of `system`. They are made when they are needed.
    ///
    /// # Errors
    /// A variable is real.
    pub fn new(system: &'m TransitionSystem) -> Result<Self, UnsupportedVariable> {
        Transitions::with_solvers(system, S::default)
    }
}

impl<'m, S: Arithmetic> Transitions<'m, S> {
    /// The same over solvers that are made so: without variables and clauses.
    ///
    /// # Errors
    /// A variable is real.
    pub fn with_solvers(system: &'m TransitionSystem, make: fn() -> S) -> Result<Self, UnsupportedVariable> {
        if let Some(real) = system.variables.iter().find(|variable| variable.ty.bounds().is_none()) {
            return Err(UnsupportedVariable { name: real.name.clone() });
        }
        Ok(Transitions {
            system,
            make,
            solvers: FxHashMap::default(),
            frames: 0,
            solver_bytes: 0,
            log: Vec::new(),
            log_bounds: 0,
            poll: None,
            limits: Limits::default(),
            step: None,
            current: Vec::new(),
            asked: Vec::new(),
            core: Core::default(),
        })
    }

    /// From now on, steps start only in states at which the condition is defined and has this value.
    pub fn restrict_sources(&mut self, condition: ExprId, value: bool) {
        self.log.push(Entry::Source(condition, value));
    }

    /// A new frame without conditions. Frames are numbered from 0.
    pub fn add_frame(&mut self) -> FrameId {
        self.frames += 1;
        FrameId(self.frames as u32 - 1)
    }

    /// Adds a clause to a frame.
    pub fn add_clause(&mut self, frame: FrameId, clause: &[Bound]) {
        assert!(frame.index() < self.frames, "the frame exists");
        self.log_bounds += clause.len();
        self.log.push(Entry::Clause(frame, clause.into()));
    }

    /// Adds a condition of the system's pool to a frame.
    pub fn add_condition(&mut self, frame: FrameId, condition: ExprId) {
        assert!(frame.index() < self.frames, "the frame exists");
        self.log.push(Entry::Condition(frame, condition));
    }

    /// Is there a state within the bounds `current` from which the step is possible, and leads to a state that is in all of `frames`?
    pub fn query(&mut self, step: Step, current: &[Bound], frames: &[FrameId]) -> Answer {
        self.prepare(step, current, frames);
        let answer = self.ask(None);
        if answer == Answer::Unsatisfiable {
            self.core = self.part_of_question();
        }
        answer
    }

    /// The same, but the step must also leave a box. All states within the bounds `current` must be in the box, so only variables that the step
    /// assigns can leave it.
    pub fn query_leaving(
        &mut self,
        step: Step,
        current: &[Bound],
        frames: &[FrameId],
        stay: &[Bound],
    ) -> Answer {
        let solver = self.prepare(step, current, frames);
        let (assigned, kept): (Vec<Bound>, Vec<Bound>) =
            stay.iter().partition(|bound| solver.assigns(bound.variable()));
        let exits: Vec<Lit> = assigned.into_iter().map(|bound| solver.bound_after(!bound)).collect();
        if exits.contains(&Lit::TRUE) {
            return self.query(step, current, frames);
        }
        // Within these bounds, variables that keep their values stay in the box.
        let mut core = Core { bounds: kept, frames: Vec::new(), is_relative: true };
        for exit in exits.into_iter().filter(|&exit| exit != Lit::FALSE) {
            let answer = self.ask(Some(exit));
            if answer != Answer::Unsatisfiable {
                return answer;
            }
            let part = self.part_of_question();
            if !part.is_relative {
                core = part;
                break;
            }
            core.bounds.extend(part.bounds);
            core.frames.extend(part.frames);
        }
        core.bounds.sort_unstable();
        core.bounds.dedup();
        core.frames.sort_unstable();
        core.frames.dedup();
        self.core = core;
        Answer::Unsatisfiable
    }

    /// Makes the solver of a step ready for a question.
    fn prepare(&mut self, step: Step, current: &[Bound], frames: &[FrameId]) -> &mut OutcomeSolver<S> {
        let solver = self.solvers.entry(step).or_insert_with(|| {
            let mut solver = OutcomeSolver::new((self.make)(), self.system, step, self.limits)
                .expect("no variable is real");
            solver.encoder.set_interrupt(self.poll.as_ref().map(|poll| poll.0.clone()));
            solver
        });
        solver.catch_up(self.system, self.frames, &self.log);
        self.step = Some(step);
        self.current.clear();
        self.current.extend_from_slice(current);
        self.asked.clear();
        self.asked.extend_from_slice(frames);
        solver
    }

    fn ask(&mut self, exit: Option<Lit>) -> Answer {
        let step = self.step.expect("a question was asked");
        let solver = self.solvers.get_mut(&step).expect("it was made ready");
        let answer = solver.solve(&self.asked, exit, &self.current);
        let (before, now) = solver.measure();
        self.solver_bytes = self.solver_bytes - before + now;
        answer
    }

    fn last(&self) -> &OutcomeSolver<S> {
        let step = self.step.expect("a question was asked");
        &self.solvers[&step]
    }

    /// After [`Answer::Satisfiable`]: the state before the step.
    pub fn state(&self) -> Vec<i32> {
        self.last().encoder.state()
    }

    /// After [`Answer::Satisfiable`]: the state after the step.
    pub fn successor(&self) -> Vec<i32> {
        self.last().successor(&self.state())
    }

    /// After [`Answer::Unsatisfiable`]: parts of the question that are enough for this answer.
    pub fn core(&self) -> &Core {
        &self.core
    }

    fn part_of_question(&self) -> Core {
        let solver = self.last();
        let mut core = solver.encoder.core().into_iter().peekable();
        // A core is in the order of the assumptions: frames, the exit if there is one, bounds.
        let mut failed = |literal: &Lit| core.next_if_eq(literal).is_some();
        let (frames, rest) = solver.assumptions().split_at(self.asked.len());
        let (exit, bounds) = rest.split_at(rest.len() - self.current.len());
        let frames = frames.iter().zip(&self.asked).filter(|(literal, _)| failed(literal));
        let frames = frames.map(|(_, &frame)| frame).collect();
        let is_relative = exit.iter().any(&mut failed);
        let bounds = bounds.iter().zip(&self.current).filter(|(literal, _)| failed(literal));
        Core { bounds: bounds.map(|(_, &bound)| bound).collect(), frames, is_relative }
    }

    /// Bytes of all solvers, roughly.
    pub fn memory(&self) -> u64 {
        self.solver_bytes
            + (self.log.len() * size_of::<Entry>() + self.log_bounds * size_of::<Bound>()) as u64
    }

    /// Number of solvers that were made so far.
    pub fn solver_count(&self) -> usize {
        self.solvers.len()
    }

    /// Sets the limits of all solvers, for what they translate from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        for solver in self.solvers.values_mut() {
            solver.encoder.set_limits(limits);
        }
        self.limits = limits;
    }

    /// See [`Interrupt`]; holds for all solvers.
    pub fn set_interrupt(&mut self, poll: Option<Poll>) {
        for solver in self.solvers.values_mut() {
            solver.encoder.set_interrupt(poll.clone());
        }
        self.poll = poll.map(PollHandle);
    }
}
