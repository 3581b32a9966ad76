//! Sums that no step changes.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use surefoot_engines::ic3::{Options, Proof, verify};
use surefoot_engines::{Control, Goal, OutOfDomain, Semantics, Task, Verdict};
use surefoot_harness::random::{RandomTask, Size, tasks_with_transfers};
use surefoot_harness::reference::explore;
use surefoot_harness::run::{cases, check};
use surefoot_model::{
    Assignment, Command, ExprId, ExprPool, Outcome, Property, Start, TransitionSystem, VarId, Variable,
    VariableType,
};
use surefoot_policy::Arithmetic;

use crate::{LIMIT, right_answer, unlisted};

/// They are facts of regions, and nothing else is different.
#[test]
fn tasks_with_laws() {
    let with_sums = AtomicU32::new(0);
    let by_frames = Options { samples: 0, growth: 0, ..unlisted() };
    for options in [unlisted(), by_frames, Options { laws: false, ..by_frames }] {
        check(&tasks_with_transfers(Size::Small), 1000, |RandomTask { task, .. }| {
            let Ok(exploration) = explore(&task, LIMIT) else { return Ok(()) };
            let answer = verify(&task, options, &Control::unlimited());
            if let Ok(Proof { certificate: Some(certificate), .. }) = &answer {
                let facts = certificate.regions.iter().flat_map(|region| &region.facts);
                let has_sum = facts.into_iter().any(|fact| fact.terms.len() > 1);
                prop_assert!(options.laws || !has_sum);
                with_sums.fetch_add(has_sum.into(), Relaxed);
            }
            right_answer(&task, &exploration, answer, false)
        });
    }
    let with_sums = with_sums.into_inner();
    assert!(with_sums >= cases(200), "only {with_sums}");
}

/// A task without policy: pairs of variables, all up to `most` and as much together at the start. Steps change a pair as `step` says, where its first variable is
/// above 0. It is unsafe if the first variable of the last pair has all, and the second has something.
fn pairs(
    count: u32,
    most: i32,
    step: impl Fn(&mut ExprPool, ExprId, ExprId) -> Vec<(usize, ExprId)>,
) -> Task {
    let mut system = TransitionSystem::default();
    let ty = VariableType::Int { lower: 0, upper: most };
    system.variables = (0..2 * count).map(|v| Variable::new(format!("v{v}"), ty)).collect();
    let pool = &mut system.exprs;
    let (zero, one, most) = (pool.int(0), pool.int(1), pool.int(most.into()));
    let (mut starts, mut unsafe_states) = (Vec::new(), zero);
    for pair in 0..count {
        let ids = [2 * pair, 2 * pair + 1];
        let [x, y] = ids.map(|v| pool.variable(VarId(v), &system.variables[v as usize]));
        let sum = pool.add(x, y).expect("integers");
        starts.push(pool.eq(sum, most).expect("integers"));
        let (all, some) = (pool.eq(x, most).expect("integers"), pool.lt(zero, y).expect("integers"));
        unsafe_states = pool.and(all, some).expect("conditions");
        let assigned = step(pool, x, y).into_iter();
        let assignments = assigned.map(|(which, value)| Assignment { variable: VarId(ids[which]), value });
        let assignments = assignments.collect();
        let outcomes = vec![Outcome { probability: one, assignments, requirements: Vec::new() }];
        let guard = pool.lt(zero, x).expect("integers");
        system.commands.push(Command { label: None, guard, outcomes, origin: String::new() });
    }
    let start = pool.all(starts).expect("conditions");
    Task {
        system,
        property: Property {
            name: "pairs".into(),
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
            out_of_domain: OutOfDomain::Error,
            arithmetic: Arithmetic::F64,
        },
    }
}

/// One moves from the first variable of a pair to the second.
fn one_moves(pool: &mut ExprPool, x: ExprId, y: ExprId) -> Vec<(usize, ExprId)> {
    let one = pool.int(1);
    let (less, more) = (pool.sub(x, one).expect("integers"), pool.add(y, one).expect("integers"));
    vec![(0, less), (1, more)]
}

/// The proof of a task by frames; it has one region, and the checker has accepted it.
fn one_region(task: &Task) -> Proof {
    let options = Options { samples: 0, ..unlisted() };
    let proof = verify(task, options, &Control::unlimited()).expect("a verdict");
    assert_eq!(proof.outcome.verdict, Verdict::Safe);
    assert_eq!(proof.certificate.as_ref().expect("a proof").regions.len(), 1);
    assert!(proof.check.is_some());
    proof
}

/// Boxes alone would have to list a hundred thousand start states. No step leaves a domain, since the sum stays the same.
#[test]
fn one_region_is_enough_where_a_sum_is_known() {
    assert_eq!(one_region(&pairs(1, 100_000, one_moves)).laws, ["v0 + v1 = 100000"]);
}

/// The checker looked at the first 64 facts only.
#[test]
fn many_sums_are_seen_to_stay_the_same() {
    assert_eq!(one_region(&pairs(40, 3, one_moves)).laws.len(), 40);
}

/// The checker followed only values that are a variable plus a number.
#[test]
fn sums_stay_the_same_when_everything_moves() {
    let all_moves = |pool: &mut ExprPool, x, y| {
        let (none, both) = (pool.int(0), pool.add(x, y).expect("integers"));
        vec![(0, none), (1, both)]
    };
    assert_eq!(one_region(&pairs(1, 10_000, all_moves)).laws, ["v0 + v1 = 10000"]);
}

/// A start state that has more makes the law weaker.
#[test]
fn listed_start_states_obey_the_laws() {
    let mut task = pairs(1, 10, one_moves);
    task.property.start.listed = vec![vec![3, 4]];
    let proof = verify(&task, unlisted(), &Control::unlimited()).expect("a verdict");
    assert_eq!((proof.outcome.verdict, proof.laws), (Verdict::Safe, vec!["7 ≤ v0 + v1 ≤ 10".to_owned()]));
    task.property.start.listed.push(vec![10, 1]);
    let proof = verify(&task, unlisted(), &Control::unlimited()).expect("a verdict");
    assert!(matches!(proof.outcome.verdict, Verdict::Unsafe(_)), "11 are too many");
}
