//! Slicing: variables that influence neither guard, policy, property nor another kept variable are left out.
//!
//! A variable can go only if nothing is lost with it: each of its updates must be shown to stay in its domain (an update that
//! leaves it is an error or blocks the step), and the start condition must split into a part without it and a satisfiable
//! part over variables that go too, so that leaving out that part is exact existential projection. That is so only where the
//! condition has a value everywhere: a start condition that may be undefined keeps all its variables.

use super::question::Questions;
use super::{Fate, Reduction};
use crate::enumerate::narrow;
use crate::expr::{BinaryOp, ExprId, Node, Program, Range};
use crate::variable::VarId;

impl Reduction {
    /// Leaves out what does not matter. `inputs` are the original variables that a policy reads.
    #[must_use]
    pub fn slice(mut self, inputs: &[VarId]) -> Self {
        let Some((lower, upper)) = self.bounds() else { return self };
        let mut relevant = self.of_policy(inputs);
        self.mark_read(&mut relevant, true);
        self.mark_partial_start(&mut relevant, &lower, &upper);
        self.mark_unproven_updates(&mut relevant, &lower, &upper);
        self.mark_sources(&mut relevant);
        let questions = Questions::default();
        while !self.project_start(&mut relevant, &lower, &upper, &questions) {
            self.mark_sources(&mut relevant);
        }
        self.drop_predicates(&relevant);
        let fates = self.fates_of(&relevant);
        self.rebuild(&fates)
    }

    /// Which variables a policy with these inputs, of the original system, reads.
    pub(super) fn of_policy(&self, inputs: &[VarId]) -> Vec<bool> {
        let mut relevant = vec![false; self.system.variables.len()];
        for input in inputs {
            if let Fate::Kept(v) = self.restore.variables[input.index()] {
                relevant[v.index()] = true;
            }
        }
        relevant
    }

    /// Leaves out predicates over variables that go.
    pub(super) fn drop_predicates(&mut self, relevant: &[bool]) {
        let exprs = &self.system.exprs;
        self.property
            .predicates
            .retain(|&predicate| exprs.variables_of([predicate]).iter().all(|v| relevant[v.index()]));
    }

    /// What probabilities, requirements and the property read, and perhaps guards.
    pub(super) fn mark_read(&self, relevant: &mut [bool], guards: bool) {
        let commands = self.system.commands.iter();
        let in_commands = commands.flat_map(|command| {
            let outcomes = command.outcomes.iter();
            guards.then_some(command.guard).into_iter().chain(outcomes.flat_map(|o| {
                std::iter::once(o.probability).chain(o.requirements.iter().map(|r| r.condition))
            }))
        });
        let property = &self.property;
        let in_property = [Some(property.unsafe_states), property.hold, property.goal].into_iter().flatten();
        for v in self.system.exprs.variables_of(in_commands.chain(in_property)) {
            relevant[v.index()] = true;
        }
    }

    /// The variables of a start condition that may be undefined.
    pub(super) fn mark_partial_start(&self, relevant: &mut [bool], lower: &[i32], upper: &[i32]) {
        let Some(condition) = self.property.start.condition else { return };
        let program = Program::new(&self.system.exprs, &[condition]);
        if program.over_box(lower, upper, &mut Vec::new()).undefined {
            mark(relevant, &program.variables());
        }
    }

    /// Variables with an update that is not shown to stay in the domain wherever its command is enabled.
    pub(super) fn mark_unproven_updates(&self, relevant: &mut [bool], lower: &[i32], upper: &[i32]) {
        let mut slots = Vec::new();
        for command in &self.system.commands {
            let Some((low, high)) = narrow(&self.system.exprs, command.guard, lower, upper) else { continue };
            for assignment in command.outcomes.iter().flat_map(|o| &o.assignments) {
                let v = assignment.variable.index();
                if relevant[v] {
                    continue;
                }
                let value =
                    Program::new(&self.system.exprs, &[assignment.value]).over_box(&low, &high, &mut slots);
                let inside = match value.values {
                    Range::Bool { .. } => true,
                    Range::Int(l, u) => i64::from(lower[v]) <= l && u <= i64::from(upper[v]),
                    Range::Real(..) => false,
                };
                relevant[v] = value.undefined || !inside;
            }
        }
    }

    /// What relevant variables are computed from, to the fixpoint.
    pub(super) fn mark_sources(&self, relevant: &mut [bool]) {
        loop {
            let before = relevant.iter().filter(|&&r| r).count();
            let assignments =
                self.system.commands.iter().flat_map(|c| &c.outcomes).flat_map(|o| &o.assignments);
            let values = assignments.filter(|a| relevant[a.variable.index()]).map(|a| a.value);
            for v in self.system.exprs.variables_of(values) {
                relevant[v.index()] = true;
            }
            if relevant.iter().filter(|&&r| r).count() == before {
                return;
            }
        }
    }

    /// Takes the irrelevant variables out of the start condition; false after marking some that cannot be taken out, or for which
    /// that is not known.
    pub(super) fn project_start(
        &mut self,
        relevant: &mut [bool],
        lower: &[i32],
        upper: &[i32],
        questions: &Questions,
    ) -> bool {
        if self.property.start.condition.is_none() {
            return true;
        }
        let mut projected = Vec::new();
        for disjunct in self.start_disjuncts() {
            let mut kept = Vec::new();
            let mut dropped = Vec::new();
            for conjunct in self.conjuncts(disjunct) {
                let variables = self.system.exprs.variables_of([conjunct]);
                let relevant_ones = variables.iter().filter(|v| relevant[v.index()]).count();
                match relevant_ones {
                    n if n == variables.len() => kept.push(conjunct),
                    0 => dropped.push(conjunct),
                    _ => {
                        mark(relevant, &variables);
                        return false;
                    }
                }
            }
            let exprs = &mut self.system.exprs;
            // Where nothing is dropped there is nothing to ask, and nothing that could be kept instead.
            let is_asked = !dropped.is_empty();
            let dropped = exprs.all(dropped).expect("conjuncts are Boolean");
            let is_possible =
                if is_asked { questions.is_possible(exprs, dropped, lower, upper) } else { Some(true) };
            match is_possible {
                Some(true) => projected.push(exprs.all(kept).expect("conjuncts are Boolean")),
                Some(false) => {}
                None => {
                    mark(relevant, &exprs.variables_of([dropped]));
                    return false;
                }
            }
        }
        self.property.start.condition =
            Some(self.system.exprs.any(projected).expect("disjuncts are Boolean"));
        true
    }

    pub(super) fn conjuncts(&self, condition: ExprId) -> Vec<ExprId> {
        let mut conjuncts = Vec::new();
        let mut stack = vec![condition];
        while let Some(id) = stack.pop() {
            match self.system.exprs.node(id) {
                Node::Binary(BinaryOp::And, a, b) => stack.extend([*b, *a]),
                _ => conjuncts.push(id),
            }
        }
        conjuncts
    }
}

pub(super) fn mark(relevant: &mut [bool], variables: &[VarId]) {
    for v in variables {
        relevant[v.index()] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{Property, Start};
    use crate::system::TransitionSystem;
    use crate::value::Type;
    use crate::variable::{Variable, VariableType};

    /// Each alternative but the last asks for more different numbers than there are: after some, no more questions are answered.
    #[test]
    fn hard_start_conditions_keep_their_variables() {
        let mut system = TransitionSystem::default();
        let mut alternatives = Vec::new();
        for _ in 0..12 {
            let first = system.variables.len() as u32;
            let numbers: Vec<ExprId> =
                (first..first + 12).map(|v| system.exprs.variable_of_type(VarId(v), Type::Int)).collect();
            system
                .variables
                .extend((0..12).map(|_| Variable::new("n", VariableType::Int { lower: 0, upper: 10 })));
            let pairs = (0..12).flat_map(|a| (0..a).map(move |b| (a, b)));
            let different = pairs.map(|(a, b)| {
                let same = system.exprs.eq(numbers[a], numbers[b]).expect("integers");
                system.exprs.not(same).expect("a truth value")
            });
            let different: Vec<ExprId> = different.collect();
            alternatives.push(system.exprs.all(different).expect("truth values"));
        }
        let x = system.exprs.variable_of_type(VarId(system.variables.len() as u32), Type::Int);
        system.variables.push(Variable::new("x", VariableType::Int { lower: 0, upper: 10 }));
        let (zero, nine) = (system.exprs.int(0), system.exprs.int(9));
        alternatives.push(system.exprs.eq(x, zero).expect("integers"));
        let condition = Some(system.exprs.any(alternatives).expect("truth values"));
        let property = Property {
            name: "p".into(),
            start: Start { condition, listed: Vec::new() },
            unsafe_states: system.exprs.eq(x, nine).expect("integers"),
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        };
        let count = system.variables.len();
        let sliced = Reduction::identity(system, property).slice(&[]);
        assert_eq!(sliced.system.variables.len(), count);
    }
}
