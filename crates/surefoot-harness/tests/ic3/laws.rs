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
    Assignment, Command, ExprId, Outcome, Property, Start, TransitionSystem, VarId, Variable, VariableType,
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

/// Something is moved between `x` and `y`, which are up to `most` each and as much together at the start. It is unsafe if `x` has all and `y` has
/// something. The switch `on` is never turned, which boxes can say; it may be on at the start.
fn moved(most: i32, is_on: bool) -> Task {
    let mut system = TransitionSystem::default();
    let amount = VariableType::Int { lower: 0, upper: most };
    system.variables =
        vec![Variable::new("x", amount), Variable::new("on", VariableType::Bool), Variable::new("y", amount)];
    let pool = &mut system.exprs;
    let [x, on, y] = [0, 1, 2].map(|v| pool.variable(VarId(v), &system.variables[v as usize]));
    let (zero, one, most) = (pool.int(0), pool.int(1), pool.int(most.into()));
    let sum = pool.add(x, y).expect("integers");
    let mut start = pool.eq(sum, most).expect("integers");
    if is_on {
        start = pool.and(start, on).expect("conditions");
    }
    let (all, some) = (pool.eq(x, most).expect("integers"), pool.lt(zero, y).expect("integers"));
    let unsafe_states = pool.and(all, some).expect("conditions");
    let mut step = |from: ExprId, to: ExprId, variables: [u32; 2]| {
        let (less, more) = (pool.sub(from, one).expect("integers"), pool.add(to, one).expect("integers"));
        let assigned = variables.into_iter().zip([less, more]);
        let assignments = assigned.map(|(v, value)| Assignment { variable: VarId(v), value }).collect();
        let guard = pool.lt(zero, from).expect("integers");
        let outcomes = vec![Outcome { probability: one, assignments, requirements: Vec::new() }];
        Command { label: None, guard, outcomes, origin: String::new() }
    };
    let commands = vec![step(x, y, [0, 2]), step(y, x, [2, 0])];
    system.commands = commands;
    Task {
        system,
        property: Property {
            name: "moved".into(),
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

/// Boxes alone would have to list a hundred thousand start states. No step leaves a domain, since the sum stays the same.
#[test]
fn one_region_is_enough_where_a_sum_is_known() {
    let options = Options { samples: 0, ..unlisted() };
    let proof = verify(&moved(100_000, true), options, &Control::unlimited()).expect("a verdict");
    assert_eq!(proof.outcome.verdict, Verdict::Safe);
    assert_eq!(proof.laws, ["x + y = 100000"]);
    assert_eq!(proof.certificate.expect("a proof").regions.len(), 1);
    assert!(proof.check.is_some());
}

/// A start state that has more makes the law weaker.
#[test]
fn listed_start_states_obey_the_laws() {
    let mut task = moved(10, false);
    task.property.start.listed = vec![vec![3, 0, 4], vec![5, 1, 6]];
    let proof = verify(&task, unlisted(), &Control::unlimited()).expect("a verdict");
    assert!(matches!(proof.outcome.verdict, Verdict::Unsafe(_)), "11 are too many");
    task.property.start.listed.pop();
    let proof = verify(&task, unlisted(), &Control::unlimited()).expect("a verdict");
    assert_eq!((proof.outcome.verdict, proof.laws), (Verdict::Safe, vec!["7 ≤ x + y ≤ 10".to_owned()]));
}
