//! Facts about numbers: the values that they take over all states, and linear forms.

use surefoot_model::expr::{Enclosure, Range, Truth};
use surefoot_model::{BinaryOp, ExprId, Node, Program, Type, Value, VarId};

use super::Encoder;
use crate::solver::Arithmetic;

/// `Σ aᵢ·xᵢ + constant`, with different variables in ascending order and no coefficient 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    pub terms: Vec<(VarId, i64)>,
    pub constant: i64,
}

/// Longer ones are not taken apart: shared parts may make an expression exponentially longer than it is written.
const MOST_STEPS: usize = 1 << 16;

impl<S: Arithmetic> Encoder<S> {
    /// The values of an expression over all states.
    pub(super) fn enclosure(&mut self, id: ExprId) -> Enclosure {
        if let Some(&known) = self.enclosures.get(&id) {
            return known;
        }
        let parts = self.pool.reachable([id]);
        let mut slots = Vec::new();
        let enclosure = Program::new(&self.pool, &[id]).over_box(&self.lower, &self.upper, &mut slots);
        // A program lists the parts in ascending order, too.
        self.enclosures.extend(parts.into_iter().zip(slots));
        enclosure
    }

    /// Whether an expression is an integer that is defined in every state.
    pub(super) fn is_total_integer(&mut self, id: ExprId) -> bool {
        self.pool.ty(id) == Type::Int && !self.enclosure(id).undefined
    }

    /// The truth of a comparison over all states, from the values of its operands.
    pub(super) fn truth_everywhere(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Truth {
        let (a, b) = (self.enclosure(a), self.enclosure(b));
        if a.undefined || b.undefined {
            return Truth::Unknown;
        }
        match (a.values, b.values) {
            (Range::Int(al, au), Range::Int(bl, bu)) => compare(op, (al, au), (bl, bu)),
            (a, b) => match (reals(a), reals(b)) {
                (Some(a), Some(b)) => compare(op, a, b),
                _ => Truth::Unknown,
            },
        }
    }

    /// An expression that is defined everywhere as a linear form, if it is one.
    pub(super) fn linear(&mut self, id: ExprId) -> Option<Linear> {
        if !self.is_total_integer(id) {
            return None;
        }
        let mut terms: Vec<(VarId, i128)> = Vec::new();
        let mut constant: i128 = 0;
        let mut stack = vec![(id, 1_i128)];
        for _ in 0..MOST_STEPS {
            let Some((id, factor)) = stack.pop() else {
                return finish(terms, constant);
            };
            // Factors are products of 64-bit constants: give up before sums of them overflow 128 bits.
            if factor.unsigned_abs() >= 1 << 40 {
                return None;
            }
            if let Some(Value::Int(value)) = self.enclosure(id).values.as_point() {
                constant += factor * i128::from(value);
                continue;
            }
            match *self.pool.node(id) {
                Node::Variable(v) => terms.push((v, factor)),
                Node::Binary(BinaryOp::Add, a, b) => stack.extend([(a, factor), (b, factor)]),
                Node::Binary(BinaryOp::Sub, a, b) => stack.extend([(a, factor), (b, -factor)]),
                Node::Binary(BinaryOp::Mul, a, b) => {
                    let (value, other) =
                        match (self.enclosure(a).values.as_point(), self.enclosure(b).values.as_point()) {
                            (Some(Value::Int(value)), _) => (value, b),
                            (_, Some(Value::Int(value))) => (value, a),
                            _ => return None,
                        };
                    stack.push((other, factor * i128::from(value)));
                }
                _ => return None,
            }
        }
        None
    }
}

fn finish(mut terms: Vec<(VarId, i128)>, constant: i128) -> Option<Linear> {
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

impl Linear {
    /// `self - other`.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        let negated = other.terms.iter().map(|&(v, factor)| (v, -i128::from(factor)));
        let terms = self.terms.iter().map(|&(v, factor)| (v, i128::from(factor))).chain(negated);
        finish(terms.collect(), i128::from(self.constant) - i128::from(other.constant))
    }
}

fn reals(range: Range) -> Option<(f64, f64)> {
    match range {
        Range::Int(lower, upper) => Some((lower as f64, upper as f64)),
        Range::Real(lower, upper) => Some((lower, upper)),
        Range::Bool { .. } => None,
    }
}

fn compare<T: PartialOrd>(op: BinaryOp, (al, au): (T, T), (bl, bu): (T, T)) -> Truth {
    let (always, never) = match op {
        BinaryOp::Eq => (al == au && bl == bu && al == bl, au < bl || bu < al),
        BinaryOp::Lt => (au < bl, al >= bu),
        BinaryOp::Le => (au <= bl, al > bu),
        _ => (false, false),
    };
    match (always, never) {
        (true, _) => Truth::True,
        (_, true) => Truth::False,
        _ => Truth::Unknown,
    }
}
