//! Typed expressions in a hash-consed pool.
//!
//! Every node comes after its operands, so an expression is evaluated, rewritten or printed by walking indices upwards: no
//! recursion, no depth limit, and equal expressions are equal [`ExprId`]s.
//!
//! **Undefined values.** An expression may have no value at a point ([`crate::Undefined`]). `∧`, `∨` and `⇒` are Kleene's: `false ∧ u`
//! is `false` and `true ∨ u` is `true` in either order of operands, everything else that needs an undefined operand is
//! undefined. `ite` needs its condition and the chosen branch, array access its index and the chosen element.
//! This reading does not depend on evaluation order, so simplification and reordering keep it.

mod batch;
mod bounds;
mod build;
mod display;
#[cfg(test)]
mod laws;
mod linear;
mod point;
mod program;
mod rewrite;

pub use batch::BatchProgram;
pub use bounds::{Enclosure, Range, Truth};
pub use build::TypeError;
pub use linear::Linear;
pub use point::PointValue;
pub use program::Program;
pub use rewrite::{Replacement, Rewriter};

use rustc_hash::FxHashMap;

use crate::value::{Type, Value};
use crate::variable::{VarId, Variable};

/// Index of an expression in its [`ExprPool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

impl ExprId {
    /// The position in the pool.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Negation.
    Not,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Conjunction (Kleene).
    And,
    /// Disjunction (Kleene).
    Or,
    /// Equality, on truth values or numbers.
    Eq,
    /// Strictly less.
    Lt,
    /// Less or equal.
    Le,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, always real.
    Div,
    /// Euclidean remainder of integers: `0 ≤ a % b < |b|`.
    Mod,
    /// Power, always real.
    Pow,
    /// Logarithm of the left operand to the base of the right one, always real.
    Log,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

/// An expression whose operands are in the same pool.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A literal.
    Constant(Value),
    /// The value of a state variable.
    Variable(VarId),
    /// An operator with one operand.
    Unary(UnaryOp, ExprId),
    /// An operator with two operands.
    Binary(BinaryOp, ExprId, ExprId),
    /// `if .0 then .1 else .2`.
    Ite(ExprId, ExprId, ExprId),
    /// Array access: the element number `index`, undefined outside the range.
    Select {
        /// Elements, all of one type.
        elements: Box<[ExprId]>,
        /// Integer expression.
        index: ExprId,
    },
}

impl Node {
    /// Calls `f` with each operand, in order.
    pub fn for_each_operand(&self, mut f: impl FnMut(ExprId)) {
        match self {
            Node::Constant(_) | Node::Variable(_) => {}
            Node::Unary(_, a) => f(*a),
            Node::Binary(_, a, b) => {
                f(*a);
                f(*b);
            }
            Node::Ite(c, t, e) => {
                f(*c);
                f(*t);
                f(*e);
            }
            Node::Select { elements, index } => {
                elements.iter().copied().for_each(&mut f);
                f(*index);
            }
        }
    }
}

/// Key of a node for hash-consing: reals are compared by their bits, so `0.0` and `-0.0` stay apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Bool(bool),
    Int(i64),
    Real(u64),
    Variable(VarId),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    Ite(ExprId, ExprId, ExprId),
    Select(Box<[ExprId]>, ExprId),
}

impl From<&Node> for Key {
    fn from(node: &Node) -> Key {
        match node {
            Node::Constant(Value::Bool(b)) => Key::Bool(*b),
            Node::Constant(Value::Int(i)) => Key::Int(*i),
            Node::Constant(Value::Real(r)) => Key::Real(r.to_bits()),
            Node::Variable(v) => Key::Variable(*v),
            Node::Unary(op, a) => Key::Unary(*op, *a),
            Node::Binary(op, a, b) => Key::Binary(*op, *a, *b),
            Node::Ite(c, t, e) => Key::Ite(*c, *t, *e),
            Node::Select { elements, index } => Key::Select(elements.clone(), *index),
        }
    }
}

/// A hash-consed pool of typed expressions. Operands always have smaller indices than the expressions that use them.
#[derive(Debug, Clone, Default)]
pub struct ExprPool {
    nodes: Vec<Node>,
    types: Vec<Type>,
    ids: FxHashMap<Key, ExprId>,
}

impl ExprPool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of different expressions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the pool holds nothing.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of an expression.
    pub fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The type of an expression.
    pub fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    /// The literal value, if the expression is one.
    pub fn as_constant(&self, id: ExprId) -> Option<Value> {
        match self.node(id) {
            Node::Constant(v) => Some(*v),
            _ => None,
        }
    }

    /// The expressions that `roots` are made of, themselves included, operands first.
    pub fn reachable(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<ExprId> = roots.into_iter().collect();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                self.node(id).for_each_operand(|operand| stack.push(operand));
            }
        }
        let mut ids: Vec<ExprId> = seen.into_iter().collect();
        ids.sort_unstable();
        ids
    }

    /// The variables that occur in `roots`, ascending.
    pub fn variables_of(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<VarId> {
        let mut variables: Vec<VarId> = self
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match self.node(id) {
                Node::Variable(v) => Some(*v),
                _ => None,
            })
            .collect();
        variables.sort_unstable();
        variables.dedup();
        variables
    }

    fn intern(&mut self, node: Node, ty: Type) -> ExprId {
        let next = ExprId(self.nodes.len() as u32);
        let id = *self.ids.entry(Key::from(&node)).or_insert(next);
        if id == next {
            self.nodes.push(node);
            self.types.push(ty);
        }
        id
    }

    /// A literal. A NaN is a programming error.
    pub fn constant(&mut self, value: Value) -> ExprId {
        assert!(!matches!(value, Value::Real(r) if r.is_nan()), "NaN is not a value");
        self.intern(Node::Constant(value), value.ty())
    }

    /// A truth literal.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.constant(Value::Bool(value))
    }

    /// An integer literal.
    pub fn int(&mut self, value: i64) -> ExprId {
        self.constant(Value::Int(value))
    }

    /// A real literal.
    pub fn real(&mut self, value: f64) -> ExprId {
        self.constant(Value::Real(value))
    }

    /// The value of state variable `id`, which is `variable`.
    pub fn variable(&mut self, id: VarId, variable: &Variable) -> ExprId {
        self.variable_of_type(id, variable.ty.ty())
    }

    /// The value of state variable `id` of type `ty`.
    pub fn variable_of_type(&mut self, id: VarId, ty: Type) -> ExprId {
        self.intern(Node::Variable(id), ty)
    }
}
