//! Brute force: all states of a system, and what holds there by the point evaluator.

use proptest::prelude::*;
use surefoot_model::{ExprId, ExprPool, Outcome, TransitionSystem, Type, Value, VarId};
use surefoot_solve::Bound;

/// All states of a system with small domains.
pub fn all_states(system: &TransitionSystem) -> Vec<Vec<i32>> {
    let mut states = vec![Vec::new()];
    for variable in &system.variables {
        let (lower, upper) = variable.ty.bounds().expect("discrete");
        states = states
            .iter()
            .flat_map(|state| (lower..=upper).map(move |value| [state.as_slice(), &[value]].concat()))
            .collect();
    }
    states
}

/// The value of an expression at a state; `None` if it is undefined.
pub fn value(pool: &ExprPool, types: &[Type], id: ExprId, state: &[i32]) -> Option<Value> {
    let point = |v: VarId| match types[v.index()] {
        Type::Bool => Value::Bool(state[v.index()] != 0),
        _ => Value::Int(state[v.index()].into()),
    };
    pool.evaluate(id, point).ok()
}

pub fn types(system: &TransitionSystem) -> Vec<Type> {
    system.variables.iter().map(|variable| variable.ty.ty()).collect()
}

/// The state after an outcome, if the outcome is possible.
pub fn successor(system: &TransitionSystem, outcome: &Outcome, state: &[i32]) -> Option<Vec<i32>> {
    let types = types(system);
    for requirement in &outcome.requirements {
        if value(&system.exprs, &types, requirement.condition, state) != Some(Value::Bool(true)) {
            return None;
        }
    }
    let mut after = state.to_vec();
    for assignment in &outcome.assignments {
        let new = value(&system.exprs, &types, assignment.value, state)?.as_int()?;
        let (lower, upper) = system.variables[assignment.variable.index()].ty.bounds()?;
        if !(i64::from(lower)..=i64::from(upper)).contains(&new) {
            return None;
        }
        after[assignment.variable.index()] = new as i32;
    }
    Some(after)
}

/// Random bounds, some of them outside of the domains; numbers are taken modulo what there is.
pub fn bounds(system: &TransitionSystem, genes: &[(u8, u8, bool)]) -> Vec<Bound> {
    let bound = |&(v, c, at_least): &(u8, u8, bool)| {
        let v = usize::from(v) % system.variables.len();
        let (lower, upper) = system.variables[v].ty.bounds().expect("discrete");
        let size = i64::from(upper) - i64::from(lower) + 3;
        let c = i64::from(lower) - 1 + i64::from(c) % size;
        let v = VarId(v as u32);
        if at_least { Bound::AtLeast(v, c) } else { Bound::AtMost(v, c) }
    };
    genes.iter().map(bound).collect()
}

pub fn bound_genes(most: usize) -> impl Strategy<Value = Vec<(u8, u8, bool)>> {
    prop::collection::vec(any::<(u8, u8, bool)>(), 0..=most)
}
