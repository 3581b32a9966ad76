//! Brute force: the definition at every state of a box.

use surefoot_policy::certify::{Evidence, Fact, Leaf, Phase, Question, Step};
use surefoot_policy::{Activation, Arithmetic, Policy, PolicyInput, Scorer};

use crate::random::{Asked, Case};

/// What is true of a question.
#[derive(Debug, Default)]
pub struct Truth {
    /// Whether there is any state.
    pub something: bool,
    /// Whether the output can be chosen in some state.
    pub chosen: bool,
    /// Whether another output can be chosen in some state.
    pub other: bool,
    /// For each output, whether it can be chosen in some state among the competing ones alone.
    pub choices: Vec<bool>,
}

/// Calls `visit` with all states between two corners, with one value only for variables that do not `matter`.
pub fn states(lower: &[i32], upper: &[i32], matter: &[bool], mut visit: impl FnMut(&[i32])) {
    if lower.iter().zip(upper).any(|(lower, upper)| lower > upper) {
        return;
    }
    let mut state = lower.to_vec();
    loop {
        visit(&state);
        let moves = |&variable: &usize| matter[variable] && state[variable] < upper[variable];
        let Some(moved) = (0..state.len()).find(moves) else { return };
        state[moved] += 1;
        state[..moved].copy_from_slice(&lower[..moved]);
    }
}

/// The variables that the policy or a fact reads.
pub fn mattering(policy: &Policy, variables: usize, facts: &[Fact]) -> Vec<bool> {
    let mut matter = vec![false; variables];
    for variable in policy.variables() {
        matter[variable.index()] = true;
    }
    for (variable, _) in facts.iter().flat_map(|fact| &fact.terms) {
        matter[variable.index()] = true;
    }
    matter
}

/// The outputs that can be chosen in a state if these compete, and the one in question.
pub fn winners(
    policy: &Policy,
    arithmetic: Arithmetic,
    state: &[i32],
    question: &Question<'_>,
) -> Vec<usize> {
    let competes = |output| output == question.output || question.competing.contains(output);
    policy.possible(arithmetic, state, competes)
}

/// Answers a question by looking at every state.
pub fn truth(case: &Case, asked: &Asked) -> Truth {
    let question = asked.question();
    let mut truth = Truth { choices: vec![false; case.policy.outputs.len()], ..Truth::default() };
    let matter = mattering(&case.policy, case.variables, &asked.facts);
    let (mut lower, mut upper) = asked.core.clone();
    for variable in 0..case.variables {
        // Boxes without states, and variables that do not matter, differ from the core.
        if !matter[variable] || asked.lower[variable] > asked.upper[variable] {
            (lower[variable], upper[variable]) = (asked.lower[variable], asked.upper[variable]);
        }
    }
    states(&lower, &upper, &matter, |state| {
        if !asked.facts.iter().all(|fact| fact.holds(state)) {
            return;
        }
        truth.something = true;
        let winners = winners(&case.policy, case.arithmetic, state, &question);
        truth.chosen |= winners.contains(&asked.output);
        truth.other |= winners.iter().any(|&winner| winner != asked.output);
        let alone = if asked.competing.contains(asked.output) {
            winners
        } else {
            case.policy.possible(case.arithmetic, state, |output| asked.competing.contains(output))
        };
        for winner in alone {
            truth.choices[winner] = true;
        }
    });
    truth
}

/// Checks that a state is one of those in question and that the output can be chosen there.
pub fn check_witness(case: &Case, question: &Question<'_>, state: &[i32]) -> Result<(), String> {
    if state.len() != case.variables || !question.covers(state) {
        return Err(format!("the witness {state:?} is not one of the states in question"));
    }
    let winners = winners(&case.policy, case.arithmetic, state, question);
    if winners.contains(&question.output) {
        Ok(())
    } else {
        Err(format!("at the witness {state:?} only {winners:?} can be chosen"))
    }
}

/// Checks each part of the evidence that an output is never chosen. Of parts with very many states, which only facts
/// make, some are looked at.
pub fn check_evidence(case: &Case, question: &Question<'_>, evidence: &Evidence) -> Result<(), String> {
    let matter = mattering(&case.policy, case.variables, question.facts);
    let mut result = Ok(());
    let whole = evidence.leaves(question.lower, question.upper, |Leaf { lower, upper, phases, step }| {
        let mut visit = |state: &[i32]| {
            let is_in = || phases.is_empty() || phases_hold(case, state, phases);
            if result.is_ok() && !step_holds(case, question, state, step) && is_in() {
                result = Err(format!("the step {step:?} is wrong at {state:?}"));
            }
        };
        let (mut low, mut high) = (lower.to_vec(), upper.to_vec());
        for end in [false, true] {
            narrow(&mut low, &mut high, lower, upper, end);
            states(&low, &high, &matter, &mut visit);
        }
    });
    if whole { result } else { Err("the evidence is malformed".into()) }
}

/// Limits a box to a few thousand states at one of its ends.
fn narrow(low: &mut [i32], high: &mut [i32], lower: &[i32], upper: &[i32], at_upper_end: bool) {
    let mut left = 4096;
    for variable in 0..lower.len() {
        let width = (i64::from(upper[variable]) - i64::from(lower[variable]) + 1).clamp(1, left);
        left /= width;
        low[variable] = lower[variable];
        high[variable] = upper[variable];
        let span = (width - 1) as i32;
        if upper[variable] < lower[variable] {
            continue;
        }
        if at_upper_end {
            low[variable] = upper[variable] - span;
        } else {
            high[variable] = lower[variable] + span;
        }
    }
}

/// Whether the arguments of neurons have these phases, beyond the doubt of rounding.
fn phases_hold(case: &Case, state: &[i32], phases: &[Phase]) -> bool {
    let Scorer::Network(network) = &case.policy.scorer else { return false };
    let single = matches!(case.arithmetic, Arithmetic::F32 | Arithmetic::AnyF32);
    let input = |input: &PolicyInput| match *input {
        PolicyInput::Variable(variable) => f64::from(state[variable.index()]),
        PolicyInput::Constant(value) => f64::from(value),
    };
    // Values, and bounds of what rounding did to them.
    let mut values: Vec<(f64, f64)> = case.policy.inputs.iter().map(|from| (input(from), 0.0)).collect();
    for (node, layer) in network.chain().expect("phases are those of chains").into_iter().enumerate() {
        let number = |parameter: surefoot_policy::Parameter| {
            if single { f64::from(parameter.single) } else { parameter.double }
        };
        let argument = |neuron: usize| {
            let bias = number(layer.bias(neuron));
            let terms = layer.row(neuron).map(|(from, weight)| {
                let (weight, (value, error)) = (number(weight), values[from]);
                (weight * value, weight.abs() * (error + 1e-13 * value.abs()))
            });
            terms.fold((bias, 1e-13 * bias.abs()), |sum, term| (sum.0 + term.0, sum.1 + term.1))
        };
        let arguments: Vec<(f64, f64)> = (0..layer.neurons()).map(argument).collect();
        for phase in phases.iter().filter(|phase| phase.node as usize == node) {
            let (value, error) = arguments[phase.neuron as usize];
            let holds = if phase.active { value > error } else { value < -error };
            if !holds {
                return false;
            }
        }
        let activate = |(value, error): (f64, f64)| match layer.activation() {
            Activation::Relu => (value.max(0.0), error),
            Activation::LeakyRelu { slope } if value < 0.0 => (number(slope) * value, error),
            Activation::Tanh => (value.tanh(), error + 1e-13),
            Activation::Identity | Activation::LeakyRelu { .. } => (value, error),
            other => panic!("{other:?} is not in random chains"),
        };
        values = arguments.into_iter().map(activate).collect();
    }
    true
}

fn step_holds(case: &Case, question: &Question<'_>, state: &[i32], step: Step) -> bool {
    let facts = || question.facts.iter().all(|fact| fact.holds(state));
    match step {
        Step::Split { .. } | Step::Phases { .. } => false,
        Step::Empty => !facts(),
        Step::Enumerated => {
            !facts() || !winners(&case.policy, case.arithmetic, state, question).contains(&question.output)
        }
        Step::Dominated { by } => {
            let by = by as usize;
            let pair = |output| output == by || output == question.output;
            by != question.output
                && question.competing.contains(by)
                && (!facts() || case.policy.possible(case.arithmetic, state, pair) == [by])
        }
    }
}
