//! Linear facts: what a condition says by comparisons of sums of variables.
//!
//! The facts of a condition are *necessary*: they hold wherever it is true. They need not be sufficient; what is no
//! linear comparison (`≠`, `∨`, products, …) is left out. A condition that is true is defined, so are then its conjuncts, and a
//! defined sum of integers did not overflow: it is the mathematical one.

use rustc_hash::FxHashMap;
use surefoot_model::expr::UnaryOp;
use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, Type, Value, VarId};
use surefoot_policy::certify::Fact;

/// Linear conditions that hold wherever a condition is true.
pub fn facts(pool: &ExprPool, condition: ExprId) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut conjuncts = vec![condition];
    while let Some(id) = conjuncts.pop() {
        match *pool.node(id) {
            Node::Binary(BinaryOp::And, a, b) => conjuncts.extend([a, b]),
            Node::Binary(op, a, b) if pool.ty(a) == Type::Int && pool.ty(b) == Type::Int => {
                comparison(pool, op, a, b, &mut facts);
            }
            Node::Variable(v) => facts.push(Fact { terms: vec![(v, -1)], at_most: -1 }),
            Node::Unary(UnaryOp::Not, a) => match *pool.node(a) {
                Node::Variable(v) => facts.push(Fact { terms: vec![(v, 1)], at_most: 0 }),
                // ¬(a < b) is b ≤ a.
                Node::Binary(op @ (BinaryOp::Lt | BinaryOp::Le), a, b) if pool.ty(a) == Type::Int => {
                    let opposite = if op == BinaryOp::Lt { BinaryOp::Le } else { BinaryOp::Lt };
                    comparison(pool, opposite, b, a, &mut facts);
                }
                _ => {}
            },
            _ => {}
        }
    }
    facts
}

/// The facts of `a ⋈ b`.
fn comparison(pool: &ExprPool, op: BinaryOp, a: ExprId, b: ExprId, facts: &mut Vec<Fact>) {
    let slack = match op {
        BinaryOp::Le | BinaryOp::Eq => 0,
        BinaryOp::Lt => 1,
        _ => return,
    };
    let (Some(a), Some(b)) = (linear(pool, a), linear(pool, b)) else { return };
    facts.extend(at_most(&a, &b, slack));
    if op == BinaryOp::Eq {
        facts.extend(at_most(&b, &a, 0));
    }
}

/// A sum of variables with factors, and a constant.
#[derive(Debug, Clone, Default)]
struct Linear {
    terms: Vec<(VarId, i64)>,
    constant: i64,
}

impl Linear {
    /// This plus a multiple of another; `None` if numbers get too large.
    fn plus(mut self, factor: i64, other: &Linear) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for &(v, coefficient) in &other.terms {
            let coefficient = coefficient.checked_mul(factor)?;
            match self.terms.iter_mut().find(|term| term.0 == v) {
                Some(term) => term.1 = term.1.checked_add(coefficient)?,
                None => self.terms.push((v, coefficient)),
            }
        }
        Some(self)
    }
}

/// `a + slack ≤ b` as a fact.
fn at_most(a: &Linear, b: &Linear, slack: i64) -> Option<Fact> {
    let Linear { terms, constant } = a.clone().plus(-1, b)?;
    let terms: Option<Vec<(VarId, i32)>> =
        terms.into_iter().map(|(v, coefficient)| Some((v, coefficient.try_into().ok()?))).collect();
    Some(Fact { terms: terms?, at_most: constant.checked_add(slack)?.checked_neg()? })
}

/// An integer expression as a sum, if it is one.
fn linear(pool: &ExprPool, root: ExprId) -> Option<Linear> {
    let mut known: FxHashMap<ExprId, Option<Linear>> = FxHashMap::default();
    for id in pool.reachable([root]) {
        let of = |operand: &ExprId| known[operand].clone();
        let value = match pool.node(id) {
            Node::Constant(Value::Int(constant)) => Some(Linear { terms: Vec::new(), constant: *constant }),
            Node::Variable(v) if pool.ty(id) == Type::Int => {
                Some(Linear { terms: vec![(*v, 1)], constant: 0 })
            }
            Node::Binary(BinaryOp::Add, a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.plus(1, &b)),
            Node::Binary(BinaryOp::Sub, a, b) => of(a).zip(of(b)).and_then(|(a, b)| a.plus(-1, &b)),
            Node::Binary(BinaryOp::Mul, a, b) => of(a).zip(of(b)).and_then(|(a, b)| match (a, b) {
                (factor, sum) | (sum, factor) if factor.terms.is_empty() => {
                    Linear::default().plus(factor.constant, &sum)
                }
                _ => None,
            }),
            _ => None,
        };
        known.insert(id, value);
    }
    known.remove(&root)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use surefoot_model::expr::Program;

    #[test]
    fn facts_hold_where_the_condition_does() {
        let mut pool = ExprPool::new();
        let [x, y] = [0, 1].map(|v| pool.variable_of_type(VarId(v), Type::Int));
        let flag = pool.variable_of_type(VarId(2), Type::Bool);
        let [two, three] = [2, 3].map(|number| pool.int(number));
        let double = pool.mul(two, x).expect("numbers");
        let sum = pool.add(double, y).expect("numbers");
        let small = pool.lt(sum, three).expect("numbers");
        let equal = pool.eq(x, y).expect("numbers");
        let above = pool.le(x, two).and_then(|below| pool.not(below)).expect("a condition");
        let raised = pool.not(flag).expect("a condition");
        let different = pool.not(equal).expect("a condition");
        for (condition, count) in [(small, 1), (equal, 2), (above, 1), (flag, 1), (raised, 1), (different, 0)]
        {
            let facts = facts(&pool, condition);
            assert_eq!(facts.len(), count, "{facts:?}");
            let program = Program::new(&pool, &[condition]);
            for state in (-4..5).flat_map(|x| (-4..5).flat_map(move |y| [[x, y, 0], [x, y, 1]])) {
                let holds = program.holds(&state, &mut Vec::new()) == Ok(true);
                let all = facts.iter().all(|fact| fact.holds(&state));
                // Each of these conditions but the last is nothing but its facts.
                assert_eq!(all, holds || count == 0, "{state:?}");
            }
        }
        let both = pool.and(small, different).expect("conditions");
        assert_eq!(facts(&pool, both), facts(&pool, small));
    }

    #[test]
    fn numbers_that_do_not_fit_are_left_out() {
        let mut pool = ExprPool::new();
        let x = pool.variable_of_type(VarId(0), Type::Int);
        let huge = pool.int(i64::MAX);
        let product = pool.mul(huge, x).expect("numbers");
        let sum = pool.add(product, product).expect("numbers");
        for condition in [pool.le(product, huge), pool.le(sum, x)] {
            assert!(facts(&pool, condition.expect("numbers")).is_empty());
        }
    }
}
