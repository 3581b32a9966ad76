//! Constant folding, conversion between number types, and substitution of variables, all without changing where an
//! expression is defined.

use rustc_hash::FxHashMap;

use crate::expr::{BinaryOp, ExprId, ExprPool, Node, TypeError, UnaryOp};
use crate::value::{Type, Value};
use crate::variable::VarId;

/// Replaces `id`, just built over `operands`, by a simpler expression if constants among the operands allow it.
pub(super) fn fold(pool: &mut ExprPool, id: ExprId, operands: &[ExprId]) -> ExprId {
    if operands.iter().all(|&operand| pool.as_constant(operand).is_some()) {
        return match pool.evaluate(id, |_| unreachable!("constants have no variables")) {
            Ok(value) => pool.constant(value),
            Err(_) => id,
        };
    }
    let truth = |id: ExprId| pool.as_constant(id).and_then(Value::as_bool);
    match *pool.node(id) {
        Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            // `true ∧ b` is `b`, `false ∧ b` is `false`; for `∨` the other way round.
            let neutral = op == BinaryOp::And;
            match (truth(a), truth(b)) {
                (Some(value), _) => {
                    if value == neutral {
                        b
                    } else {
                        a
                    }
                }
                (_, Some(value)) => {
                    if value == neutral {
                        a
                    } else {
                        b
                    }
                }
                _ => id,
            }
        }
        Node::Ite(condition, then, otherwise) => match truth(condition) {
            Some(value) => {
                let ty = pool.ty(id);
                convert(pool, if value { then } else { otherwise }, ty)
            }
            None => id,
        },
        _ => id,
    }
}

/// `elements[index]`; an index that is constant and in range leaves just the element.
pub(super) fn select(pool: &mut ExprPool, elements: &[ExprId], index: ExprId) -> Result<ExprId, TypeError> {
    let id = pool.select(elements, index)?;
    let element = match pool.as_constant(index) {
        Some(Value::Int(i)) => usize::try_from(i).ok().and_then(|i| elements.get(i)),
        _ => None,
    };
    let ty = pool.ty(id);
    Ok(element.map_or(id, |&element| convert(pool, element, ty)))
}

/// `id` as an expression of type `ty`: an integer becomes a real where one is wanted, everything else stays.
pub(super) fn convert(pool: &mut ExprPool, id: ExprId, ty: Type) -> ExprId {
    if ty != Type::Real || pool.ty(id) != Type::Int {
        return id;
    }
    if let Some(Value::Int(i)) = pool.as_constant(id) {
        return pool.real(i as f64);
    }
    let zero = pool.real(0.0);
    pool.add(id, zero).expect("a number plus a number")
}

/// A conjunction without trivial parts.
pub(super) fn conjunction(pool: &mut ExprPool, conditions: impl IntoIterator<Item = ExprId>) -> ExprId {
    let start = pool.bool(true);
    conditions.into_iter().fold(start, |all, condition| {
        let id = pool.and(all, condition).expect("conditions are Boolean");
        fold(pool, id, &[all, condition])
    })
}

/// A disjunction without trivial parts.
pub(super) fn disjunction(pool: &mut ExprPool, conditions: impl IntoIterator<Item = ExprId>) -> ExprId {
    let start = pool.bool(false);
    conditions.into_iter().fold(start, |any, condition| {
        let id = pool.or(any, condition).expect("conditions are Boolean");
        fold(pool, id, &[any, condition])
    })
}

/// `¬condition`.
pub(super) fn negation(pool: &mut ExprPool, condition: ExprId) -> ExprId {
    if let Node::Unary(UnaryOp::Not, inner) = *pool.node(condition) {
        return inner;
    }
    let id = pool.not(condition).expect("conditions are Boolean");
    fold(pool, id, &[condition])
}

/// `a = b` of operands that have one type.
pub(super) fn equality(pool: &mut ExprPool, a: ExprId, b: ExprId) -> ExprId {
    let id = pool.eq(a, b).expect("operands have one type");
    fold(pool, id, &[a, b])
}

/// `if condition then a else b`.
pub(super) fn choice(pool: &mut ExprPool, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
    let id = pool.ite(condition, a, b).expect("branches have one type");
    fold(pool, id, &[condition, a, b])
}

/// `lower ≤ value ≤ upper`, with bounds that may be missing.
pub(super) fn within(
    pool: &mut ExprPool,
    value: ExprId,
    lower: Option<Value>,
    upper: Option<Value>,
) -> ExprId {
    let mut conditions = Vec::new();
    if let Some(lower) = lower {
        let lower = pool.constant(lower);
        let id = pool.le(lower, value).expect("bounds are numbers");
        conditions.push(fold(pool, id, &[lower, value]));
    }
    if let Some(upper) = upper {
        let upper = pool.constant(upper);
        let id = pool.le(value, upper).expect("bounds are numbers");
        conditions.push(fold(pool, id, &[value, upper]));
    }
    conjunction(pool, conditions)
}

/// Replaces variables by expressions of their types.
#[derive(Debug, Default)]
pub(super) struct Substitution {
    replacements: FxHashMap<VarId, ExprId>,
    done: FxHashMap<ExprId, ExprId>,
}

impl Substitution {
    /// Replaces each variable of the map by its expression.
    pub(super) fn new(replacements: FxHashMap<VarId, ExprId>) -> Self {
        Substitution { replacements, done: FxHashMap::default() }
    }

    /// A substitution that also makes other replacements.
    pub(super) fn extended(&self, others: &FxHashMap<VarId, ExprId>) -> Self {
        let mut replacements = self.replacements.clone();
        replacements.extend(others);
        Substitution::new(replacements)
    }

    /// The expression after replacement.
    pub(super) fn apply(&mut self, pool: &mut ExprPool, root: ExprId) -> ExprId {
        if self.replacements.is_empty() {
            return root;
        }
        for id in pool.reachable([root]) {
            if !self.done.contains_key(&id) {
                let replaced = self.replace(pool, id);
                self.done.insert(id, replaced);
            }
        }
        self.done[&root]
    }

    /// One node, whose operands are done.
    fn replace(&self, pool: &mut ExprPool, id: ExprId) -> ExprId {
        let node = pool.node(id).clone();
        if let Node::Variable(variable) = node {
            return self.replacements.get(&variable).copied().unwrap_or(id);
        }
        let mut operands = Vec::new();
        let mut changed = false;
        node.for_each_operand(|operand| {
            let replaced = self.done[&operand];
            changed |= replaced != operand;
            operands.push(replaced);
        });
        if !changed {
            return id;
        }
        let ty = pool.ty(id);
        let built = rebuild(pool, &node, &operands).expect("replacements have the types of their variables");
        let folded = match node {
            Node::Select { .. } => built,
            _ => fold(pool, built, &operands),
        };
        convert(pool, folded, ty)
    }
}

/// The node over other operands of the same types.
fn rebuild(pool: &mut ExprPool, node: &Node, operands: &[ExprId]) -> Result<ExprId, TypeError> {
    use BinaryOp as B;
    match (node, operands) {
        (Node::Unary(UnaryOp::Not, _), &[a]) => pool.not(a),
        (Node::Unary(UnaryOp::Floor, _), &[a]) => pool.floor(a),
        (Node::Unary(UnaryOp::Ceil, _), &[a]) => pool.ceil(a),
        (Node::Binary(op, ..), &[a, b]) => match op {
            B::And => pool.and(a, b),
            B::Or => pool.or(a, b),
            B::Eq => pool.eq(a, b),
            B::Lt => pool.lt(a, b),
            B::Le => pool.le(a, b),
            B::Add => pool.add(a, b),
            B::Sub => pool.sub(a, b),
            B::Mul => pool.mul(a, b),
            B::Div => pool.div(a, b),
            B::Mod => pool.modulo(a, b),
            B::Pow => pool.pow(a, b),
            B::Log => pool.log(a, b),
            B::Min => pool.min(a, b),
            B::Max => pool.max(a, b),
        },
        (Node::Ite(..), &[c, t, e]) => pool.ite(c, t, e),
        (Node::Select { .. }, [elements @ .., index]) => select(pool, elements, *index),
        _ => unreachable!("nodes without operands do not change"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fold_and_undefined_operations_stay() {
        let mut pool = ExprPool::new();
        let (two, zero) = (pool.int(2), pool.int(0));
        let sum = pool.add(two, two).unwrap();
        let folded = fold(&mut pool, sum, &[two, two]);
        assert_eq!(pool.as_constant(folded), Some(Value::Int(4)));
        let undefined = pool.modulo(two, zero).unwrap();
        assert_eq!(fold(&mut pool, undefined, &[two, zero]), undefined);
    }

    #[test]
    fn neutral_operands_disappear() {
        let mut pool = ExprPool::new();
        let x = pool.variable_of_type(VarId(0), Type::Bool);
        let (yes, no) = (pool.bool(true), pool.bool(false));
        assert_eq!(conjunction(&mut pool, [yes, x]), x);
        assert_eq!(conjunction(&mut pool, [x, no]), no);
        assert_eq!(disjunction(&mut pool, [no, x]), x);
        assert_eq!(disjunction(&mut pool, [x, yes]), yes);
        let not_x = negation(&mut pool, x);
        assert_eq!(negation(&mut pool, not_x), x);
    }

    #[test]
    fn a_chosen_integer_branch_becomes_real_where_the_choice_is_real() {
        let mut pool = ExprPool::new();
        let (yes, one, half) = (pool.bool(true), pool.int(1), pool.real(0.5));
        let chosen = choice(&mut pool, yes, one, half);
        assert_eq!(pool.as_constant(chosen), Some(Value::Real(1.0)));
    }

    #[test]
    fn substitution_replaces_everywhere_and_folds() {
        let mut pool = ExprPool::new();
        let x = pool.variable_of_type(VarId(0), Type::Int);
        let y = pool.variable_of_type(VarId(1), Type::Int);
        let one = pool.int(1);
        let sum = pool.add(x, y).unwrap();
        let chosen = pool.select(&[sum, y], x).unwrap();
        let mut substitution = Substitution::new(FxHashMap::from_iter([(VarId(0), one)]));
        assert_eq!(substitution.apply(&mut pool, chosen), y);
        let expected = pool.add(one, y).unwrap();
        assert_eq!(substitution.apply(&mut pool, sum), expected);
    }
}
