//! Programs: expressions compiled to straight-line code.
//!
//! A program is a compact excerpt of a pool, operands first: slot `i` holds the value of instruction `i`. The same
//! program is run over points (`point.rs`), boxes (`bounds.rs`) and batches of points (`batch.rs`).

use rustc_hash::FxHashMap;

use super::{ExprId, ExprPool, Node, UnaryOp};
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

    /// The instructions; their [`ExprId`]s are slots.
    pub(crate) fn code(&self) -> &[Node] {
        &self.code
    }

    /// The type of a slot.
    pub(crate) fn ty(&self, slot: ExprId) -> Type {
        self.types[slot.index()]
    }

    /// The slots of the outputs.
    pub(crate) fn outputs(&self) -> &[ExprId] {
        &self.outputs
    }

    /// The same instructions with other outputs.
    pub(crate) fn with_outputs(&self, outputs: Vec<ExprId>) -> Program {
        Program { code: self.code.clone(), types: self.types.clone(), outputs }
    }

    /// The same program with more instructions: the negations of some Boolean slots.
    pub(crate) fn with_negations(&self, slots: &[ExprId]) -> (Program, Vec<ExprId>) {
        let mut program = self.clone();
        let negations = slots.iter().map(|&slot| {
            program.code.push(Node::Unary(UnaryOp::Not, slot));
            program.types.push(Type::Bool);
            ExprId(program.code.len() as u32 - 1)
        });
        let negations = negations.collect();
        (program, negations)
    }

    /// The program for some slots only.
    pub(crate) fn part(&self, outputs: Vec<ExprId>) -> Program {
        self.excerpt(outputs, |id| self.code[id.index()].clone())
    }

    /// The program for some slots only, with `node` in place of the instructions.
    pub(crate) fn excerpt(&self, outputs: Vec<ExprId>, node: impl Fn(ExprId) -> Node) -> Program {
        let mut position: Vec<Option<ExprId>> = vec![None; self.code.len()];
        let mut needed = vec![false; self.code.len()];
        for &output in &outputs {
            needed[output.index()] = true;
        }
        for i in (0..self.code.len()).rev() {
            if needed[i] {
                node(ExprId(i as u32)).for_each_operand(|operand| needed[operand.index()] = true);
            }
        }
        let mut excerpt = Program { code: Vec::new(), types: Vec::new(), outputs: Vec::new() };
        let moved =
            |position: &[Option<ExprId>], id: ExprId| position[id.index()].expect("operands come first");
        for i in (0..self.code.len()).filter(|&i| needed[i]) {
            position[i] = Some(ExprId(excerpt.code.len() as u32));
            let node = node(ExprId(i as u32)).with_operands(|operand| moved(&position, operand));
            excerpt.code.push(node);
            excerpt.types.push(self.types[i]);
        }
        excerpt.outputs = outputs.into_iter().map(|output| moved(&position, output)).collect();
        excerpt
    }

    /// Number of outputs.
    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether the program computes nothing.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// The variables that the program reads and how many instructions read each, at least 1 (an output may be a variable).
    pub(crate) fn variable_uses(&self) -> Vec<(VarId, u32)> {
        let mut uses = vec![0; self.code.len()];
        for node in &self.code {
            node.for_each_operand(|operand| uses[operand.index()] += 1);
        }
        let variables = self.code.iter().zip(uses).filter_map(|(node, uses)| match node {
            Node::Variable(v) => Some((*v, uses.max(1))),
            _ => None,
        });
        variables.collect()
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
