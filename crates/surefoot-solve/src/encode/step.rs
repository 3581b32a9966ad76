//! Conditions about outcomes of commands, in the encoder's own pool.

use surefoot_model::{ExprId, ExprPool, Inequality, Outcome, Predicate, Type, Value, VarId};

use super::{Encoder, Importer, Truths};
use crate::literal::Lit;
use crate::solver::{Arithmetic, Solve as _};

impl<S: Arithmetic> Encoder<S> {
    /// The condition that an outcome is possible: requirements hold, and new values are defined and in their domains. True or undefined
    /// or false; only *true* means that the outcome exists.
    pub(crate) fn possible(&mut self, pool: &ExprPool, outcome: &Outcome) -> ExprId {
        self.with_plain(|encoder, plain| encoder.possible_in(pool, outcome, plain))
    }

    /// The same at a state that is a function of this one, as a literal.
    pub(crate) fn possible_after(&mut self, pool: &ExprPool, outcome: &Outcome, state: &mut Importer) -> Lit {
        let possible = self.possible_in(pool, outcome, state);
        self.truths(possible).is_true
    }

    fn possible_in(&mut self, pool: &ExprPool, outcome: &Outcome, state: &mut Importer) -> ExprId {
        let mut conjuncts = Vec::new();
        for requirement in &outcome.requirements {
            conjuncts.push(state.import(pool, requirement.condition, &mut self.pool));
        }
        for assignment in &outcome.assignments {
            let value = state.import(pool, assignment.value, &mut self.pool);
            conjuncts.push(self.within(value, assignment.variable));
        }
        self.pool.all(conjuncts).expect("Booleans")
    }

    /// Uses the importer that copies as it is.
    fn with_plain<R>(&mut self, with: impl FnOnce(&mut Self, &mut Importer) -> R) -> R {
        let mut plain = std::mem::take(&mut self.plain);
        let result = with(self, &mut plain);
        self.plain = plain;
        result
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
        self.with_plain(|encoder, plain| encoder.positive_in(pool, outcome, plain))
    }

    /// The same at a state that is a function of this one, as a literal.
    pub(crate) fn positive_after(&mut self, pool: &ExprPool, outcome: &Outcome, state: &mut Importer) -> Lit {
        let positive = self.positive_in(pool, outcome, state);
        self.truths(positive).is_true
    }

    fn positive_in(&mut self, pool: &ExprPool, outcome: &Outcome, state: &mut Importer) -> ExprId {
        let probability = state.import(pool, outcome.probability, &mut self.pool);
        let zero = self.pool.constant(Value::Int(0));
        self.pool.lt(zero, probability).expect("numbers")
    }

    /// Copies conditions over the state after an outcome: assigned variables become their new values.
    pub(crate) fn after(&mut self, pool: &ExprPool, outcome: &Outcome) -> Importer {
        self.with_plain(|encoder, plain| encoder.then(pool, outcome, plain))
    }

    /// The same for the state after an outcome at a state that is a function of this one.
    pub(crate) fn then(&mut self, pool: &ExprPool, outcome: &Outcome, state: &mut Importer) -> Importer {
        let mut replaced = state.replacements().clone();
        for assignment in &outcome.assignments {
            let value = state.import(pool, assignment.value, &mut self.pool);
            replaced.insert(assignment.variable, value);
        }
        Importer::replacing(replaced)
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

    /// The literal of a predicate; conditions are of `pool`.
    pub(crate) fn predicate(&mut self, pool: &ExprPool, predicate: &Predicate) -> Lit {
        match predicate {
            Predicate::Condition(condition) => self.condition(pool, *condition).is_true,
            Predicate::Linear(inequality) => match inequality.as_bound() {
                Some((v, bound)) => self.at_least(self.integer(v), bound),
                None => self.sum_of(inequality, |_| None),
            },
        }
    }

    /// The literal of a predicate over the state after an outcome.
    pub(crate) fn predicate_after(
        &mut self,
        pool: &ExprPool,
        predicate: &Predicate,
        after: &mut Importer,
    ) -> Lit {
        match predicate {
            Predicate::Condition(condition) => self.condition_after(pool, *condition, after).is_true,
            Predicate::Linear(inequality) => match inequality.as_bound() {
                Some((v, bound)) => match after.replacement(v) {
                    Some(value) => self.value_at_least(value, bound),
                    None => self.at_least(self.integer(v), bound),
                },
                None => self.sum_of(inequality, |v| after.replacement(v)),
            },
        }
    }

    /// The literal of an inequality, with some variables replaced by expressions.
    fn sum_of(&mut self, inequality: &Inequality, replacement: impl Fn(VarId) -> Option<ExprId>) -> Lit {
        let mut sum = self.pool.int(0);
        for &(v, factor) in inequality.terms() {
            let ty = self.types[v.index()];
            let value = replacement(v).unwrap_or_else(|| self.pool.variable_of_type(v, ty));
            let value = if self.pool.ty(value) == Type::Bool {
                let (one, zero) = (self.pool.int(1), self.pool.int(0));
                self.pool.ite(value, one, zero).expect("integers")
            } else {
                value
            };
            let factor = self.pool.int(factor.into());
            let product = self.pool.mul(factor, value).expect("numbers");
            sum = self.pool.add(sum, product).expect("numbers");
        }
        self.value_at_least(sum, inequality.at_least())
    }
}
