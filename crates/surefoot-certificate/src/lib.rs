//! Certificates of SAFE, and their checker: so that a proof can be believed without believing the engine that found it.
//!
//! A [`Certificate`] is an inductive invariant, a union of [regions](Region), together with what the policy may choose
//! in each part of them. [`check()`] re-establishes all that the claim needs. Of surefoot it uses the data types and the
//! evaluation of policies at single states; bounds of expressions, of regions and of policies are its own, simple rather than fast:
//!
//! | module | shows |
//! |---|---|
//! | [`certificate`](Certificate), `format`, [`encoding`] | what is claimed, and how it is stored |
//! | `expression` | values of expressions over boxes of states |
//! | `narrow` | where in a box a condition can be true |
//! | `task` | the semantics of conditions and updates |
//! | `cover` | which region contains a box |
//! | `network`, `forest` | that an output of the policy is beaten in a box |
//! | `check` | statements about all states of a box, by splitting it |
//! | `start`, `status`, `choice`, `successor` | the four obligations |
//!
//! [`dump()`] writes a task as JSON for the second checker, `tools/check_certificate.py`.

mod certificate;
mod check;
mod choice;
mod cover;
mod dump;
pub mod encoding;
mod expression;
mod forest;
mod format;
mod narrow;
mod network;
mod part;
mod precision;
mod start;
mod status;
mod successor;
mod task;
mod verdict;

pub use certificate::{Bound, Certificate, Domain, Fact, FormatError, Input, Region, Role, TreeNode};
pub use check::check;
pub use dump::dump;
pub use verdict::{Limits, Obligation, Rejection, Report, Subject};
