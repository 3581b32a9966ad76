//! Predicate abstraction of what a policy does, with predicates that are found by counterexamples (CEGAR; papers 001 and 004).
//!
//! With few predicates, abstract states are large, and a path to an unsafe one need not be real. The engine looks for such a path (`search.rs`) and for a run along it
//! (`concretize.rs`). If there is none, new predicates see to it that this path is none any more (`refine.rs`), and the search begins again,
//! with what it knows already. It ends with a run to an unsafe state, or with abstract states that hold none: the proof, as in [`crate::pa`].

mod coarse;
mod concretize;
mod distance;
mod options;
mod refine;
mod search;
mod witness;

use std::time::{Duration, Instant};

use crate::control::{Control, Progress};
use crate::explicit::list::Listed;
use crate::outcome::{self, StopReason, Verdict};
use crate::pa::abstraction::Abstraction;
use crate::pa::{Cause, Iteration, Proof, Source, Statistics};
use crate::random::Random;
use crate::reduction::{follow, left_out, lift_regions, project, reduced_task};
use crate::step::{Status, Stepper, Transition};
use crate::symbolic::{
    Conclusion, End, Problem, StateBox, Stop, conclude, describe_laws, laws, list_reachable, suits,
};
use crate::task::{Task, TaskError};
use coarse::Coarse;
use distance::Distance;
pub use options::{Begin, Laws, Options, Refinement, Search, SplitPoint, Variables};
use search::Known;

/// Time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(50);

/// Verifies a task by predicate abstraction. The predicates of its property, if it has some, are the first ones.
///
/// There are up to four attempts, all but the last with half of the limits that are left. The first knows the laws of the task, if there are any, and ends with the first path that is
/// spurious. In the second, variables that neither the policy nor the property reads are left out: what is safe without them is safe. The third is about the task as it is,
/// the last one knows its laws again.
///
/// # Errors
/// The task does not suit this engine, or its model is wrong at a reachable state.
pub fn verify(task: &Task, options: Options, control: &Control<'_>) -> Result<Proof, TaskError> {
    suits(task, "ppa")?;
    let began = Instant::now();
    let lawful = lawful(task, options, control);
    let mut plain = options;
    let mut unchecked = None;
    let first = control.half();
    if let Some(problem) = lawful.as_ref().filter(|_| options.laws == Laws::InTurn) {
        let mut run = Run::new(problem, options, &first, began);
        run.rounds = 0;
        let found = run.search();
        if !matches!(found, Err(Stop::Limit)) {
            // No use to list states again.
            plain.list = 0;
        }
        if let Ok(End::Safe(regions)) = &found {
            // The check of a proof with laws may take longer than another proof: it is kept for the end.
            let regions = regions.clone();
            let proof = run.conclude(task, found, &first)?;
            if !matches!(proof.outcome.verdict, Verdict::Unknown(_)) || control.exhausted(0).is_some() {
                return Ok(proof);
            }
            unchecked = Some((run, regions));
        } else if is_answer(&found) {
            return run.conclude(task, found, control);
        }
    }
    if options.laws != Laws::Obeyed
        && let Some(proof) = verify_projection(task, options, control, began)?
    {
        return Ok(proof);
    }
    if lawful.is_none() || options.laws == Laws::InTurn {
        let problem = Problem::new(task);
        let half = control.half();
        let mut run = Run::new(&problem, plain, if lawful.is_some() { &half } else { control }, began);
        let found = run.search();
        if lawful.is_none() || is_answer(&found) || control.exhausted(0).is_some() {
            return run.conclude(task, found, control);
        }
    }
    if let Some((run, regions)) = unchecked {
        return run.conclude(task, Ok(End::Safe(regions)), control);
    }
    let problem = lawful.as_ref().expect("else all is done above");
    let mut run = Run::new(problem, plain, control, began);
    let found = run.search();
    run.conclude(task, found, control)
}

/// A task that has laws, of which only states that obey them are looked at.
fn lawful(task: &Task, options: Options, control: &Control<'_>) -> Option<Problem> {
    if options.laws == Laws::Ignored {
        return None;
    }
    let mut problem = Problem::new(task);
    problem.obey(laws(&problem, options.solver, control.poll()));
    (!problem.laws.is_empty()).then_some(problem)
}

/// Whether more limits or other predicates would change nothing.
fn is_answer(found: &Result<End, Stop>) -> bool {
    matches!(found, Ok(End::Safe(_) | End::Unsafe(_)) | Err(Stop::Error(_)))
}

/// Verifies a task without the variables that neither the policy nor the property reads. If a path to an unsafe state is none with them, or if half of the limits is used up, that
/// says nothing.
fn verify_projection(
    task: &Task,
    options: Options,
    control: &Control<'_>,
    began: Instant,
) -> Result<Option<Proof>, TaskError> {
    let Some(projection) = project(task) else { return Ok(None) };
    let problem = Problem::new(&reduced_task(task, &projection));
    let half = control.half();
    let mut run = Run::new(&problem, options, &half, began);
    run.statistics.left_out = left_out(&projection);
    let found = match run.search() {
        Ok(End::Safe(regions)) => {
            Some(End::Safe(lift_regions(&projection, &StateBox::of_domains(task), regions)))
        }
        Ok(End::Unsafe(trace)) => {
            let states = trace.steps.iter().map(|step| step.state.clone());
            follow(task, &projection, &trace.start, states, control)?.map(End::Unsafe)
        }
        // The model need not be wrong at a state that is reachable in the original.
        Ok(End::Unknown(_)) | Err(Stop::Limit | Stop::Error(TaskError::Model(_))) => None,
        Err(Stop::Error(error)) => return Err(error),
    };
    found.map(|found| run.conclude(task, Ok(found), control)).transpose()
}

/// The state of a run.
struct Run<'p> {
    problem: &'p Problem,
    control: &'p Control<'p>,
    options: Options,
    began: Instant,
    abstraction: Abstraction<'p>,
    stepper: Stepper<'p>,
    random: Random,
    distance: Distance,
    coarse: Coarse,
    known: Known,
    /// Bytes of the abstract states of the present search.
    search_bytes: u64,
    /// How many paths may be spurious before it is given up.
    rounds: usize,
    /// Start states that were found.
    starts: Vec<Vec<i32>>,
    statistics: Statistics,
    reported: Instant,
    stopped: Option<StopReason>,
}

impl<'p> Run<'p> {
    fn new(problem: &'p Problem, options: Options, control: &'p Control<'p>, began: Instant) -> Run<'p> {
        let mut abstraction = Abstraction::new(problem, options.enhancements, options.solver, control);
        abstraction.add_atoms(&[problem.unsafe_states], Source::Unsafe);
        abstraction.add_atoms(&problem.task.property.predicates, Source::Given);
        Run {
            problem,
            control,
            options,
            began,
            abstraction,
            stepper: Stepper::new(&problem.task),
            random: Random::new(options.seed, 1),
            distance: Distance::new(&problem.task.system.exprs, problem.unsafe_states),
            coarse: Coarse::default(),
            known: Known::default(),
            search_bytes: 0,
            rounds: usize::MAX,
            starts: Vec::new(),
            statistics: Statistics::default(),
            reported: Instant::now(),
            stopped: None,
        }
    }

    /// What was found, about the task itself, with its proof.
    fn conclude(
        &self,
        task: &Task,
        found: Result<End, Stop>,
        control: &Control<'_>,
    ) -> Result<Proof, TaskError> {
        let options = self.options;
        let mut statistics = self.statistics();
        let stopped = self.stopped.or(self.abstraction.stopped).or_else(|| control.exhausted(self.memory()));
        let conclusion = conclude(task, found, stopped, options.solver, options.check, control)?;
        statistics.check = conclusion.check.map_or(Duration::ZERO, |check| check.time);
        let counts = outcome::Statistics {
            time: self.began.elapsed(),
            memory: statistics.memory,
            variables: task.system.variables.len(),
            ..outcome::Statistics::default()
        };
        let outcome = conclusion.outcome(counts);
        let Conclusion { certificate, check, .. } = conclusion;
        let predicates = self.abstraction.predicates.describe();
        let laws = describe_laws(&self.problem.laws, &self.problem.task.system.variables);
        Ok(Proof { outcome, statistics, predicates, laws, certificate, check })
    }

    fn search(&mut self) -> Result<End, Stop> {
        if self.options.begin == Begin::Commands {
            self.add_commands();
        }
        if let Some(state) = self.abstraction.states.undefined_start()? {
            return Err(self.problem.undefined_start(&state));
        }
        if self.options.list > 0
            && let Listed::Unsafe(trace) =
                list_reachable(&self.problem.task, self.options.list, self.control)?
        {
            return Ok(End::Unsafe(trace));
        }
        loop {
            let asked = self.abstraction.tests();
            let path = match self.find_path()? {
                Ok(path) => path,
                Err(cells) => {
                    let began = Instant::now();
                    let Run { abstraction, control, known, stopped, .. } = self;
                    let regions = abstraction.regions(&cells, |memory| {
                        *stopped = control.exhausted(memory + known.memory());
                        if stopped.is_some() { Err(Stop::Limit) } else { Ok(()) }
                    });
                    self.statistics.certificate = began.elapsed();
                    return Ok(End::Safe(regions?));
                }
            };
            let spurious = match self.concretize(&path)? {
                Ok(trace) => return Ok(End::Unsafe(trace)),
                Err(spurious) => spurious,
            };
            if self.statistics.iterations.len() >= self.rounds {
                return Ok(End::Unknown(StopReason::Abstraction));
            }
            let before = self.abstraction.predicates.len();
            let predicates = self.abstraction.predicates.counts();
            let mut added = self.refine(&path, &spurious)?;
            if added == 0 {
                added = self.refine_by_all_steps(&path);
            }
            if added == 0 {
                added = self.bisect(|_| true);
            }
            if added == 0 {
                let message = "a path is spurious though all states are told apart";
                return Err(Stop::Error(TaskError::Internal(message.into())));
            }
            self.carry_over(before);
            self.statistics.iterations.push(Iteration {
                predicates,
                states: self.statistics.states,
                steps: path.steps.len() as u64,
                cause: if spurious.barriers.is_empty() { Cause::Environment } else { Cause::Policy },
                added: added as u64,
                tests: self.abstraction.tests().since(&asked),
                time: self.began.elapsed(),
            });
        }
    }

    fn status(&mut self, state: &[i32]) -> Result<Status, Stop> {
        self.stepper.status(state).map_err(|error| Stop::Error(TaskError::Model(error)))
    }

    /// The steps of the policy from a state that is reachable.
    fn successors(&mut self, state: &[i32]) -> Result<Vec<Transition>, Stop> {
        if self.status(state)?.ends_run {
            return Ok(Vec::new());
        }
        self.stepper.successors(state).map_err(|error| Stop::Error(TaskError::Model(error)))
    }

    /// Bytes of everything that grows, roughly.
    fn memory(&self) -> u64 {
        self.known.memory() + self.search_bytes + self.coarse.memory() + self.abstraction.memory()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            predicates: self.abstraction.predicates.counts().all(),
            tests: self.abstraction.tests(),
            time: self.began.elapsed(),
            memory: self.memory(),
            ..self.statistics.clone()
        }
    }

    /// Looks at the limits and reports progress.
    fn look_around(&mut self) -> Result<(), Stop> {
        self.look_around_with(0)
    }

    /// The same where so many bytes more are in use.
    fn look_around_with(&mut self, more: u64) -> Result<(), Stop> {
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.control.observer.progress(&Progress::Pa(Box::new(self.statistics())));
            self.reported = Instant::now();
        }
        self.stopped = self.control.exhausted(self.memory() + more);
        if self.stopped.is_some() { Err(Stop::Limit) } else { Ok(()) }
    }
}
