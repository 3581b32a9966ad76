//! Boolean structure: conjunctions, disjunctions and the rest, operands first and without recursion.

use rustc_hash::FxHashSet;
use surefoot_model::{BinaryOp, ExprId, Node, Type, UnaryOp, Value};

use super::compare::MOST_ELEMENTS;
use super::{Encoder, Truths};
use crate::literal::Lit;
use crate::solver::Arithmetic;

impl<S: Arithmetic> Encoder<S> {
    /// The literals of a condition of the encoder's pool.
    pub(crate) fn truths(&mut self, root: ExprId) -> Truths {
        self.rewrites_left = self.limits.rewrites;
        let mut stack = vec![root];
        let mut missing = Vec::new();
        while let Some(&id) = stack.last() {
            if self.truths.contains_key(&id) {
                stack.pop();
                continue;
            }
            missing.clear();
            match self.translate(id, &mut missing) {
                Some(truths) => {
                    self.truths.insert(id, truths);
                    stack.pop();
                }
                None => stack.append(&mut missing),
            }
        }
        self.truths[&root]
    }

    /// From now on a condition of the encoder's pool must be true.
    pub(crate) fn require(&mut self, root: ExprId) {
        for conjunct in self.operands(root, BinaryOp::And) {
            let disjuncts = self.operands(conjunct, BinaryOp::Or);
            let clause: Vec<Lit> = disjuncts.into_iter().map(|id| self.truths(id).is_true).collect();
            self.solver.add_clause(&clause);
        }
    }

    /// The literals of a condition, or `None` and the conditions that must be translated before.
    fn translate(&mut self, id: ExprId, missing: &mut Vec<ExprId>) -> Option<Truths> {
        match *self.pool.node(id) {
            Node::Constant(value) => Some(Truths::total(Lit::constant(value == Value::Bool(true)))),
            Node::Variable(v) => Some(Truths::total(self.solver.at_least(self.integers[v.index()], 1))),
            Node::Unary(UnaryOp::Not, a) => Some(self.known(&[a], missing)?[0].negated()),
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                let operands = self.operands(id, op);
                let mut operands = self.known(&operands, missing)?;
                if op == BinaryOp::And {
                    return Some(self.kleene_and(&operands));
                }
                for operand in &mut operands {
                    *operand = operand.negated();
                }
                Some(self.kleene_and(&operands).negated())
            }
            Node::Binary(BinaryOp::Eq, a, b) if self.pool.ty(a) == Type::Bool => {
                let operands = self.known(&[a, b], missing)?;
                let (a, b) = (operands[0], operands[1]);
                Some(self.choose(&[(a.is_true, b), (a.is_false, b.negated())], a.is_total()))
            }
            Node::Binary(op, a, b) => self.comparison(id, op, a, b, missing),
            Node::Ite(c, t, e) => {
                let operands = self.known(&[c, t, e], missing)?;
                let (c, t, e) = (operands[0], operands[1], operands[2]);
                Some(self.choose(&[(c.is_true, t), (c.is_false, e)], c.is_total()))
            }
            Node::Select { ref elements, .. } if elements.len() > MOST_ELEMENTS => Some(self.opaque(id)),
            Node::Select { ref elements, index } => {
                let elements = elements.to_vec();
                let chosen: Vec<ExprId> =
                    (0..elements.len()).map(|i| self.equals_constant(index, i)).collect();
                let chosen = self.known(&chosen, missing);
                let elements = self.known(&elements, missing);
                let (chosen, elements) = (chosen?, elements?);
                let cases: Vec<(Lit, Truths)> =
                    chosen.into_iter().map(|chosen| chosen.is_true).zip(elements).collect();
                Some(self.choose(&cases, false))
            }
            Node::Unary(..) => unreachable!("the condition is Boolean"),
        }
    }

    fn equals_constant(&mut self, index: ExprId, value: usize) -> ExprId {
        let value = self.pool.int(value as i64);
        self.pool.eq(index, value).expect("indices are integers")
    }

    /// The literals of all these conditions, if they are known; else those that are missing.
    pub(super) fn known(&self, ids: &[ExprId], missing: &mut Vec<ExprId>) -> Option<Vec<Truths>> {
        let known: Option<Vec<Truths>> = ids.iter().map(|id| self.truths.get(id).copied()).collect();
        if known.is_none() {
            missing.extend(ids.iter().filter(|id| !self.truths.contains_key(id)));
        }
        known
    }

    /// The operands of a nested conjunction or disjunction, each once; the condition itself if it is none.
    fn operands(&self, root: ExprId, op: BinaryOp) -> Vec<ExprId> {
        let mut operands = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            match *self.pool.node(id) {
                Node::Binary(found, a, b)
                    if found == op && (id == root || !self.truths.contains_key(&id)) =>
                {
                    stack.extend([b, a]);
                }
                _ => operands.push(id),
            }
        }
        operands
    }
}
