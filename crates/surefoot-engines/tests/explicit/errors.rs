//! Mistakes in a model are reported, whatever the passes and the policy make of them.

use crate::fixture::{ERROR, Model};

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
