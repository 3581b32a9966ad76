//! Start states of runs.
//!
//! Up to [`Starts::CAP`] start states are collected and drawn uniformly. Where there are more, a state is drawn by fixing the
//! variables one after the other, in random order, to random values that propagation does not exclude: any start state
//! can come out, but they are not equally likely.

use std::cell::Cell;
use std::ops::ControlFlow;

use surefoot_model::ExprId;
use surefoot_model::enumerate::{Enumerated, narrow, solutions};

use crate::control::Control;
use crate::random::Random;
use crate::step::describe_state;
use crate::task::{ModelError, ModelErrorKind, Task};

/// Where runs start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartFrom {
    /// In a start state of the property.
    Property,
    /// In an initial state of the model.
    Initial,
    /// In this state.
    State(Vec<i32>),
}

/// The states from which starts are drawn.
pub struct Starts {
    states: Vec<Vec<i32>>,
    /// The condition whose solutions were too many to collect.
    open: Option<ExprId>,
    lower: Vec<i32>,
    upper: Vec<i32>,
    /// Search nodes that are left.
    nodes: Cell<u64>,
}

/// Search nodes after which a dive for a random solution is given up.
const DIVE_BUDGET: u32 = 10_000;

/// Dives after which a collected state is taken instead.
const DIVES: u32 = 10;

impl Starts {
    /// Most start states that are collected.
    pub const CAP: usize = 100_000;

    /// Collects start states. At most so many search nodes are spent on that, and as many again on all that are drawn.
    pub(crate) fn collect(
        task: &Task,
        from: StartFrom,
        nodes: u64,
        control: &Control<'_>,
    ) -> Result<Self, ModelError> {
        let (lower, upper) = task.system.variables.iter().filter_map(|v| v.ty.bounds()).unzip();
        let mut starts = Starts { states: Vec::new(), open: None, lower, upper, nodes: Cell::new(nodes) };
        match from {
            StartFrom::State(state) => starts.states.push(state),
            StartFrom::Initial => starts.add_solutions(task, task.system.initial, control)?,
            StartFrom::Property => {
                starts.add_solutions(task, task.property.start.condition, control)?;
                starts.states.extend(task.property.start.listed.iter().cloned());
                starts.states.sort_unstable();
                starts.states.dedup();
            }
        }
        starts.nodes.set(nodes);
        Ok(starts)
    }

    /// Whether every start state was collected, so that all are equally likely.
    pub fn is_complete(&self) -> bool {
        self.open.is_none()
    }

    /// The collected states.
    pub fn states(&self) -> &[Vec<i32>] {
        &self.states
    }

    fn add_solutions(
        &mut self,
        task: &Task,
        condition: Option<ExprId>,
        control: &Control<'_>,
    ) -> Result<(), ModelError> {
        let Some(condition) = condition else { return Ok(()) };
        let nodes = &self.nodes;
        let poll = || match control.interrupted() {
            None if spend(nodes) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let states = &mut self.states;
        let end = solutions(&task.system.exprs, condition, &self.lower, &self.upper, poll, |state| {
            if states.len() == Self::CAP {
                return ControlFlow::Break(());
            }
            states.push(state.to_vec());
            ControlFlow::Continue(())
        });
        match end {
            Enumerated::All => Ok(()),
            Enumerated::Stopped => {
                self.open = Some(condition);
                Ok(())
            }
            Enumerated::Undefined(at) => Err(ModelError {
                state: describe_state(task, &at.state),
                command: None,
                kind: ModelErrorKind::Undefined { what: "start condition".into(), reason: at.reason },
            }),
        }
    }

    /// A random start state of the same task; `None` if there is none.
    pub(crate) fn draw(&self, task: &Task, random: &mut Random) -> Option<Vec<i32>> {
        let dive =
            self.open.and_then(|condition| (0..DIVES).find_map(|_| self.dive(task, condition, random)));
        dive.or_else(|| {
            let count = self.states.len() as u64;
            (count > 0).then(|| self.states[random.below(count) as usize].clone())
        })
    }

    /// A random solution of a condition; `None` if this attempt came to nothing.
    fn dive(&self, task: &Task, condition: ExprId, random: &mut Random) -> Option<Vec<i32>> {
        if !spend(&self.nodes) {
            return None;
        }
        let exprs = &task.system.exprs;
        let (mut lower, mut upper) = narrow(exprs, condition, &self.lower, &self.upper)?;
        for v in shuffled(lower.len(), random) {
            if lower[v] == upper[v] || !spend(&self.nodes) {
                continue;
            }
            let width = (i64::from(upper[v]) - i64::from(lower[v])) as u64 + 1;
            let value = (i64::from(lower[v]) + random.below(width) as i64) as i32;
            let (mut fixed_lower, mut fixed_upper) = (lower.clone(), upper.clone());
            (fixed_lower[v], fixed_upper[v]) = (value, value);
            if let Some(narrowed) = narrow(exprs, condition, &fixed_lower, &fixed_upper) {
                (lower, upper) = narrowed;
            }
        }
        let nodes = Cell::new(0);
        let poll = || {
            nodes.set(nodes.get() + 1);
            let goes_on = nodes.get() <= DIVE_BUDGET && spend(&self.nodes);
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut found = None;
        solutions(exprs, condition, &lower, &upper, poll, |state| {
            found = Some(state.to_vec());
            ControlFlow::Break(())
        });
        found
    }
}

/// Takes one from a number of nodes; whether there was one.
fn spend(nodes: &Cell<u64>) -> bool {
    let left = nodes.get();
    nodes.set(left.saturating_sub(1));
    left > 0
}

/// The numbers `0..length` in random order (Fisher and Yates).
fn shuffled(length: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    for i in (1..length).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}
