//! The semantics once more, written to be obviously right: recursion over expressions, one state at a time, sets of plain
//! vectors, every start state found by trying all states.
//!
//! Nothing here uses the compiled programs, enumeration, passes, packing, the point semantics of the engines or the batch
//! evaluation of policies. It reads the same data types, and that is all it shares (with one exception: the enclosures of the
//! arithmetic `any-f32`, which are checked for containing `f32`, and those of `real` where scores are no fractions, which are
//! checked for containing what `f64` chooses by a clear margin).
//!
//! - `evaluate`: the value of an expression at a state.
//! - `choose`: what a policy chooses; `network`: the scores of networks; `exact`: scores without rounding.
//! - [`Model`]: status and successors of a state.
//! - [`explore()`]: all reachable states, counts, distances, verdicts.

mod choose;
mod evaluate;
mod exact;
mod explore;
mod model;
mod network;
mod trace;

pub use choose::choose;
pub use evaluate::{evaluate, holds};
pub use explore::{Exploration, TooLarge, explore};
pub use model::{Model, Status, Step, Steps, Wrong, all_states};
pub use trace::check_trace;
