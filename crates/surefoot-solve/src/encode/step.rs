//! Conditions about outcomes of commands, in the encoder's own pool.

use surefoot_model::{ExprId, ExprPool, Outcome, Type, Value, VarId};

use super::{Encoder, Importer, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

impl<S: Arithmetic> Encoder<S> {
    /// The condition that an outcome is possible: requirements hold, and new values are defined and in their domains. True or undefined
    /// or false; only *true* means that the outcome exists.
    pub(crate) fn possible(&mut self, pool: &ExprPool, outcome: &Outcome) -> ExprId {
        let mut conjuncts = Vec::new();
        for requirement in &outcome.requirements {
            conjuncts.push(self.plain.import(pool, requirement.condition, &mut self.pool));
        }
        for assignment in &outcome.assignments {
            let value = self.plain.import(pool, assignment.value, &mut self.pool);
            conjuncts.push(self.within(value, assignment.variable));
        }
        self.pool.all(conjuncts).expect("Booleans")
    }

    /// The condition that a value is in the domain of a variable.
    fn within(&mut self, value: ExprId, variable: VarId) -> ExprId {
        let within = if self.pool.ty(value) == Type::Bool {
            // In Kleene's logic this says that the value is defined.
            let negated = self.pool.not(value).expect("a Boolean");
            self.pool.or(value, negated)
        } else {
            let (lower, upper) = (self.lower[variable.index()], self.upper[variable.index()]);
            let (lower, upper) = (self.pool.int(lower.into()), self.pool.int(upper.into()));
            let (below, above) = (self.pool.le(lower, value), self.pool.le(value, upper));
            self.pool.and(below.expect("numbers"), above.expect("numbers"))
        };
        within.expect("Booleans")
    }

    /// The condition that the probability of an outcome is above 0.
    pub(crate) fn positive(&mut self, pool: &ExprPool, outcome: &Outcome) -> ExprId {
        let probability = self.plain.import(pool, outcome.probability, &mut self.pool);
        let zero = self.pool.constant(Value::Int(0));
        self.pool.lt(zero, probability).expect("numbers")
    }

    /// Copies conditions over the state after an outcome: assigned variables become their new values.
    pub(crate) fn after(&mut self, pool: &ExprPool, outcome: &Outcome) -> Importer {
        let replaced = outcome.assignments.iter().map(|assignment| {
            (assignment.variable, self.plain.import(pool, assignment.value, &mut self.pool))
        });
        Importer::replacing(replaced.collect())
    }

    /// The literals of a condition over the state after an outcome.
    pub(crate) fn condition_after(
        &mut self,
        pool: &ExprPool,
        condition: ExprId,
        after: &mut Importer,
    ) -> Truths {
        let condition = after.import(pool, condition, &mut self.pool);
        self.truths(condition)
    }

    /// The literal `value ≥ bound` of an expression of the encoder's pool.
    pub(crate) fn value_at_least(&mut self, value: ExprId, bound: i64) -> Lit {
        if self.pool.ty(value) == Type::Bool {
            return match bound {
                1 => self.truths(value).is_true,
                bound => Lit::constant(bound <= 0),
            };
        }
        let bound = self.pool.int(bound);
        let condition = self.pool.le(bound, value).expect("numbers");
        self.truths(condition).is_true
    }
}
