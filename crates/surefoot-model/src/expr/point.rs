//! Evaluation at one point: the reference meaning of every operator.

use super::{BinaryOp, ExprId, ExprPool, Node, Program, UnaryOp};
use crate::value::{Type, Undefined, Value};
use crate::variable::VarId;

/// A value or the reason why there is none.
pub type PointValue = Result<Value, Undefined>;

impl Program {
    /// Runs the program at a point and leaves every slot's value in `slots`.
    pub fn run(&self, point: impl Fn(VarId) -> Value, slots: &mut Vec<PointValue>) {
        slots.clear();
        for (node, &ty) in self.code.iter().zip(&self.types) {
            let value = apply(node, |operand| slots[operand.index()], &point);
            slots.push(value.map(|v| coerce(v, ty)));
        }
    }

    /// Runs the program at a state of discrete variables.
    pub fn run_state(&self, state: &[i32], slots: &mut Vec<PointValue>) {
        slots.clear();
        for (node, &ty) in self.code.iter().zip(&self.types) {
            let value = match node {
                Node::Variable(v) if ty == Type::Bool => Ok(Value::Bool(state[v.index()] != 0)),
                Node::Variable(v) => Ok(Value::Int(i64::from(state[v.index()]))),
                _ => apply(node, |operand| slots[operand.index()], &|_| {
                    unreachable!("variables are read above")
                })
                .map(|v| coerce(v, ty)),
            };
            slots.push(value);
        }
    }

    /// The value of output `i` after a run.
    pub fn output(&self, i: usize, slots: &[PointValue]) -> PointValue {
        slots[self.outputs[i].index()]
    }

    /// Runs a program with Boolean outputs at a state of discrete variables: whether all of them are true.
    pub fn holds(&self, state: &[i32], slots: &mut Vec<PointValue>) -> Result<bool, Undefined> {
        self.run_state(state, slots);
        let all = self.outputs.iter().fold(TRUE, |all, output| conjunction(all, slots[output.index()]));
        all.map(|v| v.as_bool().expect("conditions are Boolean"))
    }
}

impl ExprPool {
    /// The value of an expression at a point. Compiles the expression first: for repeated use, make a [`Program`].
    pub fn evaluate(&self, id: ExprId, point: impl Fn(VarId) -> Value) -> PointValue {
        let program = Program::new(self, &[id]);
        let mut slots = Vec::with_capacity(program.len());
        program.run(point, &mut slots);
        program.output(0, &slots)
    }
}

/// An integer where a real is expected becomes one.
pub(super) fn coerce(value: Value, ty: Type) -> Value {
    match (value, ty) {
        (Value::Int(i), Type::Real) => Value::Real(i as f64),
        _ => value,
    }
}

/// The value of a node, given those of its operands.
pub(super) fn apply(
    node: &Node,
    operand: impl Fn(ExprId) -> PointValue,
    point: &impl Fn(VarId) -> Value,
) -> PointValue {
    match node {
        Node::Constant(v) => Ok(*v),
        Node::Variable(v) => Ok(point(*v)),
        Node::Unary(op, a) => unary(*op, operand(*a)?),
        Node::Binary(BinaryOp::And, a, b) => conjunction(operand(*a), operand(*b)),
        Node::Binary(BinaryOp::Or, a, b) => disjunction(operand(*a), operand(*b)),
        Node::Binary(op, a, b) => binary(*op, operand(*a)?, operand(*b)?),
        Node::Ite(c, t, e) => match operand(*c)? {
            Value::Bool(true) => operand(*t),
            _ => operand(*e),
        },
        Node::Select { elements, index } => {
            let Value::Int(i) = operand(*index)? else { unreachable!("array indices are integers") };
            let element = usize::try_from(i).ok().and_then(|i| elements.get(i));
            operand(*element.ok_or(Undefined::IndexOutOfRange)?)
        }
    }
}

const FALSE: PointValue = Ok(Value::Bool(false));
const TRUE: PointValue = Ok(Value::Bool(true));

fn conjunction(a: PointValue, b: PointValue) -> PointValue {
    if a == FALSE || b == FALSE { FALSE } else { a.and(b) }
}

fn disjunction(a: PointValue, b: PointValue) -> PointValue {
    if a == TRUE || b == TRUE { TRUE } else { a.and(b) }
}

fn unary(op: UnaryOp, a: Value) -> PointValue {
    match (op, a) {
        (UnaryOp::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
        (UnaryOp::Floor, Value::Real(r)) => to_int(r.floor()),
        (UnaryOp::Ceil, Value::Real(r)) => to_int(r.ceil()),
        (UnaryOp::Floor | UnaryOp::Ceil, Value::Int(i)) => Ok(Value::Int(i)),
        _ => unreachable!("expressions are typed"),
    }
}

pub(super) fn to_int(r: f64) -> PointValue {
    // 2^63 is the first double above every i64, and -2^63 is one.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&r) {
        Ok(Value::Int(r as i64))
    } else {
        Err(Undefined::Overflow)
    }
}

fn binary(op: BinaryOp, a: Value, b: Value) -> PointValue {
    use BinaryOp as B;
    match (a, b) {
        (Value::Bool(x), Value::Bool(y)) if op == B::Eq => Ok(Value::Bool(x == y)),
        (Value::Int(x), Value::Int(y)) => integer(op, x, y),
        _ => {
            let (Some(x), Some(y)) = (a.as_real(), b.as_real()) else {
                unreachable!("expressions are typed")
            };
            real(op, x, y)
        }
    }
}

fn integer(op: BinaryOp, x: i64, y: i64) -> PointValue {
    use BinaryOp as B;
    let int = |value: Option<i64>| value.map(Value::Int).ok_or(Undefined::Overflow);
    match op {
        B::Eq => Ok(Value::Bool(x == y)),
        B::Lt => Ok(Value::Bool(x < y)),
        B::Le => Ok(Value::Bool(x <= y)),
        B::Add => int(x.checked_add(y)),
        B::Sub => int(x.checked_sub(y)),
        B::Mul => int(x.checked_mul(y)),
        B::Min => Ok(Value::Int(x.min(y))),
        B::Max => Ok(Value::Int(x.max(y))),
        B::Mod if y == 0 => Err(Undefined::DivisionByZero),
        // The remainder by -1 is 0; `rem_euclid` would overflow on the smallest integer.
        B::Mod => Ok(Value::Int(x.checked_rem_euclid(y).unwrap_or(0))),
        B::Div | B::Pow | B::Log => real(op, x as f64, y as f64),
        B::And | B::Or => unreachable!("logical operators do not come here"),
    }
}

fn real(op: BinaryOp, x: f64, y: f64) -> PointValue {
    use BinaryOp as B;
    let number = |r: f64| {
        if r.is_finite() { Ok(Value::Real(r)) } else { Err(Undefined::NotANumber) }
    };
    match op {
        B::Eq => Ok(Value::Bool(x == y)),
        B::Lt => Ok(Value::Bool(x < y)),
        B::Le => Ok(Value::Bool(x <= y)),
        B::Add => number(x + y),
        B::Sub => number(x - y),
        B::Mul => number(x * y),
        B::Min => Ok(Value::Real(x.min(y))),
        B::Max => Ok(Value::Real(x.max(y))),
        B::Div if y == 0.0 => Err(Undefined::DivisionByZero),
        B::Div => number(x / y),
        B::Pow => number(x.powf(y)),
        B::Log => number(x.log(y)),
        B::Mod | B::And | B::Or => unreachable!("expressions are typed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(build: impl FnOnce(&mut ExprPool) -> ExprId) -> PointValue {
        let mut pool = ExprPool::new();
        let id = build(&mut pool);
        pool.evaluate(id, |_| unreachable!("no variables"))
    }

    #[test]
    fn modulo_is_euclidean() {
        for (x, y, expected) in
            [(5, 3, 2), (-5, 3, 1), (5, -3, 2), (-5, -3, 1), (6, 3, 0), (i64::MIN, -1, 0), (0, 7, 0)]
        {
            let value = constant(|p| {
                let (x, y) = (p.int(x), p.int(y));
                p.modulo(x, y).unwrap()
            });
            assert_eq!(value, Ok(Value::Int(expected)), "{x} % {y}");
        }
    }

    #[test]
    fn undefined_operands_do_not_matter_where_the_other_decides() {
        let mut p = ExprPool::new();
        let (one, zero) = (p.int(1), p.int(0));
        let remainder = p.modulo(one, zero).unwrap();
        let undefined = p.eq(remainder, one).unwrap();
        let (yes, no) = (p.bool(true), p.bool(false));
        let check = |p: &ExprPool, id, expected| assert_eq!(p.evaluate(id, |_| unreachable!()), expected);
        for (a, b) in [(undefined, no), (no, undefined)] {
            let and = p.and(a, b).unwrap();
            check(&p, and, FALSE);
        }
        for (a, b) in [(undefined, yes), (yes, undefined)] {
            let or = p.or(a, b).unwrap();
            check(&p, or, TRUE);
            let and = p.and(a, b).unwrap();
            check(&p, and, Err(Undefined::DivisionByZero));
        }
        let ite = p.ite(no, undefined, yes).unwrap();
        check(&p, ite, TRUE);
    }

    #[test]
    fn overflow_and_range_errors_are_undefined() {
        let value = constant(|p| {
            let max = p.int(i64::MAX);
            p.add(max, max).unwrap()
        });
        assert_eq!(value, Err(Undefined::Overflow));
        let value = constant(|p| {
            let (a, b) = (p.int(1), p.int(2));
            p.select(&[a, a], b).unwrap()
        });
        assert_eq!(value, Err(Undefined::IndexOutOfRange));
    }

    #[test]
    fn derived_operators_mean_what_they_say() {
        for (x, truncated, sign) in [(-2.5, -2, -1), (2.5, 2, 1), (0.0, 0, 0)] {
            let value = constant(|p| {
                let x = p.real(x);
                p.truncate(x).unwrap()
            });
            assert_eq!(value, Ok(Value::Int(truncated)));
            let value = constant(|p| {
                let x = p.real(x);
                p.sign(x).unwrap()
            });
            assert_eq!(value, Ok(Value::Int(sign)));
            let value = constant(|p| {
                let x = p.real(x);
                p.abs(x).unwrap()
            });
            assert_eq!(value, Ok(Value::Real(f64::abs(x))));
        }
    }

    #[test]
    fn expressions_thousands_of_levels_deep_evaluate() {
        let value = constant(|p| {
            let mut e = p.bool(true);
            for _ in 0..100_001 {
                e = p.not(e).unwrap();
            }
            e
        });
        assert_eq!(value, FALSE);
    }
}
