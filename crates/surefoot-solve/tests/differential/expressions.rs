//! Single conditions built from all operators, nested and shared at random.

use std::sync::Mutex;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use surefoot_harness::run::check;
use surefoot_model::{ExprId, ExprPool, Type, Value, VarId, Variable, VariableType};
use surefoot_solve::{Answer, Arithmetic, Encoder, Limits, SatSolver, Solve, SolveIncremental, Statistics};

use super::states::value;

const INTEGERS: usize = 3;
const BOOLEANS: usize = 2;

/// Each step combines earlier expressions; operand numbers are taken modulo what there is.
type Instruction = (u8, u16, u16, u16);

fn build(steps: &[Instruction]) -> (ExprPool, Vec<ExprId>) {
    let mut pool = ExprPool::new();
    let mut booleans = vec![pool.bool(true), pool.bool(false)];
    let mut numbers: Vec<ExprId> = [-2, -1, 0, 1, 2, 3, 7, i64::MAX, i64::MIN].map(|i| pool.int(i)).to_vec();
    numbers.push(pool.real(0.5));
    for v in 0..INTEGERS {
        numbers.push(pool.variable_of_type(VarId(v as u32), Type::Int));
    }
    for v in INTEGERS..INTEGERS + BOOLEANS {
        booleans.push(pool.variable_of_type(VarId(v as u32), Type::Bool));
    }
    for &(op, i, j, k) in steps {
        let number = |n: u16| numbers[numbers.len() - 1 - n as usize % numbers.len()];
        let boolean = |n: u16| booleans[booleans.len() - 1 - n as usize % booleans.len()];
        let (x, y, z) = (number(i), number(j), number(k));
        let (a, b, c) = (boolean(i), boolean(j), boolean(k));
        let built = match op % 30 {
            0 => pool.not(a),
            1 => pool.and(a, b),
            2 => pool.or(a, b),
            3 => pool.implies(a, b),
            4 | 24 => pool.eq(x, y),
            5 => pool.ne(x, y),
            6 | 25 => pool.lt(x, y),
            7 | 26 => pool.le(x, y),
            8 | 27 => pool.add(x, y),
            9 | 28 => pool.sub(x, y),
            10 => pool.mul(x, y),
            11 => pool.div(x, y),
            12 => pool.modulo(x, y),
            13 => pool.min(x, y),
            14 => pool.max(x, y),
            15 => pool.floor(x),
            16 => pool.ceil(x),
            17 => pool.truncate(x),
            18 => pool.abs(x),
            19 => pool.sign(x),
            20 => pool.ite(c, x, y),
            21 => pool.ite(c, a, b),
            22 => pool.select(&[x, y, z], number(i.wrapping_add(j))),
            23 => pool.select(&[a, b, c], number(i.wrapping_add(j))),
            29 => pool.pow(x, y),
            _ => pool.eq(a, b),
        };
        if let Ok(id) = built {
            if pool.ty(id) == Type::Bool { booleans.push(id) } else { numbers.push(id) }
        }
    }
    (pool, booleans.split_off(4))
}

/// Bounds of the integers: some too large for tables, so that atoms are explained lazily.
fn domains() -> impl Strategy<Value = Vec<(i32, i32)>> {
    prop::collection::vec((-4..=3, prop_oneof![0..4, 6..9]), INTEGERS)
        .prop_map(|sizes| sizes.into_iter().map(|(lower, size)| (lower, lower + size)).collect())
}

fn agree<S: Arithmetic + Default>(
    steps: &[Instruction],
    domains: &[(i32, i32)],
    limits: Limits,
) -> Result<Statistics, TestCaseError> {
    let (pool, conditions) = build(steps);
    let variable = |v: usize| {
        let ty = match domains.get(v) {
            Some(&(lower, upper)) => VariableType::Int { lower, upper },
            None => VariableType::Bool,
        };
        Variable::new(format!("v{v}"), ty)
    };
    let variables: Vec<Variable> = (0..INTEGERS + BOOLEANS).map(variable).collect();
    let types: Vec<Type> = variables.iter().map(|variable| variable.ty.ty()).collect();
    let mut points = vec![Vec::new()];
    for variable in &variables {
        let (lower, upper) = variable.ty.bounds().expect("discrete");
        points = points
            .iter()
            .flat_map(|point| (lower..=upper).map(move |value| [point.as_slice(), &[value]].concat()))
            .collect();
    }
    let mut encoder = Encoder::new(S::default(), &variables).expect("discrete");
    encoder.set_limits(limits);
    // Small parts first, and the whole last: what was translated for one is used for the next.
    for &condition in conditions.iter().rev().take(4).rev() {
        let truths = encoder.condition(&pool, condition);
        let undefined = encoder.undefined(truths);
        let values: Vec<Option<Value>> =
            points.iter().map(|point| value(&pool, &types, condition, point)).collect();
        for (literal, expected) in [
            (truths.is_true, Some(Value::Bool(true))),
            (truths.is_false, Some(Value::Bool(false))),
            (undefined, None),
        ] {
            let exists = values.contains(&expected);
            let answer = if exists { Answer::Satisfiable } else { Answer::Unsatisfiable };
            prop_assert_eq!(encoder.solve_assuming(&[literal]), answer, "{:?}", expected);
            if exists {
                let found = value(&pool, &types, condition, &encoder.state());
                prop_assert_eq!(found, expected);
            }
            let exists_other = values.iter().any(|value| *value != expected);
            let answer = if exists_other { Answer::Satisfiable } else { Answer::Unsatisfiable };
            prop_assert_eq!(encoder.solve_assuming(&[!literal]), answer, "not {:?}", expected);
        }
    }
    let statistics = encoder.statistics();
    // Requiring the last one leaves exactly its solutions.
    if let Some(&condition) = conditions.last() {
        let mut encoder = Encoder::new(S::default(), &variables).expect("discrete");
        encoder.set_limits(limits);
        encoder.require_condition(&pool, condition);
        let solutions =
            points.iter().filter(|p| value(&pool, &types, condition, p) == Some(Value::Bool(true)));
        let integers: Vec<_> = (0..variables.len()).map(|v| encoder.integer(VarId(v as u32))).collect();
        let mut found = Vec::new();
        surefoot_solve::enumerate(&mut encoder, &[], &integers, |state| {
            found.push(state.to_vec());
            if found.len() < 200 {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        });
        let expected: Vec<Vec<i32>> = solutions.cloned().collect();
        if found.len() < 200 {
            found.sort();
            prop_assert_eq!(found, expected);
        } else {
            prop_assert!(expected.len() >= 200 && found.iter().all(|state| expected.contains(state)));
        }
    }
    Ok(statistics)
}

fn conditions() -> impl Strategy<Value = (Vec<Instruction>, Vec<(i32, i32)>)> {
    (prop::collection::vec(any::<Instruction>(), 1..25), domains())
}

fn check_all<S: Arithmetic + Default>(cases: u32, limits: Limits) -> Statistics {
    let ways = Mutex::new(Statistics::default());
    check(&conditions(), cases, |(steps, domains)| {
        let Statistics { tables, sums, lazy, explanations } = agree::<S>(&steps, &domains, limits)?;
        let mut ways = ways.lock().expect("one thread");
        ways.tables += tables;
        ways.sums += sums;
        ways.lazy += lazy;
        ways.explanations += explanations;
        Ok(())
    });
    ways.into_inner().expect("one thread")
}

#[test]
fn conditions_of_all_operators_agree_with_the_point_evaluator() {
    let Statistics { tables, sums, .. } = check_all::<SatSolver>(3000, Limits::default());
    assert!(tables > 300 && sums > 50, "{tables} tables and {sums} sums are too few to mean anything");
}

#[test]
fn lazily_explained_conditions_agree_with_the_point_evaluator() {
    let Statistics { lazy, explanations, .. } = check_all::<SatSolver>(3000, Limits::LAZY);
    assert!(lazy > 500 && explanations > 1000, "{lazy} atoms and {explanations} explanations are too few");
}

#[cfg(feature = "z3")]
#[test]
fn conditions_of_all_operators_agree_with_the_point_evaluator_in_z3() {
    check_all::<surefoot_solve::Z3Solver>(200, Limits::default());
    check_all::<surefoot_solve::Z3Solver>(200, Limits::LAZY);
}

#[test]
fn conditions_thousands_of_levels_deep_are_translated() {
    let variables = [
        Variable::new("b", VariableType::Bool),
        Variable::new("x", VariableType::Int { lower: 0, upper: 1_000_000 }),
    ];
    let mut pool = ExprPool::new();
    let b = pool.variable_of_type(VarId(0), Type::Bool);
    let x = pool.variable_of_type(VarId(1), Type::Int);
    let (one, limit) = (pool.int(1), pool.int(30_000));
    let mut condition = b;
    let mut sum = x;
    for i in 0..30_000 {
        condition = match i % 3 {
            0 => pool.not(condition).expect("a Boolean"),
            1 => pool.and(condition, b).expect("Booleans"),
            _ => pool.eq(condition, b).expect("Booleans"),
        };
        sum = pool.add(sum, one).expect("integers");
    }
    let small = pool.le(sum, limit).expect("numbers");
    let condition = pool.and(condition, small).expect("Booleans");
    let mut encoder = Encoder::new(SatSolver::new(), &variables).expect("discrete");
    let truths = encoder.condition(&pool, condition);
    let expected = |b: i32| {
        let state = [b, 0];
        value(&pool, &[Type::Bool, Type::Int], condition, &state) == Some(Value::Bool(true))
    };
    for b in [0, 1] {
        let is_b = encoder.equals(encoder.integer(VarId(0)), b.into());
        let answer = encoder.solve_assuming(&[truths.is_true, is_b]) == Answer::Satisfiable;
        assert_eq!(answer, expected(b), "{b}");
        if answer {
            assert_eq!(encoder.state(), [b, 0]);
        }
    }
}

/// `ite(c, e + 2ᵏ, e)`, nested: a comparison with it, taken apart, has exponentially many cases.
#[test]
fn sums_of_nested_choices_do_not_explode() {
    const DEPTH: usize = 26;
    let variables: Vec<Variable> =
        (0..DEPTH).map(|i| Variable::new(format!("b{i}"), VariableType::Bool)).collect();
    let types = vec![Type::Bool; DEPTH];
    let mut pool = ExprPool::new();
    let mut sum = pool.int(0);
    for k in 0..DEPTH {
        let b = pool.variable_of_type(VarId(k as u32), Type::Bool);
        let power = pool.int(1 << k);
        let more = pool.add(sum, power).expect("integers");
        sum = pool.ite(b, more, sum).expect("one type");
    }
    let bound = pool.int(0b10_1100_1110_0011_1101_0110_0101);
    let condition = pool.eq(sum, bound).expect("numbers");
    let mut encoder = Encoder::new(SatSolver::new(), &variables).expect("discrete");
    let truths = encoder.condition(&pool, condition);
    assert!(encoder.solver().size() < 200_000, "{:?}", encoder.solver());
    for literal in [truths.is_true, truths.is_false] {
        let answer = encoder.solve_assuming(&[literal]);
        assert_eq!(answer, Answer::Satisfiable);
        let found = value(&pool, &types, condition, &encoder.state());
        assert_eq!(found, Some(Value::Bool(literal == truths.is_true)));
    }
}
