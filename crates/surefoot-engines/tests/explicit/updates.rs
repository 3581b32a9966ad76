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
