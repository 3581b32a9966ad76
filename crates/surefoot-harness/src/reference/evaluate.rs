//! The value of an expression at a state, by recursion.

use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, Type, UnaryOp, Value};

/// The value at a state of discrete variables; `None` where there is none.
pub fn evaluate(pool: &ExprPool, id: ExprId, state: &[i32]) -> Option<Value> {
    let value = match pool.node(id) {
        Node::Constant(value) => *value,
        Node::Variable(v) => {
            let value = state[v.index()];
            if pool.ty(id) == Type::Bool { Value::Bool(value == 1) } else { Value::Int(value.into()) }
        }
        Node::Unary(op, a) => unary(*op, evaluate(pool, *a, state)?)?,
        Node::Binary(BinaryOp::And, a, b) => {
            kleene(false, evaluate(pool, *a, state), evaluate(pool, *b, state))?
        }
        Node::Binary(BinaryOp::Or, a, b) => {
            kleene(true, evaluate(pool, *a, state), evaluate(pool, *b, state))?
        }
        Node::Binary(op, a, b) => binary(*op, evaluate(pool, *a, state)?, evaluate(pool, *b, state)?)?,
        Node::Ite(condition, then, otherwise) => {
            let branch = if truth(evaluate(pool, *condition, state)?) { then } else { otherwise };
            evaluate(pool, *branch, state)?
        }
        Node::Select { elements, index } => {
            let Value::Int(index) = evaluate(pool, *index, state)? else { panic!("an index is an integer") };
            if index < 0 || index >= elements.len() as i64 {
                return None;
            }
            evaluate(pool, elements[index as usize], state)?
        }
    };
    // A part of type real has a real value, also where it came from an integer branch or element.
    Some(if pool.ty(id) == Type::Real { Value::Real(real(value)) } else { value })
}

/// Whether a condition is true at a state; `None` where it has no value.
pub fn holds(pool: &ExprPool, id: ExprId, state: &[i32]) -> Option<bool> {
    evaluate(pool, id, state).map(truth)
}

fn truth(value: Value) -> bool {
    match value {
        Value::Bool(b) => b,
        _ => panic!("expected a truth value"),
    }
}

fn real(value: Value) -> f64 {
    match value {
        Value::Int(i) => i as f64,
        Value::Real(r) => r,
        Value::Bool(_) => panic!("expected a number"),
    }
}

/// Kleene's connectives: one operand with the value `decisive` decides, whatever the other one is. `∧`: false, `∨`: true.
fn kleene(decisive: bool, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    if a.map(truth) == Some(decisive) || b.map(truth) == Some(decisive) {
        Some(Value::Bool(decisive))
    } else if a.is_none() || b.is_none() {
        None
    } else {
        Some(Value::Bool(!decisive))
    }
}

fn unary(op: UnaryOp, a: Value) -> Option<Value> {
    let rounded = match op {
        UnaryOp::Not => return Some(Value::Bool(!truth(a))),
        UnaryOp::Floor => real(a).floor(),
        UnaryOp::Ceil => real(a).ceil(),
    };
    // A wider integer type says whether the result fits.
    i64::try_from(rounded as i128).ok().map(Value::Int)
}

fn binary(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => {
            assert_eq!(op, BinaryOp::Eq, "no other operator takes two truth values here");
            Some(Value::Bool(a == b))
        }
        (Value::Int(a), Value::Int(b)) if !matches!(op, BinaryOp::Div | BinaryOp::Pow | BinaryOp::Log) => {
            integers(op, a.into(), b.into())
        }
        _ => reals(op, real(a), real(b)),
    }
}

/// Integer operations in 128 bits, where nothing overflows; the result must fit 64.
fn integers(op: BinaryOp, a: i128, b: i128) -> Option<Value> {
    let result = match op {
        BinaryOp::Eq => return Some(Value::Bool(a == b)),
        BinaryOp::Lt => return Some(Value::Bool(a < b)),
        BinaryOp::Le => return Some(Value::Bool(a <= b)),
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Mod => {
            if b == 0 {
                return None;
            }
            // The one number in 0..|b| that differs from `a` by a multiple of `b`.
            let remainder = a % b;
            if remainder < 0 { remainder + b.abs() } else { remainder }
        }
        _ => panic!("{op:?} is no integer operation"),
    };
    i64::try_from(result).ok().map(Value::Int)
}

/// Real operations in double precision. What is infinite or not a number has no value.
fn reals(op: BinaryOp, a: f64, b: f64) -> Option<Value> {
    let result = match op {
        BinaryOp::Eq => return Some(Value::Bool(a == b)),
        BinaryOp::Lt => return Some(Value::Bool(a < b)),
        BinaryOp::Le => return Some(Value::Bool(a <= b)),
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        BinaryOp::Max => {
            if b > a {
                b
            } else {
                a
            }
        }
        BinaryOp::Div => a / b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Log => a.ln() / b.ln(),
        BinaryOp::Mod | BinaryOp::And | BinaryOp::Or => panic!("{op:?} is no real operation"),
    };
    result.is_finite().then_some(Value::Real(result))
}
