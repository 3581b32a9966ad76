//! Verification engines.
//!
//! An engine receives a [`Task`] (system, policy, property, semantics) and a [`Control`] (limits, cancellation, observer), and
//! gives an [`Outcome`]. It never reads files and never prints. Each engine is one folder:
//!
//! - [`explicit`]: breadth-first search over the states that the policy can reach;
//! - [`ic3`]: a proof by frames of boxes that cannot reach an unsafe state;
//! - [`pa`]: a proof by abstract states, which given predicates tell apart;
//! - [`ppa`]: the same with predicates that are found.
//!
//! [`environment`] lets learners act in a task. [`explain`] says why a policy chooses what it does in a state. [`step`] is the semantics spelled out at single states; every counterexample is [`replay`]ed through it before
//! an engine may call a policy unsafe.

pub mod certificate;
mod control;
pub mod environment;
pub mod explain;
pub mod explicit;
pub mod ic3;
mod outcome;
pub mod pa;
pub mod ppa;
mod random;
mod reduction;
pub mod replay;
pub mod simulate;
pub mod step;
mod symbolic;
mod task;
mod without_steps;

pub use certificate::Checked;
pub use control::{Control, NoObserver, Observer, Progress};
pub use outcome::{Outcome, PerStart, Statistics, StopReason, Trace, TraceStep, Vacuity, Verdict};
pub use surefoot_solve::Backend;
pub use symbolic::Tally;
pub use task::{Goal, ModelError, ModelErrorKind, OutOfDomain, Semantics, Task, TaskError};
