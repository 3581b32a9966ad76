//! Laws: linear sums of variables that no step changes, whatever the policy does, such as the number of packages in all.
//!
//! A sum `Σ aᵢ·xᵢ` is conserved if each outcome of each command leaves it as it is. Where new values are linear, that is a system of linear equations for the
//! factors `a`: for each outcome, the change of the sum is again a sum over the state before, and the factor of each variable in it must be 0, and so must the constant. Variables that
//! a guard fixes count as constants there; variables that get values of another kind have the factor 0. The solutions are a vector space; each vector of a basis
//! is a law, with the least and the greatest value that it has in start states. All reachable states obey the laws: start states do, and steps keep the sums.
//!
//! Boxes cannot say such things, but they hold for every region at once. So engines look only at states that obey the laws, and regions of proofs have them as facts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use num_bigint::BigInt;
use num_rational::BigRational;
use rustc_hash::FxHashSet;
use surefoot_model::expr::Linear;
use surefoot_model::{ExprId, Inequality, Node, Outcome, Predicate, Value, VarId, Variable};
use surefoot_solve::{Answer, AnySolver, Backend, Poll, States};

use super::problem::Problem;
use super::state_box::StateBox;

/// Systems with more variables are not looked at: elimination takes the third power of their number.
const MOST_VARIABLES: usize = 512;

/// How often the solver asks whether to stop while it looks for one end of the range of a sum. What takes longer than that is no law: of tiles that change places, say, it would take
/// an explanation for each arrangement to see that their sum is always the same.
const PATIENCE: usize = 1_000;

/// An inequality, and the value that it has in all reachable states.
#[derive(Debug, Clone)]
pub struct Law {
    /// The inequality.
    pub inequality: Inequality,
    /// Its value.
    pub value: bool,
}

impl Law {
    /// Whether a state obeys it.
    pub fn holds(&self, state: &[i32]) -> bool {
        self.inequality.holds(state) == self.value
    }

    /// As `Σ factor · variable ≤ limit`.
    pub fn at_most(&self) -> (Vec<(VarId, i32)>, i64) {
        let at_least = self.inequality.at_least();
        if self.value {
            // Factors of an inequality can be negated.
            let negated = self.inequality.terms().iter().map(|&(variable, factor)| (variable, -factor));
            (negated.collect(), -at_least)
        } else {
            (self.inequality.terms().to_vec(), at_least - 1)
        }
    }
}

/// Laws as text: one for each sum.
pub fn describe_laws(laws: &[Law], variables: &[Variable]) -> Vec<String> {
    let mut rest: Vec<&Law> = laws.iter().collect();
    let mut texts = Vec::new();
    while let Some(first) = rest.first().map(|law| &law.inequality) {
        let is_about = |law: &&Law| law.inequality.terms() == first.terms();
        let (same, others): (Vec<&Law>, Vec<&Law>) = rest.iter().partition(|law| is_about(law));
        let least = same.iter().find(|law| law.value).map(|law| law.inequality.at_least());
        let greatest = same.iter().find(|law| !law.value).map(|law| law.inequality.at_least() - 1);
        let sum = first.display_sum(variables);
        texts.push(match (least, greatest) {
            (Some(least), Some(greatest)) if least == greatest => format!("{sum} = {least}"),
            (Some(least), Some(greatest)) => format!("{least} ≤ {sum} ≤ {greatest}"),
            (Some(least), None) => format!("{sum} ≥ {least}"),
            (None, greatest) => format!("{sum} ≤ {}", greatest.expect("a law has a bound")),
        });
        rest = others;
    }
    texts
}

/// The laws of a problem; some may be missing if a limit is reached, or if the range of a sum is hard to find.
pub fn laws(problem: &Problem, solver: Backend, poll: Poll) -> Vec<Law> {
    let sums = conserved(problem, &poll);
    let states = States::with_solver(&problem.task.system, solver.maker()());
    let mut starts = Starts { problem, states: states.expect("variables are discrete") };
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    starts.states.set_interrupt(Some(Arc::new(move || count.fetch_add(1, Relaxed) >= PATIENCE || poll())));
    let mut laws = Vec::new();
    for sum in sums {
        let negated = sum.terms.iter().map(|&(variable, factor)| (variable, -factor)).collect();
        for sum in [Linear { terms: negated, constant: 0 }, sum] {
            asked.store(0, Relaxed);
            let Some(greatest) = starts.greatest(&sum) else { continue };
            // Not beyond the greatest value, unless that is so in all states of the domains.
            let beyond = Linear { constant: -greatest - 1, ..sum };
            let StateBox { lower, upper } = &problem.domain;
            let law = Inequality::not_negative(&beyond, lower, upper);
            laws.extend(law.map(|(inequality, is_negated)| Law { inequality, value: is_negated }));
        }
    }
    laws
}

/// A basis of the sums that no step changes; empty if a limit is reached.
fn conserved(problem: &Problem, poll: &Poll) -> Vec<Linear> {
    let variables = problem.domain.lower.len();
    if variables > MOST_VARIABLES {
        return Vec::new();
    }
    let mut gains = FxHashSet::default();
    for (command, info) in problem.task.system.commands.iter().zip(&problem.commands) {
        let Some(hull) = &info.hull else { continue };
        for outcome in &command.outcomes {
            add_gains(problem, hull, outcome, &mut gains);
        }
    }
    let mut gains: Vec<Vec<(usize, i64)>> = gains.into_iter().collect();
    gains.sort_unstable();
    let mut equations = Equations { rows: Vec::new(), variables };
    for gain in gains {
        if poll() {
            return Vec::new();
        }
        equations.add(gain);
    }
    equations.solutions().into_iter().filter_map(integers).collect()
}

/// Adds what an outcome, taken from states of a box, adds to sums: for each variable before the step, and for 1, how much of it each assigned variable gains. With
/// the factors of a sum, these must add up to 0.
fn add_gains(
    problem: &Problem,
    hull: &StateBox,
    outcome: &Outcome,
    gains: &mut FxHashSet<Vec<(usize, i64)>>,
) {
    let pool = &problem.task.system.exprs;
    let number = |variable: VarId| {
        let (lower, upper) = (hull.lower[variable.index()], hull.upper[variable.index()]);
        (lower == upper).then_some(i64::from(lower))
    };
    let constant = |id: ExprId| match (pool.as_constant(id), pool.node(id)) {
        (Some(Value::Int(value)), _) => Some(value),
        (Some(Value::Bool(value)), _) => Some(value.into()),
        (_, Node::Variable(variable)) => number(*variable),
        _ => None,
    };
    let mut of: BTreeMap<Option<VarId>, Vec<(usize, i64)>> = BTreeMap::new();
    for assignment in &outcome.assignments {
        let variable = assignment.variable;
        let old = match number(variable) {
            Some(value) => Linear { terms: Vec::new(), constant: value },
            None => Linear { terms: vec![(variable, 1)], constant: 0 },
        };
        let new = Linear::of(pool, assignment.value, constant);
        let Some(gain) = new.and_then(|new| new.minus(&old)) else {
            gains.insert(vec![(variable.index(), 1)]);
            continue;
        };
        for (before, factor) in gain.terms {
            of.entry(Some(before)).or_default().push((variable.index(), factor));
        }
        if gain.constant != 0 {
            of.entry(None).or_default().push((variable.index(), gain.constant));
        }
    }
    gains.extend(of.into_values());
}

/// Linear equations `Σ factor · a = 0`, in reduced echelon form: each row has a first factor 1, in a column in which all others have 0.
struct Equations {
    rows: Vec<(usize, Vec<BigRational>)>,
    variables: usize,
}

impl Equations {
    fn add(&mut self, terms: impl IntoIterator<Item = (usize, i64)>) {
        let number = |value: i64| BigRational::from_integer(BigInt::from(value));
        let mut row = vec![number(0); self.variables];
        for (variable, factor) in terms {
            row[variable] += number(factor);
        }
        for (first, other) in &self.rows {
            subtract(&mut row, other, *first);
        }
        let Some(first) = row.iter().position(|factor| *factor != number(0)) else { return };
        let scale = row[first].clone();
        for factor in &mut row {
            *factor /= &scale;
        }
        for (_, other) in &mut self.rows {
            subtract(other, &row, first);
        }
        self.rows.push((first, row));
    }

    /// A basis of the solutions.
    fn solutions(&self) -> Vec<Vec<BigRational>> {
        let number = |value: i64| BigRational::from_integer(BigInt::from(value));
        let is_free = |column: &usize| self.rows.iter().all(|(first, _)| first != column);
        let solution = |free: usize| {
            let mut solution = vec![number(0); self.variables];
            solution[free] = number(1);
            for (first, row) in &self.rows {
                solution[*first] = -row[free].clone();
            }
            solution
        };
        (0..self.variables).filter(is_free).map(solution).collect()
    }
}

/// Makes a column of a row 0 by subtracting a multiple of another row, which has 1 there.
fn subtract(row: &mut [BigRational], other: &[BigRational], column: usize) {
    let times = row[column].clone();
    if times == BigRational::from_integer(BigInt::from(0)) {
        return;
    }
    for (factor, other) in row.iter_mut().zip(other) {
        *factor -= &times * other;
    }
}

/// The sum with these factors times their common denominator, if it has small numbers. Boxes can say themselves that a single variable never changes.
fn integers(factors: Vec<BigRational>) -> Option<Linear> {
    let mut scale = BigInt::from(1);
    for factor in &factors {
        scale *= (factor * &scale).denom();
    }
    let mut terms = Vec::new();
    for (variable, factor) in factors.into_iter().enumerate() {
        let factor = i64::try_from((factor * &scale).to_integer()).ok()?;
        if factor != 0 {
            terms.push((VarId(variable as u32), factor));
        }
    }
    let is_small = |&(_, factor): &(VarId, i64)| factor.unsigned_abs() < 1 << 16;
    (terms.len() > 1 && terms.iter().all(is_small)).then_some(Linear { terms, constant: 0 })
}

/// Start states.
struct Starts<'p> {
    problem: &'p Problem,
    states: States<'p, AnySolver>,
}

impl Starts<'_> {
    /// The greatest value of a sum in start states; `None` if there are none, if the numbers are too large, or if a limit is reached.
    fn greatest(&mut self, sum: &Linear) -> Option<i64> {
        let StateBox { lower, upper } = &self.problem.domain;
        let end = |&(variable, factor): &(VarId, i64)| {
            let end = if factor > 0 { upper } else { lower };
            factor * i64::from(end[variable.index()])
        };
        let start = &self.problem.task.property.start;
        let listed = start.listed.iter().map(|state| value(sum, state)).max();
        let Some(condition) = start.condition else { return listed };
        let is_start = self.states.condition(condition).is_true;
        // No start state has more than `most`. Usually none has more than the first that is found; else larger and larger steps are tried.
        let (mut greatest, mut most, mut step) = (listed, sum.terms.iter().map(end).sum(), 1);
        while greatest.is_none_or(|greatest| greatest < most) {
            let next = greatest.map(|greatest| most.min(greatest + step));
            let mut question = vec![is_start];
            if let Some(next) = next {
                let beyond = Linear { terms: sum.terms.clone(), constant: -next };
                let (inequality, is_negated) = Inequality::not_negative(&beyond, lower, upper)?;
                let literal = self.states.predicate(&Predicate::Linear(inequality));
                question.push(if is_negated { !literal } else { literal });
            }
            match self.states.query(&question) {
                Answer::Satisfiable => {
                    greatest = Some(value(sum, &self.states.state()));
                    step *= 2;
                }
                Answer::Unsatisfiable => {
                    most = next? - 1;
                    step = 1;
                }
                Answer::Unknown => return None,
            }
        }
        greatest
    }
}

/// The value of a sum in a state.
fn value(sum: &Linear, state: &[i32]) -> i64 {
    sum.terms.iter().map(|&(v, factor)| factor * i64::from(state[v.index()])).sum()
}
