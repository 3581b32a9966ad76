//! Random Boolean expressions.

use surefoot_model::{ExprId, TransitionSystem, Type, VarId};

use super::choices::Choices;
use super::number::{number, real};

/// A Boolean expression, nested up to `depth` operators deep. It may be undefined at some states.
pub fn condition(system: &mut TransitionSystem, choices: &mut Choices<'_>, depth: u32) -> ExprId {
    let kind = if depth == 0 {
        choices.weighted(&[1, 12, 0, 0, 0, 0, 0, 0, 1])
    } else {
        choices.weighted(&[2, 16, 8, 10, 10, 3, 3, 2, 1])
    };
    match kind {
        0 => system.exprs.bool(true),
        1 => {
            let variable = choices.pick(&all_variables(system));
            test(system, choices, variable)
        }
        2 => {
            let a = number(system, choices, depth - 1);
            let b = number(system, choices, depth - 1);
            compare(system, choices, a, b)
        }
        3 | 4 => {
            let a = condition(system, choices, depth - 1);
            let b = condition(system, choices, depth - 1);
            let built = if kind == 3 { system.exprs.and(a, b) } else { system.exprs.or(a, b) };
            built.expect("Booleans")
        }
        5 => {
            let a = condition(system, choices, depth - 1);
            let b = condition(system, choices, depth - 1);
            let exprs = &mut system.exprs;
            let built = match choices.below(4) {
                0 => exprs.not(a),
                1 => exprs.implies(a, b),
                2 => exprs.eq(a, b),
                _ => exprs.ne(a, b),
            };
            built.expect("Booleans")
        }
        6 => {
            let a = condition(system, choices, depth - 1);
            let b = condition(system, choices, depth - 1);
            if choices.one_in(2) {
                let index = number(system, choices, depth - 1);
                return system.exprs.select(&[a, b], index).expect("Booleans");
            }
            let c = condition(system, choices, depth - 1);
            system.exprs.ite(c, a, b).expect("Booleans")
        }
        7 => {
            let a = real(system, choices, depth - 1);
            let b = number(system, choices, depth - 1);
            compare(system, choices, a, b)
        }
        _ => system.exprs.bool(false),
    }
}

/// A condition on one variable.
pub fn test(system: &mut TransitionSystem, choices: &mut Choices<'_>, variable: VarId) -> ExprId {
    let ty = system.variables[variable.index()].ty;
    let (lower, upper) = ty.bounds().expect("random variables are discrete");
    let v = system.exprs.variable_of_type(variable, ty.ty());
    if ty.ty() == Type::Bool {
        return if choices.one_in(2) { system.exprs.not(v).expect("a Boolean") } else { v };
    }
    // Values near the lower bound, where wide domains have their listed states.
    let value = choices.between(lower, upper.min(lower.saturating_add(5)));
    let value = system.exprs.int(i64::from(value));
    compare(system, choices, v, value)
}

/// `a ⋈ b`.
fn compare(system: &mut TransitionSystem, choices: &mut Choices<'_>, a: ExprId, b: ExprId) -> ExprId {
    let exprs = &mut system.exprs;
    let built = match choices.below(6) {
        0 => exprs.eq(a, b),
        1 => exprs.le(a, b),
        2 => exprs.ge(a, b),
        3 => exprs.ne(a, b),
        4 => exprs.lt(a, b),
        _ => exprs.gt(a, b),
    };
    built.expect("numbers")
}

/// `a·x + b·y ⋈ c` for two numbers, or a condition on the only one.
pub fn linear(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let is_number = |v: &VarId| system.variables[v.index()].ty.ty() == Type::Int;
    let numbers: Vec<VarId> = all_variables(system).into_iter().filter(is_number).collect();
    if numbers.is_empty() {
        return condition(system, choices, 0);
    }
    let mut sum = system.exprs.int(0);
    for _ in 0..2 {
        let variable = choices.pick(&numbers);
        let value = system.exprs.variable_of_type(variable, Type::Int);
        let factor = system.exprs.int(i64::from(choices.pick(&[1, -1, 2, -3])));
        let product = system.exprs.mul(factor, value).expect("numbers");
        sum = system.exprs.add(sum, product).expect("numbers");
    }
    let bound = system.exprs.int(i64::from(choices.between(-4, 8)));
    compare(system, choices, sum, bound)
}

/// A conjunction of conditions on one or two variables.
pub fn conjunction(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let all = all_variables(system);
    let tests = (0..=choices.below(2)).map(|_| {
        let variable = choices.pick(&all);
        test(system, choices, variable)
    });
    let tests: Vec<ExprId> = tests.collect();
    system.exprs.all(tests).expect("Booleans")
}

/// The values of some variables, at least `least`.
pub fn values(system: &mut TransitionSystem, choices: &mut Choices<'_>, least: usize) -> ExprId {
    let all = all_variables(system);
    let equations = choices.some(&all, least.min(all.len())).into_iter().map(|variable| {
        let ty = system.variables[variable.index()].ty;
        let (lower, upper) = ty.bounds().expect("random variables are discrete");
        let v = system.exprs.variable_of_type(variable, ty.ty());
        if ty.ty() == Type::Bool {
            return if choices.one_in(2) { v } else { system.exprs.not(v).expect("a Boolean") };
        }
        let value = choices.between(lower, upper.min(lower.saturating_add(5)));
        let value = system.exprs.int(i64::from(value));
        system.exprs.eq(v, value).expect("numbers")
    });
    let equations: Vec<ExprId> = equations.collect();
    system.exprs.all(equations).expect("Booleans")
}

fn all_variables(system: &TransitionSystem) -> Vec<VarId> {
    (0..system.variables.len()).map(|v| VarId(v as u32)).collect()
}
