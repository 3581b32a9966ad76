//! Runs that a memory limit stops are resumed with what they saved, or with forgeries of it: verdicts remain right.
//!
//! A memory limit stops a run at the same point each time; limits from nothing to what a whole run takes stop runs everywhere.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use surefoot_certificate::Bound;
use surefoot_engines::ic3::{Kept, Options, Proof, Resumed, SavedFrames, resume, verify};
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, StopReason, Task, TaskError, Verdict};
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::explore;
use surefoot_harness::run::{cases, check};

use surefoot_model::{
    Assignment, Command, Outcome, Property, Start, TransitionSystem, Type, VarId, Variable, VariableType,
};
use surefoot_policy::Arithmetic;

use super::right_answer;

/// Tasks with more states are passed over.
const LIMIT: usize = 3000;

const CASES: u32 = 600;

/// Limits that are tried for each task.
const STOPS: u64 = 6;

/// Frames alone; some closed regions; the defaults.
const OPTIONS: [(usize, usize); 3] = [(0, 0), (0, 40), (20_000, 1_000_000)];

fn options((samples, growth): (usize, usize)) -> Options {
    Options { samples, growth, list: 0, ..Options::default() }
}

fn limited(memory_limit: u64) -> Control<'static> {
    Control { memory_limit: Some(memory_limit), ..Control::unlimited() }
}

/// Memory limits from what a run takes at its beginning to what it takes in the end; none if the task is wrong.
fn limits(task: &Task, options: Options) -> Vec<u64> {
    let memory = |control: &Control<'_>| Some(verify(task, options, control).ok()?.statistics.memory);
    let Some((least, most)) = memory(&limited(0)).zip(memory(&Control::unlimited())) else {
        return Vec::new();
    };
    // Closer to each other towards the end, where there are more reasons.
    let rest = |left: u64| most.saturating_sub(least) * left * left / (STOPS * STOPS);
    (1..=STOPS).rev().map(|left| least.max(most) - rest(left)).collect()
}

/// What a run saves if it is stopped; it is written and read.
fn stopped(answer: &Result<Proof, TaskError>) -> Option<SavedFrames> {
    let proof = answer.as_ref().ok()?;
    assert_eq!(proof.saved.is_some(), matches!(proof.outcome.verdict, Verdict::Unknown(StopReason::Memory)));
    let saved = proof.saved.as_ref()?;
    let read = SavedFrames::read(&saved.write()).expect("what was written");
    assert_eq!(read, *saved);
    Some(read)
}

#[test]
fn stopped_runs_go_on() {
    let (claimed, kept, deepest) = (Cell::new(0), Cell::new(0), Cell::new(0));
    check(&tasks(Size::Small), CASES, |RandomTask { task, .. }| {
        let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
        for options in OPTIONS.map(options) {
            for limit in limits(&task, options) {
                let Some(saved) = stopped(&verify(&task, options, &limited(limit))) else { continue };
                let (depth, reasons) = (saved.depth() as u64, saved.reasons() as u64);
                let answer = resume(&task, saved, options, &Control::unlimited());
                if let Ok(Proof { outcome, statistics, .. }) = &answer {
                    let resumed = statistics.resumed.expect("it was");
                    prop_assert_eq!((resumed.depth, resumed.reasons), (depth, reasons));
                    if let Some(holds) = resumed.kept {
                        prop_assert!(statistics.depth >= depth, "{} frames of {}", statistics.depth, depth);
                        claimed.set(claimed.get() + reasons);
                        kept.set(kept.get() + holds.reasons - holds.weaker);
                        deepest.set(deepest.get().max(depth));
                    } else {
                        prop_assert!(
                            matches!(&outcome.verdict, Verdict::Unsafe(trace) if trace.steps.is_empty())
                        );
                    }
                }
                right_answer(&task, &exploration, answer, false)?;
            }
        }
        Ok(())
    });
    // The budget for exact tests may end elsewhere.
    let (claimed, kept): (u64, u64) = (claimed.get(), kept.get());
    assert!(kept <= claimed && 1000 * kept >= 999 * claimed, "{kept} of {claimed} reasons");
    let deepest = deepest.get();
    assert!(claimed > u64::from(cases(CASES)) && deepest > 1, "{claimed} reasons, depth {deepest}");
}

/// Limits that stop one run after another, until one comes to an end.
#[test]
fn runs_are_stopped_again_and_again() {
    check(&tasks(Size::Small), 500, |RandomTask { task, .. }| {
        let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
        for options in OPTIONS.map(options) {
            let mut saved: Option<SavedFrames> = None;
            for control in limits(&task, options).into_iter().map(limited).chain([Control::unlimited()]) {
                let reasons = saved.as_ref().map(SavedFrames::reasons);
                let answer = match saved.take() {
                    Some(frames) => resume(&task, frames, options, &control),
                    None => verify(&task, options, &control),
                };
                let next = stopped(&answer);
                let tested = answer.as_ref().ok().and_then(|proof| proof.statistics.resumed?.kept);
                if let (Some(next), Some(before), None) = (&next, reasons, tested) {
                    prop_assert_eq!(next.reasons(), before, "a limit while frames are tested loses nothing");
                }
                right_answer(&task, &exploration, answer, next.is_some())?;
                if next.is_none() {
                    break;
                }
                saved = next;
            }
        }
        Ok(())
    });
}

/// What somebody does to saved frames.
#[derive(Debug, Clone)]
enum Forgery {
    /// A reason, so many levels up.
    Raise(Index, Index),
    /// A reason holds for any number of steps.
    Close(Index),
    /// A reason loses one of its bounds.
    Widen(Index, Index),
    /// A reason has all states.
    Everything(Index),
    /// There are more levels.
    Deepen(usize),
    /// All reasons hold for any number of steps.
    CloseAll,
}

fn forgery() -> impl Strategy<Value = Forgery> {
    use Forgery::{Close, CloseAll, Deepen, Everything, Raise, Widen};
    prop_oneof![
        4 => any::<(Index, Index)>().prop_map(|(reason, level)| Raise(reason, level)),
        4 => any::<Index>().prop_map(Close),
        4 => any::<(Index, Index)>().prop_map(|(reason, bound)| Widen(reason, bound)),
        1 => any::<Index>().prop_map(Everything),
        1 => (1_usize..4).prop_map(Deepen),
        1 => Just(CloseAll),
    ]
}

/// The level and the position of a reason; closed ones have the level after the last.
fn pick(saved: &SavedFrames, index: Index) -> Option<(usize, usize)> {
    let lists = saved.levels.iter().chain([&saved.closed]).enumerate();
    let all: Vec<(usize, usize)> =
        lists.flat_map(|(level, list)| (0..list.len()).map(move |position| (level, position))).collect();
    (!all.is_empty()).then(|| all[index.index(all.len())])
}

fn list(saved: &mut SavedFrames, level: usize) -> &mut Vec<Vec<Bound>> {
    if level < saved.levels.len() { &mut saved.levels[level] } else { &mut saved.closed }
}

fn forge(saved: &mut SavedFrames, forgery: &Forgery) {
    match forgery {
        Forgery::Raise(reason, to) => {
            let Some((level, position)) = pick(saved, *reason) else { return };
            let to = level + to.index(saved.levels.len() + 1 - level);
            let moved = list(saved, level).swap_remove(position);
            list(saved, to).push(moved);
        }
        Forgery::Close(reason) => {
            let Some((level, position)) = pick(saved, *reason) else { return };
            let moved = list(saved, level).swap_remove(position);
            saved.closed.push(moved);
        }
        Forgery::Widen(reason, bound) => {
            let Some((level, position)) = pick(saved, *reason) else { return };
            let bounds = &mut list(saved, level)[position];
            if !bounds.is_empty() {
                bounds.remove(bound.index(bounds.len()));
            }
        }
        Forgery::Everything(reason) => {
            let Some((level, position)) = pick(saved, *reason) else { return };
            list(saved, level)[position].clear();
        }
        Forgery::Deepen(more) => saved.levels.resize(saved.levels.len() + more, Vec::new()),
        Forgery::CloseAll => {
            let all: Vec<Vec<Bound>> = saved.levels.iter_mut().flat_map(std::mem::take).collect();
            saved.closed.extend(all);
        }
    }
}

/// Nobody checks the proofs but this test: what forgeries claim must not get into them.
#[test]
fn forgeries_do_not_change_verdicts() {
    let (claimed, kept) = (Cell::new(0), Cell::new(0));
    let strategy = (tasks(Size::Small), prop::collection::vec(forgery(), 1..6), any::<Index>());
    check(&strategy, CASES, |(RandomTask { task, .. }, forgeries, stop)| -> Result<(), TestCaseError> {
        let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
        for options in OPTIONS.map(options) {
            let options = Options { check: false, ..options };
            let limits = limits(&task, options);
            if limits.is_empty() {
                continue;
            }
            let limit = limits[stop.index(limits.len())];
            let Some(mut saved) = stopped(&verify(&task, options, &limited(limit))) else { continue };
            for forgery in &forgeries {
                forge(&mut saved, forgery);
            }
            let reasons = saved.reasons() as u64;
            let answer = resume(&task, saved, options, &Control::unlimited());
            if let Ok(proof) = &answer
                && let Some(holds) = proof.statistics.resumed.and_then(|resumed| resumed.kept)
            {
                claimed.set(claimed.get() + reasons);
                kept.set(kept.get() + holds.reasons - holds.weaker);
            }
            right_answer(&task, &exploration, answer, false)?;
        }
        Ok(())
    });
    let (claimed, kept) = (claimed.get(), kept.get());
    assert!(0 < kept && kept < claimed, "{kept} of {claimed} reasons");
}

/// `x` counts up to the unsafe 5, at one of a million values of `y`.
fn chain() -> Task {
    let mut system = TransitionSystem::default();
    let int = |upper| VariableType::Int { lower: 0, upper };
    system.variables = vec![Variable::new("x", int(5)), Variable::new("y", int(1_000_000))];
    let exprs = &mut system.exprs;
    let [x, y] = [0, 1].map(|v| exprs.variable_of_type(VarId(v), Type::Int));
    let [one, five, rare] = [1, 5, 123_456].map(|value| exprs.int(value));
    let (low, is_rare) = (exprs.lt(x, five).expect("numbers"), exprs.eq(y, rare).expect("numbers"));
    let guard = exprs.and(low, is_rare).expect("conditions");
    let assignments = vec![Assignment { variable: VarId(0), value: exprs.add(x, one).expect("numbers") }];
    let outcomes = vec![Outcome { probability: one, assignments, requirements: Vec::new() }];
    let unsafe_states = exprs.eq(x, five).expect("numbers");
    system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
    let property = Property {
        name: String::new(),
        start: Start { condition: None, listed: vec![vec![0, 123_456]] },
        unsafe_states,
        hold: None,
        goal: None,
        predicates: Vec::new(),
        policy_file: None,
    };
    let (goal, out_of_domain, arithmetic) = (Goal::Ignore, OutOfDomain::Error, Arithmetic::F64);
    let semantics = Semantics { filter: false, goal, out_of_domain, arithmetic };
    Task { system, property, policy: None, semantics }
}

/// Each reason passes its test as long as the next is believed, except for the last: all must be tested again, and nothing may be left of what
/// was found out before. Single states tell none of this.
#[test]
fn reasons_that_rest_on_a_wrong_one_are_tested_again() {
    let task = chain();
    for is_reversed in [false, true] {
        let mut closed: Vec<Vec<Bound>> =
            (0..5).map(|x| vec![Bound { variable: 0, lower: x, upper: x }]).collect();
        if is_reversed {
            closed.reverse();
        }
        let saved = SavedFrames { levels: vec![Vec::new(); 3], closed, ..SavedFrames::default() };
        let options = Options { check: false, ..options((0, 0)) };
        let proof = resume(&task, saved, options, &Control::unlimited()).expect("a verdict");
        let Verdict::Unsafe(trace) = &proof.outcome.verdict else { panic!("{:?}", proof.outcome.verdict) };
        assert_eq!(trace.steps.len(), 5);
        let kept = Kept { reasons: 4, weaker: 4 };
        assert_eq!(proof.statistics.resumed, Some(Resumed { depth: 2, reasons: 5, kept: Some(kept) }));
    }
}

#[test]
fn frames_of_other_tasks_are_refused() {
    let bound = |variable, upper| vec![Bound { variable, lower: 0, upper }];
    for (levels, bounds) in [(2, bound(2, 0)), (2, bound(0, 6)), (2, bound(0, -1)), (1, bound(0, 0))] {
        let saved =
            SavedFrames { levels: vec![Vec::new(); levels], closed: vec![bounds], ..SavedFrames::default() };
        let answer = resume(&chain(), saved, Options::default(), &Control::unlimited());
        assert!(matches!(answer, Err(TaskError::Saved(_))), "{answer:?}");
    }
}
