//! The explicit engine against the reference semantics, on random tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{
    Control, Goal, Observer, OutOfDomain, Outcome, Progress, Semantics, Statistics, StopReason, Task,
    TaskError, Vacuity, Verdict,
};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::random::{RandomTask, Size, blinded, tasks};
use surefoot_harness::reference::{Exploration, all_states, explore, holds};
use surefoot_harness::run::check;
use surefoot_model::{
    Assignment, Command, Outcome as Step, Property, Start, TransitionSystem, Type, VarId, Variable,
    VariableType,
};
use surefoot_policy::Arithmetic;

/// Tasks with more states are passed over.
const LIMIT: usize = 20_000;

const PLAIN: Options = Options { exhaustive: false, per_start: false, slice: false, project: 0 };
const SLICE: Options = Options { slice: true, ..PLAIN };
const PROJECT: Options = Options { project: 5000, ..PLAIN };
const EXHAUSTIVE: Options = Options { exhaustive: true, ..PLAIN };
const EXHAUSTIVE_SLICE: Options = Options { exhaustive: true, ..SLICE };

fn run(task: &Task, options: Options, threads: usize) -> Result<Outcome, TaskError> {
    verify(task, options, &Control { threads, ..Control::unlimited() })
}

/// Runs `test` on random tasks of all sizes with what the reference found; `cases` small ones and fewer of the others.
fn compare(cases: u32, test: impl Fn(&Task, &Exploration) -> Result<(), TestCaseError>) {
    // Counters over wide domains run away: most that have many states have too many.
    for (size, cases, limit) in
        [(Size::Small, cases, LIMIT), (Size::Wide, cases / 2, 500), (Size::Deep, cases / 50, LIMIT)]
    {
        check(&tasks(size), cases, |random: RandomTask| match explore(&random.task, limit) {
            Ok(exploration) => test(&random.task, &exploration),
            Err(_) => Ok(()),
        });
    }
}

fn right(
    task: &Task,
    exploration: &Exploration,
    coverage: Coverage,
    answer: &Result<Outcome, TaskError>,
) -> Result<(), TestCaseError> {
    Expected::of(exploration, coverage).check(task, answer, true).map_err(TestCaseError::fail)
}

#[test]
fn answers_are_right() {
    compare(5000, |task, exploration| {
        for options in [PLAIN, SLICE, PROJECT] {
            right(task, exploration, Coverage::FirstUnsafe, &run(task, options, 1))?;
        }
        for options in [EXHAUSTIVE, EXHAUSTIVE_SLICE] {
            let answer = run(task, options, 1);
            right(task, exploration, Coverage::Everything, &answer)?;
            if let Ok(outcome) = answer {
                right_vacuity(task, exploration, &outcome)?;
                if !options.slice {
                    right_counts(exploration, &outcome.statistics)?;
                }
            }
        }
        Ok(())
    });
}

/// Policies that do not see all variables give more to leave out.
#[test]
fn projections_give_right_answers() {
    let told = AtomicUsize::new(0);
    check(&tasks(Size::Small), 3000, |random: RandomTask| {
        for seen in 0..2 {
            let task = blinded(&random.task, |v| v.index() % 2 == seen);
            let Ok(exploration) = explore(&task, LIMIT) else { continue };
            let answer = run(&task, PROJECT, 1);
            right(&task, &exploration, Coverage::FirstUnsafe, &answer)?;
            let is_told = answer.is_ok_and(|outcome| outcome.statistics.projected.is_some());
            told.fetch_add(usize::from(is_told), Ordering::Relaxed);
        }
        Ok(())
    });
    assert!(told.into_inner() > 500);
}

fn right_counts(exploration: &Exploration, found: &Statistics) -> Result<(), TestCaseError> {
    prop_assert!(found.complete);
    prop_assert_eq!(found.start_states, exploration.starts.len() as u64, "start states");
    prop_assert_eq!(found.states, exploration.states.len() as u64, "states");
    prop_assert_eq!(found.expanded, exploration.states.len() as u64, "expanded");
    prop_assert_eq!(found.transitions, exploration.transitions as u64, "transitions");
    prop_assert_eq!(found.unsafe_states, exploration.unsafe_states as u64, "unsafe states");
    prop_assert_eq!(found.stalls, exploration.stalls as u64, "stalls");
    prop_assert_eq!(found.terminal_states, exploration.terminal_states as u64, "terminal states");
    prop_assert_eq!(found.goal_states, exploration.goal_states as u64, "goal states");
    prop_assert_eq!(found.depth, exploration.depth as u64, "depth");
    Ok(())
}

fn right_vacuity(task: &Task, exploration: &Exploration, outcome: &Outcome) -> Result<(), TestCaseError> {
    let has = |vacuity| outcome.vacuity.contains(&vacuity);
    prop_assert_eq!(has(Vacuity::NoStartState), exploration.starts.is_empty());
    let no_steps = !exploration.starts.is_empty() && exploration.transitions == 0;
    let all_stall = no_steps && exploration.stalls == exploration.states.len();
    prop_assert_eq!(has(Vacuity::AllStall), all_stall);
    prop_assert_eq!(has(Vacuity::NoSteps), no_steps && !all_stall);
    // The question whether anything is unsafe may be left open.
    if has(Vacuity::NoUnsafeState) {
        let states = all_states(task, LIMIT).unwrap_or_default();
        let is_unsafe = |state: &Vec<i32>| holds(&task.system.exprs, task.property.unsafe_states, state);
        prop_assert!(states.iter().all(|state| is_unsafe(state) == Some(false)));
    }
    Ok(())
}

#[test]
fn start_states_are_classified_right() {
    compare(2500, |task, exploration| {
        for slice in [false, true] {
            let answer = run(task, Options { per_start: true, slice, ..PLAIN }, 1);
            right(task, exploration, Coverage::Everything, &answer)?;
            let Ok(outcome) = answer else { continue };
            let found = outcome.per_start.expect("asked for, and the search was complete");
            let safe = exploration.starts.len() - exploration.unsafe_starts.len();
            prop_assert_eq!(found.safe_count, safe as u64);
            prop_assert_eq!(found.unsafe_starts.len(), exploration.unsafe_starts.len());
            prop_assert!(found.unsafe_starts.iter().all(|state| exploration.unsafe_starts.contains(state)));
        }
        Ok(())
    });
}

/// What must not depend on the number of threads.
fn repeatable(answer: Result<Outcome, TaskError>) -> Result<String, TaskError> {
    answer.map(|mut outcome| {
        outcome.statistics = Statistics {
            time: std::time::Duration::ZERO,
            start_time: std::time::Duration::ZERO,
            ..outcome.statistics
        };
        format!("{outcome:?}")
    })
}

#[test]
fn threads_change_nothing() {
    let test = |random: RandomTask| {
        for options in [SLICE, EXHAUSTIVE, Options { per_start: true, ..PLAIN }] {
            let one = repeatable(run(&random.task, options, 1));
            let three = repeatable(run(&random.task, options, 3));
            prop_assert_eq!(one, three, "{:?}", options);
        }
        Ok(())
    };
    check(&tasks(Size::Small), 500, test);
    let layers_of_several_chunks = tasks(Size::Deep).prop_filter("small enough", |random| {
        let states = all_states(&random.task, LIMIT);
        states.is_some_and(|states| states.len() > 4000)
    });
    check(&layers_of_several_chunks, 150, test);
}

#[test]
fn no_time_means_no_proof() {
    compare(1500, |task, exploration| {
        let control = Control { deadline: Some(Instant::now()), ..Control::unlimited() };
        match verify(task, SLICE, &control) {
            Err(TaskError::Model(_)) => prop_assert!(exploration.has_error()),
            Err(error) => prop_assert!(false, "{error}"),
            Ok(_) if exploration.start_error.is_some() => prop_assert!(false, "the start condition is wrong"),
            Ok(outcome) if exploration.starts.is_empty() => prop_assert_eq!(outcome.verdict, Verdict::Safe),
            Ok(outcome) => prop_assert_eq!(outcome.verdict, Verdict::Unknown(StopReason::Time)),
        }
        Ok(())
    });
}

/// Cancels the run when it has made some progress.
struct Impatient {
    calls: AtomicUsize,
    patience: usize,
    cancelled: Arc<AtomicBool>,
}

impl Observer for Impatient {
    fn progress(&self, _: &Progress) {
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.patience {
            self.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn interrupted_runs_are_right_or_unknown() {
    compare(1500, |task, exploration| {
        for (patience, memory_limit) in
            [(0, None), (1, None), (usize::MAX, Some(0)), (usize::MAX, Some(40_000))]
        {
            let cancelled = Arc::new(AtomicBool::new(false));
            let observer =
                Impatient { calls: AtomicUsize::new(0), patience, cancelled: Arc::clone(&cancelled) };
            let control = Control { memory_limit, cancelled, observer: &observer, ..Control::unlimited() };
            let answer = verify(task, EXHAUSTIVE_SLICE, &control);
            if let Ok(Outcome { verdict: Verdict::Unknown(_), statistics, .. }) = &answer {
                prop_assert!(!statistics.complete);
                continue;
            }
            // What was cut off may have hidden an error, but no unsafe state that is nearer than the one reported.
            let expected = match &answer {
                Ok(Outcome { verdict: Verdict::Unsafe(_), .. }) => Coverage::FirstUnsafe,
                _ => Coverage::Everything,
            };
            right(task, exploration, expected, &answer)?;
        }
        Ok(())
    });
}

/// Enough states for fingerprints of different states to agree.
#[test]
fn a_million_states_are_told_apart() {
    let mut system = TransitionSystem::default();
    for name in ["x", "y", "z"] {
        system.variables.push(Variable::new(name, VariableType::Int { lower: 0, upper: 99 }));
    }
    let (one, last) = (system.exprs.int(1), system.exprs.int(99));
    for v in (0..3).map(VarId) {
        let value = system.exprs.variable_of_type(v, Type::Int);
        let guard = system.exprs.lt(value, last).expect("numbers");
        let next = system.exprs.add(value, one).expect("integers");
        let assignments = vec![Assignment { variable: v, value: next }];
        let outcome = Step { probability: one, assignments, requirements: Vec::new() };
        let command = Command { label: None, guard, outcomes: vec![outcome], origin: String::new() };
        system.commands.push(command);
    }
    let unsafe_states = system.exprs.bool(false);
    let property = Property {
        name: "cube".into(),
        start: Start { condition: None, listed: vec![vec![0; 3]] },
        unsafe_states,
        hold: None,
        goal: None,
        predicates: Vec::new(),
        policy_file: None,
    };
    let semantics = Semantics {
        filter: false,
        goal: Goal::Ignore,
        out_of_domain: OutOfDomain::Error,
        arithmetic: Arithmetic::F64,
    };
    let found = run(&Task { system, property, policy: None, semantics }, PLAIN, 2).expect("nothing is wrong");
    assert_eq!(found.verdict, Verdict::Safe);
    assert_eq!(found.statistics.states, 1_000_000);
    assert_eq!(found.statistics.transitions, 3 * 99 * 100 * 100);
    assert_eq!(found.statistics.depth, 3 * 99);
}
