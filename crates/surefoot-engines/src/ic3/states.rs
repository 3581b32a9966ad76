//! Questions about single states: where runs start, what reasons must not hold, where taking a command is an error.

use std::time::Instant;

use surefoot_solve::{Answer, AnySolver, Backend, Bound, FrameId, Lit, Poll, States, Truths};

use super::frames::{self, FOREVER};
use super::reason::Reason;
use crate::symbolic::{Bad, Problem, Stop, Tally};

/// A solver for conditions at states.
pub struct StateQueries<'p> {
    problem: &'p Problem,
    states: States<'p, AnySolver>,
    start: Option<Truths>,
    bad: Bad,
    /// That the laws hold.
    laws: Vec<Lit>,
    /// Solver frames of levels; the last is that of the reasons that hold for any number of steps.
    frames: Vec<FrameId>,
    /// Questions so far.
    pub asked: Tally,
}

impl<'p> StateQueries<'p> {
    pub fn new(problem: &'p Problem, solver: Backend, poll: Poll) -> StateQueries<'p> {
        let states = States::with_solver(&problem.task.system, solver.maker()());
        let mut states = states.expect("variables are discrete");
        states.set_interrupt(Some(poll));
        let start = problem.task.property.start.condition.map(|condition| states.condition(condition));
        let bad = Bad::new(problem, &mut states);
        let laws = problem.law_conditions.iter().map(|&law| states.condition(law).is_true).collect();
        let frames = vec![states.add_frame()];
        StateQueries { problem, states, start, bad, laws, frames, asked: Tally::default() }
    }

    /// Adds a reason at a level.
    pub fn add(&mut self, reason: &Reason, level: usize) {
        while level != FOREVER && self.frames.len() - 1 <= level {
            self.frames.insert(self.frames.len() - 1, self.states.add_frame());
        }
        let frame = self.frames[level.min(self.frames.len() - 1)];
        self.add_to(frame, reason);
    }

    /// A frame for a purpose of its own.
    pub fn scratch(&mut self) -> FrameId {
        self.states.add_frame()
    }

    /// Takes a box out of a frame.
    pub fn add_to(&mut self, frame: FrameId, reason: &Reason) {
        self.states.add_clause(frame, &frames::clause(reason, &self.problem.domain));
    }

    /// A state that satisfies the start condition and is in the frame of a level.
    pub fn start(&mut self, level: usize) -> Result<Option<Vec<i32>>, Stop> {
        let level = level.min(self.frames.len() - 1);
        self.start_in_all(level, None)
    }

    /// A state that satisfies the start condition, is in a frame, and in no reason that holds for any number of steps.
    pub fn start_in(&mut self, frame: FrameId) -> Result<Option<Vec<i32>>, Stop> {
        self.start_in_all(self.frames.len() - 1, Some(frame))
    }

    /// A state that satisfies the start condition and is in a frame.
    pub fn start_outside(&mut self, frame: FrameId) -> Result<Option<Vec<i32>>, Stop> {
        self.start_in_all(self.frames.len(), Some(frame))
    }

    fn start_in_all(&mut self, level: usize, frame: Option<FrameId>) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let mut question = vec![start.is_true];
        let frames = self.frames[level..].iter().copied().chain(frame);
        question.extend(frames.map(|frame| self.states.frame(frame)));
        self.ask(&question)
    }

    /// A state that satisfies the start condition, with as many of these values as cores allow.
    pub fn start_near(&mut self, values: &[i32]) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let mut question = self.bounds(&Reason::of_state(values));
        question.push(start.is_true);
        loop {
            let found = self.ask(&question)?;
            let core = if found.is_none() { self.states.core() } else { Vec::new() };
            let wanted = question.len();
            question.retain(|literal| *literal == start.is_true || !core.contains(literal));
            if found.is_some() || question.len() == wanted {
                return Ok(found);
            }
        }
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.states.memory()
    }

    /// A state at which the start condition is undefined.
    pub fn undefined_start(&mut self) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let undefined = self.states.encoder().undefined(start);
        self.ask(&[undefined])
    }

    /// A start state that is unsafe, or at which the model is wrong.
    pub fn bad_start(&mut self) -> Result<Option<Vec<i32>>, Stop> {
        let Some(start) = self.start else { return Ok(None) };
        let bad = self.bad.state;
        self.ask(&[start.is_true, bad])
    }

    /// A state of a box that no reason may hold: it is unsafe, or the model is wrong there.
    pub fn bad(&mut self, states: &Reason) -> Result<Option<Vec<i32>>, Stop> {
        let question = self.question(states, self.bad.state);
        self.ask(&question)
    }

    /// Whether taking a command can be an error at all.
    pub fn can_err(&self, command: usize) -> bool {
        self.bad.errors[command].is_some()
    }

    /// A state of a box in which taking a command is an error.
    pub fn error(&mut self, command: usize, states: &Reason) -> Result<Option<Vec<i32>>, Stop> {
        let Some(error) = self.bad.errors[command] else { return Ok(None) };
        let question = self.question(states, error);
        self.ask(&question)
    }

    /// That a state of a box that obeys the laws makes a literal true.
    fn question(&mut self, states: &Reason, literal: Lit) -> Vec<Lit> {
        let mut question = self.bounds(states);
        question.push(literal);
        question.extend(&self.laws);
        question
    }

    fn bounds(&mut self, states: &Reason) -> Vec<Lit> {
        let bounds = states.bounds(&self.problem.domain);
        bounds.into_iter().map(|bound: Bound| self.states.bound(bound)).collect()
    }

    fn ask(&mut self, question: &[Lit]) -> Result<Option<Vec<i32>>, Stop> {
        let asked = Instant::now();
        let answer = self.states.query(question);
        self.asked.add(asked);
        match answer {
            Answer::Satisfiable => Ok(Some(self.states.state())),
            Answer::Unsatisfiable => Ok(None),
            Answer::Unknown => Err(Stop::Limit),
        }
    }
}
