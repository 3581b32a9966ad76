//! Domains of millions of values: nothing may be as large as they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use surefoot_harness::random::{RandomTask, Size, tasks};
use surefoot_harness::run::check;
use surefoot_model::{ExprId, ExprPool, Type, Value, VarId, Variable, VariableType};
use surefoot_solve::{Answer, Bound, Encoder, Interrupt, SatSolver, SolveIncremental, Step, Transitions};

use super::states::{successor, types, value};

/// Variables `0..=1_000_000` and the whole of 32 bits.
fn wide() -> (Vec<Variable>, ExprPool, Vec<ExprId>) {
    let domains = [(0, 1_000_000), (0, 1_000_000), (i32::MIN, i32::MAX), (i32::MIN, i32::MAX)];
    let variables: Vec<Variable> = ["x", "y", "z", "w"]
        .iter()
        .zip(domains)
        .map(|(name, (lower, upper))| Variable::new(*name, VariableType::Int { lower, upper }))
        .collect();
    let mut pool = ExprPool::new();
    let ids = (0..4).map(|v| pool.variable_of_type(VarId(v), Type::Int)).collect();
    (variables, pool, ids)
}

type Build = fn(&mut ExprPool, &[ExprId]) -> Result<Vec<ExprId>, surefoot_model::TypeError>;

#[test]
fn comparisons_of_wide_variables_are_decided_with_few_explanations() {
    // The conditions and whether they can be true at once.
    let cases: Vec<(&str, Build, bool)> = vec![
        (
            "x = y, x ≥ 500000, y ≤ 499999",
            |p, v| {
                let (a, b) = (p.int(500_000), p.int(499_999));
                Ok(vec![p.eq(v[0], v[1])?, p.ge(v[0], a)?, p.le(v[1], b)?])
            },
            false,
        ),
        (
            "x = y, x ≥ 500000, y ≤ 500000",
            |p, v| {
                let a = p.int(500_000);
                Ok(vec![p.eq(v[0], v[1])?, p.ge(v[0], a)?, p.le(v[1], a)?])
            },
            true,
        ),
        (
            "x + y ≥ 1999999",
            |p, v| {
                let (sum, c) = (p.add(v[0], v[1])?, p.int(1_999_999));
                Ok(vec![p.ge(sum, c)?])
            },
            true,
        ),
        (
            "x + y ≥ 2000001",
            |p, v| {
                let (sum, c) = (p.add(v[0], v[1])?, p.int(2_000_001));
                Ok(vec![p.ge(sum, c)?])
            },
            false,
        ),
        ("x < y, y < x", |p, v| Ok(vec![p.lt(v[0], v[1])?, p.lt(v[1], v[0])?]), false),
        (
            "z - w ≥ 4000000000",
            |p, v| {
                let (difference, c) = (p.sub(v[2], v[3])?, p.int(4_000_000_000));
                Ok(vec![p.ge(difference, c)?])
            },
            true,
        ),
        (
            "z * z = 4, z < 0",
            |p, v| {
                let (square, four, zero) = (p.mul(v[2], v[2])?, p.int(4), p.int(0));
                Ok(vec![p.eq(square, four)?, p.lt(v[2], zero)?])
            },
            true,
        ),
        (
            "z * w is undefined",
            |p, v| {
                let (product, zero) = (p.mul(v[2], v[3])?, p.int(0));
                let compared = p.le(zero, product)?;
                // Products of 32-bit numbers fit: the disjunction says that it is defined.
                let negated = p.not(compared)?;
                let defined = p.or(compared, negated)?;
                Ok(vec![p.not(defined)?])
            },
            false,
        ),
        (
            "x % y = 7, y = 0 excluded by being undefined",
            |p, v| {
                let (remainder, seven, zero) = (p.modulo(v[0], v[1])?, p.int(7), p.int(0));
                Ok(vec![p.eq(remainder, seven)?, p.eq(v[1], zero)?])
            },
            false,
        ),
        (
            "min(x, y) ≥ 999999, max(x, y) ≤ 999999",
            |p, v| {
                let (c, low, high) = (p.int(999_999), p.min(v[0], v[1])?, p.max(v[0], v[1])?);
                Ok(vec![p.ge(low, c)?, p.le(high, c)?])
            },
            true,
        ),
        (
            "|z| = 2147483648",
            |p, v| {
                let (absolute, c) = (p.abs(v[2])?, p.int(2_147_483_648));
                Ok(vec![p.eq(absolute, c)?])
            },
            true,
        ),
        (
            "x / 2 > 499999.9",
            |p, v| {
                let two = p.int(2);
                let (half, c) = (p.div(v[0], two)?, p.real(499_999.9));
                Ok(vec![p.gt(half, c)?])
            },
            true,
        ),
    ];
    for (name, build, possible) in cases {
        let (variables, mut pool, ids) = wide();
        let conditions = build(&mut pool, &ids).expect("well typed");
        let mut encoder = Encoder::new(SatSolver::new(), &variables).expect("discrete");
        let assumptions: Vec<_> =
            conditions.iter().map(|&condition| encoder.condition(&pool, condition).is_true).collect();
        let answer = encoder.solve_assuming(&assumptions);
        assert_eq!(answer == Answer::Satisfiable, possible, "{name}: {answer:?}");
        if possible {
            let state = encoder.state();
            for &condition in &conditions {
                let found = value(&pool, &[Type::Int; 4], condition, &state);
                assert_eq!(found, Some(Value::Bool(true)), "{name} at {state:?}");
            }
        }
        let statistics = encoder.statistics();
        assert!(statistics.explanations < 300, "{name}: {statistics:?}");
        assert!(encoder.solver().size() < 1000, "{name}: {:?}", encoder.solver());
    }
}

/// Answers about wide tasks are right at every state that is tried. Some conditions would take long: they are interrupted after a number of polls,
/// which is the same on every machine.
#[test]
fn steps_of_wide_tasks_are_right_where_they_are_decided() {
    let decided = AtomicU32::new(0);
    let asked = AtomicU32::new(0);
    let strategy = (tasks(Size::Wide), any::<u16>(), prop::collection::vec(any::<(u8, i32, bool)>(), 0..5));
    check(&strategy, 1500, |(RandomTask { task, .. }, step, genes)| {
        let system = &task.system;
        let steps: Vec<Step> = (0..system.commands.len())
            .flat_map(|command| {
                (0..system.commands[command].outcomes.len()).map(move |outcome| Step { command, outcome })
            })
            .collect();
        if steps.is_empty() {
            return Ok(());
        }
        let step = steps[usize::from(step) % steps.len()];
        let bound = |v: usize, c: i32, at_least: bool| {
            let (lower, upper) = system.variables[v].ty.bounds().expect("discrete");
            let (v, c) = (VarId(v as u32), i64::from(c.clamp(lower, upper)));
            if at_least { Bound::AtLeast(v, c) } else { Bound::AtMost(v, c) }
        };
        let bounds: Vec<Bound> = genes
            .iter()
            .map(|&(v, c, at_least)| bound(usize::from(v) % system.variables.len(), c >> (v % 32), at_least))
            .collect();
        let mut transitions = Transitions::<SatSolver>::new(system).expect("discrete");
        let frame = transitions.add_frame();
        transitions.add_clause(frame, &bounds);
        let polls = AtomicU32::new(0);
        transitions.set_interrupt(Some(Arc::new(move || polls.fetch_add(1, Ordering::Relaxed) > 2000)));
        let command = &system.commands[step.command];
        let outcome = &command.outcomes[step.outcome];
        let at = |id: ExprId, state: &[i32]| value(&system.exprs, &types(system), id, state);
        let leads = |state: &[i32]| {
            let enabled = at(command.guard, state) == Some(Value::Bool(true));
            let positive = at(outcome.probability, state).and_then(Value::as_real).is_some_and(|p| p > 0.0);
            let after = if enabled && positive { successor(system, outcome, state) } else { None };
            after.filter(|after| bounds.iter().any(|bound| bound.holds(after)))
        };
        asked.fetch_add(1, Ordering::Relaxed);
        match transitions.query(step, &[], &[frame]) {
            Answer::Unknown => return Ok(()),
            Answer::Satisfiable => {
                prop_assert_eq!(leads(&transitions.state()), Some(transitions.successor()));
            }
            Answer::Unsatisfiable => {
                let core = transitions.core();
                prop_assert!(core.bounds.is_empty() && core.frames.iter().all(|&f| f == frame));
                for state in &task.property.start.listed {
                    prop_assert_eq!(leads(state), None, "{:?} was overlooked", state);
                }
            }
        }
        decided.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let (decided, asked) = (decided.into_inner(), asked.into_inner());
    assert!(decided * 100 >= asked * 97, "{decided} of {asked} are decided");
}

#[test]
fn an_interrupted_refinement_says_unknown_and_goes_on() {
    let (variables, mut pool, v) = wide();
    // x·y = 999983·7 + 1 has no easy proof by boxes.
    let (product, c) = (pool.mul(v[0], v[1]).expect("integers"), pool.int(6_999_883));
    let equal = pool.eq(product, c).expect("numbers");
    let mut encoder = Encoder::new(SatSolver::new(), &variables).expect("discrete");
    let truths = encoder.condition(&pool, equal);
    let polls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&polls);
    encoder.set_interrupt(Some(Arc::new(move || counter.fetch_add(1, Ordering::Relaxed) >= 5)));
    assert_eq!(encoder.solve_assuming(&[truths.is_true]), Answer::Unknown);
    encoder.set_interrupt(None);
    assert_eq!(encoder.solve_assuming(&[truths.is_false]), Answer::Satisfiable);
    let state = encoder.state();
    assert_eq!(value(&pool, &[Type::Int; 4], equal, &state), Some(Value::Bool(false)));
}
