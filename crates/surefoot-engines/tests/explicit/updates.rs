//! Compiled updates are the updates of the model.

use crate::fixture::{BLOCK, ERROR, Model};

#[test]
fn the_last_value_of_the_largest_domain_is_reached() {
    for out_of_domain in [ERROR, BLOCK] {
        let mut model = Model::new(out_of_domain, &[(i32::MIN, i32::MAX), (0, 3)]);
        model.task.property.start.listed = vec![vec![0, 0], vec![0, 1]];
        let largest = i64::from(i32::MAX);
        model.task.property.unsafe_states = model.is(0, largest);
        let (yes, one, less) =
            (model.exprs().bool(true), model.exprs().real(1.0), model.exprs().int(largest - 1));
        let step = model.variable(1);
        let sum = model.exprs().add(less, step).expect("integers");
        model.command(None, yes, one, &[(0, sum)]);
        assert_eq!(model.answer(), "unsafe");
    }
}

#[test]
fn an_overflow_is_undefined_even_if_it_is_multiplied_by_zero() {
    for (out_of_domain, answer) in [(ERROR, "model error"), (BLOCK, "safe")] {
        let mut model = Model::new(out_of_domain, &[(0, 1), (0, 3)]);
        model.task.property.start.listed = vec![vec![1, 0], vec![1, 2]];
        model.task.property.unsafe_states = model.is(1, 1);
        let (yes, one) = (model.exprs().bool(true), model.exprs().real(1.0));
        let (mut product, factor, zero) =
            (model.variable(0), model.exprs().int(1 << 16), model.exprs().int(0));
        for _ in 0..4 {
            product = model.exprs().mul(factor, product).expect("integers");
        }
        let nothing = model.exprs().mul(zero, product).expect("integers");
        let (v0, v1) = (model.variable(0), model.variable(1));
        let next = model.exprs().add(v1, v0).expect("integers");
        let next = model.exprs().add(next, nothing).expect("integers");
        // The first variable is written, so that it is no constant.
        model.command(None, yes, one, &[(0, v0), (1, next)]);
        assert_eq!(model.answer(), answer);
    }
}
