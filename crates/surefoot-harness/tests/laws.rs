//! Laws, that is sums that no step changes, in predicate abstraction: of kinds that random tasks rarely have, and laws that cost more than they help.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_engines::ppa::{Laws, Options, verify};
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, Task, Verdict};
use surefoot_harness::expect::{Coverage, Expected};
use surefoot_harness::proof::inductive;
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::reference::explore;
use surefoot_harness::run::check;
use surefoot_model::{
    Assignment, Command, ExprId, Outcome, Property, Start, TransitionSystem, VarId, Variable, VariableType,
};
use surefoot_policy::Arithmetic;

const LIMIT: usize = 20_000;

fn task(system: TransitionSystem, start: ExprId, unsafe_states: ExprId, out_of_domain: OutOfDomain) -> Task {
    Task {
        system,
        property: Property {
            name: "review".into(),
            start: Start { condition: Some(start), listed: Vec::new() },
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
            out_of_domain,
            arithmetic: Arithmetic::F64,
        },
    }
}

fn integers(names: &[String], upper: i32) -> (TransitionSystem, Vec<ExprId>) {
    let variable = |name: &String| Variable::new(name.as_str(), VariableType::Int { lower: 0, upper });
    let variables = names.iter().map(variable).collect();
    let mut system = TransitionSystem { variables, ..TransitionSystem::default() };
    let ids =
        (0..names.len()).map(|v| system.exprs.variable(VarId(v as u32), &system.variables[v])).collect();
    (system, ids)
}

fn add_command(system: &mut TransitionSystem, guard: ExprId, assignments: Vec<(usize, ExprId)>) {
    let probability = system.exprs.int(1);
    let assignments = assignments
        .into_iter()
        .map(|(variable, value)| Assignment { variable: VarId(variable as u32), value })
        .collect();
    let outcomes = vec![Outcome { probability, assignments, requirements: Vec::new() }];
    system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
}

fn verdict(task: &Task, laws: Laws, limit: Option<Duration>) -> Verdict {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let options = Options { laws, list: 0, ..Options::default() };
    let proof = verify(task, options, &Control { deadline, ..Control::unlimited() });
    proof.expect("no error").outcome.verdict
}

/// Twelve tiles that change places: their sum is 66 in every start state, but to show that no start state has less takes an explanation for each of their 12! arrangements.
#[test]
fn laws_whose_range_is_hard_to_find_are_done_without() {
    let count = 12;
    let names: Vec<String> = (0..count).map(|v| format!("x{v}")).collect();
    let (mut system, ids) = integers(&names, count as i32 - 1);
    let mut different = Vec::new();
    for a in 0..count {
        for b in 0..a {
            let same = system.exprs.eq(ids[a], ids[b]).expect("integers");
            different.push(system.exprs.not(same).expect("a condition"));
        }
    }
    let start = system.exprs.all(different).expect("conditions");
    let yes = system.exprs.bool(true);
    for v in 1..count {
        add_command(&mut system, yes, vec![(v - 1, ids[v]), (v, ids[v - 1])]);
    }
    let zero = system.exprs.int(0);
    let unsafe_states = system.exprs.eq(ids[0], zero).expect("integers");
    let task = task(system, start, unsafe_states, OutOfDomain::Error);
    for laws in [Laws::Ignored, Laws::InTurn, Laws::Obeyed] {
        assert!(matches!(verdict(&task, laws, None), Verdict::Unsafe(_)), "{laws:?}");
    }
}

/// The laws `v0 + v1 = v2 + v3 = 20000` follow from the start condition, but the checker takes no facts from a negated disjunction, so it would look at each of 4·10⁸ start states. Without
/// laws the proof is `z ≤ 2`.
#[test]
fn a_proof_with_laws_that_takes_too_long_to_check_does_not_end_the_run() {
    let most = 20_000;
    let names: Vec<String> = ["v0", "v1", "v2", "v3", "z"].map(String::from).to_vec();
    let (mut system, ids) = integers(&names, most);
    system.variables[4].ty = VariableType::Int { lower: 0, upper: 3 };
    let exprs = &mut system.exprs;
    let (zero, one, two, three, all) =
        (exprs.int(0), exprs.int(1), exprs.int(2), exprs.int(3), exprs.int(most.into()));
    let mut starts = vec![exprs.eq(ids[4], zero).expect("integers")];
    for pair in 0..2 {
        let sum = exprs.add(ids[2 * pair], ids[2 * pair + 1]).expect("integers");
        let less = exprs.lt(sum, all).expect("integers");
        let more = exprs.lt(all, sum).expect("integers");
        let other = exprs.or(less, more).expect("conditions");
        starts.push(exprs.not(other).expect("a condition"));
    }
    let start = exprs.all(starts).expect("conditions");
    let unsafe_states = exprs.eq(ids[4], three).expect("integers");
    for pair in 0..2 {
        let exprs = &mut system.exprs;
        let (x, y) = (ids[2 * pair], ids[2 * pair + 1]);
        let guard = exprs.lt(zero, x).expect("integers");
        let (less, more) = (exprs.sub(x, one).expect("integers"), exprs.add(y, one).expect("integers"));
        add_command(&mut system, guard, vec![(2 * pair, less), (2 * pair + 1, more)]);
    }
    let guard = system.exprs.lt(ids[4], two).expect("integers");
    let next = system.exprs.add(ids[4], one).expect("integers");
    add_command(&mut system, guard, vec![(4, next)]);
    let task = task(system, start, unsafe_states, OutOfDomain::Block);
    assert_eq!(verdict(&task, Laws::Ignored, None), Verdict::Safe);
    assert_eq!(verdict(&task, Laws::InTurn, Some(Duration::from_secs(6))), Verdict::Safe);
}

/// Makes all commands of a task keep sums in ways that random transfers have not: values that a guard fixes, Booleans, swaps, factors.
fn conserve(task: &mut Task, genes: &[u16]) {
    let mut genes = genes.iter().copied().chain(std::iter::repeat(0));
    let mut below = move |count: usize| usize::from(genes.next().expect("without end")) % count;
    let types: Vec<VariableType> = task.system.variables.iter().map(|variable| variable.ty).collect();
    let booleans: Vec<usize> = (0..types.len()).filter(|&v| types[v] == VariableType::Bool).collect();
    let integers: Vec<(usize, i32, i32)> = (0..types.len())
        .filter_map(|v| match types[v] {
            VariableType::Int { lower, upper } => Some((v, lower, upper)),
            _ => None,
        })
        .collect();
    let ids: Vec<ExprId> = (0..types.len())
        .map(|v| task.system.exprs.variable(VarId(v as u32), &task.system.variables[v]))
        .collect();
    let mut commands = std::mem::take(&mut task.system.commands);
    let exprs = &mut task.system.exprs;
    for command in &mut commands {
        let mut extra = exprs.bool(true);
        let mut assignments: Vec<(usize, ExprId)> = Vec::new();
        match below(6) {
            // A guard fixes x; it gets another value, and another variable what is missing.
            0 | 1 if integers.len() >= 2 => {
                let first = below(integers.len());
                let second = (first + 1 + below(integers.len() - 1)) % integers.len();
                let ((x, lower, upper), (y, ..)) = (integers[first], integers[second]);
                let size = (upper - lower + 1) as usize;
                let before = i64::from(lower) + below(size) as i64;
                let after = i64::from(lower) + below(size) as i64;
                let factor = [1, -1, 2][below(3)];
                let (fixed, new, by) =
                    (exprs.int(before), exprs.int(after), exprs.int(factor * (before - after)));
                extra = exprs.eq(ids[x], fixed).expect("integers");
                assignments = vec![(x, new), (y, exprs.add(ids[y], by).expect("integers"))];
            }
            // What moves is the value of a variable that a guard fixes.
            2 if integers.len() >= 3 => {
                let first = below(integers.len());
                let (x, lower, upper) = integers[first];
                let (y, z) =
                    (integers[(first + 1) % integers.len()].0, integers[(first + 2) % integers.len()].0);
                let fixed = exprs.int(i64::from(lower) + below((upper - lower + 1) as usize) as i64);
                let one = exprs.int(1);
                extra = exprs.eq(ids[x], fixed).expect("integers");
                let less = exprs.sub(ids[z], one).expect("integers");
                let more = exprs.add(ids[y], ids[x]).expect("integers");
                assignments = vec![(y, more), (z, less)];
            }
            // A token.
            3 if booleans.len() >= 2 => {
                let first = below(booleans.len());
                let second = (first + 1 + below(booleans.len() - 1)) % booleans.len();
                let (from, to) = (booleans[first], booleans[second]);
                let free = exprs.not(ids[to]).expect("a Boolean");
                extra = exprs.and(ids[from], free).expect("Booleans");
                assignments = vec![(from, exprs.bool(false)), (to, exprs.bool(true))];
            }
            // A Boolean and a number, perhaps without a guard that fixes it: then it takes no part in any law.
            3 | 4 if !booleans.is_empty() && !integers.is_empty() => {
                let (b, y) = (booleans[below(booleans.len())], integers[below(integers.len())].0);
                if below(4) > 0 {
                    extra = ids[b];
                }
                let one = exprs.int(1);
                assignments = vec![(b, exprs.bool(false)), (y, exprs.add(ids[y], one).expect("integers"))];
            }
            5 => {
                let pairs: Vec<(usize, usize)> = (0..types.len())
                    .flat_map(|a| (0..a).map(move |b| (a, b)))
                    .filter(|&(a, b)| types[a] == types[b])
                    .collect();
                if !pairs.is_empty() {
                    let (a, b) = pairs[below(pairs.len())];
                    assignments = vec![(a, ids[b]), (b, ids[a])];
                }
            }
            _ if integers.len() >= 2 => {
                let first = below(integers.len());
                let second = (first + 1 + below(integers.len() - 1)) % integers.len();
                let (x, y) = (integers[first].0, integers[second].0);
                let (one, two) = (exprs.int(1), exprs.int(2));
                assignments = vec![
                    (x, exprs.sub(ids[x], two).expect("integers")),
                    (y, exprs.add(ids[y], one).expect("integers")),
                ];
            }
            _ => {}
        }
        assignments.sort_unstable();
        command.guard = exprs.and(command.guard, extra).expect("conditions");
        for outcome in &mut command.outcomes {
            let assigned = if below(4) == 0 { &[][..] } else { &assignments[..] };
            outcome.assignments = assigned
                .iter()
                .map(|&(variable, value)| Assignment { variable: VarId(variable as u32), value })
                .collect();
        }
    }
    task.system.commands = commands;
}

/// Laws over Booleans, and those that hold only because a guard fixes a value; also without the checker, and with it.
#[test]
fn laws_of_all_kinds() {
    let (safe, lawful) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for (laws, checked) in [(Laws::Obeyed, false), (Laws::Obeyed, true), (Laws::InTurn, false)] {
        let strategy = (tasks(Size::Small), vec(any::<u16>(), 100));
        check(&strategy, 2000, |(RandomTask { mut task, .. }, genes): (RandomTask, Vec<u16>)| {
            conserve(&mut task, &genes);
            let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
            let options = Options { laws, list: 0, check: checked, ..Options::default() };
            let answer = verify(&task, options, &Control::unlimited());
            if let Ok(proof) = &answer {
                prop_assert!(!matches!(proof.outcome.verdict, Verdict::Unknown(_)), "there was no limit");
                if let Some(certificate) = &proof.certificate {
                    safe.fetch_add(1, Ordering::Relaxed);
                    lawful.fetch_add(usize::from(!proof.laws.is_empty()), Ordering::Relaxed);
                    inductive(&task, &certificate.regions, LIMIT).map_err(TestCaseError::fail)?;
                }
            }
            let answer = answer.map(|proof| proof.outcome);
            Expected::of(&exploration, Coverage::Any)
                .check(&task, &answer, false)
                .map_err(TestCaseError::fail)
        });
    }
    let (safe, lawful) = (safe.into_inner(), lawful.into_inner());
    assert!(lawful > 20, "only {lawful} of {safe}");
}
