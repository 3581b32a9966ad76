//! Programs: expressions compiled to straight-line code.
//!
//! A program is a compact excerpt of a pool, operands first: slot `i` holds the value of instruction `i`. The same
//! program is run over points (`point.rs`), boxes (`bounds.rs`) and batches of points (`batch.rs`).

use rustc_hash::FxHashMap;

use super::{ExprId, ExprPool, Node};
use crate::value::Type;
use crate::variable::VarId;

/// Straight-line code for one or more expressions.
#[derive(Debug, Clone)]
pub struct Program {
    /// Instructions; their [`ExprId`]s are slots of this program.
    pub(super) code: Vec<Node>,
    pub(super) types: Vec<Type>,
    pub(super) outputs: Vec<ExprId>,
}

impl Program {
    /// Compiles `roots`; output `i` of the program is the value of root `i`.
    pub fn new(pool: &ExprPool, roots: &[ExprId]) -> Program {
        let ids = pool.reachable(roots.iter().copied());
        let slots: FxHashMap<ExprId, ExprId> =
            ids.iter().enumerate().map(|(slot, &id)| (id, ExprId(slot as u32))).collect();
        let code = ids.iter().map(|&id| pool.node(id).with_operands(|operand| slots[&operand])).collect();
        let types = ids.iter().map(|&id| pool.ty(id)).collect();
        Program { code, types, outputs: roots.iter().map(|root| slots[root]).collect() }
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether the program computes nothing.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// The variables that the program reads, ascending.
    pub fn variables(&self) -> Vec<VarId> {
        let mut variables: Vec<VarId> = self
            .code
            .iter()
            .filter_map(|node| match node {
                Node::Variable(v) => Some(*v),
                _ => None,
            })
            .collect();
        variables.sort_unstable();
        variables
    }
}

impl Node {
    /// The same node over other operands.
    #[must_use]
    pub fn with_operands(&self, mut f: impl FnMut(ExprId) -> ExprId) -> Node {
        match self {
            Node::Constant(v) => Node::Constant(*v),
            Node::Variable(v) => Node::Variable(*v),
            Node::Unary(op, a) => Node::Unary(*op, f(*a)),
            Node::Binary(op, a, b) => Node::Binary(*op, f(*a), f(*b)),
            Node::Ite(c, t, e) => Node::Ite(f(*c), f(*t), f(*e)),
            Node::Select { elements, index } => {
                Node::Select { elements: elements.iter().map(|&e| f(e)).collect(), index: f(*index) }
            }
        }
    }
}
