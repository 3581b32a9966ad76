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

#[cfg(test)]
mod tests {
    use surefoot_model::{Program, Type, TypeError, VarId};

    use super::*;

    type Build = fn(&mut ExprPool, ExprId, ExprId, ExprId) -> Result<ExprId, TypeError>;

    /// `1 = 1 % zero`: defined only where `zero` is not 0.
    fn unless_zero(pool: &mut ExprPool, zero: ExprId) -> Result<ExprId, TypeError> {
        let one = pool.int(1);
        let remainder = pool.modulo(one, zero)?;
        pool.eq(one, remainder)
    }

    /// Each rule, at the box x = 0, y in 0..2, b in 0..1: whether it finds that the expression is undefined everywhere. What it finds must be so
    /// at every state.
    #[test]
    fn what_is_never_defined_is_undefined_at_every_state() {
        let cases: Vec<(&str, Build, bool)> = vec![
            ("y % x", |p, x, y, _| p.modulo(y, x), true),
            ("x % y", |p, x, y, _| p.modulo(x, y), false),
            ("y / x", |p, x, y, _| p.div(y, x), true),
            (
                "-(y % x)",
                |p, x, y, _| {
                    let remainder = p.modulo(y, x)?;
                    p.sub(x, remainder)
                },
                true,
            ),
            (
                "u ∧ b",
                |p, x, _, b| {
                    let u = unless_zero(p, x)?;
                    p.and(u, b)
                },
                false,
            ),
            (
                "u ∧ b ∧ ¬b: false or undefined",
                |p, x, _, b| {
                    let u = unless_zero(p, x)?;
                    let no = p.not(b)?;
                    let never = p.and(b, no)?;
                    p.and(u, never)
                },
                false,
            ),
            (
                "u ∧ y ≥ 0",
                |p, x, y, _| {
                    let (u, yes) = (unless_zero(p, x)?, p.ge(y, x)?);
                    p.and(yes, u)
                },
                true,
            ),
            (
                "u ∧ y < 0",
                |p, x, y, _| {
                    let (u, no) = (unless_zero(p, x)?, p.lt(y, x)?);
                    p.and(u, no)
                },
                false,
            ),
            (
                "u ∨ y < 0",
                |p, x, y, _| {
                    let (u, no) = (unless_zero(p, x)?, p.lt(y, x)?);
                    p.or(no, u)
                },
                true,
            ),
            (
                "u ∨ y ≥ 0",
                |p, x, y, _| {
                    let (u, yes) = (unless_zero(p, x)?, p.ge(y, x)?);
                    p.or(u, yes)
                },
                false,
            ),
            (
                "¬u ∧ u",
                |p, x, _, _| {
                    let u = unless_zero(p, x)?;
                    let not = p.not(u)?;
                    p.and(not, u)
                },
                true,
            ),
            (
                "ite(b, y % x, y)",
                |p, x, y, b| {
                    let remainder = p.modulo(y, x)?;
                    p.ite(b, remainder, y)
                },
                false,
            ),
            (
                "ite(y ≥ 0, y % x, y)",
                |p, x, y, _| {
                    let (remainder, yes) = (p.modulo(y, x)?, p.ge(y, x)?);
                    p.ite(yes, remainder, y)
                },
                true,
            ),
            (
                "ite(y < 0, y, y % x)",
                |p, x, y, _| {
                    let (remainder, no) = (p.modulo(y, x)?, p.lt(y, x)?);
                    p.ite(no, y, remainder)
                },
                true,
            ),
            (
                "ite(b, y % x, y % x)",
                |p, x, y, b| {
                    let remainder = p.modulo(y, x)?;
                    p.ite(b, remainder, remainder)
                },
                true,
            ),
            (
                "ite(u, y, y)",
                |p, x, y, _| {
                    let u = unless_zero(p, x)?;
                    p.ite(u, y, y)
                },
                true,
            ),
            (
                "[y, y][y + 2]",
                |p, _, y, _| {
                    let two = p.int(2);
                    let index = p.add(y, two)?;
                    p.select(&[y, y], index)
                },
                true,
            ),
            ("[y, y][y]", |p, _, y, _| p.select(&[y, y], y), false),
            (
                "[y % x, y][x]",
                |p, x, y, _| {
                    let remainder = p.modulo(y, x)?;
                    p.select(&[remainder, y], x)
                },
                true,
            ),
            (
                "max + 1 + y",
                |p, _, y, _| {
                    let (max, one) = (p.int(i64::MAX), p.int(1));
                    let more = p.add(y, one)?;
                    p.add(max, more)
                },
                true,
            ),
            (
                "max + y",
                |p, _, y, _| {
                    let max = p.int(i64::MAX);
                    p.add(max, y)
                },
                false,
            ),
            (
                "min - 1 - y",
                |p, _, y, _| {
                    let (min, one) = (p.int(i64::MIN), p.int(1));
                    let more = p.add(y, one)?;
                    p.sub(min, more)
                },
                true,
            ),
            (
                "max * (y + 2)",
                |p, _, y, _| {
                    let (max, two) = (p.int(i64::MAX), p.int(2));
                    let factor = p.add(y, two)?;
                    p.mul(max, factor)
                },
                true,
            ),
            (
                "floor(1e19 + y)",
                |p, _, y, _| {
                    let large = p.real(1e19);
                    let sum = p.add(large, y)?;
                    p.floor(sum)
                },
                true,
            ),
            (
                "floor(9e18 + y)",
                |p, _, y, _| {
                    let large = p.real(9e18);
                    let sum = p.add(large, y)?;
                    p.floor(sum)
                },
                false,
            ),
        ];
        for (name, build, expected) in cases {
            let mut pool = ExprPool::new();
            let (x, y) =
                (pool.variable_of_type(VarId(0), Type::Int), pool.variable_of_type(VarId(1), Type::Int));
            let b = pool.variable_of_type(VarId(2), Type::Bool);
            let root = build(&mut pool, x, y, b).expect("well typed");
            let program = Program::new(&pool, &[root]);
            let mut slots = Vec::new();
            program.over_box(&[0, 0, 0], &[0, 2, 1], &mut slots);
            let found = Instructions::new(&pool, root).never_defined(&slots);
            assert_eq!(found, expected, "{name}");
            let states = (0..=2).flat_map(|y| [[0, y, 0], [0, y, 1]]);
            let mut values = Vec::new();
            let undefined = states.into_iter().all(|state| {
                program.run_state(&state, &mut values);
                program.output(0, &values).is_err()
            });
            assert!(!found || undefined, "{name} has a value somewhere");
        }
    }
}
