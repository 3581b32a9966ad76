//! Mistakes in a model are reported, whatever the passes and the policy make of them.

use surefoot_engines::explicit::{Options, verify};
use surefoot_engines::{Control, TaskError};

use crate::fixture::{BLOCK, ERROR, Model};

#[test]
fn probabilities_that_turn_out_constant_are_checked() {
    // The only outcome has probability v0 / 10, and v0 never changes.
    for (tenths, answer) in [(10, "safe"), (7, "model error"), (0, "model error"), (-3, "model error")] {
        let mut model = Model::new(ERROR, &[(-5, 10), (0, 1)]);
        model.task.property.start.listed = vec![vec![tenths, 0]];
        let (yes, ten, one) = (model.exprs().bool(true), model.exprs().int(10), model.exprs().int(1));
        let v0 = model.variable(0);
        let probability = model.exprs().div(v0, ten).expect("numbers");
        model.command(None, yes, probability, &[(1, one)]);
        assert_eq!(model.answer(), answer);
    }
}

#[test]
fn a_guard_is_an_error_where_it_is_undefined_even_if_the_policy_prefers_another_label() {
    for filter in [false, true] {
        for (out_of_domain, answer) in [(ERROR, "model error"), (BLOCK, "safe")] {
            // The guard of `b` is 1 % v0 = 0, without a value where v0 is 0.
            let mut model = Model::new(out_of_domain, &[(0, 3), (0, 1)]);
            model.task.property.start.listed = vec![vec![0, 0]];
            let (yes, p, one) = (model.exprs().bool(true), model.exprs().real(1.0), model.exprs().int(1));
            let (v0, zero) = (model.variable(0), model.exprs().int(0));
            let remainder = model.exprs().modulo(one, v0).expect("integers");
            let guard = model.exprs().eq(remainder, zero).expect("integers");
            model.command(Some(0), yes, p, &[(0, v0)]);
            model.command(Some(1), guard, p, &[(1, one)]);
            model.prefer_first_label(filter);
            assert_eq!(model.answer(), answer);
        }
    }
}

#[test]
fn slicing_keeps_undefined_start_conditions() {
    // v0 = 1 ∧ 1 % v1 = 0, without a value where v1 is 0; v1 influences nothing.
    let mut model = Model::new(ERROR, &[(0, 1), (-1, 1)]);
    let (one, zero, v1) = (model.exprs().int(1), model.exprs().int(0), model.variable(1));
    let remainder = model.exprs().modulo(one, v1).expect("integers");
    let (first, second) = (model.is(0, 1), model.exprs().eq(remainder, zero).expect("integers"));
    model.task.property.start.condition = Some(model.exprs().and(first, second).expect("conditions"));
    assert_eq!(model.answer(), "model error");
}

#[test]
fn slicing_keeps_undefined_disjuncts_of_the_start_condition() {
    // 1 % v0 = 0 ∨ (v0 = 0 ∧ v1 = 1), without a value where both are 0; v1 influences nothing.
    let mut model = Model::new(ERROR, &[(0, 1), (0, 1)]);
    let (one, zero, v0) = (model.exprs().int(1), model.exprs().int(0), model.variable(0));
    model.task.property.unsafe_states = model.is(0, 2);
    let remainder = model.exprs().modulo(one, v0).expect("integers");
    let first = model.exprs().eq(remainder, zero).expect("integers");
    let (a, b) = (model.is(0, 0), model.is(1, 1));
    let second = model.exprs().and(a, b).expect("conditions");
    model.task.property.start.condition = Some(model.exprs().or(first, second).expect("conditions"));
    assert_eq!(model.answer(), "model error");
}

#[test]
fn an_undefined_condition_after_an_unsafe_state_is_an_error() {
    // v0 = 200 ∨ 1 % v1 = 1, without a value in the second layer, (0, 0).
    let mut model = Model::new(ERROR, &[(0, 255), (0, 2)]);
    let (one, zero, v1) = (model.exprs().int(1), model.exprs().int(0), model.variable(1));
    let remainder = model.exprs().modulo(one, v1).expect("integers");
    let (a, b) = (model.is(0, 200), model.exprs().eq(remainder, one).expect("integers"));
    model.task.property.unsafe_states = model.exprs().or(a, b).expect("conditions");
    model.task.property.start.condition = Some(model.is(1, 1));
    let (yes, p) = (model.exprs().bool(true), model.exprs().real(1.0));
    model.command(None, yes, p, &[(0, zero), (1, zero)]);
    let options = Options { exhaustive: true, ..Options::default() };
    let outcome = verify(&model.task, options, &Control::unlimited());
    assert!(matches!(outcome, Err(TaskError::Model(_))), "{outcome:?}");
}

#[test]
fn listed_start_states_must_be_states() {
    for listed in [vec![0, 4], vec![-1, 0], vec![0]] {
        let mut model = Model::new(ERROR, &[(0, 3), (0, 3)]);
        model.task.property.start.listed = vec![listed];
        let outcome = model.verify(false);
        assert!(matches!(outcome, Err(TaskError::Start(_))), "{outcome:?}");
    }
}
