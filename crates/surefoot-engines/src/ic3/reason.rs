//! Reasons: boxes of states that cannot reach an unsafe state within so many steps.
//!
//! Paper 000 has partial assignments; a box has a lower and an upper bound for each variable, of which an assignment is the
//! special case that both are the same or both are those of the domain.

pub use crate::symbolic::StateBox as Reason;
