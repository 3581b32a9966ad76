//! Random start states, unsafe states, goals.

use surefoot_model::{ExprId, Property, Start, TransitionSystem};

use super::Size;
use super::choices::Choices;
use super::condition::{condition, conjunction};

/// A property.
pub fn property(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) -> Property {
    let start = start(system, size, choices);
    let unsafe_states = match choices.weighted(&[8, 4, 1]) {
        0 => conjunction(system, choices),
        1 => condition(system, choices, 3),
        _ => system.exprs.bool(false),
    };
    let goal = choices.one_in(2).then(|| conjunction(system, choices));
    let hold = choices.one_in(5).then(|| condition(system, choices, 2));
    let predicates = (0..choices.below(3)).map(|_| condition(system, choices, 2)).collect();
    Property { name: "random".into(), start, unsafe_states, hold, goal, predicates, policy_file: None }
}

fn start(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) -> Start {
    if size == Size::Wide {
        return Start { condition: None, listed: listed(system, choices) };
    }
    let condition = match choices.weighted(&[6, 3, 3, 1, 1]) {
        0 => Some(start_condition(system, size, choices)),
        1 => {
            let some = (0..2 + choices.below(2)).map(|_| start_condition(system, size, choices));
            let some: Vec<ExprId> = some.collect();
            Some(system.exprs.any(some).expect("Booleans"))
        }
        2 => None,
        3 => Some(system.exprs.bool(true)),
        _ => Some(system.exprs.bool(false)),
    };
    let listed = if condition.is_none() || choices.one_in(6) { listed(system, choices) } else { Vec::new() };
    Start { condition, listed }
}

fn start_condition(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) -> ExprId {
    if size == Size::Deep {
        return condition(system, choices, 1);
    }
    match choices.weighted(&[6, 3]) {
        0 => conjunction(system, choices),
        _ => condition(system, choices, 3),
    }
}

/// Up to four states, possibly the same.
fn listed(system: &TransitionSystem, choices: &mut Choices<'_>) -> Vec<Vec<i32>> {
    let bounds: Vec<(i32, i32)> =
        system.variables.iter().map(|v| v.ty.bounds().expect("random variables are discrete")).collect();
    let state = |choices: &mut Choices<'_>| {
        let value = |choices: &mut Choices<'_>, &(lower, upper): &(i32, i32)| match choices.weighted(&[8, 1])
        {
            0 => choices.between(lower, upper.min(lower.saturating_add(5))),
            _ => choices.between(upper.max(lower.saturating_add(3)) - 3, upper).clamp(lower, upper),
        };
        bounds.iter().map(|bounds| value(choices, bounds)).collect()
    };
    (0..choices.below(5)).map(|_| state(choices)).collect()
}
