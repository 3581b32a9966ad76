//! Rewriting into another pool: variables renamed or replaced by constants, and what then is constant folded.
//!
//! Every simplification keeps the value at every point *including undefinedness* (see the module comment of [`super`]).

use rustc_hash::FxHashMap;

use super::point::{apply, coerce};
use super::{BinaryOp, ExprId, ExprPool, Node, UnaryOp};
use crate::value::{Type, Value};
use crate::variable::VarId;

/// What a variable becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Replacement {
    /// Another variable (or itself) of the same type.
    Variable(VarId),
    /// A constant of the same type.
    Value(Value),
}

/// Copies expressions from one pool into another, simplifying.
pub struct Rewriter<'a, F> {
    from: &'a ExprPool,
    to: &'a mut ExprPool,
    replace: F,
    done: FxHashMap<ExprId, ExprId>,
}

impl<'a, F: Fn(VarId) -> Replacement> Rewriter<'a, F> {
    /// A rewriter that replaces the variables of `from` by `replace`.
    pub fn new(from: &'a ExprPool, to: &'a mut ExprPool, replace: F) -> Self {
        Rewriter { from, to, replace, done: FxHashMap::default() }
    }

    /// The rewritten expression.
    pub fn rewrite(&mut self, root: ExprId) -> ExprId {
        if let Some(&done) = self.done.get(&root) {
            return done;
        }
        for id in self.from.reachable([root]) {
            if !self.done.contains_key(&id) {
                let new = self.node(id);
                self.done.insert(id, new);
            }
        }
        self.done[&root]
    }

    fn node(&mut self, id: ExprId) -> ExprId {
        let ty = self.from.ty(id);
        let node = match self.from.node(id) {
            Node::Variable(v) => {
                return match (self.replace)(*v) {
                    Replacement::Variable(v) => self.to.variable_of_type(v, ty),
                    Replacement::Value(value) => self.to.constant(value),
                };
            }
            node => node.with_operands(|operand| self.done[&operand]),
        };
        self.to.simplified(node, ty)
    }
}

impl ExprPool {
    /// Interns a node of type `ty` over operands of this pool, simplified.
    pub(crate) fn simplified(&mut self, node: Node, ty: Type) -> ExprId {
        if let Some(id) = self.simpler(&node, ty) {
            // A branch of another numeric type would change the arithmetic around it; constants can be converted.
            if self.ty(id) == ty {
                return id;
            }
            if let Some(value) = self.as_constant(id) {
                return self.constant(coerce(value, ty));
            }
        }
        self.intern(node, ty)
    }

    fn simpler(&mut self, node: &Node, ty: Type) -> Option<ExprId> {
        let mut constant = !matches!(node, Node::Variable(_));
        node.for_each_operand(|id| constant &= self.as_constant(id).is_some());
        if constant {
            let value = apply(node, |id| Ok(self.as_constant(id).expect("checked above")), &|_| {
                unreachable!("variables are replaced before")
            });
            return value.ok().map(|value| self.constant(coerce(value, ty)));
        }
        let is = |pool: &ExprPool, id: ExprId, value: Value| pool.as_constant(id) == Some(value);
        let (yes, no) = (Value::Bool(true), Value::Bool(false));
        match *node {
            Node::Unary(UnaryOp::Not, a) => match self.node(a) {
                Node::Unary(UnaryOp::Not, inner) => Some(*inner),
                _ => None,
            },
            Node::Binary(BinaryOp::And, a, b) => match () {
                () if is(self, a, no) || is(self, b, no) => Some(self.bool(false)),
                () if is(self, a, yes) || a == b => Some(b),
                () if is(self, b, yes) => Some(a),
                () => None,
            },
            Node::Binary(BinaryOp::Or, a, b) => match () {
                () if is(self, a, yes) || is(self, b, yes) => Some(self.bool(true)),
                () if is(self, a, no) || a == b => Some(b),
                () if is(self, b, no) => Some(a),
                () => None,
            },
            Node::Binary(BinaryOp::Eq, a, b) if self.ty(a) == Type::Bool => match () {
                () if is(self, a, yes) => Some(b),
                () if is(self, b, yes) => Some(a),
                () => None,
            },
            Node::Binary(BinaryOp::Add, a, b) if ty == Type::Int => match () {
                () if is(self, a, Value::Int(0)) => Some(b),
                () if is(self, b, Value::Int(0)) => Some(a),
                () => None,
            },
            Node::Binary(BinaryOp::Sub, a, b) if ty == Type::Int && is(self, b, Value::Int(0)) => Some(a),
            Node::Binary(BinaryOp::Mul, a, b) if ty == Type::Int => match () {
                () if is(self, a, Value::Int(1)) => Some(b),
                () if is(self, b, Value::Int(1)) => Some(a),
                () => None,
            },
            Node::Ite(c, t, e) => match self.as_constant(c) {
                Some(Value::Bool(true)) => Some(t),
                Some(_) => Some(e),
                None => None,
            },
            Node::Select { ref elements, index } => {
                let index = self.as_constant(index)?.as_int()?;
                elements.get(usize::try_from(index).ok()?).copied()
            }
            _ => None,
        }
    }
}
