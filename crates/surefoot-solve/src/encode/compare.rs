//! Comparisons of numbers: decided, linear, taken apart, or opaque, in this order.
//!
//! Taking apart keeps the value at every state including undefinedness. `ite` and array access need their condition or index
//! and the chosen branch only, so a comparison moves into the branches. `min` and `max` need both operands: they are
//! taken apart only if everything is defined.

use surefoot_model::expr::Truth;
use surefoot_model::{BinaryOp, ExprId, Node, Type, Value};

use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

/// Accesses to longer arrays are not taken apart: with an access as index, the cases multiply.
pub(super) const MOST_ELEMENTS: usize = 256;

impl<S: Arithmetic> Encoder<S> {
    /// The literals of `a ⋈ b`, or `None` and the condition that must be translated before.
    pub(super) fn comparison(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        missing: &mut Vec<ExprId>,
    ) -> Option<Truths> {
        if let Some(&instead) = self.rewritten.get(&id) {
            return Some(self.known(&[instead], missing)?[0]);
        }
        match self.truth_everywhere(op, a, b) {
            Truth::True => return Some(Truths::total(Lit::TRUE)),
            Truth::False => return Some(Truths::total(Lit::FALSE)),
            Truth::Unknown => {}
        }
        let (left, right) = (self.linear(a), self.linear(b));
        if let (Some(left), Some(right)) = (&left, &right)
            && let Some(truths) = self.linear_comparison(op, left, right)
        {
            return Some(truths);
        }
        if self.rewrites_left == 0 {
            return Some(self.opaque(id));
        }
        // One side stays as it is, so it must be simple: it is copied into every branch.
        let instead = match (left, right) {
            (None, Some(_)) => self.take_apart(a, |this, a| this.compare(op, a, b)),
            (Some(_), None) => self.take_apart(b, |this, b| this.compare(op, a, b)),
            _ => None,
        };
        let instead = instead.or_else(|| self.simplify(op, a, b));
        if let Some(instead) = instead {
            self.rewrites_left -= 1;
            self.rewritten.insert(id, instead);
            return Some(self.known(&[instead], missing)?[0]);
        }
        Some(self.opaque(id))
    }

    fn compare(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let compared = match op {
            BinaryOp::Eq => self.pool.eq(a, b),
            BinaryOp::Lt => self.pool.lt(a, b),
            _ => self.pool.le(a, b),
        };
        compared.expect("numbers")
    }

    /// A comparison of an integer that is an `ite` or an array access, moved into the branches.
    fn take_apart(
        &mut self,
        number: ExprId,
        compare: impl Fn(&mut Self, ExprId) -> ExprId,
    ) -> Option<ExprId> {
        if self.pool.ty(number) != Type::Int {
            return None;
        }
        match self.pool.node(number).clone() {
            Node::Ite(c, t, e) => {
                let (t, e) = (compare(self, t), compare(self, e));
                Some(self.pool.ite(c, t, e).expect("Booleans"))
            }
            Node::Select { elements, index } if elements.len() <= MOST_ELEMENTS => {
                let elements: Vec<ExprId> = elements.iter().map(|&e| compare(self, e)).collect();
                Some(self.pool.select(&elements, index).expect("Booleans"))
            }
            _ => None,
        }
    }

    /// Sums with constants, minima and maxima that are compared with a constant.
    fn simplify(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        let constant = |this: &mut Self, id| match this.enclosure(id) {
            enclosure if enclosure.undefined => None,
            enclosure => match enclosure.values.as_point() {
                Some(Value::Int(value)) => Some(value),
                _ => None,
            },
        };
        let (number, bound, flipped) = match (constant(self, a), constant(self, b)) {
            (None, Some(bound)) => (a, bound, false),
            (Some(bound), None) => (b, bound, true),
            _ => return None,
        };
        if !self.is_total_integer(number) {
            return None;
        }
        let Node::Binary(inner, x, y) = *self.pool.node(number) else { return None };
        let ordered = |this: &mut Self, number, bound: i64, flipped| {
            let bound = this.pool.int(bound);
            if flipped { this.compare(op, bound, number) } else { this.compare(op, number, bound) }
        };
        match inner {
            BinaryOp::Add => match (constant(self, x), constant(self, y)) {
                (_, Some(c)) => Some(ordered(self, x, bound.checked_sub(c)?, flipped)),
                (Some(c), _) => Some(ordered(self, y, bound.checked_sub(c)?, flipped)),
                _ => None,
            },
            BinaryOp::Sub => match (constant(self, x), constant(self, y)) {
                (_, Some(c)) => Some(ordered(self, x, bound.checked_add(c)?, flipped)),
                // c - y ⋈ bound means c - bound ⋈ y.
                (Some(c), _) => Some(ordered(self, y, c.checked_sub(bound)?, !flipped)),
                _ => None,
            },
            BinaryOp::Min | BinaryOp::Max if op == BinaryOp::Eq => {
                let bound = self.pool.int(bound);
                let (below, above) = (self.pool.le(number, bound), self.pool.le(bound, number));
                Some(self.pool.and(below.expect("numbers"), above.expect("numbers")).expect("Booleans"))
            }
            BinaryOp::Min | BinaryOp::Max => {
                let (x, y) = (ordered(self, x, bound, flipped), ordered(self, y, bound, flipped));
                // A maximum is below a bound, and a minimum above it, if both operands are.
                let both = (inner == BinaryOp::Max) != flipped;
                let combined = if both { self.pool.and(x, y) } else { self.pool.or(x, y) };
                Some(combined.expect("Booleans"))
            }
            _ => None,
        }
    }
}
