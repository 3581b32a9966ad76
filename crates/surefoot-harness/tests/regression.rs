//! Bugs that the random tasks have found, each as small as it gets.

use std::ops::ControlFlow;

use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{
    Control, Goal, OutOfDomain, Outcome as Answer, Semantics, StopReason, Task, TaskError, Vacuity, Verdict,
    ic3,
};
use surefoot_model::enumerate::{Enumerated, solutions};
use surefoot_model::pass::Reduction;
use surefoot_model::{
    Assignment, Command, ExprId, ExprPool, Label, LabelId, Outcome, Property, Start, TransitionSystem, VarId,
    Variable, VariableType,
};
use surefoot_policy::{Arithmetic, Ensemble, Parameter, Policy, Scorer};

/// A task in which nothing happens: integer variables with these domains, one start state, nothing unsafe, labels `a` and `b`.
fn task(domains: &[(i32, i32)], start: &[i32]) -> Task {
    let variables = domains
        .iter()
        .enumerate()
        .map(|(i, &(lower, upper))| Variable::new(["x", "y"][i], VariableType::Int { lower, upper }));
    let mut exprs = ExprPool::new();
    let unsafe_states = exprs.bool(false);
    Task {
        system: TransitionSystem {
            exprs,
            variables: variables.collect(),
            labels: ["a", "b"].map(|name| Label { name: name.into() }).to_vec(),
            ..TransitionSystem::default()
        },
        property: Property {
            name: "regression".into(),
            start: Start { condition: None, listed: vec![start.to_vec()] },
            unsafe_states,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        },
        policy: None,
        semantics: Semantics {
            filter: false,
            goal: Goal::Ignore,
            out_of_domain: OutOfDomain::Error,
            arithmetic: Arithmetic::F64,
        },
    }
}

fn variable(task: &mut Task, v: u32) -> ExprId {
    task.system.exprs.variable(VarId(v), &task.system.variables[v as usize])
}

/// Adds `[label] guard → p₁: x := value + p₂: {} + …`.
fn add_command(task: &mut Task, label: u32, guard: ExprId, probabilities: &[ExprId], value: Option<ExprId>) {
    let assignments: Vec<Assignment> =
        value.into_iter().map(|value| Assignment { variable: VarId(0), value }).collect();
    let outcomes = probabilities.iter().enumerate().map(|(i, &probability)| Outcome {
        probability,
        assignments: if i == 0 { assignments.clone() } else { Vec::new() },
        requirements: Vec::new(),
    });
    let outcomes = outcomes.collect();
    let label = Some(LabelId(label));
    task.system.commands.push(Command { label, guard, outcomes, origin: String::new() });
}

/// `0 % 0 = 0`.
fn undefined(exprs: &mut ExprPool) -> ExprId {
    let zero = exprs.int(0);
    let remainder = exprs.modulo(zero, zero).expect("integers");
    exprs.eq(remainder, zero).expect("numbers")
}

fn run(task: &Task) -> Result<Answer, TaskError> {
    verify(task, Options { exhaustive: true, slice: true, ..Options::default() }, &Control::unlimited())
}

fn is_wrong(task: &Task) -> bool {
    matches!(run(task), Err(TaskError::Model(_)))
}

#[test]
fn the_smallest_integer_is_no_small_constant_of_a_sum() {
    let mut task = task(&[(0, 1), (0, 1)], &[1, 0]);
    let (yes, one) = (task.system.exprs.bool(true), task.system.exprs.int(1));
    let (x, y, smallest) = (variable(&mut task, 0), variable(&mut task, 1), task.system.exprs.int(i64::MIN));
    let sum = task.system.exprs.add(smallest, x).expect("integers");
    let sum = task.system.exprs.add(sum, y).expect("integers");
    add_command(&mut task, 0, yes, &[one], Some(sum));
    assert!(is_wrong(&task));
}

#[test]
fn constant_probabilities_are_summed_up() {
    let mut task = task(&[(0, 1)], &[0]);
    let (yes, half) = (task.system.exprs.bool(true), task.system.exprs.real(0.5));
    add_command(&mut task, 0, yes, &[half], None);
    assert!(is_wrong(&task));
}

#[test]
fn an_undefined_guard_is_an_error_whatever_the_policy_chooses() {
    for filter in [false, true] {
        for arithmetic in Arithmetic::ALL {
            let mut task = task(&[(0, 1)], &[0]);
            let (yes, one) = (task.system.exprs.bool(true), task.system.exprs.int(1));
            let undefined = undefined(&mut task.system.exprs);
            add_command(&mut task, 0, yes, &[one], None);
            add_command(&mut task, 1, undefined, &[one], None);
            // Output 0 has the higher score.
            let base = [1.0, 0.0].map(Parameter::from).to_vec();
            let scorer = Scorer::Ensemble(Ensemble::new(0, base, Vec::new()).expect("well formed"));
            let policy = Policy::new(Vec::new(), vec![LabelId(0), LabelId(1)], filter, scorer);
            task.policy = Some(policy.expect("the sizes agree"));
            task.semantics = Semantics { filter, arithmetic, ..task.semantics };
            assert!(is_wrong(&task));
            task.semantics.out_of_domain = OutOfDomain::Block;
            assert_eq!(run(&task).expect("undefined guards do not hold").verdict, Verdict::Safe);
        }
    }
}

#[test]
fn an_outcome_whose_probability_may_be_negative_is_not_dead() {
    let mut task = task(&[(0, 1)], &[1]);
    let (yes, zero, one) = (task.system.exprs.bool(true), task.system.exprs.int(0), task.system.exprs.int(1));
    let x = variable(&mut task, 0);
    let negative = task.system.exprs.sub(zero, x).expect("integers");
    add_command(&mut task, 0, yes, &[negative, one], None);
    let reduction = Reduction::identity(task.system.clone(), task.property.clone()).remove_dead_commands();
    assert_eq!(reduction.system.commands[0].outcomes.len(), 2);
    assert!(is_wrong(&task));
}

#[test]
fn slicing_keeps_start_conditions_that_are_undefined() {
    let mut task = task(&[(0, 1), (0, 3)], &[0, 0]);
    let (x, y, zero, one) =
        (variable(&mut task, 0), variable(&mut task, 1), task.system.exprs.int(0), task.system.exprs.int(1));
    task.property.unsafe_states = task.system.exprs.eq(x, one).expect("numbers");
    let at_zero = task.system.exprs.eq(x, zero).expect("numbers");
    let remainder = task.system.exprs.modulo(one, y).expect("integers");
    let odd = task.system.exprs.eq(remainder, zero).expect("numbers");
    task.property.start.condition = Some(task.system.exprs.and(at_zero, odd).expect("Booleans"));
    assert!(is_wrong(&task));
}

#[test]
fn contradictions_on_large_domains_are_found_in_time() {
    let mut task = task(&[(i32::MIN, i32::MAX), (i32::MIN, i32::MAX)], &[0, 0]);
    let (x, y) = (variable(&mut task, 0), variable(&mut task, 1));
    let (up, down) = (task.system.exprs.lt(x, y), task.system.exprs.lt(y, x));
    let never = task.system.exprs.and(up.expect("numbers"), down.expect("numbers")).expect("Booleans");
    let nodes = std::cell::Cell::new(0);
    let poll = || {
        nodes.set(nodes.get() + 1);
        if nodes.get() > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bounds = [i32::MIN; 2].as_slice();
    let end = solutions(&task.system.exprs, never, bounds, &[i32::MAX; 2], poll, |_| ControlFlow::Break(()));
    assert_ne!(end, Enumerated::All, "a hundred nodes are not enough, but each of them ends");
}

#[test]
fn variables_that_are_never_written_keep_their_domains_in_messages() {
    let mut task = task(&[(0, 3)], &[0]);
    let (x, three) = (variable(&mut task, 0), task.system.exprs.int(3));
    task.property.unsafe_states = task.system.exprs.eq(x, three).expect("numbers");
    let answer = run(&task).expect("nothing is wrong");
    assert_eq!(answer.verdict, Verdict::Safe);
    assert!(!answer.vacuity.contains(&Vacuity::NoUnsafeState));
}

#[test]
fn the_largest_value_of_all_integers_is_a_value() {
    let mut task = task(&[(i32::MIN, i32::MAX), (-1, 0)], &[0, -1]);
    // Another start value keeps y from being a constant.
    task.property.start.listed.push(vec![0, 0]);
    let (yes, one) = (task.system.exprs.bool(true), task.system.exprs.int(1));
    let (x, y) = (variable(&mut task, 0), variable(&mut task, 1));
    let largest = task.system.exprs.int(i64::from(i32::MAX));
    // y = -1: x becomes the largest integer. The value depends on y alone, so it comes from a table.
    let zero = task.system.exprs.int(0);
    let is_negative = task.system.exprs.lt(y, zero).expect("numbers");
    let value = task.system.exprs.ite(is_negative, largest, zero).expect("integers");
    add_command(&mut task, 0, yes, &[one], Some(value));
    task.property.unsafe_states = task.system.exprs.eq(x, largest).expect("numbers");
    task.semantics.out_of_domain = OutOfDomain::Block;
    assert!(
        matches!(run(&task).expect("nothing is wrong").verdict, Verdict::Unsafe(trace) if trace.steps.len() == 1)
    );
}

#[test]
fn an_undefined_condition_forgets_the_unsafe_states_of_other_layers() {
    // Layers {1, 3} and {0}: one of the first is unsafe, and the condition that must hold is undefined at 0.
    let mut task = task(&[(0, 3)], &[1]);
    task.property.start.listed.push(vec![3]);
    let x = variable(&mut task, 0);
    let [zero, one, three] = [0, 1, 3].map(|value| task.system.exprs.int(value));
    let down = task.system.exprs.sub(x, one).expect("integers");
    let guard = task.system.exprs.lt(x, three).expect("numbers");
    add_command(&mut task, 0, guard, &[one], Some(down));
    let remainder = task.system.exprs.modulo(x, x).expect("integers");
    task.property.hold = Some(task.system.exprs.eq(remainder, zero).expect("numbers"));
    for unsafe_value in [1, 3] {
        let value = task.system.exprs.int(unsafe_value);
        task.property.unsafe_states = task.system.exprs.eq(x, value).expect("numbers");
        assert!(is_wrong(&task));
    }
}

/// `b` beats `a` wherever both apply. In a region that is wider than that, only `a` was listed, which leads out of it.
#[test]
fn labels_that_apply_in_a_part_of_a_region_take_choices_away_there() {
    let mut task = task(&[(0, 2)], &[0]);
    let x = variable(&mut task, 0);
    let exprs = &mut task.system.exprs;
    let [zero, one, two] = [0, 1, 2].map(|value| exprs.int(value));
    let at_start = exprs.eq(x, zero).expect("numbers");
    task.property.unsafe_states = exprs.eq(x, two).expect("numbers");
    add_command(&mut task, 0, at_start, &[one], Some(two));
    add_command(&mut task, 1, at_start, &[one], None);
    let base = [0.0, 1.0].map(Parameter::from).to_vec();
    let scorer = Scorer::Ensemble(Ensemble::new(0, base, Vec::new()).expect("no trees"));
    let outputs = vec![LabelId(0), LabelId(1)];
    task.policy = Some(Policy::new(Vec::new(), outputs, true, scorer).expect("two outputs"));
    task.semantics.filter = true;
    let proof = ic3::verify(&task, ic3::Options::default(), &Control::unlimited()).expect("no mistake");
    assert_eq!(proof.outcome.verdict, Verdict::Safe);
}

/// `b` beats `a`, which is unsafe, and applies everywhere, but by two commands. Each state got a reason of its own where boxes are not split.
#[test]
fn guards_that_cover_a_box_together_take_choices_away_there() {
    let mut task = task(&[(0, 1), (0, 19)], &[0, 0]);
    let [bad, y] = [0, 1].map(|v| variable(&mut task, v));
    let exprs = &mut task.system.exprs;
    let (one, middle, everywhere) = (exprs.int(1), exprs.int(9), exprs.bool(true));
    let low = exprs.le(y, middle).expect("numbers");
    let high = exprs.gt(y, middle).expect("numbers");
    task.property.unsafe_states = exprs.eq(bad, one).expect("numbers");
    add_command(&mut task, 0, everywhere, &[one], Some(one));
    add_command(&mut task, 1, low, &[one], None);
    add_command(&mut task, 1, high, &[one], None);
    let base = [0.0, 1.0].map(Parameter::from).to_vec();
    let scorer = Scorer::Ensemble(Ensemble::new(0, base, Vec::new()).expect("no trees"));
    let outputs = vec![LabelId(0), LabelId(1)];
    task.policy = Some(Policy::new(Vec::new(), outputs, true, scorer).expect("two outputs"));
    task.semantics.filter = true;
    let proof = ic3::verify(&task, ic3::Options::paper(), &Control::unlimited()).expect("no mistake");
    assert_eq!((proof.outcome.verdict, proof.statistics.reasons), (Verdict::Safe, 1));
}

/// `b` beats `a`, which is unsafe, and applies at both ends of a box, but not between, where it leads. Asking about the ends alone is not enough.
#[test]
fn guards_that_leave_a_gap_take_no_choices_away_in_it() {
    let mut task = task(&[(0, 19), (0, 1)], &[0, 0]);
    let [x, bad] = [0, 1].map(|v| variable(&mut task, v));
    let exprs = &mut task.system.exprs;
    let [one, four, seven, fifteen] = [1, 4, 7, 15].map(|value| exprs.int(value));
    let (low, high) = (exprs.le(x, four).expect("numbers"), exprs.ge(x, fifteen).expect("numbers"));
    let everywhere = exprs.bool(true);
    task.property.unsafe_states = exprs.eq(bad, one).expect("numbers");
    add_command(&mut task, 0, everywhere, &[one], None);
    let worsens = Assignment { variable: VarId(1), value: one };
    task.system.commands[0].outcomes[0].assignments.push(worsens);
    add_command(&mut task, 1, low, &[one], Some(seven));
    add_command(&mut task, 1, high, &[one], None);
    let base = [0.0, 1.0].map(Parameter::from).to_vec();
    let scorer = Scorer::Ensemble(Ensemble::new(0, base, Vec::new()).expect("no trees"));
    let outputs = vec![LabelId(0), LabelId(1)];
    task.policy = Some(Policy::new(Vec::new(), outputs, true, scorer).expect("two outputs"));
    task.semantics.filter = true;
    let frames = ic3::Options { list: 0, growth: 0, samples: 0, trials: 0, ..ic3::Options::default() };
    for options in [ic3::Options::paper(), frames] {
        // The checker would hide a wrong proof.
        let options = ic3::Options { check: false, ..options };
        let proof = ic3::verify(&task, options, &Control::unlimited()).expect("no mistake");
        assert!(matches!(proof.outcome.verdict, Verdict::Unsafe(_)), "{options:?}");
    }
}

/// A task whose start condition propagation takes ages with: `x ≤ 3`, and either an even sum is odd or all switches are on. `x` counts up to 4.
fn hard_start(unsafe_from: i64) -> Task {
    let mut task = task(&[(0, 9)], &[0]);
    task.property.start.listed.clear();
    let x = variable(&mut task, 0);
    let switch = |index| Variable::new(format!("on{index}"), VariableType::Int { lower: 0, upper: 1 });
    task.system.variables.extend((0..40).map(switch));
    let switches: Vec<ExprId> = (1..41).map(|v| variable(&mut task, v)).collect();
    let pool = &mut task.system.exprs;
    let (zero, one, two, odd) = (pool.int(0), pool.int(1), pool.int(2), pool.int(41));
    let mut sum = zero;
    let mut all = Vec::new();
    for switch in switches {
        let even = pool.mul(two, switch).expect("numbers");
        sum = pool.add(sum, even).expect("numbers");
        all.push(pool.eq(switch, one).expect("numbers"));
    }
    let (is_odd, all_on) = (pool.eq(sum, odd).expect("numbers"), pool.all(all).expect("conditions"));
    let (three, end, unsafe_from) = (pool.int(3), pool.int(4), pool.int(unsafe_from));
    let low = pool.le(x, three).expect("numbers");
    let either = pool.or(is_odd, all_on).expect("conditions");
    task.property.start.condition = Some(pool.and(low, either).expect("conditions"));
    task.property.unsafe_states = pool.ge(x, unsafe_from).expect("numbers");
    let (guard, value) = (pool.lt(x, end).expect("numbers"), pool.add(x, one).expect("numbers"));
    add_command(&mut task, 0, guard, &[one], Some(value));
    task
}

/// IC3 listed the start states for its random runs first, however long that took.
#[test]
fn start_states_that_are_hard_to_list_are_solved_for() {
    for samples in [0, ic3::Options::default().samples] {
        let options = ic3::Options { samples, ..ic3::Options::default() };
        let safe = ic3::verify(&hard_start(5), options, &Control::unlimited()).expect("a verdict");
        assert_eq!(safe.outcome.verdict, Verdict::Safe);
        assert!(safe.check.is_some());
        // Random runs begin in all four start states that the solver can give.
        assert!(samples == 0 || safe.statistics.samples == 5);
        let found = ic3::verify(&hard_start(4), options, &Control::unlimited()).expect("a verdict");
        let Verdict::Unsafe(trace) = found.outcome.verdict else { panic!("{:?}", found.outcome.verdict) };
        assert_eq!(trace.start[1..], [1; 40]);
    }
}

#[test]
fn ic3_counts_its_solvers_and_stops_at_the_memory_limit() {
    let unlimited = ic3::verify(&hard_start(5), ic3::Options::default(), &Control::unlimited());
    let needed = unlimited.expect("a verdict").statistics.memory;
    // The sum alone takes more than a thousand clauses.
    assert!(needed > 100_000, "{needed}");
    for (limit, verdict) in [(2 * needed, Verdict::Safe), (needed / 2, Verdict::Unknown(StopReason::Memory))]
    {
        let control = Control { memory_limit: Some(limit), ..Control::unlimited() };
        let proof = ic3::verify(&hard_start(5), ic3::Options::default(), &control).expect("a verdict");
        assert_eq!(proof.outcome.verdict, verdict);
    }
}
