//! What the engines share that reason about sets of states instead of single ones: boxes, a prepared task, tests of the policy, what is bad.

mod applicability;
mod bad;
mod conclude;
mod conserved;
mod fact;
mod image;
mod listing;
mod policy;
mod problem;
mod split;
mod state_box;
mod stop;
mod tally;
mod vacuity;

pub use applicability::Applicability;
pub use bad::Bad;
pub use conclude::{Conclusion, End, conclude, suits};
pub use conserved::{describe_laws, laws};
pub use image::Images;
pub use listing::list_reachable;
pub use policy::{Choice, POLICY_BOXES, PolicyTests};
pub use problem::Problem;
pub use split::{Split, cut, halve, middle};
pub use state_box::StateBox;
pub use stop::{Stop, Stopped};
pub use tally::Tally;
