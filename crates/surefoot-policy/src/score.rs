//! Scores as intervals, and the choice among them.

/// Where a score lies. In the arithmetics `f64` and `f32` both ends are the score itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// No evaluation gives less.
    pub lower: f64,
    /// No evaluation gives more.
    pub upper: f64,
}

impl Score {
    /// A score that is known exactly; NaN counts as minus infinity.
    pub fn exactly(value: f64) -> Score {
        let value = if value.is_nan() { f64::NEG_INFINITY } else { value };
        Score { lower: value, upper: value }
    }

    /// A score of which nothing is known.
    pub const ANYTHING: Score = Score { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
}

/// Calls `found` with each of the `outputs` outputs that can win, in ascending order.
///
/// Output `a` can win if its upper end is above the lower end of each applicable `b < a`, which wins ties against it,
/// and not below the lower end of each applicable `b > a`. Of exact scores that is the highest one, the lowest index
/// on ties.
#[inline]
pub(crate) fn winners(
    outputs: usize,
    score: impl Fn(usize) -> Score,
    applicable: impl Fn(usize) -> bool,
    mut found: impl FnMut(usize),
) {
    let candidates = || (0..outputs).filter(|&output| applicable(output));
    let floor = candidates().map(|b| score(b).lower).fold(f64::NEG_INFINITY, f64::max);
    // The largest lower end among the applicable outputs before the current one; the first has none to beat.
    let mut before: Option<f64> = None;
    for output in candidates() {
        let Score { lower, upper } = score(output);
        if upper >= floor && before.is_none_or(|before| upper > before) {
            found(output);
        }
        before = Some(before.map_or(lower, |before| before.max(lower)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winners_of(scores: &[(f64, f64)], applicable: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        winners(
            scores.len(),
            |k| Score { lower: scores[k].0, upper: scores[k].1 },
            |k| applicable.contains(&k),
            |k| found.push(k),
        );
        found
    }

    #[test]
    fn exact_scores_have_one_winner() {
        assert_eq!(winners_of(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.0)], &[0, 1, 2]), [1]);
        assert_eq!(winners_of(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.0)], &[0, 2]), [2]);
        assert_eq!(winners_of(&[(0.0, 0.0), (-0.0, -0.0)], &[0, 1]), [0]);
        assert_eq!(winners_of(&[(1.0, 1.0)], &[]), [0; 0]);
    }

    #[test]
    fn infinite_scores_are_ordinary_scores() {
        let low = f64::NEG_INFINITY;
        assert_eq!(winners_of(&[(low, low), (low, low)], &[0, 1]), [0]);
        assert_eq!(winners_of(&[(low, low), (low, low)], &[1]), [1]);
        let high = f64::INFINITY;
        assert_eq!(winners_of(&[(1.0, 1.0), (high, high), (high, high)], &[0, 1, 2]), [1]);
        assert_eq!(Score::exactly(f64::NAN), Score::exactly(low));
    }

    #[test]
    fn overlapping_scores_have_several_winners() {
        assert_eq!(winners_of(&[(1.0, 2.0), (1.5, 3.0), (0.0, 1.4)], &[0, 1, 2]), [0, 1]);
        // A touching end wins only for the lower index.
        assert_eq!(winners_of(&[(0.0, 1.0), (1.0, 2.0)], &[0, 1]), [0, 1]);
        assert_eq!(winners_of(&[(1.0, 2.0), (0.0, 1.0)], &[0, 1]), [0]);
    }
}
