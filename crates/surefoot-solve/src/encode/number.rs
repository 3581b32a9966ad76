//! Facts about numbers: the values that they take over all states, and linear forms.

use surefoot_model::expr::{Enclosure, Linear, Range, Truth};
use surefoot_model::{BinaryOp, ExprId, Program, Type, Value};

use super::Encoder;
use crate::solver::Arithmetic;

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
        // The values of all its parts are known with its own.
        Linear::of(&self.pool, id, |part| match self.enclosures.get(&part)?.values.as_point() {
            Some(Value::Int(value)) => Some(value),
            _ => None,
        })
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
