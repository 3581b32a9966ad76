//! Conditions as formulas of Z3, where all parts are defined everywhere.

use rustc_hash::FxHashMap;
use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, Type, UnaryOp, Value, VarId};
use z3::ast::{Bool, Int};

/// A translated part.
#[derive(Clone)]
enum Term {
    Bool(Bool),
    Int(Int),
}

/// The formula of a condition; `None` if it has parts that Z3's linear arithmetic does not know.
pub fn condition(pool: &ExprPool, root: ExprId, integer: impl Fn(VarId) -> Int) -> Option<Bool> {
    let mut terms: FxHashMap<ExprId, Term> = FxHashMap::default();
    for id in pool.reachable([root]) {
        let term = translate(pool, id, &terms, &integer)?;
        terms.insert(id, term);
    }
    match terms.remove(&root)? {
        Term::Bool(formula) => Some(formula),
        Term::Int(_) => None,
    }
}

fn translate(
    pool: &ExprPool,
    id: ExprId,
    terms: &FxHashMap<ExprId, Term>,
    integer: &impl Fn(VarId) -> Int,
) -> Option<Term> {
    let int = |id: &ExprId| match &terms[id] {
        Term::Int(term) => Some(term.clone()),
        Term::Bool(_) => None,
    };
    let bool = |id: &ExprId| match &terms[id] {
        Term::Bool(term) => Some(term.clone()),
        Term::Int(_) => None,
    };
    match pool.node(id) {
        Node::Constant(Value::Bool(value)) => Some(Term::Bool(Bool::from_bool(*value))),
        Node::Constant(Value::Int(value)) => Some(Term::Int(Int::from_i64(*value))),
        Node::Variable(v) if pool.ty(id) == Type::Bool => Some(Term::Bool(integer(*v).ge(Int::from_i64(1)))),
        Node::Variable(v) => Some(Term::Int(integer(*v))),
        Node::Unary(UnaryOp::Not, a) => Some(Term::Bool(bool(a)?.not())),
        Node::Constant(Value::Real(_)) | Node::Unary(..) => None,
        Node::Binary(op, a, b) => {
            if pool.ty(*a) == Type::Bool {
                let (a, b) = (bool(a)?, bool(b)?);
                return Some(Term::Bool(match op {
                    BinaryOp::And => Bool::and(&[a, b]),
                    BinaryOp::Or => Bool::or(&[a, b]),
                    _ => a.iff(b),
                }));
            }
            let constant = |id: &ExprId| matches!(pool.node(*id), Node::Constant(_));
            if *op == BinaryOp::Mul && !constant(a) && !constant(b) || *op == BinaryOp::Mod && !constant(b) {
                return None;
            }
            arithmetic(*op, int(a)?, int(b)?)
        }
        Node::Ite(c, t, e) => {
            let c = bool(c)?;
            match (&terms[t], &terms[e]) {
                (Term::Int(t), Term::Int(e)) => Some(Term::Int(c.ite(t, e))),
                (Term::Bool(t), Term::Bool(e)) => Some(Term::Bool(c.ite(t, e))),
                _ => None,
            }
        }
        // The index is within the array: everything is defined.
        Node::Select { elements, index } => {
            let index = int(index)?;
            let mut chosen = terms[elements.last()?].clone();
            for (i, element) in elements.iter().enumerate().rev().skip(1) {
                let here = index.eq(Int::from_i64(i as i64));
                chosen = match (&terms[element], chosen) {
                    (Term::Int(element), Term::Int(rest)) => Term::Int(here.ite(element, &rest)),
                    (Term::Bool(element), Term::Bool(rest)) => Term::Bool(here.ite(element, &rest)),
                    _ => return None,
                };
            }
            Some(chosen)
        }
    }
}

fn arithmetic(op: BinaryOp, a: Int, b: Int) -> Option<Term> {
    Some(match op {
        BinaryOp::Eq => Term::Bool(a.eq(b)),
        BinaryOp::Lt => Term::Bool(a.lt(b)),
        BinaryOp::Le => Term::Bool(a.le(b)),
        BinaryOp::Add => Term::Int(Int::add(&[a, b])),
        BinaryOp::Sub => Term::Int(Int::sub(&[a, b])),
        BinaryOp::Mul => Term::Int(Int::mul(&[a, b])),
        // Z3's remainder is Euclidean, too.
        BinaryOp::Mod => Term::Int(a.modulo(b)),
        BinaryOp::Min => Term::Int(a.le(&b).ite(&a, &b)),
        BinaryOp::Max => Term::Int(a.le(&b).ite(&b, &a)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Div | BinaryOp::Pow | BinaryOp::Log => return None,
    })
}
