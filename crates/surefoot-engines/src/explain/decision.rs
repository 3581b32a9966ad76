//! A decision: what the policy chooses in a state, by which score, and how close the runner-up is.

use surefoot_policy::Score;

use crate::step::Stepper;
use crate::task::{Task, TaskError};

/// What a policy chooses in a state, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The outputs that can be chosen, the one with the highest score first. Several only under `any-f32` and `real`; none if the policy
    /// filters and none is applicable.
    pub chosen: Vec<usize>,
    /// The score of each output.
    pub scores: Vec<Score>,
    /// Whether the label of each output is applicable.
    pub applicable: Vec<bool>,
    /// The best of the other outputs that compete: it would be chosen if the first were not there.
    pub runner_up: Option<usize>,
    /// The score of the first minus that of the runner-up, rounded outwards; both ends are the same if it is exact. `None` if there is no runner-up or
    /// the difference has no meaning, as that of two infinities.
    pub margin: Option<Score>,
}

/// The policy's decision in a state, which must be one of the task.
pub fn decision(task: &Task, state: &[i32]) -> Result<Decision, TaskError> {
    let policy = task.policy.as_ref().ok_or(TaskError::NoPolicy)?;
    let mut stepper = Stepper::new(task);
    let enabled = stepper.enabled(state).map_err(TaskError::Model)?;
    let is_applicable = |label: &surefoot_model::LabelId| {
        enabled.iter().any(|&command| task.system.commands[command].label == Some(*label))
    };
    let applicable: Vec<bool> = policy.outputs.iter().map(is_applicable).collect();
    let scores = policy.scores(task.semantics.arithmetic, state);
    let mut chosen = stepper.choice(state, &enabled).outputs;
    // Stable: the lowest index stays first on ties.
    chosen.sort_by(|&a, &b| scores[b].upper.total_cmp(&scores[a].upper));
    let first = chosen.first().copied();
    let others = |output: usize| Some(output) != first && (!task.semantics.filter || applicable[output]);
    let runner_up = policy.possible(task.semantics.arithmetic, state, others);
    let runner_up = runner_up
        .into_iter()
        .reduce(|best, output| if scores[output].upper > scores[best].upper { output } else { best })
        .filter(|_| first.is_some());
    let margin = first.zip(runner_up).and_then(|(first, other)| difference(scores[first], scores[other]));
    Ok(Decision { chosen, scores, applicable, runner_up, margin })
}

/// The difference of two scores, rounded outwards.
fn difference(a: Score, b: Score) -> Option<Score> {
    let (lower, upper) = (a.lower - b.upper, a.upper - b.lower);
    if lower.is_nan() || upper.is_nan() {
        return None;
    }
    Some(Score {
        lower: if is_exact(a.lower, b.upper, lower) { lower } else { lower.next_down() },
        upper: if is_exact(a.upper, b.lower, upper) { upper } else { upper.next_up() },
    })
}

/// Whether `a - b` was computed without rounding: its error, computed exactly after Knuth's `TwoSum`, is 0.
fn is_exact(a: f64, b: f64, difference: f64) -> bool {
    if !difference.is_finite() {
        return !a.is_finite() || !b.is_finite();
    }
    let part = difference - a;
    (a - (difference - part)) + (-b - part) == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_rounded_outwards() {
        let exactly = |a: f64, b: f64| difference(Score::exactly(a), Score::exactly(b));
        assert_eq!(exactly(2.5, 1.0), Some(Score::exactly(1.5)));
        assert_eq!(exactly(-0.1, -0.1), Some(Score::exactly(0.0)));
        let rounded = exactly(1.0, 1e-30).expect("finite");
        assert!(rounded.lower < 1.0 && 1.0 < rounded.upper, "{rounded:?}");
        assert_eq!(exactly(f64::INFINITY, 1.0), Some(Score::exactly(f64::INFINITY)));
        assert_eq!(exactly(f64::NEG_INFINITY, f64::NEG_INFINITY), None);
        let overflow = exactly(f64::MAX, -f64::MAX).expect("a bound");
        assert!(overflow.lower <= f64::MAX && overflow.upper == f64::INFINITY, "{overflow:?}");
    }
}
