//! Where steps lead from a box: boxes that hold all successors.

use surefoot_model::expr::{Enclosure, Range, Truth};
use surefoot_model::{Outcome, Program};

use super::problem::Problem;
use super::state_box::StateBox;

/// The effects of all commands, prepared for boxes.
pub struct Images<'p> {
    problem: &'p Problem,
    /// By command and outcome.
    effects: Vec<Vec<Effect>>,
    /// Conditions, and the values with which they end runs.
    ends: Vec<(Program, Truth)>,
    slots: Vec<Enclosure>,
}

/// One outcome.
struct Effect {
    probability: Program,
    assignments: Vec<(usize, Program)>,
}

impl<'p> Images<'p> {
    pub fn new(problem: &'p Problem) -> Images<'p> {
        let system = &problem.task.system;
        let program = |expression| Program::new(&system.exprs, &[expression]);
        let effect = |outcome: &Outcome| Effect {
            probability: program(outcome.probability),
            assignments: outcome
                .assignments
                .iter()
                .map(|assignment| (assignment.variable.index(), program(assignment.value)))
                .collect(),
        };
        let effects =
            system.commands.iter().map(|command| command.outcomes.iter().map(effect).collect()).collect();
        let end = |&(condition, value)| (program(condition), if value { Truth::False } else { Truth::True });
        let ends = problem.sources.iter().map(end).collect();
        Images { problem, effects, ends, slots: Vec::new() }
    }

    /// Whether runs end in all states of a box.
    pub fn end(&mut self, states: &StateBox) -> bool {
        let Images { ends, slots, .. } = self;
        ends.iter()
            .any(|(condition, end)| condition.over_box(&states.lower, &states.upper, slots).truth() == *end)
    }

    /// The commands whose guards are not false in all states of a box: they may be true, or undefined.
    pub fn not_excluded(&mut self, states: &StateBox) -> Vec<usize> {
        let Images { problem, slots, .. } = self;
        let mut truth = |command: &usize| {
            problem.commands[*command].guard.over_box(&states.lower, &states.upper, slots).truth()
        };
        (0..problem.commands.len()).filter(|command| truth(command) != Truth::False).collect()
    }

    /// The part of a box in which a command may be enabled.
    pub fn enabled(&mut self, command: usize, states: &StateBox) -> Option<StateBox> {
        let info = &self.problem.commands[command];
        let part = info.hull.as_ref()?.intersection(states)?;
        let guard = info.guard.over_box(&part.lower, &part.upper, &mut self.slots);
        (guard.truth() != Truth::False).then_some(part).and_then(|part| self.problem.lawful(part))
    }

    /// Boxes that hold all successors of the states of a box by a command.
    pub fn successors(&mut self, command: usize, states: &StateBox) -> Vec<StateBox> {
        let Images { problem, effects, slots, .. } = self;
        let images =
            effects[command].iter().filter_map(|effect| image(effect, states, &problem.domain, slots));
        images.filter_map(|image| problem.lawful(image)).collect()
    }
}

/// A box that holds the successors of the states of a box by an outcome, if there are any.
fn image(
    effect: &Effect,
    states: &StateBox,
    domain: &StateBox,
    slots: &mut Vec<Enclosure>,
) -> Option<StateBox> {
    let probability = effect.probability.over_box(&states.lower, &states.upper, slots);
    if ends_of(probability.values).1 <= 0 {
        return None;
    }
    let mut image = states.clone();
    for (variable, value) in &effect.assignments {
        let value = value.over_box(&states.lower, &states.upper, slots);
        let (least, greatest) = ends_of(value.values);
        let (least, greatest) =
            (least.max(domain.lower[*variable].into()), greatest.min(domain.upper[*variable].into()));
        if least > greatest {
            return None;
        }
        (image.lower[*variable], image.upper[*variable]) = (least as i32, greatest as i32);
    }
    Some(image)
}

/// Integers between which a range lies.
fn ends_of(range: Range) -> (i64, i64) {
    match range {
        Range::Bool { can_be_false, can_be_true } => (i64::from(!can_be_false), i64::from(can_be_true)),
        Range::Int(least, greatest) => (least, greatest),
        Range::Real(least, greatest) => (least.floor() as i64, greatest.ceil() as i64),
    }
}
