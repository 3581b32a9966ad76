//! Linear forms of integer expressions.

use super::{BinaryOp, ExprId, ExprPool, Node};
use crate::system::Outcome;
use crate::variable::VarId;

/// `Σ aᵢ·xᵢ + constant`, with different variables in ascending order and no coefficient 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    /// Variables and coefficients.
    pub terms: Vec<(VarId, i64)>,
    /// What is added.
    pub constant: i64,
}

/// Longer ones are not taken apart: shared parts may make an expression exponentially longer than it is written.
const MOST_STEPS: usize = 1 << 16;

impl Linear {
    /// An integer expression as a linear form, if it is one. It has the same value wherever the expression is defined.
    ///
    /// `constant` tells the value of a part that is known to have only one.
    pub fn of(
        pool: &ExprPool,
        id: ExprId,
        mut constant: impl FnMut(ExprId) -> Option<i64>,
    ) -> Option<Linear> {
        let mut terms: Vec<(VarId, i128)> = Vec::new();
        let mut sum: i128 = 0;
        let mut stack = vec![(id, 1_i128)];
        for _ in 0..MOST_STEPS {
            let Some((id, factor)) = stack.pop() else {
                return Linear::merged(terms, sum);
            };
            // Factors are products of 64-bit constants: give up before sums of them overflow 128 bits.
            if factor.unsigned_abs() >= 1 << 40 {
                return None;
            }
            if let Some(value) = constant(id) {
                sum += factor * i128::from(value);
                continue;
            }
            match *pool.node(id) {
                Node::Variable(v) => terms.push((v, factor)),
                Node::Binary(BinaryOp::Add, a, b) => stack.extend([(a, factor), (b, factor)]),
                Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(a, factor), (b, -factor)]),
                Node::Binary(BinaryOp::Mul, a, b) => {
                    let (value, other) = match (constant(a), constant(b)) {
                        (Some(value), _) => (value, b),
                        (_, Some(value)) => (value, a),
                        _ => return None,
                    };
                    stack.push((other, factor * i128::from(value)));
                }
                _ => return None,
            }
        }
        None
    }

    /// An integer expression as a linear form, if it is one by the constants in it.
    pub fn of_integer(pool: &ExprPool, id: ExprId) -> Option<Linear> {
        Linear::of(pool, id, |part| pool.as_constant(part)?.as_int())
    }

    /// What it is before a step, if it is this after it; `None` if that is not linear.
    pub fn before(&self, pool: &ExprPool, outcome: &Outcome) -> Option<Linear> {
        let mut terms = Vec::new();
        let mut constant = i128::from(self.constant);
        for &(v, factor) in &self.terms {
            let factor = i128::from(factor);
            match outcome.assignments.iter().find(|assignment| assignment.variable == v) {
                None => terms.push((v, factor)),
                Some(assignment) => {
                    let value = Linear::of_integer(pool, assignment.value)?;
                    terms.extend(value.terms.iter().map(|&(v, other)| (v, factor * i128::from(other))));
                    constant += factor * i128::from(value.constant);
                }
            }
        }
        Linear::merged(terms, constant)
    }

    /// A sum of terms, in which variables may occur several times; `None` if it does not fit.
    pub fn merged(mut terms: Vec<(VarId, i128)>, constant: i128) -> Option<Linear> {
        terms.sort_unstable();
        let mut merged: Vec<(VarId, i128)> = Vec::with_capacity(terms.len());
        for (v, factor) in terms {
            match merged.last_mut() {
                Some((last, sum)) if *last == v => *sum += factor,
                _ => merged.push((v, factor)),
            }
        }
        let terms = merged.into_iter().filter(|&(_, factor)| factor != 0);
        let terms = terms.map(|(v, factor)| Some((v, i64::try_from(factor).ok()?)));
        Some(Linear { terms: terms.collect::<Option<_>>()?, constant: i64::try_from(constant).ok()? })
    }

    /// `self - other`.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        let negated = other.terms.iter().map(|&(v, factor)| (v, -i128::from(factor)));
        let terms = self.terms.iter().map(|&(v, factor)| (v, i128::from(factor))).chain(negated);
        Linear::merged(terms.collect(), i128::from(self.constant) - i128::from(other.constant))
    }
}
