//! Bounds of scores and margins contain what every state of the box gives, and dominators win in each.

use std::cell::Cell;

use proptest::test_runner::TestCaseError;
use surefoot_policy::certify::Certifier;
use surefoot_policy::{Arithmetic, Score, Scorer};

use crate::oracle::{mattering, states};
use crate::random::{Asked, Case, cases};
use crate::run::check;

/// Whether bounds contain a score, which is known to lie between two ends. Real scores are no wider than a point, whatever is
/// known of them.
fn contains(arithmetic: Arithmetic, bounds: Score, lower: f64, upper: f64) -> bool {
    let (least, greatest) = if arithmetic == Arithmetic::Real { (upper, lower) } else { (lower, upper) };
    // A difference of infinities says nothing.
    (lower.is_nan() || bounds.lower <= least) && (upper.is_nan() || greatest <= bounds.upper)
}

/// Checks the bounds of two outputs over the box of a question.
fn check_bounds(case: &Case, asked: &Asked, certifier: &mut Certifier) -> Result<(), String> {
    let (lower, upper) = &asked.core;
    let (a, b) = (asked.output, (asked.output + 1) % case.policy.outputs.len());
    let scores = certifier.score_bounds(lower, upper, a);
    let margins = certifier.margin_bounds(lower, upper, a, b);
    let matter = mattering(&case.policy, case.variables, &[]);
    let mut result = Ok(());
    states(lower, upper, &matter, |state| {
        let point = case.policy.scores(case.arithmetic, state);
        if !contains(case.arithmetic, scores, point[a].lower, point[a].upper) {
            result = Err(format!("the score {:?} at {state:?} is not in {scores:?}", point[a]));
        }
        // Rounding the differences to nearest keeps the order to the ends, which are doubles.
        let (least, greatest) = (point[a].lower - point[b].upper, point[a].upper - point[b].lower);
        if a != b && !contains(case.arithmetic, margins, least, greatest) {
            result = Err(format!("the margin {least} to {greatest} at {state:?} is not in {margins:?}"));
        }
    });
    result
}

#[test]
fn bounds_contain_every_state() {
    check(&cases(3), 4000, |case| {
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        for asked in &case.questions {
            check_bounds(&case, asked, &mut certifier).map_err(TestCaseError::fail)?;
        }
        Ok(())
    });
}

/// Checks that the output that is said to win everywhere does, in every state in question.
fn check_dominator(case: &Case, asked: &Asked, certifier: &mut Certifier) -> Result<bool, String> {
    let question = asked.question();
    let Some(by) = certifier.dominator(&question) else { return Ok(false) };
    if by == asked.output || !asked.competing.contains(by) {
        return Err(format!("{by} does not compete with {}", asked.output));
    }
    let (lower, upper) = &asked.core;
    let matter = mattering(&case.policy, case.variables, &asked.facts);
    let mut result = Ok(true);
    states(lower, upper, &matter, |state| {
        let pair = |output| output == by || output == asked.output;
        let is_covered = asked.facts.iter().all(|fact| fact.holds(state));
        if is_covered && case.policy.possible(case.arithmetic, state, pair) != [by] {
            result = Err(format!("{by} does not beat {} at {state:?}", asked.output));
        }
    });
    result
}

#[test]
fn dominators_win_in_every_state() {
    let [networks, ensembles] = [const { Cell::new(0) }; 2];
    check(&cases(3), 4000, |case| {
        let mut certifier = Certifier::new(&case.policy, case.arithmetic);
        for asked in &case.questions {
            let found = check_dominator(&case, asked, &mut certifier).map_err(TestCaseError::fail)?;
            let count = match case.policy.scorer {
                Scorer::Network(_) => &networks,
                Scorer::Ensemble(_) => &ensembles,
            };
            count.set(count.get() + u32::from(found));
        }
        Ok(())
    });
    assert!(networks.get() > 0 && ensembles.get() > 0, "some outputs are dominated");
}
