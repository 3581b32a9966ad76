//! Random start states, unsafe states, goals.

use surefoot_model::{ExprId, Property, Start, TransitionSystem};

use super::Size;
use super::choices::Choices;
use super::condition::{condition, conjunction, linear, values};

/// A property.
pub fn property(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) -> Property {
    let start = start(system, size, choices);
    let mut unsafe_states = match choices.weighted(&[8, 1, 4, 1]) {
        0 => values(system, choices, 2),
        1 => conjunction(system, choices),
        2 => condition(system, choices, 3),
        _ => system.exprs.bool(false),
    };
    // Start states that are unsafe at once are the least interesting ones.
    if let Some(start) = start.condition
        && choices.one_in(2)
    {
        let elsewhere = system.exprs.not(start).expect("a Boolean");
        unsafe_states = system.exprs.and(unsafe_states, elsewhere).expect("Booleans");
    }
    let goal = match choices.weighted(&[5, 4, 1]) {
        0 => None,
        1 => Some(values(system, choices, 1)),
        _ => Some(condition(system, choices, 3)),
    };
    let hold = choices.one_in(5).then(|| condition(system, choices, 2));
    let predicates = (0..choices.below(3)).map(|_| condition(system, choices, 2)).collect();
    Property { name: "random".into(), start, unsafe_states, hold, goal, predicates, policy_file: None }
}

/// A predicate for abstraction: a linear comparison of one or two variables, or any condition.
pub fn predicate(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    match choices.weighted(&[8, 6, 3]) {
        0 => condition(system, choices, 0),
        1 => linear(system, choices),
        _ => condition(system, choices, 2),
    }
}

fn start(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) -> Start {
    if size == Size::Wide {
        return Start { condition: None, listed: listed(system, choices) };
    }
    let condition = match choices.weighted(&[12, 6, 6, 1, 1]) {
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
    match choices.weighted(&[8, 2, 2]) {
        0 => values(system, choices, 4),
        1 => conjunction(system, choices),
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
    (0..choices.pick(&[1, 1, 2, 3, 4, 0, 1, 2])).map(|_| state(choices)).collect()
}
