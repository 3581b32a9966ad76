//! Typed constructors. Derived operators of JANI (`⇒ ≠ > ≥ abs sgn trc`) are expressed by the basic ones.

use super::{BinaryOp, ExprId, ExprPool, Node, UnaryOp};
use crate::value::Type;

/// An operator was applied to operands of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} takes {expected}, but got {found}")]
pub struct TypeError {
    /// The operator, in JANI's spelling.
    pub what: &'static str,
    /// The operand types that it takes.
    pub expected: &'static str,
    /// What it got.
    pub found: String,
}

type Result<T = ExprId> = std::result::Result<T, TypeError>;

impl ExprPool {
    fn expect(
        &self,
        what: &'static str,
        expected: &'static str,
        ok: bool,
        operands: &[ExprId],
    ) -> Result<()> {
        if ok {
            return Ok(());
        }
        let found: Vec<String> = operands.iter().map(|&o| self.ty(o).to_string()).collect();
        Err(TypeError { what, expected, found: found.join(" and ") })
    }

    fn all_bool(&self, operands: &[ExprId]) -> bool {
        operands.iter().all(|&o| self.ty(o) == Type::Bool)
    }

    fn all_numeric(&self, operands: &[ExprId]) -> bool {
        operands.iter().all(|&o| self.ty(o).is_numeric())
    }

    /// `Int` if both are, else `Real`.
    fn join(&self, a: ExprId, b: ExprId) -> Type {
        if self.ty(a) == Type::Int && self.ty(b) == Type::Int { Type::Int } else { Type::Real }
    }

    fn logical(&mut self, op: BinaryOp, what: &'static str, a: ExprId, b: ExprId) -> Result {
        self.expect(what, "two Booleans", self.all_bool(&[a, b]), &[a, b])?;
        Ok(self.intern(Node::Binary(op, a, b), Type::Bool))
    }

    fn compare(&mut self, op: BinaryOp, what: &'static str, a: ExprId, b: ExprId) -> Result {
        self.expect(what, "two numbers", self.all_numeric(&[a, b]), &[a, b])?;
        Ok(self.intern(Node::Binary(op, a, b), Type::Bool))
    }

    fn arithmetic(&mut self, op: BinaryOp, what: &'static str, a: ExprId, b: ExprId) -> Result {
        self.expect(what, "two numbers", self.all_numeric(&[a, b]), &[a, b])?;
        let ty = self.join(a, b);
        Ok(self.intern(Node::Binary(op, a, b), ty))
    }

    fn real_valued(&mut self, op: BinaryOp, what: &'static str, a: ExprId, b: ExprId) -> Result {
        self.expect(what, "two numbers", self.all_numeric(&[a, b]), &[a, b])?;
        Ok(self.intern(Node::Binary(op, a, b), Type::Real))
    }

    /// `¬a`.
    pub fn not(&mut self, a: ExprId) -> Result {
        self.expect("`¬`", "a Boolean", self.all_bool(&[a]), &[a])?;
        Ok(self.intern(Node::Unary(UnaryOp::Not, a), Type::Bool))
    }

    /// `a ∧ b`.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> Result {
        self.logical(BinaryOp::And, "`∧`", a, b)
    }

    /// `a ∨ b`.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> Result {
        self.logical(BinaryOp::Or, "`∨`", a, b)
    }

    /// `a ⇒ b`.
    pub fn implies(&mut self, a: ExprId, b: ExprId) -> Result {
        self.expect("`⇒`", "two Booleans", self.all_bool(&[a, b]), &[a, b])?;
        let not_a = self.not(a)?;
        self.or(not_a, b)
    }

    /// Conjunction of any number of conditions (`true` for none).
    pub fn all(&mut self, conditions: impl IntoIterator<Item = ExprId>) -> Result {
        let mut conditions = conditions.into_iter();
        let Some(first) = conditions.next() else {
            return Ok(self.bool(true));
        };
        conditions.try_fold(first, |all, condition| self.and(all, condition))
    }

    /// Disjunction of any number of conditions (`false` for none).
    pub fn any(&mut self, conditions: impl IntoIterator<Item = ExprId>) -> Result {
        let mut conditions = conditions.into_iter();
        let Some(first) = conditions.next() else {
            return Ok(self.bool(false));
        };
        conditions.try_fold(first, |any, condition| self.or(any, condition))
    }

    /// `a = b`, on two Booleans or two numbers.
    pub fn eq(&mut self, a: ExprId, b: ExprId) -> Result {
        let ok = self.all_bool(&[a, b]) || self.all_numeric(&[a, b]);
        self.expect("`=`", "two numbers or two Booleans", ok, &[a, b])?;
        Ok(self.intern(Node::Binary(BinaryOp::Eq, a, b), Type::Bool))
    }

    /// `a ≠ b`.
    pub fn ne(&mut self, a: ExprId, b: ExprId) -> Result {
        let ok = self.all_bool(&[a, b]) || self.all_numeric(&[a, b]);
        self.expect("`≠`", "two numbers or two Booleans", ok, &[a, b])?;
        let equal = self.eq(a, b)?;
        self.not(equal)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: ExprId, b: ExprId) -> Result {
        self.compare(BinaryOp::Lt, "`<`", a, b)
    }

    /// `a ≤ b`.
    pub fn le(&mut self, a: ExprId, b: ExprId) -> Result {
        self.compare(BinaryOp::Le, "`≤`", a, b)
    }

    /// `a > b`.
    pub fn gt(&mut self, a: ExprId, b: ExprId) -> Result {
        self.compare(BinaryOp::Lt, "`>`", b, a)
    }

    /// `a ≥ b`.
    pub fn ge(&mut self, a: ExprId, b: ExprId) -> Result {
        self.compare(BinaryOp::Le, "`≥`", b, a)
    }

    /// `a + b`.
    pub fn add(&mut self, a: ExprId, b: ExprId) -> Result {
        self.arithmetic(BinaryOp::Add, "`+`", a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> Result {
        self.arithmetic(BinaryOp::Sub, "`-`", a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> Result {
        self.arithmetic(BinaryOp::Mul, "`*`", a, b)
    }

    /// `min(a, b)`.
    pub fn min(&mut self, a: ExprId, b: ExprId) -> Result {
        self.arithmetic(BinaryOp::Min, "`min`", a, b)
    }

    /// `max(a, b)`.
    pub fn max(&mut self, a: ExprId, b: ExprId) -> Result {
        self.arithmetic(BinaryOp::Max, "`max`", a, b)
    }

    /// `a % b`, Euclidean.
    pub fn modulo(&mut self, a: ExprId, b: ExprId) -> Result {
        let ok = self.ty(a) == Type::Int && self.ty(b) == Type::Int;
        self.expect("`%`", "two integers", ok, &[a, b])?;
        Ok(self.intern(Node::Binary(BinaryOp::Mod, a, b), Type::Int))
    }

    /// `a / b`, real.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> Result {
        self.real_valued(BinaryOp::Div, "`/`", a, b)
    }

    /// `a` to the power of `b`, real.
    pub fn pow(&mut self, a: ExprId, b: ExprId) -> Result {
        self.real_valued(BinaryOp::Pow, "`pow`", a, b)
    }

    /// Logarithm of `a` to base `b`.
    pub fn log(&mut self, a: ExprId, b: ExprId) -> Result {
        self.real_valued(BinaryOp::Log, "`log`", a, b)
    }

    fn round(&mut self, op: UnaryOp, what: &'static str, a: ExprId) -> Result {
        self.expect(what, "a number", self.all_numeric(&[a]), &[a])?;
        if self.ty(a) == Type::Int {
            return Ok(a);
        }
        Ok(self.intern(Node::Unary(op, a), Type::Int))
    }

    /// Largest integer not above `a`.
    pub fn floor(&mut self, a: ExprId) -> Result {
        self.round(UnaryOp::Floor, "`floor`", a)
    }

    /// Smallest integer not below `a`.
    pub fn ceil(&mut self, a: ExprId) -> Result {
        self.round(UnaryOp::Ceil, "`ceil`", a)
    }

    /// `a` rounded towards zero.
    pub fn truncate(&mut self, a: ExprId) -> Result {
        self.expect("`trc`", "a number", self.all_numeric(&[a]), &[a])?;
        let (zero, up, down) = (self.int(0), self.ceil(a)?, self.floor(a)?);
        let negative = self.lt(a, zero)?;
        self.ite(negative, up, down)
    }

    /// `|a|`.
    pub fn abs(&mut self, a: ExprId) -> Result {
        self.expect("`abs`", "a number", self.all_numeric(&[a]), &[a])?;
        let zero = self.int(0);
        let negated = self.sub(zero, a)?;
        self.max(a, negated)
    }

    /// -1, 0 or 1.
    pub fn sign(&mut self, a: ExprId) -> Result {
        self.expect("`sgn`", "a number", self.all_numeric(&[a]), &[a])?;
        let (minus, zero, plus) = (self.int(-1), self.int(0), self.int(1));
        let negative = self.lt(a, zero)?;
        let positive = self.lt(zero, a)?;
        let rest = self.ite(positive, plus, zero)?;
        self.ite(negative, minus, rest)
    }

    /// `if c then t else e`; branches of type int and real give a real.
    pub fn ite(&mut self, c: ExprId, t: ExprId, e: ExprId) -> Result {
        let branches_agree = self.all_bool(&[t, e]) || self.all_numeric(&[t, e]);
        let ok = self.ty(c) == Type::Bool && branches_agree;
        self.expect("`ite`", "a Boolean condition and two branches of one type", ok, &[c, t, e])?;
        let ty = if self.ty(t) == Type::Bool { Type::Bool } else { self.join(t, e) };
        Ok(self.intern(Node::Ite(c, t, e), ty))
    }

    /// Element number `index` of `elements`, all Booleans or all numbers.
    pub fn select(&mut self, elements: &[ExprId], index: ExprId) -> Result {
        self.expect("array access", "an integer index", self.ty(index) == Type::Int, &[index])?;
        let ok = self.all_bool(elements) || self.all_numeric(elements);
        self.expect("array access", "elements of one type", ok && !elements.is_empty(), elements)?;
        let ty = if self.ty(elements[0]) == Type::Bool {
            Type::Bool
        } else if elements.iter().all(|&e| self.ty(e) == Type::Int) {
            Type::Int
        } else {
            Type::Real
        };
        Ok(self.intern(Node::Select { elements: elements.into(), index }, ty))
    }
}
