//! Where labels are applicable: questions about guards, by evaluation at single states and by solving in boxes.
//!
//! A guard that is undefined in a state counts as false there, whatever `--out-of-domain` says: questions range over all
//! states of the domains, and one that no run reaches is no mistake in the model.

use surefoot_model::{PointValue, Program, VarId};
use surefoot_policy::certify::Fact;
use surefoot_solve::{Answer, AnySolver, Backend, Bound, Lit, Poll, States};

use super::fact::facts;
use super::state_box::StateBox;
use super::stop::Stopped;
use crate::task::Task;

/// The guard of a command.
pub struct Guard {
    /// Facts that hold wherever it is true.
    pub facts: Vec<Fact>,
    /// The variables that it reads.
    pub variables: Vec<VarId>,
    program: Program,
    is_true: Lit,
}

/// The guards of an output's commands.
struct Output {
    guards: Vec<Guard>,
    /// The variables that they read.
    variables: Vec<VarId>,
    /// One of them is true.
    is_applicable: Lit,
}

/// The applicability of a policy's outputs.
pub struct Applicability<'t> {
    states: States<'t, AnySolver>,
    domain: StateBox,
    outputs: Vec<Output>,
    slots: Vec<PointValue>,
}

impl<'t> Applicability<'t> {
    /// Prepares the guards of a task whose variables are discrete.
    pub fn new(task: &'t Task, poll: Poll) -> Applicability<'t> {
        let mut states = States::with_solver(&task.system, Backend::default().maker()())
            .expect("the variables are discrete");
        states.set_interrupt(Some(poll));
        let labels = task.policy.as_ref().map_or(&[][..], |policy| &policy.outputs);
        let pool = &task.system.exprs;
        let mut outputs = Vec::new();
        for &label in labels {
            let mut guards = Vec::new();
            for (index, command) in task.system.commands.iter().enumerate() {
                if command.label == Some(label) {
                    guards.push(Guard {
                        facts: facts(pool, command.guard),
                        variables: pool.variables_of([command.guard]),
                        program: Program::new(pool, &[command.guard]),
                        is_true: states.guard(index).is_true,
                    });
                }
            }
            let literals: Vec<Lit> = guards.iter().map(|guard| guard.is_true).collect();
            let is_applicable = states.encoder().or(&literals);
            let mut variables: Vec<VarId> =
                guards.iter().flat_map(|guard| guard.variables.iter().copied()).collect();
            variables.sort_unstable();
            variables.dedup();
            outputs.push(Output { guards, variables, is_applicable });
        }
        Applicability { states, domain: StateBox::of_domains(task), outputs, slots: Vec::new() }
    }

    /// The variables that decide whether an output's label is applicable.
    pub fn variables(&self, output: usize) -> &[VarId] {
        &self.outputs[output].variables
    }

    /// The guards of an output's commands.
    pub fn guards(&self, output: usize) -> &[Guard] {
        &self.outputs[output].guards
    }

    /// Whether the label of an output is applicable in a state.
    pub fn holds(&mut self, output: usize, state: &[i32]) -> bool {
        (0..self.outputs[output].guards.len()).any(|guard| self.is_true(output, guard, state))
    }

    /// Whether a guard of an output is true in a state.
    pub fn is_true(&mut self, output: usize, guard: usize, state: &[i32]) -> bool {
        self.outputs[output].guards[guard].program.holds(state, &mut self.slots) == Ok(true)
    }

    /// A state of a box in which none of the labels of these outputs is applicable.
    pub fn find_without(
        &mut self,
        states: &StateBox,
        outputs: &[usize],
    ) -> Result<Option<Vec<i32>>, Stopped> {
        let literals = outputs.iter().map(|&output| !self.outputs[output].is_applicable).collect();
        self.ask(states, literals)
    }

    /// A state of a box in which the label of an output is applicable.
    pub fn find_with(&mut self, states: &StateBox, output: usize) -> Result<Option<Vec<i32>>, Stopped> {
        let literal = self.outputs[output].is_applicable;
        self.ask(states, vec![literal])
    }

    /// A state of a box in which a guard of an output is true.
    pub fn find_true(
        &mut self,
        states: &StateBox,
        output: usize,
        guard: usize,
    ) -> Result<Option<Vec<i32>>, Stopped> {
        let literal = self.outputs[output].guards[guard].is_true;
        self.ask(states, vec![literal])
    }

    /// Bytes, roughly.
    pub fn memory(&self) -> u64 {
        self.states.memory()
    }

    fn ask(&mut self, states: &StateBox, mut question: Vec<Lit>) -> Result<Option<Vec<i32>>, Stopped> {
        for index in 0..states.lower.len() {
            let variable = VarId(index as u32);
            if states.lower[index] > self.domain.lower[index] {
                question.push(self.states.bound(Bound::AtLeast(variable, states.lower[index].into())));
            }
            if states.upper[index] < self.domain.upper[index] {
                question.push(self.states.bound(Bound::AtMost(variable, states.upper[index].into())));
            }
        }
        match self.states.query(&question) {
            Answer::Satisfiable => Ok(Some(self.states.state())),
            Answer::Unsatisfiable => Ok(None),
            Answer::Unknown => Err(Stopped),
        }
    }
}
