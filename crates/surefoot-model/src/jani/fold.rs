//! Constant folding, conversion between number types, and substitution of variables, all without changing where an
//! expression is defined.

use rustc_hash::FxHashMap;

use crate::expr::{ExprId, ExprPool, Node, TypeError};
use crate::value::{Type, Value};
use crate::variable::VarId;

/// Replaces `id`, just built, by a simpler expression if there is one.
pub(super) fn fold(pool: &mut ExprPool, id: ExprId) -> ExprId {
    let (node, ty) = (pool.node(id).clone(), pool.ty(id));
    pool.simplified(node, ty)
}

/// `elements[index]`; an index that is constant and in range leaves just the element.
pub(super) fn select(pool: &mut ExprPool, elements: &[ExprId], index: ExprId) -> Result<ExprId, TypeError> {
    let id = pool.select(elements, index)?;
    Ok(fold(pool, id))
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
        fold(pool, id)
    })
}

/// A disjunction without trivial parts.
pub(super) fn disjunction(pool: &mut ExprPool, conditions: impl IntoIterator<Item = ExprId>) -> ExprId {
    let start = pool.bool(false);
    conditions.into_iter().fold(start, |any, condition| {
        let id = pool.or(any, condition).expect("conditions are Boolean");
        fold(pool, id)
    })
}

/// `¬condition`.
pub(super) fn negation(pool: &mut ExprPool, condition: ExprId) -> ExprId {
    let id = pool.not(condition).expect("conditions are Boolean");
    fold(pool, id)
}

/// `a = b` of operands that have one type.
pub(super) fn equality(pool: &mut ExprPool, a: ExprId, b: ExprId) -> ExprId {
    let id = pool.eq(a, b).expect("operands have one type");
    fold(pool, id)
}

/// `if condition then a else b`.
pub(super) fn choice(pool: &mut ExprPool, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
    let id = pool.ite(condition, a, b).expect("branches have one type");
    fold(pool, id)
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
        conditions.push(fold(pool, id));
    }
    if let Some(upper) = upper {
        let upper = pool.constant(upper);
        let id = pool.le(value, upper).expect("bounds are numbers");
        conditions.push(fold(pool, id));
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
        match pool.node(id) {
            Node::Variable(variable) => self.replacements.get(variable).copied().unwrap_or(id),
            node => {
                let node = node.with_operands(|operand| self.done[&operand]);
                let ty = pool.ty(id);
                pool.simplified(node, ty)
            }
        }
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
        let folded = fold(&mut pool, sum);
        assert_eq!(pool.as_constant(folded), Some(Value::Int(4)));
        let undefined = pool.modulo(two, zero).unwrap();
        assert_eq!(fold(&mut pool, undefined), undefined);
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
