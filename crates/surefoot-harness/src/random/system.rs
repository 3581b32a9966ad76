//! Random variables, labels and commands.

use surefoot_model::{
    Assignment, Command, ExprId, Label, LabelId, Outcome, Requirement, TransitionSystem, Type, VarId,
    Variable, VariableType,
};

use super::Size;
use super::choices::Choices;
use super::condition::{condition, conjunction};
use super::number::{number, real, variable, variables};

const NAMES: [&str; 5] = ["v", "w", "x", "y", "z"];
const LABELS: [&str; 4] = ["a", "b", "c", "d"];

/// Adds variables and labels.
pub fn add_variables(system: &mut TransitionSystem, size: Size, choices: &mut Choices<'_>) {
    let labels = 1 + choices.below(LABELS.len());
    system.labels = LABELS[..labels].iter().map(|&name| Label { name: name.into() }).collect();
    let count = 1 + choices.below(NAMES.len());
    for name in &NAMES[..count] {
        system.variables.push(Variable::new(*name, domain(size, choices)));
    }
}

fn domain(size: Size, choices: &mut Choices<'_>) -> VariableType {
    let large = match size {
        Size::Small => false,
        Size::Wide => choices.one_in(2),
        Size::Deep => true,
    };
    if !large && choices.one_in(4) {
        return VariableType::Bool;
    }
    let lower = choices.pick(&[0, 0, -1, 1, -2, -3]);
    match (size, large) {
        (Size::Wide, true) => match choices.below(4) {
            0 => VariableType::Int { lower, upper: 5000 },
            1 => VariableType::Int { lower, upper: 1_000_000_000 },
            2 => VariableType::Int { lower: i32::MAX - 7000, upper: i32::MAX },
            _ => VariableType::Int { lower: i32::MIN, upper: i32::MAX },
        },
        (Size::Deep, true) => VariableType::Int { lower, upper: lower + choices.pick(&[5, 9, 12, 16]) },
        _ => VariableType::Int { lower, upper: lower + choices.pick(&[1, 2, 0, 3, 4, 5]) },
    }
}

/// Adds a command.
pub fn add_command(system: &mut TransitionSystem, choices: &mut Choices<'_>) {
    // Silent steps are one label more.
    let label = Some(choices.below(system.labels.len() + 1)).filter(|&label| label < system.labels.len());
    let guard = match choices.weighted(&[3, 6, 2]) {
        0 => system.exprs.bool(true),
        1 => conjunction(system, choices),
        _ => condition(system, choices, 3),
    };
    let probabilities = distribution(system, choices);
    let outcomes = probabilities.into_iter().map(|probability| outcome(system, probability, choices));
    let outcomes = outcomes.collect();
    system.commands.push(Command {
        label: label.map(|label| LabelId(label as u32)),
        guard,
        outcomes,
        origin: format!("command {}", system.commands.len()),
    });
}

/// Probabilities of one to three outcomes: mostly constants, sometimes wrong ones.
fn distribution(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> Vec<ExprId> {
    const CONSTANT: [&[f64]; 7] = [
        &[0.5, 0.5],
        &[0.25, 0.75],
        &[0.0, 1.0],
        &[0.5, 0.25, 0.25],
        &[1.0, 0.0],
        &[0.5, 0.0, 0.5],
        &[1.0, 0.0, 0.0],
    ];
    const WRONG: [&[f64]; 4] = [&[0.5], &[0.5, 0.4], &[1.5, -0.5], &[0.0]];
    let exprs = &mut system.exprs;
    let constants: &[f64] = match choices.weighted(&[50, 30, 10, 1]) {
        0 => return vec![exprs.int(1)],
        1 => CONSTANT[choices.below(CONSTANT.len())],
        2 => return state_dependent(system, choices),
        _ => WRONG[choices.below(WRONG.len())],
    };
    constants.iter().map(|&p| exprs.real(p)).collect()
}

/// `p` and `1 - p`, where `p` is mostly but not always a probability.
fn state_dependent(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> Vec<ExprId> {
    let p = match choices.weighted(&[4, 4, 1]) {
        0 => {
            let c = condition(system, choices, 1);
            let (zero, one) = (system.exprs.int(0), system.exprs.int(1));
            system.exprs.ite(c, zero, one)
        }
        1 => {
            let v = variable(system, choices);
            let scale = system.exprs.int(choices.pick(&[2, 3, 4]));
            system.exprs.div(v, scale)
        }
        _ => Ok(real(system, choices, 1)),
    };
    let p = p.expect("numbers");
    let one = system.exprs.int(1);
    let rest = system.exprs.sub(one, p).expect("numbers");
    vec![p, rest]
}

fn outcome(system: &mut TransitionSystem, probability: ExprId, choices: &mut Choices<'_>) -> Outcome {
    let all: Vec<VarId> = (0..system.variables.len()).map(|v| VarId(v as u32)).collect();
    let least = usize::from(!choices.one_in(8));
    let targets = choices.some(&all, least);
    let assignments = targets.into_iter().take(3).map(|variable| {
        let value = match system.variables[variable.index()].ty {
            VariableType::Bool => new_truth(system, choices),
            _ => new_number(system, variable, choices),
        };
        Assignment { variable, value }
    });
    let assignments = assignments.collect();
    let mut requirements = Vec::new();
    if choices.one_in(10) {
        let condition = condition(system, choices, 2);
        requirements.push(Requirement { condition, message: "a random requirement".into() });
    }
    Outcome { probability, assignments, requirements }
}

fn new_truth(system: &mut TransitionSystem, choices: &mut Choices<'_>) -> ExprId {
    let booleans = variables(system, Type::Bool);
    let v = system.exprs.variable_of_type(choices.pick(&booleans), Type::Bool);
    match choices.below(4) {
        0 => system.exprs.bool(choices.one_in(2)),
        1 => system.exprs.not(v).expect("a Boolean"),
        2 => v,
        _ => condition(system, choices, 2),
    }
}

/// A value for an integer variable. Most stay in the domain.
fn new_number(system: &mut TransitionSystem, target: VarId, choices: &mut Choices<'_>) -> ExprId {
    let (lower, upper) = system.variables[target.index()].ty.bounds().expect("discrete");
    let v = system.exprs.variable_of_type(target, Type::Int);
    let (low, high) = (system.exprs.int(lower.into()), system.exprs.int(upper.into()));
    let step = system.exprs.int(choices.pick(&[1, -1, 2]));
    match choices.weighted(&[12, 1, 1, 20, 6, 1]) {
        0 => {
            let value = choices.between(lower, upper.min(lower.saturating_add(8)));
            system.exprs.int(value.into())
        }
        1 => system.exprs.add(v, step).expect("integers"),
        2 => variable(system, choices),
        // Steps that stop at the ends of the domain, and steps that go round.
        3 => {
            let next = system.exprs.add(v, step).expect("integers");
            let next = system.exprs.min(next, high).expect("integers");
            system.exprs.max(next, low).expect("integers")
        }
        4 => {
            let size = system.exprs.int(i64::from(upper) - i64::from(lower) + 1);
            let value = number(system, choices, 1);
            let offset = system.exprs.modulo(value, size).expect("integers");
            system.exprs.add(offset, low).expect("integers")
        }
        _ => number(system, choices, 2),
    }
}
