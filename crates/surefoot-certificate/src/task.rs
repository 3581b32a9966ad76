//! A task with its expressions compiled, evaluated over parts as `docs/semantics.md` says.

use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, TransitionSystem, Type, Value};
use surefoot_policy::{Goal, OutOfDomain};

use crate::expression::{Expression, Slots};
use crate::part::Part;
use crate::verdict::Subject;

/// A distribution may miss 1 by this much.
const PROBABILITY_TOLERANCE: f64 = 1e-8;

/// A task over discrete variables.
#[derive(Debug)]
pub(crate) struct Task {
    pub start: Option<Expression>,
    pub unsafe_states: Expression,
    /// Only if goals end runs.
    pub goal: Option<Expression>,
    pub hold: Option<Expression>,
    pub commands: Vec<Command>,
    /// Whether only applicable outputs compete.
    pub filter: bool,
    /// Whether goals that are unsafe count as safe.
    pub spares_goals: bool,
    /// Whether updates that leave a domain, and undefined guards, are no transitions.
    pub blocks: bool,
    domains: Vec<(i64, i64)>,
}

/// A guarded command.
#[derive(Debug)]
pub(crate) struct Command {
    /// The output of the policy that controls it, if one does.
    pub output: Option<usize>,
    pub guard: Expression,
    pub outcomes: Vec<Outcome>,
    /// Its label and origin, for messages.
    pub name: String,
}

/// One probabilistic effect.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub probability: Expression,
    pub requirements: Vec<Expression>,
    pub assignments: Vec<Assignment>,
}

/// A new value of a variable.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub variable: usize,
    pub value: Expression,
    /// Where the value is another variable plus a number.
    pub shift: Option<(usize, i64)>,
}

/// What an outcome makes of a part.
pub(crate) enum Image<'t> {
    /// It happens nowhere.
    Nothing,
    /// Wherever it happens, it leads here.
    Within(Part),
    /// It may be a mistake of the model, because of this.
    Doubt(&'t Expression, &'static str),
}

impl Task {
    pub fn new(subject: &Subject<'_>) -> Task {
        let (system, property) = (subject.system, subject.property);
        let expression = |id: ExprId| Expression::new(&system.exprs, id);
        let commands = system.commands.iter().map(|command| Command {
            output: command
                .label
                .zip(subject.policy)
                .and_then(|(label, policy)| policy.outputs.iter().position(|&output| output == label)),
            guard: expression(command.guard),
            outcomes: command.outcomes.iter().map(|outcome| Outcome::new(system, outcome)).collect(),
            name: match command.label {
                Some(label) => format!("{} ({})", system.labels[label.index()].name, command.origin),
                None => format!("silent step ({})", command.origin),
            },
        });
        let domains = system.variables.iter().map(|variable| {
            let (lower, upper) = variable.ty.bounds().expect("variables are discrete");
            (lower.into(), upper.into())
        });
        let reading = subject.semantics;
        Task {
            start: property.start.condition.map(expression),
            unsafe_states: expression(property.unsafe_states),
            goal: property.goal.filter(|_| reading.goal != Goal::Ignore).map(expression),
            hold: property.hold.map(expression),
            commands: commands.collect(),
            filter: reading.filter,
            spares_goals: reading.goal == Goal::Strict,
            blocks: reading.out_of_domain == OutOfDomain::Block,
            domains: domains.collect(),
        }
    }

    /// Whether every state of a part is a goal, for sure.
    pub fn is_goal(&self, part: &Part, slots: &mut Slots) -> bool {
        self.goal.as_ref().is_some_and(|goal| goal.over(part, slots).always())
    }

    /// Whether runs end at every state of a part, for sure.
    pub fn ends(&self, part: &Part, slots: &mut Slots) -> bool {
        let fails = |hold: &Expression, slots| {
            let holds = hold.over(part, slots);
            !holds.yes() && !holds.undefined
        };
        self.is_goal(part, slots) || self.hold.as_ref().is_some_and(|hold| fails(hold, slots))
    }

    /// What an outcome that is possible makes of a part.
    pub fn image<'t>(&self, outcome: &'t Outcome, part: &Part, slots: &mut Slots) -> Image<'t> {
        for requirement in &outcome.requirements {
            let holds = requirement.over(part, slots);
            if self.blocks && !holds.yes() {
                return Image::Nothing;
            }
            if !self.blocks && !holds.always() {
                let what = if holds.undefined { "a requirement has no value" } else { "a requirement fails" };
                return Image::Doubt(requirement, what);
            }
        }
        let mut image = part.clone();
        for assignment in &outcome.assignments {
            let values = assignment.value.over(part, slots);
            let (lower, upper) = self.domains[assignment.variable];
            let (least, most) = values.integers();
            let fits = !values.undefined && lower <= least && least <= most && most <= upper;
            if !self.blocks && !fits {
                let what =
                    if values.undefined { "an update has no value" } else { "an update leaves its domain" };
                return Image::Doubt(&assignment.value, what);
            }
            let (least, most) = (least.max(lower), most.min(upper));
            if least > most {
                return Image::Nothing;
            }
            image.0[assignment.variable] = (least as i32, most as i32);
        }
        Image::Within(image)
    }
}

/// Whether numbers are probabilities that sum up to 1.
pub(crate) fn is_distribution(probabilities: &[f64]) -> bool {
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter().all(|p| (0.0..=1.0 + PROBABILITY_TOLERANCE).contains(p))
        && (sum - 1.0).abs() <= PROBABILITY_TOLERANCE
}

impl Outcome {
    fn new(system: &TransitionSystem, outcome: &surefoot_model::Outcome) -> Outcome {
        let expression = |id: ExprId| Expression::new(&system.exprs, id);
        let assignments = outcome.assignments.iter().map(|assignment| Assignment {
            variable: assignment.variable.index(),
            value: expression(assignment.value),
            shift: shift(&system.exprs, assignment.value),
        });
        Outcome {
            probability: expression(outcome.probability),
            requirements: outcome.requirements.iter().map(|r| expression(r.condition)).collect(),
            assignments: assignments.collect(),
        }
    }

    /// What is assigned to a variable.
    pub fn assignment(&self, variable: usize) -> Option<&Assignment> {
        self.assignments.iter().find(|assignment| assignment.variable == variable)
    }
}

/// The variable and the number that an expression adds to it, if it is of that form. Truth values have no such form.
fn shift(pool: &ExprPool, id: ExprId) -> Option<(usize, i64)> {
    let variable = |id: ExprId| match pool.node(id) {
        Node::Variable(variable) if pool.ty(id) == Type::Int => Some(variable.index()),
        _ => None,
    };
    let number = |id: ExprId| match pool.as_constant(id) {
        // So small that sums fit 64 bits.
        Some(Value::Int(value)) if value.unsigned_abs() < 1 << 40 => Some(value),
        _ => None,
    };
    match pool.node(id) {
        Node::Variable(_) => variable(id).map(|variable| (variable, 0)),
        Node::Binary(BinaryOp::Add, a, b) => {
            variable(*a).zip(number(*b)).or_else(|| variable(*b).zip(number(*a)))
        }
        Node::Binary(BinaryOp::Sub, a, b) => variable(*a).zip(number(*b).map(|number| -number)),
        _ => None,
    }
}
