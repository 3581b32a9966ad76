//! A task with its expressions compiled, evaluated over parts as `docs/semantics.md` says.

use std::collections::BTreeMap;

use surefoot_model::{BinaryOp, ExprId, ExprPool, Node, TransitionSystem, Type, Value};
use surefoot_policy::{Goal, OutOfDomain};

use crate::certificate::Fact;
use crate::expression::{Expression, Slots};
use crate::part::Part;
use crate::verdict::Subject;

/// A distribution may miss 1 by this much.
const PROBABILITY_TOLERANCE: f64 = 1e-8;

/// Conditions with more disjuncts than this are not taken apart.
const MOST_ALTERNATIVES: usize = 16;

/// A task over discrete variables.
#[derive(Debug)]
pub(crate) struct Task {
    pub start: Option<Expression>,
    /// The conditions of which one must be true for that, with facts that then hold.
    pub starts: Vec<(Expression, Vec<Fact>)>,
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
    /// Where the value is a sum of variables with factors, and a number.
    pub linear: Option<(Vec<(u32, i32)>, i64)>,
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
            starts: property.start.condition.map_or(Vec::new(), |start| {
                let alternative = |&id: &ExprId| (expression(id), facts(&system.exprs, id));
                alternatives(&system.exprs, start).iter().map(alternative).collect()
            }),
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
            linear: linear(&system.exprs, &[(assignment.value, 1)]),
        });
        Outcome {
            probability: expression(outcome.probability),
            requirements: outcome.requirements.iter().map(|r| expression(r.condition)).collect(),
            assignments: assignments.collect(),
        }
    }

    /// What is assigned to a variable: of several assignments, the last one counts.
    pub fn assignment(&self, variable: usize) -> Option<&Assignment> {
        self.assignments.iter().rfind(|assignment| assignment.variable == variable)
    }
}

/// Conditions of which one must be true for another one to be true: its disjuncts, if they are few.
fn alternatives(pool: &ExprPool, condition: ExprId) -> Vec<ExprId> {
    let mut alternatives = vec![condition];
    let mut position = 0;
    while let Some(&id) = alternatives.get(position) {
        match *pool.node(id) {
            Node::Binary(BinaryOp::Or, a, b) => _ = alternatives.splice(position..=position, [a, b]),
            _ => position += 1,
        }
        if alternatives.len() > MOST_ALTERNATIVES {
            return vec![condition];
        }
    }
    alternatives
}

/// Facts that hold wherever a condition is true: its conjuncts that compare linear sums.
fn facts(pool: &ExprPool, condition: ExprId) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut open = vec![condition];
    // Shared parts may make a condition exponentially longer than it is written.
    for _ in 0..1000 {
        let Some(id) = open.pop() else { break };
        // That `smaller + strict ≤ greater`.
        let mut at_most = |smaller: ExprId, greater: ExprId, strict: i64| {
            let sum = linear(pool, &[(smaller, 1), (greater, -1)]);
            facts.extend(sum.map(|(terms, number)| Fact { terms, limit: -number - strict }));
        };
        match *pool.node(id) {
            Node::Binary(BinaryOp::And, a, b) => open.extend([b, a]),
            Node::Binary(BinaryOp::Le, a, b) => at_most(a, b, 0),
            Node::Binary(BinaryOp::Lt, a, b) => at_most(a, b, 1),
            Node::Binary(BinaryOp::Eq, a, b) => {
                at_most(a, b, 0);
                at_most(b, a, 0);
            }
            _ => {}
        }
    }
    facts
}

/// A sum of integer expressions with factors as one of variables, ascending, and a number, if it is one that has small
/// numbers.
fn linear(pool: &ExprPool, sum: &[(ExprId, i64)]) -> Option<(Vec<(u32, i32)>, i64)> {
    let small = |value: i64| (value.unsigned_abs() < 1 << 40).then_some(value);
    let constant = |id: ExprId| match pool.as_constant(id) {
        Some(Value::Int(value)) => Some(value),
        _ => None,
    };
    let (mut factors, mut number) = (BTreeMap::new(), 0_i64);
    let mut open = sum.to_vec();
    // Shared parts may make an expression exponentially longer than it is written.
    for _ in 0..1000 {
        let Some((id, factor)) = open.pop() else {
            let factors = factors.into_iter().filter(|&(_, factor)| factor != 0);
            let terms = factors.map(|(variable, factor)| Some((variable, i32::try_from(factor).ok()?)));
            return Some((terms.collect::<Option<_>>()?, number));
        };
        match *pool.node(id) {
            _ if pool.ty(id) != Type::Int => return None,
            Node::Constant(Value::Int(value)) => number = small(number + small(value.checked_mul(factor)?)?)?,
            Node::Variable(variable) => {
                let sum = factors.entry(variable.0).or_insert(0_i64);
                *sum = small(*sum + factor)?;
            }
            Node::Binary(BinaryOp::Add, a, b) => open.extend([(a, factor), (b, factor)]),
            Node::Binary(BinaryOp::Sub, a, b) => open.extend([(a, factor), (b, -factor)]),
            Node::Binary(BinaryOp::Mul, a, b) => {
                let (value, rest) = constant(a).map(|a| (a, b)).or_else(|| constant(b).map(|b| (b, a)))?;
                let value = i32::try_from(value.checked_mul(factor)?).ok()?;
                open.push((rest, value.into()));
            }
            _ => return None,
        }
    }
    None
}
