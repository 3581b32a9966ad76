//! Whether an abstract path is real (paper 001, appendix F): first whether there is a run of the environment that takes its steps, then whether the policy takes them.
//!
//! The second question is answered like the first, by a solver over the first state of the run. The policy comes in when a run of the environment was found: if the policy does something
//! else at a state of it, a box around that state is widened as long as the policy never takes the step there, and the solver is told that the run
//! does not go through the box. There are finitely many states, so this ends: with a run of the policy, or with boxes that show that there is none.

use surefoot_model::VarId;
use surefoot_solve::{Answer, AnySolver, Bound, Lit, Path, Step};

use super::Run;
use super::options::Refinement;
use super::search::{AbstractPath, End};
use crate::outcome::{Trace, TraceStep};
use crate::step::Transition;
use crate::symbolic::{Choice, StateBox, Stop};
use crate::task::TaskError;

/// Boxes that may be bounded to answer whether a barrier may be wider.
const BOXES: u64 = 200;

/// Why there is no run along an abstract path.
#[derive(Debug, Default)]
pub struct Spurious {
    /// Steps that no run can take that does the rest; the number of all steps stands for the end of the path. What makes them possible matters.
    pub steps: Vec<usize>,
    /// States that no run can avoid that takes these steps, if there must be such states: then the environment has a run, but the policy has none.
    pub barriers: Vec<Barrier>,
    /// Values that all runs of the environment along the path have where the last barrier is, if they were asked for.
    pub entailed: Vec<(VarId, i32)>,
}

/// States before a step of the path in which the policy never takes it.
#[derive(Debug)]
pub struct Barrier {
    /// The step.
    pub at: usize,
    /// The states.
    pub states: StateBox,
    /// The one of them that a run was in.
    pub state: Vec<i32>,
    /// Makes runs stay out of them.
    literal: Lit,
}

impl Spurious {
    /// What of a question without answer was needed: the start, the steps and the end of a path in its order, and barriers.
    fn of_core(path: &Path<'_, AnySolver>, question: &[Lit], mut barriers: Vec<Barrier>) -> Spurious {
        let core = path.core();
        barriers.retain(|barrier| core.contains(&barrier.literal));
        let steps = question[1..].iter().enumerate().filter(|(_, literal)| core.contains(literal));
        barriers.sort_by_key(|barrier| barrier.at);
        Spurious { steps: steps.map(|(step, _)| step).collect(), barriers, entailed: Vec::new() }
    }
}

impl Run<'_> {
    /// A run along an abstract path, or why there is none.
    pub(super) fn concretize(
        &mut self,
        abstract_path: &AbstractPath,
    ) -> Result<Result<Trace, Spurious>, Stop> {
        let AbstractPath { steps, end, .. } = abstract_path;
        let solver = self.options.solver.maker()();
        let path = Path::new(&self.problem.task.system, solver);
        let mut path = path.expect("variables are discrete");
        path.set_interrupt(Some(self.control.poll()));
        let mut question = vec![self.start_literal(&mut path)];
        for (at, &step) in steps.iter().enumerate() {
            let goes_on = self.goes_on(&mut path, at);
            let possible = path.push(step);
            question.push(path.and(&[goes_on, possible]));
            if ask(&mut path, &question)?.is_none() {
                return Ok(Err(Spurious::of_core(&path, &question, Vec::new())));
            }
        }
        let end = Ending::new(self, &mut path, steps.len(), *end);
        question.push(end.literal);
        let mut barriers: Vec<Barrier> = Vec::new();
        loop {
            let barrier = size_of::<Barrier>() + 3 * size_of_val(&self.problem.domain.lower[..]);
            self.look_around_with(path.memory() + (barriers.len() * barrier) as u64)?;
            let mut all = question.clone();
            all.extend(barriers.iter().map(|barrier| barrier.literal));
            let Some(first) = ask(&mut path, &all)? else { break };
            match self.follow(first, steps, &end, &path)? {
                Followed::ToTheEnd(trace) => return Ok(Ok(trace)),
                Followed::Until { at, state, output, unless } => {
                    let states = self.widen(&state, output)?;
                    let literal = path.new_literal();
                    let mut clause = vec![!literal];
                    clause.extend(unless.map(|error| !error));
                    for bound in states.bounds(&self.problem.domain) {
                        clause.push(path.bound(at, !bound));
                    }
                    path.add_clause(&clause);
                    barriers.push(Barrier { at, states, state, literal });
                }
            }
        }
        if barriers.is_empty() {
            return Ok(Err(Spurious::of_core(&path, &question, barriers)));
        }
        // The first step up to which barriers are enough, and the barriers that are needed.
        for at in 0..=steps.len() {
            let mut all = question.clone();
            let before = barriers.iter().filter(|barrier| barrier.at <= at);
            all.extend(before.map(|barrier| barrier.literal));
            if ask(&mut path, &all)?.is_none() {
                barriers.retain(|barrier| barrier.at <= at);
                let mut spurious = Spurious::of_core(&path, &question, barriers);
                if let (Refinement::Values, Some(last)) = (self.options.refinement, spurious.barriers.last())
                {
                    spurious.entailed = entailed(&mut path, &question, last)?;
                }
                return Ok(Err(spurious));
            }
        }
        Err(Stop::Error(TaskError::Internal("an abstract path became possible again".into())))
    }

    /// The literal of the start states.
    fn start_literal(&self, path: &mut Path<'_, AnySolver>) -> Lit {
        let start = &self.problem.task.property.start;
        let mut alternatives: Vec<Lit> =
            start.condition.iter().map(|&condition| path.condition(0, condition).is_true).collect();
        for state in &start.listed {
            let values: Vec<Lit> =
                Bound::of_state(state).into_iter().map(|bound| path.bound(0, bound)).collect();
            alternatives.push(path.and(&values));
        }
        path.or(&alternatives)
    }

    /// The literal that says that runs do not end at a state of the path.
    fn goes_on(&self, path: &mut Path<'_, AnySolver>, at: usize) -> Lit {
        let mut literals = Vec::new();
        for &(condition, value) in &self.problem.sources {
            let truths = path.condition(at, condition);
            literals.push(if value { truths.is_true } else { truths.is_false });
        }
        path.and(&literals)
    }

    /// Follows the policy along the steps of a path from a start state, from which the environment allows them.
    fn follow(
        &mut self,
        first: Vec<i32>,
        steps: &[Step],
        ending: &Ending,
        path: &Path<'_, AnySolver>,
    ) -> Result<Followed, Stop> {
        let mut trace = Trace { start: first, steps: Vec::new() };
        for (at, &step) in steps.iter().enumerate() {
            let state = trace.last().to_vec();
            let successors = self.successors(&state)?;
            let is_taken = |next: &&Transition| next.command == step.command && next.outcome == step.outcome;
            let Some(next) = successors.iter().find(is_taken) else {
                let Some(output) = self.problem.commands[step.command].output else {
                    let message = format!("a solver took command {} where it is not possible", step.command);
                    return Err(Stop::Error(TaskError::Internal(message)));
                };
                return Ok(Followed::Until { at, state, output, unless: None });
            };
            let Transition { command, outcome, state, .. } = next.clone();
            trace.steps.push(TraceStep { command, outcome, state });
        }
        let last = trace.last().to_vec();
        if self.status(&last)?.is_unsafe {
            return Ok(Followed::ToTheEnd(trace));
        }
        // Where the model is wrong, this says how. Otherwise the policy does not choose the command that is.
        self.successors(&last)?;
        for &(command, error) in &ending.errors {
            if let Some(output) = self.problem.commands[command].output.filter(|_| path.holds(error)) {
                return Ok(Followed::Until { at: steps.len(), state: last, output, unless: Some(error) });
            }
        }
        Err(Stop::Error(TaskError::Internal(
            "a solver found an error of the model where there is none".into(),
        )))
    }

    /// A box around a state in which the policy never chooses an output that it does not choose in the state.
    fn widen(&mut self, state: &[i32], output: usize) -> Result<StateBox, Stop> {
        let mut states = StateBox::of_state(state);
        let domain = &self.problem.domain;
        for variable in 0..state.len() {
            let mut tried = states.clone();
            (tried.lower[variable], tried.upper[variable]) = (domain.lower[variable], domain.upper[variable]);
            if self.never(&tried, output)? {
                states = tried;
                continue;
            }
            // As far down and as far up as it goes: between values for which it holds and those for which it does not.
            for is_up in [false, true] {
                let end = if is_up { domain.upper[variable] } else { domain.lower[variable] };
                let (mut good, mut bad) =
                    (i64::from(state[variable]), i64::from(end) + if is_up { 1 } else { -1 });
                let mut middle = i64::from(end);
                while (good - bad).abs() > 1 {
                    let mut tried = states.clone();
                    let ends = if is_up { &mut tried.upper } else { &mut tried.lower };
                    ends[variable] = middle as i32;
                    if self.never(&tried, output)? {
                        good = middle;
                        states = tried;
                    } else {
                        bad = middle;
                    }
                    middle = i64::midpoint(good, bad);
                }
            }
        }
        Ok(states)
    }

    fn never(&mut self, states: &StateBox, output: usize) -> Result<bool, Stop> {
        Ok(matches!(self.abstraction.policy.test(states, output, BOXES)?, Choice::Never))
    }
}

/// How far the policy takes the steps of a path.
enum Followed {
    /// To a bad state.
    ToTheEnd(Trace),
    /// Until it does not choose the output of this step in this state. After the last step: that of a command that would be an error, unless it is none.
    Until { at: usize, state: Vec<i32>, output: usize, unless: Option<Lit> },
}

/// That the last state of a path is bad.
struct Ending {
    literal: Lit,
    /// Commands, and literals that imply that taking them is an error.
    errors: Vec<(usize, Lit)>,
}

impl Ending {
    fn new(run: &Run<'_>, path: &mut Path<'_, AnySolver>, at: usize, end: End) -> Ending {
        let problem = run.problem;
        if end == End::Unsafe {
            let literal = path.condition(at, problem.unsafe_states).is_true;
            return Ending { literal, errors: Vec::new() };
        }
        let mut alternatives: Vec<Lit> =
            problem.conditions.iter().map(|&condition| path.undefined(at, condition)).collect();
        let goes_on = run.goes_on(path, at);
        let mut errors = Vec::new();
        for command in 0..problem.commands.len() {
            if problem.has_errors() {
                let undefined = path.undefined(at, problem.task.system.commands[command].guard);
                alternatives.push(path.and(&[goes_on, undefined]));
            }
            let guard = path.condition(at, problem.task.system.commands[command].guard).is_true;
            let mut wrong = Vec::new();
            if let Some(distribution) = problem.distributions[command] {
                wrong.push(!path.condition(at, distribution).is_true);
            }
            if problem.has_errors() {
                for outcome in 0..problem.task.system.commands[command].outcomes.len() {
                    wrong.push(path.impossible(at, Step { command, outcome }));
                }
            }
            let wrong = path.or(&wrong);
            let error = path.and(&[goes_on, guard, wrong]);
            // A literal of its own, so that barriers can rule out this error alone.
            let chosen = path.new_literal();
            path.add_clause(&[!chosen, error]);
            errors.push((command, chosen));
            alternatives.push(chosen);
        }
        let literal = path.new_literal();
        alternatives.push(!literal);
        path.add_clause(&alternatives);
        Ending { literal, errors }
    }
}

/// The values of variables at a barrier that are the same for all runs of the environment.
fn entailed(
    path: &mut Path<'_, AnySolver>,
    question: &[Lit],
    barrier: &Barrier,
) -> Result<Vec<(VarId, i32)>, Stop> {
    let mut entailed = Vec::new();
    for (index, &value) in barrier.state.iter().enumerate() {
        let variable = VarId(index as u32);
        let value = i64::from(value);
        let mut differs = false;
        for bound in [Bound::AtLeast(variable, value + 1), Bound::AtMost(variable, value - 1)] {
            let mut all = question.to_vec();
            all.push(path.bound(barrier.at, bound));
            differs |= ask(path, &all)?.is_some();
        }
        if !differs {
            entailed.push((variable, value as i32));
        }
    }
    Ok(entailed)
}

/// The first state of a run for which all literals are true.
fn ask(path: &mut Path<'_, AnySolver>, question: &[Lit]) -> Result<Option<Vec<i32>>, Stop> {
    match path.query(question) {
        Answer::Unknown => Err(Stop::Limit),
        Answer::Unsatisfiable => Ok(None),
        Answer::Satisfiable => Ok(Some(path.first_state())),
    }
}
