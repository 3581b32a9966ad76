//! Checks of generator parameters, and the one error that they give.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Slack for sums of probabilities: decimal fractions such as 0.7 + 0.2 + 0.1 do not add up exactly in binary.
pub(super) const PROBABILITY_SLACK: f64 = 1e-9;

/// A generator parameter that makes no sense, alone or together with the others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` is {given}, but must be {allowed}")]
pub struct ParameterError {
    /// Name of the refused parameter: the field of the domain's `Parameters`.
    pub parameter: &'static str,
    /// What was given.
    pub given: String,
    /// What would have been accepted.
    pub allowed: String,
}

impl ParameterError {
    /// The error for `parameter`, which is `given` instead of something `allowed`.
    pub(super) fn new(parameter: &'static str, given: impl Display, allowed: impl Display) -> Self {
        Self { parameter, given: given.to_string(), allowed: allowed.to_string() }
    }
}

/// Accepts a count within `allowed`.
pub(super) fn count(
    parameter: &'static str,
    given: usize,
    allowed: RangeInclusive<usize>,
) -> Result<(), ParameterError> {
    if allowed.contains(&given) {
        return Ok(());
    }
    let (low, high) = allowed.into_inner();
    Err(ParameterError::new(parameter, given, format_args!("between {low} and {high}")))
}

/// Accepts a probability.
pub(super) fn probability(parameter: &'static str, given: f64) -> Result<(), ParameterError> {
    if (0.0..=1.0).contains(&given) {
        return Ok(());
    }
    Err(ParameterError::new(parameter, given, "a probability between 0 and 1"))
}

/// Accepts a probability that, next to outcomes of total probability `others`, leaves no negative remainder.
pub(super) fn remaining_probability(
    parameter: &'static str,
    given: f64,
    others: f64,
) -> Result<(), ParameterError> {
    probability(parameter, given)?;
    if given + others <= 1.0 + PROBABILITY_SLACK {
        return Ok(());
    }
    let allowed = format!("at most {}, since the other outcomes have probability {others}", 1.0 - others);
    Err(ParameterError::new(parameter, given, allowed))
}
