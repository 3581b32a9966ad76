//! What remains true if a run is stopped: at each possible moment of a small explanation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use surefoot_model::{
    Command, ExprId, Label, LabelId, Outcome, Property, Start, TransitionSystem, VarId, Variable,
    VariableType,
};
use surefoot_policy::{Activation, Arithmetic, Layer, Network, Parameter, Policy, PolicyInput, Scorer};

use super::{Explainer, Neighbourhood, Order, StateBox};
use crate::control::Control;
use crate::task::{Goal, OutOfDomain, Semantics, Task, TaskError};

const TOP: i32 = 40;

/// Three variables. `a` is always applicable and has the score `3·w`, `b` is if `u ≤ v` or `u·v = 4` and has the score `u - v + w + 9`.
fn task() -> Task {
    let mut system = TransitionSystem {
        labels: ["a", "b"].map(|name| Label { name: name.into() }).to_vec(),
        variables: ["u", "v", "w"]
            .map(|name| Variable::new(name, VariableType::Int { lower: 0, upper: TOP }))
            .to_vec(),
        ..TransitionSystem::default()
    };
    let pool = &mut system.exprs;
    let [u, v] = [0, 1].map(|index| pool.variable(VarId(index), &system.variables[index as usize]));
    let (always, four, one) = (pool.bool(true), pool.int(4), pool.int(1));
    let below = pool.le(u, v).expect("numbers");
    let product = pool.mul(u, v).and_then(|product| pool.eq(product, four)).expect("numbers");
    let command = |label, guard: ExprId| Command {
        label: Some(LabelId(label)),
        guard,
        outcomes: vec![Outcome { probability: one, assignments: Vec::new(), requirements: Vec::new() }],
        origin: String::new(),
    };
    system.commands = vec![command(0, always), command(1, below), command(1, product)];
    let never = system.exprs.bool(false);
    let numbers = |numbers: &[f64]| numbers.iter().copied().map(Parameter::from).collect::<Vec<_>>();
    let weights = numbers(&[0.0, 0.0, 3.0, 1.0, -1.0, 1.0]);
    let layer = Layer::new(3, weights, numbers(&[0.0, 9.0]), Activation::Identity).expect("well formed");
    let scorer = Scorer::Network(Network::new(vec![layer]).expect("layers fit"));
    let inputs = (0..3).map(|v| PolicyInput::Variable(VarId(v))).collect();
    let policy = Policy::new(inputs, vec![LabelId(0), LabelId(1)], true, scorer).expect("sizes fit");
    Task {
        system,
        property: Property {
            name: "test".into(),
            start: Start::default(),
            unsafe_states: never,
            hold: None,
            goal: None,
            predicates: Vec::new(),
            policy_file: None,
        },
        policy: Some(policy),
        semantics: Semantics {
            filter: true,
            goal: Goal::Ignore,
            out_of_domain: OutOfDomain::Error,
            arithmetic: Arithmetic::F64,
        },
    }
}

/// Whether `b` is chosen, by the definition above.
fn chooses_b(state: &[i32]) -> bool {
    let [u, v, w] = [state[0], state[1], state[2]];
    (u <= v || u * v == 4) && u - v + w + 9 > 3 * w
}

fn all_states() -> impl Iterator<Item = [i32; 3]> {
    (0..=TOP).flat_map(|u| (0..=TOP).flat_map(move |v| (0..=TOP).map(move |w| [u, v, w])))
}

#[test]
fn whatever_the_moment_of_a_stop_the_claims_hold() {
    let task = task();
    let state = [3, 7, 2];
    assert!(chooses_b(&state));
    let others: Vec<[i32; 3]> = all_states().filter(|other| !chooses_b(other)).collect();
    let is_same = |states: &StateBox| !others.iter().any(|other| states.contains(other));
    let distance =
        |other: &[i32]| -> u64 { state.iter().zip(other).map(|(a, b)| u64::from(a.abs_diff(*b))).sum() };
    let largest = |other: &[i32; 3]| state.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).max();
    let nearest_of_all = others.iter().map(|other| distance(other)).min().expect("there are others");
    let radius_of_all = others.iter().filter_map(largest).min().expect("there are others");
    let mut incomplete = 0;
    for polls in 0.. {
        let asked = AtomicU64::new(0);
        let poll = Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) >= polls);
        let mut explainer = Explainer::polled(&task, poll).expect("a policy");
        let nearest = explainer.nearest(&state);
        let radius = explainer.radius(&state);
        let relevance = explainer.relevant(&state, Neighbourhood::Domains, Order::Declared);
        let rule = explainer.rule(&state, Neighbourhood::Domains, &relevance);

        assert!(nearest.at_least <= nearest_of_all);
        if let Some((other, found)) = &nearest.state {
            assert!(!chooses_b(other) && distance(other) == *found);
            assert!(!nearest.is_exact || *found == nearest_of_all);
        }
        assert!(radius.same_within < radius_of_all);
        assert!(radius.differs_within.is_none_or(|differs| differs >= radius_of_all));
        assert!(!radius.is_exact || radius.differs_within == Some(radius_of_all));
        assert!(is_same(&relevance.same_in) && is_same(&rule.states));
        for v in relevance.relevant.iter().map(|v| v.index()) {
            let mut wider = relevance.same_in.clone();
            (wider.lower[v], wider.upper[v]) = (0, TOP);
            assert!(!is_same(&wider), "variable {v} is not needed");
        }
        if nearest.is_exact && radius.is_exact && relevance.open.is_empty() && rule.is_maximal {
            break;
        }
        incomplete += 1;
    }
    assert!(incomplete > 3, "the explanation is too easy for this test");
}

#[test]
fn policies_over_discrete_variables_are_explained() {
    let mut real = task();
    real.system.variables[1].ty = VariableType::Real { lower: 0.0, upper: 1.0 };
    let error = Explainer::new(&real, &Control::unlimited()).err();
    assert!(matches!(error, Some(TaskError::RealVariable { .. })), "{error:?}");
    let alone = Task { policy: None, ..task() };
    assert_eq!(Explainer::new(&alone, &Control::unlimited()).err(), Some(TaskError::NoPolicy));
}
