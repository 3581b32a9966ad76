//! Expressions that are undefined at *every* state of a box.
//!
//! Box evaluation says that an expression *may* be undefined. To explain that it is, one wants more than single states: `x % y` is
//! undefined wherever `y` is 0, whatever `x` is.

use surefoot_model::expr::{Enclosure, Range};
use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, UnaryOp};

/// The instructions of an expression, operands first; the last one is the expression itself.
#[derive(Debug)]
pub struct Instructions(Vec<Node>);

impl Instructions {
    pub fn new(pool: &ExprPool, root: ExprId) -> Self {
        let parts = pool.reachable([root]);
        let slot = |id: ExprId| ExprId(parts.binary_search(&id).expect("operands are parts") as u32);
        Instructions(parts.iter().map(|&id| pool.node(id).with_operands(slot)).collect())
    }

    /// Whether the expression is undefined everywhere, given the enclosures of all instructions over the box.
    pub fn never_defined(&self, slots: &[Enclosure]) -> bool {
        let mut never: Vec<bool> = Vec::with_capacity(self.0.len());
        for node in &self.0 {
            let value = never_defined(node, slots, &never);
            never.push(value);
        }
        never.last().copied().unwrap_or(false)
    }
}

fn never_defined(node: &Node, slots: &[Enclosure], never: &[bool]) -> bool {
    let is_never = |id: ExprId| never[id.index()];
    let values = |id: ExprId| slots[id.index()].values;
    // Whether a condition, where it is defined, is always `value`.
    let only = |id: ExprId, value: bool| match values(id) {
        Range::Bool { can_be_false, can_be_true } => {
            if value {
                !can_be_false
            } else {
                !can_be_true
            }
        }
        _ => false,
    };
    match node {
        Node::Constant(_) | Node::Variable(_) => false,
        Node::Unary(UnaryOp::Not, a) => is_never(*a),
        Node::Unary(_, a) => is_never(*a) || no_integer(values(*a)),
        Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            // The other operand does not decide: a conjunction is decided by false, a disjunction by true.
            let neutral = *op == BinaryOp::And;
            let leaves = |other: ExprId| is_never(other) || only(other, neutral);
            (is_never(*a) && leaves(*b)) || (is_never(*b) && leaves(*a))
        }
        Node::Binary(op, a, b) => is_never(*a) || is_never(*b) || fails(*op, values(*a), values(*b)),
        Node::Ite(c, t, e) => {
            is_never(*c)
                || (is_never(*t) && is_never(*e))
                || (only(*c, true) && is_never(*t))
                || (only(*c, false) && is_never(*e))
        }
        Node::Select { elements, index } => {
            let Range::Int(lower, upper) = values(*index) else { return false };
            let last = elements.len() as i64 - 1;
            let mut inside = lower.max(0)..=upper.min(last);
            is_never(*index) || inside.all(|i| is_never(elements[i as usize]))
        }
    }
}

/// All values are outside of 64-bit integers.
fn no_integer(range: Range) -> bool {
    const END: f64 = 9_223_372_036_854_775_808.0;
    matches!(range, Range::Real(lower, upper) if lower >= END || upper < -END - 1024.0)
}

/// The operation has no result for any operands in the ranges.
fn fails(op: BinaryOp, a: Range, b: Range) -> bool {
    use BinaryOp as B;
    let zero = match b {
        Range::Int(lower, upper) => lower == 0 && upper == 0,
        Range::Real(lower, upper) => lower == 0.0 && upper == 0.0,
        Range::Bool { .. } => false,
    };
    match (op, a, b) {
        (B::Mod | B::Div, ..) => zero,
        (B::Add | B::Sub | B::Mul, Range::Int(al, au), Range::Int(bl, bu)) => {
            let [al, au, bl, bu] = [al, au, bl, bu].map(i128::from);
            let (lower, upper) = match op {
                B::Add => (al + bl, au + bu),
                B::Sub => (al - bu, au - bl),
                _ => {
                    let products = [al * bl, al * bu, au * bl, au * bu];
                    (*products.iter().min().expect("four"), *products.iter().max().expect("four"))
                }
            };
            lower > i128::from(i64::MAX) || upper < i128::from(i64::MIN)
        }
        _ => false,
    }
}
