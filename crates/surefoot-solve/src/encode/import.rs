//! Copies of expressions in the encoder's own pool, with variables replaced by expressions where a state after a step is meant.

use rustc_hash::FxHashMap;
use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, UnaryOp, VarId};

/// Copies expressions of one pool, each once.
#[derive(Debug, Default)]
pub struct Importer {
    done: FxHashMap<ExprId, ExprId>,
    /// What a variable becomes, an expression of the new pool; others stay.
    replaced: FxHashMap<VarId, ExprId>,
}

impl Importer {
    /// An importer that replaces variables.
    pub fn replacing(replaced: FxHashMap<VarId, ExprId>) -> Self {
        Importer { done: FxHashMap::default(), replaced }
    }

    /// What a variable becomes, if it is replaced.
    pub fn replacement(&self, variable: VarId) -> Option<ExprId> {
        self.replaced.get(&variable).copied()
    }

    /// What variables become that are replaced.
    pub fn replacements(&self) -> &FxHashMap<VarId, ExprId> {
        &self.replaced
    }

    /// The copy in `to` of an expression of `from`.
    pub fn import(&mut self, from: &ExprPool, root: ExprId, to: &mut ExprPool) -> ExprId {
        if let Some(&done) = self.done.get(&root) {
            return done;
        }
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.done.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            from.node(id).for_each_operand(|operand| {
                if !self.done.contains_key(&operand) {
                    stack.push(operand);
                }
            });
            if stack.len() == before {
                let copy = self.copy(from, id, to);
                self.done.insert(id, copy);
                stack.pop();
            }
        }
        self.done[&root]
    }

    fn copy(&self, from: &ExprPool, id: ExprId, to: &mut ExprPool) -> ExprId {
        use BinaryOp as B;
        let of = |operand: &ExprId| self.done[operand];
        let copy = match from.node(id) {
            Node::Constant(value) => Ok(to.constant(*value)),
            Node::Variable(v) => {
                Ok(self.replacement(*v).unwrap_or_else(|| to.variable_of_type(*v, from.ty(id))))
            }
            Node::Unary(op, a) => match op {
                UnaryOp::Not => to.not(of(a)),
                UnaryOp::Floor => to.floor(of(a)),
                UnaryOp::Ceil => to.ceil(of(a)),
            },
            Node::Binary(op, a, b) => {
                let (a, b) = (of(a), of(b));
                match op {
                    B::And => to.and(a, b),
                    B::Or => to.or(a, b),
                    B::Eq => to.eq(a, b),
                    B::Lt => to.lt(a, b),
                    B::Le => to.le(a, b),
                    B::Add => to.add(a, b),
                    B::Sub => to.sub(a, b),
                    B::Mul => to.mul(a, b),
                    B::Div => to.div(a, b),
                    B::Mod => to.modulo(a, b),
                    B::Pow => to.pow(a, b),
                    B::Log => to.log(a, b),
                    B::Min => to.min(a, b),
                    B::Max => to.max(a, b),
                }
            }
            Node::Ite(c, t, e) => to.ite(of(c), of(t), of(e)),
            Node::Select { elements, index } => {
                let elements: Vec<ExprId> = elements.iter().map(of).collect();
                to.select(&elements, of(index))
            }
        };
        copy.expect("the original is well typed, and replacements have the types of their variables")
    }
}
