//! Random integer expressions, and real ones where a real is wanted.

use surefoot_model::{ExprId, TransitionSystem, Type, VarId};

use super::choices::Choices;
use super::condition::condition;

/// An integer expression, nested up to `depth` operators deep. It may be undefined at some states.
pub fn number(system: &mut TransitionSystem, choices: &mut Choices<'_>, depth: u32) -> ExprId {
    let kind = if depth == 0 {
        choices.weighted(&[3, 5])
    } else {
        choices.weighted(&[3, 5, 3, 3, 2, 1, 2, 3, 2, 1, 1, 1])
    };
    match kind {
        0 => constant(system, choices),
        1 => variable(system, choices),
        2 => linear(system, choices),
        kind => {
            let a = number(system, choices, depth - 1);
            let b = number(system, choices, depth - 1);
            let exprs = &mut system.exprs;
            let built = match kind {
                3 => exprs.add(a, b),
                4 => exprs.sub(a, b),
                5 => exprs.mul(a, b),
                6 if choices.one_in(2) => exprs.min(a, b),
                6 => exprs.max(a, b),
                // A divisor that is never 0, or one that may be.
                7 if choices.one_in(3) => exprs.modulo(a, b),
                7 => {
                    let divisor = exprs.int(choices.pick(&[2, 3, -3, -2]));
                    exprs.modulo(a, divisor)
                }
                8 => {
                    let c = condition(system, choices, depth - 1);
                    system.exprs.ite(c, a, b)
                }
                9 => {
                    let index = number(system, choices, depth - 1);
                    system.exprs.select(&[a, b, a], index)
                }
                10 => match choices.below(2) {
                    0 => exprs.abs(a),
                    _ => exprs.sign(a),
                },
                _ => {
                    let real = real(system, choices, depth - 1);
                    match choices.below(3) {
                        0 => system.exprs.floor(real),
                        1 => system.exprs.ceil(real),
                        _ => system.exprs.truncate(real),
                    }
                }
            };
            built.expect("integers are combined")
        }
    }
}

/// A small constant, rarely one near the end of the integers.
fn constant(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let value = match choices.weighted(&[30, 10, 1]) {
        0 => choices.pick(&[0, 1, 2, 3]),
        1 => choices.pick(&[-1, -2, 4, 5, -3]),
        _ => choices.pick(&[i64::MAX, i64::MIN, i64::from(i32::MIN), 1 << 31, 1 << 40]),
    };
    system.exprs.int(value)
}

/// An integer variable; a constant if there is none.
pub fn variable(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let integers = variables(system, Type::Int);
    if integers.is_empty() {
        return constant(system, choices);
    }
    let id = choices.pick(&integers);
    system.exprs.variable_of_type(id, Type::Int)
}

/// `c + c₁·v₁ + c₂·v₂ + …`.
fn linear(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let mut sum = constant(system, choices);
    for _ in 0..=choices.below(3) {
        let v = variable(system, choices);
        let factor = system.exprs.int(choices.pick(&[1, -1, 2, 0, -3]));
        let term = if choices.one_in(3) { system.exprs.mul(factor, v) } else { Ok(v) };
        sum = system.exprs.add(sum, term.expect("integers")).expect("integers");
    }
    sum
}

/// A real expression.
pub fn real(system: &mut TransitionSystem, choices: &mut Choices<'_>, depth: u32) -> ExprId {
    let a = number(system, choices, depth);
    let b = number(system, choices, depth);
    let half = system.exprs.real(choices.pick(&[0.5, 0.25, -1.5, 0.1]));
    let exprs = &mut system.exprs;
    let built = match choices.weighted(&[4, 4, 1, 1]) {
        0 => exprs.mul(half, a),
        1 => exprs.div(a, b),
        2 => exprs.pow(a, half),
        _ => exprs.log(a, b),
    };
    built.expect("numbers are combined")
}

/// The variables of a type.
pub fn variables(system: &TransitionSystem, ty: Type) -> Vec<VarId> {
    let all = system.variables.iter().enumerate();
    all.filter(|(_, variable)| variable.ty.ty() == ty).map(|(i, _)| VarId(i as u32)).collect()
}
